package store

import (
	"fmt"

	"deedkeep/app/errs"
	"deedkeep/app/model"
)

// NewTemplateID returns the ID for a new template.
func (t *Tx) NewTemplateID() (uint64, error) { return templates.nextID(t) }

// Template returns a template. The error has kind errs.NotFound if it doesn't exist.
func (t *Tx) Template(id uint64) (model.Template, error) {
	template, err := templates.getCached(t, &t.caches.templates, id)
	if err != nil {
		return template, err
	}
	defaultID, err := t.defaultTemplate()
	template.Default = id == defaultID
	return template, err
}

// DefaultTemplate returns the default template. found is false if there is none.
func (t *Tx) DefaultTemplate() (template model.Template, found bool, err error) {
	id, err := t.defaultTemplate()
	if err != nil || id == 0 {
		return template, false, err
	}
	template, err = templates.getCached(t, &t.caches.templates, id)
	if errs.KindOf(err) == errs.NotFound {
		err = fmt.Errorf("default template %d is missing: %w", id, ErrDamaged)
	}
	template.Default = true
	return template, err == nil, err
}

// Templates returns all templates, including retired ones, sorted by ID.
func (t *Tx) Templates() ([]model.Template, error) {
	list, err := templates.all(t)
	if err != nil {
		return nil, err
	}
	defaultID, err := t.defaultTemplate()
	for i := range list {
		list[i].Default = list[i].ID == defaultID
	}
	return list, err
}

// PutTemplate creates or updates a template.
func (t *Tx) PutTemplate(template model.Template) error {
	return templates.put(t, template.ID, template)
}

// SetDefaultTemplate makes a template the default template.
func (t *Tx) SetDefaultTemplate(id uint64) error {
	return t.putSetting(keyDefaultTemplate, id)
}

// defaultTemplate returns the ID of the default template, or 0 if there is none.
func (t *Tx) defaultTemplate() (id uint64, err error) {
	if t.bucket(bucketWorkspace).Get(keyDefaultTemplate) == nil {
		return 0, nil
	}
	return getSetting(t, &t.caches.defaultTemplate, keyDefaultTemplate)
}

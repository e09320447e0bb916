package store

import (
	"fmt"

	"deedkeep/app/errs"
	"deedkeep/app/model"
)

// NewTemplateID gives the next number of a template.
func (t *Tx) NewTemplateID() (uint64, error) { return templates.nextID(t) }

// Template reads one; NotFound when absent.
func (t *Tx) Template(id uint64) (model.Template, error) {
	template, err := templates.getCached(t, &t.caches.templates, id)
	if err != nil {
		return template, err
	}
	standard, err := t.defaultTemplate()
	template.Default = id == standard
	return template, err
}

// DefaultTemplate reads the default one; found is false where there is none.
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

// Templates reads all in order of their numbers, retired ones too.
func (t *Tx) Templates() ([]model.Template, error) {
	list, err := templates.all(t)
	if err != nil {
		return nil, err
	}
	standard, err := t.defaultTemplate()
	for i := range list {
		list[i].Default = list[i].ID == standard
	}
	return list, err
}

// PutTemplate writes one.
func (t *Tx) PutTemplate(template model.Template) error {
	return templates.put(t, template.ID, template)
}

// SetDefaultTemplate moves the one pointer to the default template.
func (t *Tx) SetDefaultTemplate(id uint64) error {
	return t.putSetting(keyDefaultTemplate, id)
}

// defaultTemplate is 0 where there is none.
func (t *Tx) defaultTemplate() (id uint64, err error) {
	if t.bucket(bucketWorkspace).Get(keyDefaultTemplate) == nil {
		return 0, nil
	}
	return getSetting(t, &t.caches.defaultTemplate, keyDefaultTemplate)
}

package store

import (
	"errors"
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

// Generation returns the random text that was generated when the server last started with
// this database, or "" before the first start.
func (t *Tx) Generation() (generation string, err error) { return t.optionalSetting(keyGeneration) }

// SetGeneration replaces the generation.
func (t *Tx) SetGeneration(generation string) error { return t.putSetting(keyGeneration, generation) }

// Settings returns the settings that administrators stored, by key, in the syntax of environment variables.
func (t *Tx) Settings() (settings map[string]string, err error) {
	settings = map[string]string{}
	// Older versions stored only the time zone.
	zone, err := t.optionalSetting(keyTimeZone)
	if err == nil && zone != "" {
		settings["time_zone"] = zone
	}
	if raw := t.bucket(bucketWorkspace).Get(keySettings); raw != nil {
		err = errors.Join(err, decodeRecord(bucketWorkspace, keySettings, raw, &settings))
	}
	return settings, err
}

// PutSettings replaces the stored settings.
func (t *Tx) PutSettings(settings map[string]string) error {
	return errors.Join(t.bucket(bucketWorkspace).Delete(keyTimeZone), t.putSetting(keySettings, settings))
}

// Logo returns the image of the firm's logo, or nil if there is none.
func (t *Tx) Logo() (image []byte, err error) {
	if raw := t.bucket(bucketWorkspace).Get(keyLogo); raw != nil {
		err = decodeRecord(bucketWorkspace, keyLogo, raw, &image)
	}
	return image, err
}

// PutLogo replaces the logo. Without an image, it removes it.
func (t *Tx) PutLogo(image []byte) error {
	if len(image) == 0 {
		return t.bucket(bucketWorkspace).Delete(keyLogo)
	}
	return t.putSetting(keyLogo, image)
}

// Patterns returns the text of the county patterns, or "" if there are none.
func (t *Tx) Patterns() (text string, err error) { return t.optionalSetting(keyPatterns) }

// PutPatterns replaces the text of the county patterns. Without a text, it removes it.
func (t *Tx) PutPatterns(text string) error {
	if text == "" {
		return t.bucket(bucketWorkspace).Delete(keyPatterns)
	}
	return t.putSetting(keyPatterns, text)
}

// Phrases returns the phrases for requirements and exceptions. A vault of an older version has none.
func (t *Tx) Phrases() (phrases model.Phrases, err error) {
	if raw := t.bucket(bucketWorkspace).Get(keyPhrases); raw != nil {
		err = decodeRecord(bucketWorkspace, keyPhrases, raw, &phrases)
	}
	return phrases, err
}

// PutPhrases replaces the phrases.
func (t *Tx) PutPhrases(phrases model.Phrases) error { return t.putSetting(keyPhrases, phrases) }

// IsExample reports whether the vault was marked as the vault of an example firm.
func (t *Tx) IsExample() bool { return t.bucket(bucketWorkspace).Get(keyExample) != nil }

// MarkExample marks the vault as that of an example firm. Nothing removes the mark.
func (t *Tx) MarkExample() error { return t.putSetting(keyExample, true) }

// optionalSetting returns a text from the workspace bucket, or "" if it is missing.
func (t *Tx) optionalSetting(key []byte) (text string, err error) {
	raw := t.bucket(bucketWorkspace).Get(key)
	if raw == nil {
		return "", nil
	}
	err = decodeRecord(bucketWorkspace, key, raw, &text)
	return text, err
}

// OrderFields returns the custom fields of orders.
func (t *Tx) OrderFields() (fields []model.Field, err error) {
	return getSetting(t, &t.caches.orderFields, keyOrderFields)
}

// PutOrderFields replaces the custom fields of orders.
func (t *Tx) PutOrderFields(fields []model.Field) error { return t.putSetting(keyOrderFields, fields) }

// OrderStatuses returns the order statuses. The first one is the status of new orders.
func (t *Tx) OrderStatuses() (statuses []string, err error) {
	return getSetting(t, &t.caches.orderStatuses, keyOrderStatuses)
}

// PutOrderStatuses replaces the statuses of orders.
func (t *Tx) PutOrderStatuses(statuses []string) error {
	return t.putSetting(keyOrderStatuses, statuses)
}

// getSetting returns a value from the workspace bucket. The value must exist.
func getSetting[T any](t *Tx, m *cache[T], key []byte) (v T, err error) {
	raw := t.bucket(bucketWorkspace).Get(key)
	if raw == nil {
		return v, fmt.Errorf("workspace %s: %w: missing", key, ErrDamaged)
	}
	return m.decode(bucketWorkspace, key, raw)
}

// putSetting writes a value to the workspace bucket.
func (t *Tx) putSetting(key []byte, v any) error {
	raw, err := encodeRecord(bucketWorkspace, key, v)
	if err != nil {
		return err
	}
	return t.bucket(bucketWorkspace).Put(key, raw)
}

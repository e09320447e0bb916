package model

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"deedkeep/app/errs"
)

// Template defines a type of abstract: its custom fields and statuses. If a template has no
// statuses, its abstracts don't have a status.
type Template struct {
	ID       uint64   `json:"id"`
	Name     string   `json:"name"`
	Statuses []string `json:"statuses,omitempty"` // the first is assigned to new abstracts
	Fields   []Field  `json:"fields"`
	Retired  bool     `json:"retired,omitempty"`
	Default  bool     `json:"-"` // not in the JSON, because the store keeps the ID of the default template
}

// bringDownFields are the fields of a template for bring-downs that have values of a certificate. Its search starts
// at the effective date of the prior one.
var bringDownFields = map[string]string{KeyEffectiveDate: keyNewEffective, KeySearchFrom: keyPriorEffective}

// CertificateField returns the field that has a value of a certificate. Without one, it has only the key.
func (t Template) CertificateField(key string) (f Field, found bool) {
	if f, found = t.field(key); !found {
		f, found = t.field(bringDownFields[key])
	}
	if !found {
		f.Key = key
	}
	return f, found
}

// field returns the field with a key.
func (t Template) field(key string) (f Field, found bool) {
	at := slices.IndexFunc(t.Fields, func(f Field) bool { return f.Key == key })
	if at < 0 {
		return f, false
	}
	return t.Fields[at], true
}

// options returns those values that are options of a field, spelled as the options are. If the field has no options, it
// returns all values.
func (t Template) options(key string, values []string) (found []string) {
	field, _ := t.field(key)
	if !field.Type.HasOptions() {
		return values
	}
	for _, value := range values {
		for _, option := range field.Options {
			if Fold(option) == Fold(value) {
				found = append(found, option)
			}
		}
	}
	return found
}

// hasSearchType reports whether abstracts of the template can have a search type.
func (t Template) hasSearchType(name string) bool {
	_, found := t.field(KeySearchType)
	return found && len(t.options(KeySearchType, []string{name})) > 0
}

// ChooseTemplate returns the template with an ID. If there is none, it returns the default template or, without a
// default, the first template.
func ChooseTemplate(list []Template, id uint64) (chosen Template) {
	for i, t := range list {
		if t.ID == id {
			return t
		}
		if i == 0 || t.Default {
			chosen = t
		}
	}
	return chosen
}

// initialStatus returns the status of a new abstract, or "" if the template has no statuses.
func (t Template) initialStatus() string {
	if len(t.Statuses) == 0 {
		return ""
	}
	return t.Statuses[0]
}

// Fingerprint returns 16 hex digits that identify this version of the template. Clients send it
// with a change to detect concurrent edits.
func (t Template) Fingerprint() string {
	raw, _ := json.Marshal(struct { // encoding these types never fails
		Template
		Default bool
	}{t, t.Default})
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:8])
}

// TemplateDraft is the input for a new or changed template. If a field is nil, an existing
// template keeps its value, and a new template has none.
type TemplateDraft struct {
	ID       uint64 // 0: the template with this name, or a new one
	Name     string
	Statuses *[]string
	Fields   *[]Field
	Default  bool // true makes it the default; false changes nothing
	Retired  *bool
}

// Apply applies the draft to old and returns the new version. It checks the rules that concern a
// single template. old is the zero value for a new template. The paths of errors begin with path.
func (d TemplateDraft) Apply(path string, old Template) (Template, errs.Fields) {
	var f validation
	t := old
	t.Name = f.name(path+".name", "name", d.Name)
	if d.Statuses != nil {
		t.Statuses = f.names(path+".statuses", "status", *d.Statuses, maxStatuses)
	}
	if d.Fields != nil {
		t.Fields = f.definitions(path+".custom_fields", *d.Fields, builtinAbstractKeys)
	}
	if d.Retired != nil {
		t.Retired = *d.Retired
	}
	t.Default = old.Default || d.Default
	return t, f.Fields
}

// Messages for a template that would be both the default and retired.
const (
	MsgRetireDefault  = "The default template can't be retired. Make another template the default first."
	MsgDefaultRetired = "A retired template can't be the default."
)

// CheckTemplates checks the rules across templates. If there are templates, exactly one is the
// default. Among those that aren't retired, names are unique, ignoring case. list contains the
// current templates, and wanted the new and changed ones; new ones have no ID. CheckTemplates
// returns wanted, plus the previous default template if it changed. Errors have paths below
// templates.INDEX, where INDEX is the index in wanted.
func CheckTemplates(list, wanted []Template) ([]Template, errs.Fields) {
	var f validation
	wanted = applyDefault(list, slices.Clone(wanted), &f)
	after := map[uint64]int{}
	for i, t := range wanted {
		after[t.ID] = i
		if t.Default && t.Retired {
			f.Add(fmt.Sprintf("templates.%d.retired", i), MsgRetireDefault)
		}
	}
	names, live := map[string]bool{}, 0
	for _, t := range list {
		if _, changes := after[t.ID]; !changes && !t.Retired {
			names[Fold(t.Name)] = true
			live++
		}
	}
	for i, t := range wanted {
		if t.Retired {
			continue
		}
		live++
		if names[Fold(t.Name)] {
			f.Add(fmt.Sprintf("templates.%d.name", i), "Another template is named %q (ignoring case).", t.Name)
		}
		names[Fold(t.Name)] = true
	}
	if live > maxTemplates {
		f.Add("templates", "At most %d templates are allowed.", maxTemplates)
	}
	return wanted, f.Fields
}

// applyDefault makes the template that is marked as the default in wanted the only default. If
// there is no default yet and none is marked, the first template in wanted that isn't retired
// becomes the default.
func applyDefault(list, wanted []Template, f *validation) []Template {
	current := uint64(0)
	for _, t := range list {
		if t.Default {
			current = t.ID
		}
	}
	chosen := -1
	for i, t := range wanted {
		switch {
		case !t.Default || current != 0 && t.ID == current:
		case chosen >= 0:
			f.Add(fmt.Sprintf("templates.%d.default", i), "Only one template can be the default.")
		default:
			chosen = i
		}
	}
	if chosen < 0 && current == 0 {
		if chosen = slices.IndexFunc(wanted, func(t Template) bool { return !t.Retired }); chosen >= 0 {
			wanted[chosen].Default = true
		}
	}
	if chosen < 0 || current == 0 {
		return wanted
	}
	at := slices.IndexFunc(wanted, func(t Template) bool { return t.ID == current })
	if at < 0 {
		at = len(wanted)
		wanted = append(wanted, list[slices.IndexFunc(list, func(t Template) bool { return t.ID == current })])
	}
	wanted[at].Default = false
	return wanted
}

// TemplateChanges returns the differences between two versions of a template. The fields are in
// their new order.
func TemplateChanges(old, now Template) []Change {
	var c changes
	c.add("name", textJSON(old.Name), textJSON(now.Name))
	c.add("default", encodeJSON(old.Default), encodeJSON(now.Default))
	c.add("retired", encodeJSON(old.Retired), encodeJSON(now.Retired))
	c = append(c, StatusChanges(old.Statuses, now.Statuses)...)
	return append(c, FieldChanges(old.Fields, now.Fields)...)
}

// StatusChanges returns the change to a list of statuses, or nil if the lists are equal.
func StatusChanges(old, now []string) []Change {
	var c changes
	if !slices.Equal(old, now) {
		c.add("statuses", encodeJSON(old), encodeJSON(now))
	}
	return c
}

// FieldChanges returns the added, removed, and changed definitions, as JSON objects with the name
// custom_fields.KEY. If the order of the other definitions changed, it adds a change to
// custom_fields with their keys.
func FieldChanges(old, now []Field) []Change {
	var c changes
	before, after := map[string]Field{}, map[string]Field{}
	for _, f := range old {
		before[f.Key] = f
	}
	for _, f := range now {
		after[f.Key] = f
		was, stays := before[f.Key]
		switch {
		case !stays:
			c.add("custom_fields."+f.Key, null, encodeJSON(f))
		case !sameField(was, f):
			c.add("custom_fields."+f.Key, encodeJSON(was), encodeJSON(f))
		}
	}
	for _, f := range old {
		if _, stays := after[f.Key]; !stays {
			c.add("custom_fields."+f.Key, encodeJSON(f), null)
		}
	}
	from, to := commonKeys(old, after), commonKeys(now, before)
	if !slices.Equal(from, to) {
		c.add("custom_fields", encodeJSON(from), encodeJSON(to))
	}
	return c
}

func sameField(a, b Field) bool {
	return a.Label == b.Label && a.Type == b.Type && a.Required == b.Required && slices.Equal(a.Options, b.Options)
}

func commonKeys(list []Field, others map[string]Field) []string {
	var keys []string
	for _, f := range list {
		if _, there := others[f.Key]; there {
			keys = append(keys, f.Key)
		}
	}
	return keys
}

// Impact describes stored data that a change to the definitions would make invalid: custom field
// values or statuses that would no longer be defined.
type Impact struct {
	TemplateID       uint64    // 0 for orders
	TemplateName     string    // "" for orders
	Key              string    // the custom field; "" if a status is removed
	OldType, NewType FieldType // NewType is "" if the field is removed, or OldType if an option is removed
	Choice           string    // the removed option or status
}

// wideningConversions lists the type changes that keep every stored value valid.
var wideningConversions = map[FieldType][]FieldType{
	Text:     {Paragraph},
	Dropdown: {Text, Paragraph},
	Date:     {Text, Paragraph},
	Money:    {Text, Paragraph},
	Email:    {Text, Paragraph},
	Phone:    {Text, Paragraph},
	URL:      {Text, Paragraph},
}

// TemplateImpact returns the stored data that would become invalid if a template changed from old
// to now, in the order of the old fields. For the definitions of orders, pass templates without
// an ID and name.
func TemplateImpact(old, now Template) []Impact {
	list := append(fieldImpacts(old.Fields, now.Fields), statusImpacts(old.Statuses, now.Statuses)...)
	for i := range list {
		list[i].TemplateID, list[i].TemplateName = old.ID, old.Name
	}
	return list
}

func fieldImpacts(before, after []Field) []Impact {
	var list []Impact
	for _, old := range before {
		at := slices.IndexFunc(after, func(f Field) bool { return f.Key == old.Key })
		if at < 0 {
			list = append(list, Impact{Key: old.Key, OldType: old.Type})
			continue
		}
		now := after[at]
		if now.Type != old.Type {
			if !slices.Contains(wideningConversions[old.Type], now.Type) {
				list = append(list, Impact{Key: old.Key, OldType: old.Type, NewType: now.Type})
			}
			continue
		}
		for _, option := range old.Options {
			if !slices.Contains(now.Options, option) {
				list = append(list, Impact{Key: old.Key, OldType: old.Type, NewType: now.Type, Choice: option})
			}
		}
	}
	return list
}

func statusImpacts(before, after []string) []Impact {
	var list []Impact
	for _, status := range before {
		if !slices.Contains(after, status) {
			list = append(list, Impact{Choice: status})
		}
	}
	return list
}

// Affects reports whether a record with these custom fields and this status is affected.
func (i Impact) Affects(custom CustomValues, status string) bool {
	if i.Key == "" {
		return status == i.Choice
	}
	raw, ok := custom[i.Key]
	switch {
	case !ok:
		return false
	case i.NewType != i.OldType:
		return true
	case i.OldType == Multiselect:
		var chosen []string
		// Values that can't be decoded count as affected. Otherwise they could be lost without notice.
		return json.Unmarshal(raw, &chosen) != nil || slices.Contains(chosen, i.Choice)
	}
	text, isString := decodeString(raw)
	return !isString || text == i.Choice
}

// Path returns the field name for an error: custom_fields.KEY or statuses, prefixed with
// templates.ID for a template.
func (i Impact) Path() string {
	path := "statuses"
	if i.Key != "" {
		path = "custom_fields." + i.Key
	}
	if i.TemplateID != 0 {
		path = fmt.Sprintf("templates.%d.%s", i.TemplateID, path)
	}
	return path
}

// Message returns an error message that says how many records are affected. recordType is the
// singular name of their type.
func (i Impact) Message(count uint64, recordType string) string {
	records, have, use, of := recordType+"s", "have", "use", ""
	if count == 1 {
		records, have, use = recordType, "has", "uses"
	}
	if i.TemplateName != "" {
		of = fmt.Sprintf(" of %q", i.TemplateName)
	}
	switch {
	case i.Key == "":
		return fmt.Sprintf("Can't remove the status %q%s: %d %s %s it.", i.Choice, of, count, records, use)
	case i.NewType == "":
		return fmt.Sprintf("Can't remove the field %q%s: %d %s %s a value.", i.Key, of, count, records, have)
	case i.NewType != i.OldType:
		return fmt.Sprintf("Can't change the field %q%s to %s: %d %s %s a value of type %s.", i.Key, of, i.NewType.withArticle(),
			count, records, have, i.OldType)
	}
	return fmt.Sprintf("Can't remove the option %q of the field %q%s: %d %s %s it.", i.Choice, i.Key, of, count, records, use)
}

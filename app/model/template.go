package model

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"deedkeep/app/errs"
)

// Template is what an abstract is created from: the custom fields it accepts,
// and its statuses (none: statuses are off for it).
type Template struct {
	ID       uint64   `json:"id"`
	Name     string   `json:"name"`
	Statuses []string `json:"statuses,omitempty"` // the first is applied at creation
	Fields   []Field  `json:"fields"`
	Retired  bool     `json:"retired,omitempty"`
	Default  bool     `json:"-"` // kept as one pointer by the store: exactly one template is it
}

// InitialStatus is the status a new abstract gets; "" when statuses are off.
func (t Template) InitialStatus() string {
	if len(t.Statuses) == 0 {
		return ""
	}
	return t.Statuses[0]
}

// Fingerprint names the state that the template is in, in 16 hex digits: whoever changes one
// that others may change too says by it which one he saw.
func (t Template) Fingerprint() string {
	raw, _ := json.Marshal(struct { // texts, numbers and lists of them always encode
		Template
		Default bool
	}{t, t.Default})
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:8])
}

// TemplateDraft is a template as it arrived. What is nil stays as it is, or is empty
// for a new one.
type TemplateDraft struct {
	ID       uint64 // 0: the one of this name, or a new one
	Name     string
	Statuses *[]string
	Fields   *[]Field
	Default  bool // true makes it the default; false says nothing
	Retired  *bool
}

// Apply gives the template that the draft makes of an old one, the zero Template for
// a new one, with every rule of one template applied. Refusals are under path.
func (d TemplateDraft) Apply(path string, old Template) (Template, errs.Fields) {
	var f validation
	made := old
	made.Name = f.name(path+".name", "name", d.Name)
	if d.Statuses != nil {
		made.Statuses = f.names(path+".statuses", "status", *d.Statuses, MaxStatuses)
	}
	if d.Fields != nil {
		made.Fields = f.definitions(path+".custom_fields", *d.Fields, abstractOwn)
	}
	if d.Retired != nil {
		made.Retired = *d.Retired
	}
	made.Default = old.Default || d.Default
	return made, f.Fields
}

// The refusals to have a default template that is retired: of retiring the default
// one, and of making a retired one the default.
const (
	MsgRetireDefault  = "The default template cannot be retired; make another one the default first."
	MsgDefaultRetired = "A retired template cannot be the default."
)

// CheckTemplates applies the rules between templates to those that are there and
// those that are to be (new ones have no number): exactly one default where any
// exist, names unique without regard to case among those in use. It gives wanted,
// and after them the template that stops being the default. Refusals are under
// templates.INDEX of wanted.
func CheckTemplates(list, wanted []Template) ([]Template, errs.Fields) {
	var f validation
	wanted = settleDefault(list, slices.Clone(wanted), &f)
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
			f.Add(fmt.Sprintf("templates.%d.name", i), fmt.Sprintf("Another template has the name %q; capital letters make no difference.", t.Name))
		}
		names[Fold(t.Name)] = true
	}
	if live > MaxTemplates {
		f.Add("templates", fmt.Sprintf("There must not be more than %d templates.", MaxTemplates))
	}
	return wanted, f.Fields
}

func settleDefault(list, wanted []Template, f *validation) []Template {
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
		// The first there is becomes it.
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

// TemplateChanges lists what became of a template, in the order of its fields as they
// are now. None: nothing changed.
func TemplateChanges(old, now Template) []Change {
	var c changes
	c.text("name", old.Name, now.Name)
	c.add("default", quote(old.Default), quote(now.Default))
	c.add("retired", quote(old.Retired), quote(now.Retired))
	c = append(c, StatusChanges(old.Statuses, now.Statuses)...)
	return append(c, FieldChanges(old.Fields, now.Fields)...)
}

// StatusChanges is the change of a list of statuses, if there is one.
func StatusChanges(old, now []string) []Change {
	var c changes
	if !slices.Equal(old, now) {
		c.add("statuses", quote(old), quote(now))
	}
	return c
}

// FieldChanges lists the definitions that came, went or changed, as JSON objects
// under custom_fields.KEY, and their keys under custom_fields when those that stay
// are in another order.
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
			c.add("custom_fields."+f.Key, null, quote(f))
		case !sameField(was, f):
			c.add("custom_fields."+f.Key, quote(was), quote(f))
		}
	}
	for _, f := range old {
		if _, stays := after[f.Key]; !stays {
			c.add("custom_fields."+f.Key, quote(f), null)
		}
	}
	from, to := keysIn(old, after), keysIn(now, before)
	if !slices.Equal(from, to) {
		c.add("custom_fields", quote(from), quote(to))
	}
	return c
}

func sameField(a, b Field) bool {
	return a.Label == b.Label && a.Type == b.Type && a.Required == b.Required && slices.Equal(a.Options, b.Options)
}

func keysIn(list []Field, others map[string]Field) []string {
	var keys []string
	for _, f := range list {
		if _, there := others[f.Key]; there {
			keys = append(keys, f.Key)
		}
	}
	return keys
}

package model

import (
	"encoding/json"
	"fmt"
	"slices"
)

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

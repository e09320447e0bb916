package model

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Impact is something a change of definitions takes away: values that records have
// would be left without a definition that says what they are.
type Impact struct {
	TemplateID       uint64    // whose definitions; 0: those of orders
	TemplateName     string    // of the template
	Key              string    // the custom field; "" when a status goes
	OldType, NewType FieldType // To is "" when the field goes, equal to From when an option goes
	Choice           string    // the option or the status that goes
}

// widened are the changes of type under which every value stays a good one.
var widened = map[FieldType][]FieldType{
	Text:     {Paragraph},
	Dropdown: {Text, Paragraph},
	Date:     {Text, Paragraph},
	Money:    {Text, Paragraph},
	Email:    {Text, Paragraph},
	Phone:    {Text, Paragraph},
	URL:      {Text, Paragraph},
}

// TemplateImpact lists what a template loses when it becomes another, in the order of its
// fields. For those of orders, the templates have no number and no name.
func TemplateImpact(old, now Template) []Impact {
	list := append(fieldLosses(old.Fields, now.Fields), statusLosses(old.Statuses, now.Statuses)...)
	for i := range list {
		list[i].TemplateID, list[i].TemplateName = old.ID, old.Name
	}
	return list
}

func fieldLosses(before, after []Field) []Impact {
	var list []Impact
	for _, old := range before {
		at := slices.IndexFunc(after, func(f Field) bool { return f.Key == old.Key })
		if at < 0 {
			list = append(list, Impact{Key: old.Key, OldType: old.Type})
			continue
		}
		now := after[at]
		if now.Type != old.Type {
			if !slices.Contains(widened[old.Type], now.Type) {
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

func statusLosses(before, after []string) []Impact {
	var list []Impact
	for _, status := range before {
		if !slices.Contains(after, status) {
			list = append(list, Impact{Choice: status})
		}
	}
	return list
}

// Affects reports whether a record of these definitions would lose by it.
func (l Impact) Affects(custom Values, status string) bool {
	if l.Key == "" {
		return status == l.Choice
	}
	raw, has := custom[l.Key]
	switch {
	case !has:
		return false
	case l.NewType != l.OldType:
		return true
	case l.OldType == Multiselect:
		var chosen []string
		// What cannot be read is what somebody must look at before it goes.
		return json.Unmarshal(raw, &chosen) != nil || slices.Contains(chosen, l.Choice)
	}
	text, ok := stringOf(raw)
	return !ok || text == l.Choice
}

// Path is where the loss stands: custom_fields.KEY or statuses, after
// templates.NUMBER where it is a template's.
func (l Impact) Path() string {
	place := "statuses"
	if l.Key != "" {
		place = "custom_fields." + l.Key
	}
	if l.TemplateID != 0 {
		place = fmt.Sprintf("templates.%d.%s", l.TemplateID, place)
	}
	return place
}

// Message says what so many records of a noun would lose.
func (l Impact) Message(count uint64, noun string) string {
	records, have, are, of := noun+"s", "have", "are", ""
	if count == 1 {
		records, have, are = noun, "has", "is"
	}
	if l.TemplateName != "" {
		of = fmt.Sprintf(" of %q", l.TemplateName)
	}
	switch {
	case l.Key == "":
		return fmt.Sprintf("The status %q%s cannot go: %d %s %s in it.", l.Choice, of, count, records, are)
	case l.NewType == "":
		return fmt.Sprintf("The field %q%s cannot go: %d %s %s a value for it.", l.Key, of, count, records, have)
	case l.NewType != l.OldType:
		return fmt.Sprintf("The field %q%s cannot become %s: %d %s %s a value of type %s for it.", l.Key, of, l.NewType.named(), count, records, have, l.OldType)
	}
	return fmt.Sprintf("The option %q of the field %q%s cannot go: %d %s %s chosen it.", l.Choice, l.Key, of, count, records, have)
}

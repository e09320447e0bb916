package model

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Loss is something a change of definitions takes away: values that records have
// would be left without a definition that says what they are.
type Loss struct {
	Template uint64    // whose definitions; 0: those of orders
	Name     string    // of the template
	Key      string    // the custom field; "" when a status goes
	From, To FieldType // To is "" when the field goes, equal to From when an option goes
	Word     string    // the option or the status that goes
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

// Losses lists what a template loses when it becomes another, in the order of its
// fields. For those of orders, the templates have no number and no name.
func Losses(old, now Template) []Loss {
	list := append(fieldLosses(old.Fields, now.Fields), statusLosses(old.Statuses, now.Statuses)...)
	for i := range list {
		list[i].Template, list[i].Name = old.ID, old.Name
	}
	return list
}

func fieldLosses(before, after []Field) []Loss {
	var list []Loss
	for _, old := range before {
		at := slices.IndexFunc(after, func(f Field) bool { return f.Key == old.Key })
		if at < 0 {
			list = append(list, Loss{Key: old.Key, From: old.Type})
			continue
		}
		now := after[at]
		if now.Type != old.Type {
			if !slices.Contains(widened[old.Type], now.Type) {
				list = append(list, Loss{Key: old.Key, From: old.Type, To: now.Type})
			}
			continue
		}
		for _, option := range old.Options {
			if !slices.Contains(now.Options, option) {
				list = append(list, Loss{Key: old.Key, From: old.Type, To: now.Type, Word: option})
			}
		}
	}
	return list
}

func statusLosses(before, after []string) []Loss {
	var list []Loss
	for _, status := range before {
		if !slices.Contains(after, status) {
			list = append(list, Loss{Word: status})
		}
	}
	return list
}

// Hits reports whether a record of these definitions would lose by it.
func (l Loss) Hits(custom Values, status string) bool {
	if l.Key == "" {
		return status == l.Word
	}
	raw, has := custom[l.Key]
	switch {
	case !has:
		return false
	case l.To != l.From:
		return true
	case l.From == Multiselect:
		var chosen []string
		// What cannot be read is what somebody must look at before it goes.
		return json.Unmarshal(raw, &chosen) != nil || slices.Contains(chosen, l.Word)
	}
	text, ok := stringOf(raw)
	return !ok || text == l.Word
}

// Field is where the loss stands: custom_fields.KEY or statuses, after
// templates.NUMBER where it is a template's.
func (l Loss) Field() string {
	place := "statuses"
	if l.Key != "" {
		place = "custom_fields." + l.Key
	}
	if l.Template != 0 {
		place = fmt.Sprintf("templates.%d.%s", l.Template, place)
	}
	return place
}

// Sentence says what so many records of a noun would lose.
func (l Loss) Sentence(count uint64, noun string) string {
	records, have, are, of := noun+"s", "have", "are", ""
	if count == 1 {
		records, have, are = noun, "has", "is"
	}
	if l.Name != "" {
		of = fmt.Sprintf(" of %q", l.Name)
	}
	switch {
	case l.Key == "":
		return fmt.Sprintf("The status %q%s cannot go: %d %s %s in it.", l.Word, of, count, records, are)
	case l.To == "":
		return fmt.Sprintf("The field %q%s cannot go: %d %s %s a value for it.", l.Key, of, count, records, have)
	case l.To != l.From:
		return fmt.Sprintf("The field %q%s cannot become %s: %d %s %s a value of type %s for it.", l.Key, of, l.To.named(), count, records, have, l.From)
	}
	return fmt.Sprintf("The option %q of the field %q%s cannot go: %d %s %s chosen it.", l.Word, l.Key, of, count, records, have)
}

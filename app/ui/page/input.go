package page

import (
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"

	"deedkeep/app/model"
)

// maxRadioOptions is up to how many of them stand open as radio buttons.
const maxRadioOptions = 4

// Input is one field of a form as web/pages/part_field.html shows it: a control that
// fits its type, its label, and what is wrong with it.
type Input struct {
	Name     string          // in the form, as in the API: county, custom_fields.search_type
	Label    string          // in words
	Type     model.FieldType // which control it gets
	Values   []string        // what stands in it: one, or several of a multiselect
	Options  []string        // of a dropdown or multiselect; also one that the field has lost since
	Required bool            // marked; whether it may stay empty is the vault's to say
	Problem  string          // why it was refused
	Hint     string
	Was      string // fingerprint of what the form shows; "" for none
	Clash    bool   // others changed it while the form was open, to another value
	Others   string // who did, and when
	Theirs   string // that value as people read it; "" for blank
	Lookup   string // the address of a part that says more about what is typed; "" for none
	Wide     bool   // takes the whole width
	Focus    bool   // begins here
	Fresh    bool   // of a record that is not made yet: nothing is missing
}

// ID is the element's, unique in a page with one form.
func (i Input) ID() string { return strings.ReplaceAll(i.Name, ".", "-") }

// Value is what stands in a field of one value.
func (i Input) Value() string {
	if len(i.Values) == 0 {
		return ""
	}
	return i.Values[0]
}

// Has reports whether an option is chosen.
func (i Input) Has(option string) bool { return slices.Contains(i.Values, option) }

// Empty reports whether it has no value.
func (i Input) Empty() bool {
	return !slices.ContainsFunc(i.Values, func(v string) bool { return v != "" })
}

// Missing reports a value that should be there.
func (i Input) Missing() bool { return i.Required && i.Empty() && !i.Fresh }

// Radios reports a dropdown whose options all stand open.
func (i Input) Radios() bool { return i.Type == model.Dropdown && len(i.Options) <= maxRadioOptions }

// Grouped reports a field of several controls, which share a legend.
func (i Input) Grouped() bool { return i.Radios() || i.Type == model.Multiselect }

// Described names the elements that say more about the field.
func (i Input) Described() string {
	var ids []string
	for _, d := range []struct{ text, id string }{{i.Hint, "-hint"}, {i.Others, "-others"}, {i.Problem, "-problem"}} {
		if d.text != "" {
			ids = append(ids, i.ID()+d.id)
		}
	}
	return strings.Join(ids, " ")
}

// CustomFieldName is the name of a custom field in a form.
func CustomFieldName(key string) string { return "custom_fields." + key }

// NewInput is a custom field with values that stand in it.
func NewInput(def model.Field, values []string) Input {
	in := Input{Name: CustomFieldName(def.Key), Label: def.Label, Type: def.Type, Values: values, Required: def.Required, Options: def.Options, Wide: def.Type == model.Paragraph || def.Type == model.Multiselect}
	in.AddOptions(values)
	return in
}

// AddOptions adds values to the options of a field that has options, where they are none.
func (i *Input) AddOptions(values []string) {
	for _, v := range values {
		if v != "" && i.Type.HasOptions() && !slices.Contains(i.Options, v) {
			i.Options = append(slices.Clone(i.Options), v)
		}
	}
}

// UnchangedValues is what a form sends of a field that no one edits in it: a control holds
// only what fits its type, whatever the type was when the value was stored.
func (i Input) UnchangedValues() []string {
	switch i.Type {
	case model.Multiselect:
		return i.Values
	case model.Dropdown:
		for _, option := range slices.Backward(i.Options) {
			if i.Has(option) {
				return []string{option} // of several, the last one stays chosen
			}
		}
		return nil
	case model.Checkbox:
		if !i.Empty() && i.Value() != "true" {
			return []string{"false"}
		}
	case model.Date:
		if day, err := time.Parse(time.DateOnly, i.Value()); err != nil || day.Year() < 1 {
			return nil
		}
	}
	return []string{i.Value()}
}

// newTextInput is a field of one line that every record has.
func newTextInput(name, label, value string) Input {
	return Input{Name: name, Label: label, Type: model.Text, Values: []string{value}}
}

// StoredInputs are inputs of a definition set with the values of a record.
func StoredInputs(defs []model.Field, values model.Values) []Input {
	list := make([]Input, 0, len(defs))
	for _, def := range defs {
		list = append(list, NewInput(def, StoredTexts(values[def.Key])))
	}
	return list
}

// SubmittedInputs are inputs with what a form holds, and what was refused of it.
func SubmittedInputs(defs []model.Field, form url.Values, refused map[string]string) []Input {
	list := make([]Input, 0, len(defs))
	for _, def := range defs {
		in := NewInput(def, SubmittedValues(def.Type, form[CustomFieldName(def.Key)]))
		in.Problem = ProblemText(def.Type, refused[in.Name])
		list = append(list, in)
	}
	return list
}

// Amount is a number, or an amount of money, with commas between its thousands.
func (i Input) Amount() string { return formatAmount(i.Type, i.Value()) }

// Control is the type of the control of one line. In a control of a type of its own, a
// browser rewrites foreign letters and sends nothing that it finds fault with. A value
// that this could happen to gets a plain control.
func (i Input) Control() string {
	kind, special := map[model.FieldType]string{model.Email: "email", model.Phone: "tel", model.URL: "url"}[i.Type]
	foreign := strings.ContainsFunc(i.Value(), func(r rune) bool { return r > unicode.MaxASCII }) || strings.Contains(strings.ToLower(i.Value()), "xn--")
	if !special || foreign || !i.Empty() && !i.Type.Accepts(i.Value()) {
		return "text"
	}
	return kind
}

// Link is the address that a value leads to; "" for none.
func (i Input) Link() string {
	switch {
	case i.Type == model.URL && i.Type.Accepts(i.Value()):
		return i.Value()
	case i.Type == model.Email && i.Type.Accepts(i.Value()):
		return "mailto:" + i.Value()
	}
	return ""
}

// Keyboard is the one that a telephone shows for the field.
func (i Input) Keyboard() string {
	switch i.Type {
	case model.Number, model.Money:
		return "decimal"
	case model.Phone:
		return "tel"
	}
	return string(i.Type)
}

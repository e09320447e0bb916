package page

import (
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"

	"deedkeep/app/model"
)

// maxRadioOptions is the maximum number of options shown as radio buttons. Longer lists are shown
// as dropdowns.
const maxRadioOptions = 4

// Input is a form input, rendered by web/pages/part-field.html.
type Input struct {
	Name     string          // field name in the form and in the API: county, custom_fields.search_type
	Label    string          // shown to the user
	Type     model.FieldType // determines the HTML control
	Values   []string        // one value; a multiselect may have several
	Options  []string        // options of a dropdown or multiselect, including stored values that are no longer options
	Required bool            // marked as required; the vault decides whether it may be blank
	Problem  string          // why the value was rejected
	Question string          // asks about a value that can't be right
	Kept     bool            // the user says to keep that value
	Hint     string
	Warning  string   // what to look at; the value is saved without a question
	Was      string   // fingerprint of the value when the form was rendered; "" if there is none
	Clash    bool     // this user and another user entered different values
	Others   string   // who else changed the value, and when
	Theirs   string   // the other user's value, formatted; "" if blank
	Used     []string // values of other records, to choose from while typing
	Lookup   string   // address that returns a hint about the typed value; "" if there is none
	Wide     bool     // spans all columns
	Focus    bool     // gets the focus
	Fresh    bool     // the record is new: blank required fields are not marked
}

// ID returns the HTML ID of the input.
func (i Input) ID() string { return strings.ReplaceAll(i.Name, ".", "-") }

// Value returns the first value, or "" if there is none.
func (i Input) Value() string {
	if len(i.Values) == 0 {
		return ""
	}
	return i.Values[0]
}

// Has reports whether the option is selected.
func (i Input) Has(option string) bool { return slices.Contains(i.Values, option) }

// Empty reports whether the input is blank.
func (i Input) Empty() bool {
	return !slices.ContainsFunc(i.Values, func(v string) bool { return v != "" })
}

// Asked reports whether the user has to answer a question about the value.
func (i Input) Asked() bool { return i.Question != "" && !i.Kept }

// Invalid reports whether the user has to correct the value or answer a question about it.
func (i Input) Invalid() bool { return i.Problem != "" || i.Asked() }

// Missing reports whether to mark the input because a required value is missing.
func (i Input) Missing() bool { return i.Required && i.Empty() && !i.Fresh }

// Radios reports whether the input is a dropdown that is shown as radio buttons.
func (i Input) Radios() bool { return i.Type == model.Dropdown && len(i.Options) <= maxRadioOptions }

// Grouped reports whether the input consists of several controls with a common legend.
func (i Input) Grouped() bool { return i.Radios() || i.Type == model.Multiselect }

// Described returns the HTML IDs of the elements that describe the input, for aria-describedby.
func (i Input) Described() string {
	var ids []string
	for _, d := range []struct{ text, id string }{
		{i.Hint, "-hint"}, {i.Warning, "-warning"}, {i.Others, "-others"}, {i.Question, "-question"}, {i.Problem, "-problem"},
	} {
		if d.text != "" {
			ids = append(ids, i.ID()+d.id)
		}
	}
	return strings.Join(ids, " ")
}

// CustomFieldName returns the form field name for the custom field with the given key.
func CustomFieldName(key string) string { return "custom_fields." + key }

// NewInput returns the input for a custom field with the given values.
func NewInput(def model.Field, values []string) Input {
	in := Input{Name: CustomFieldName(def.Key), Label: def.Label, Type: def.Type, Values: values, Required: def.Required, Options: def.Options,
		Wide: def.Type == model.Paragraph || def.Type == model.Multiselect}
	if def.Key == "vesting" { // often mistaken for the estate, such as fee simple
		in.Hint = "Who holds title, and how. Such as Mary Jones, a single woman."
	}
	in.AddOptions(values)
	return in
}

// AddOptions adds the values that are not options yet to the options of a dropdown or multiselect.
func (i *Input) AddOptions(values []string) {
	for _, v := range values {
		if v != "" && i.Type.HasOptions() && !slices.Contains(i.Options, v) {
			i.Options = append(slices.Clone(i.Options), v)
		}
	}
}

// UnchangedValues returns the values that a browser submits if the user doesn't edit the field.
// Some controls drop values that don't match their type, as can happen after the field's type was
// changed.
func (i Input) UnchangedValues() []string {
	switch i.Type {
	case model.Multiselect:
		return i.Values
	case model.Dropdown:
		for _, option := range slices.Backward(i.Options) {
			if i.Has(option) {
				return []string{option} // if several options are selected, browsers submit the last one
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

// FieldInputs returns the inputs for the fields that every order or abstract has, with their values.
func FieldInputs(fields []model.FieldValue) (list []Input) {
	for _, f := range fields {
		list = append(list, Input{Name: f.Key, Label: f.Label, Type: f.Type, Required: f.Required,
			Values: []string{f.Value}})
	}
	return list
}

// SubmittedFieldInputs returns the inputs for these fields with submitted values and their problems.
func SubmittedFieldInputs(fields []model.FieldValue, form url.Values, rejected map[string]string,
	now time.Time) []Input {
	list := FieldInputs(fields)
	for i := range list {
		in := &list[i]
		in.Values, in.Problem = SubmittedValues(in.Type, in.Name, []string{form.Get(in.Name)}, now), rejected[in.Name]
	}
	return list
}

// SubmittedFields returns those of these fields that a form contains.
func SubmittedFields(fields []model.FieldValue, form url.Values, now time.Time) model.Inputs {
	in := model.Inputs{}
	for _, f := range fields {
		if values, sent := form[f.Key]; sent {
			in[f.Key] = model.StringInput(strings.Join(SubmittedValues(f.Type, f.Key, values, now), ""))
		}
	}
	return in
}

// StoredInputs returns the inputs for custom fields with their stored values.
func StoredInputs(defs []model.Field, values model.CustomValues) []Input {
	list := make([]Input, 0, len(defs))
	for _, def := range defs {
		list = append(list, NewInput(def, model.StoredTexts(values[def.Key])))
	}
	return list
}

// SubmittedInputs returns the inputs for custom fields with the submitted values and any problems.
func SubmittedInputs(defs []model.Field, form url.Values, rejected map[string]string, now time.Time) []Input {
	list := make([]Input, 0, len(defs))
	for _, def := range defs {
		in := NewInput(def, SubmittedValues(def.Type, def.Key, form[CustomFieldName(def.Key)], now))
		in.Problem = rejected[in.Name]
		list = append(list, in)
	}
	return list
}

// Amount returns the value formatted as a number or an amount of money, with commas as thousands
// separators.
func (i Input) Amount() string { return formatAmount(i.Type, i.Value()) }

// Control returns the type attribute of a single-line input. Browsers rewrite international
// characters in email and URL inputs, and they don't submit values that they consider invalid. If
// the value has such characters or is invalid, the input is a plain text input.
func (i Input) Control() string {
	kind, special := map[model.FieldType]string{model.Email: "email", model.Phone: "tel", model.URL: "url"}[i.Type]
	foreign := strings.ContainsFunc(i.Value(), func(r rune) bool { return r > unicode.MaxASCII }) || strings.Contains(strings.ToLower(i.Value()), "xn--")
	if !special || foreign || !i.Empty() && !i.Type.Accepts(i.Value()) {
		return "text"
	}
	return kind
}

// Link returns the URL that the value links to, or "" if it is not a link.
func (i Input) Link() string {
	switch {
	case i.Type == model.URL && i.Type.Accepts(i.Value()):
		return i.Value()
	case i.Type == model.Email && i.Type.Accepts(i.Value()):
		return "mailto:" + i.Value()
	}
	return ""
}

// Keyboard returns the inputmode attribute, which selects the on-screen keyboard of phones.
func (i Input) Keyboard() string {
	switch i.Type {
	case model.Number, model.Money:
		return "decimal"
	case model.Phone:
		return "tel"
	}
	return string(i.Type)
}

package model

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"deedkeep/app/errs"
)

// FieldType is the type of a custom field.
type FieldType string

// Field types.
const (
	Text        FieldType = "text"
	Paragraph   FieldType = "paragraph"
	Date        FieldType = "date"
	Dropdown    FieldType = "dropdown"
	Multiselect FieldType = "multiselect"
	Number      FieldType = "number"
	Checkbox    FieldType = "checkbox"
	Money       FieldType = "money"
	Email       FieldType = "email"
	Phone       FieldType = "phone"
	URL         FieldType = "url"
)

// Field defines a custom field of orders, or of the abstracts of a template.
type Field struct {
	Key      string    `json:"key"`
	Label    string    `json:"label"`
	Type     FieldType `json:"type"`
	Required bool      `json:"required,omitempty"`
	Options  []string  `json:"options,omitempty"`
}

// Rules are the settings that affect validation.
type Rules struct{ EnforceRequired bool }

var numberText = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

// checkCustom validates custom field values. Unknown keys are ignored, and keys without a value
// are omitted from the result.
func (v *validation) checkCustom(in Custom, defs []Field, rules Rules) CustomValues {
	in.reportUnknownKeys(defs)
	values := CustomValues{}
	for _, def := range defs {
		if value := v.custom(def, in.Values[def.Key], rules); value != nil {
			values[def.Key] = value
		}
	}
	return values
}

// custom validates the value of one custom field. It returns the JSON to store, or nil if there
// is no value or it is invalid.
func (v *validation) custom(def Field, in Input, rules Rules) json.RawMessage {
	field := "custom_fields." + def.Key
	before := len(v.Fields)
	value := v.value(field, def, in)
	if value == nil && len(v.Fields) == before && rules.EnforceRequired && def.Required {
		v.Add(field, errs.Required)
	}
	return value
}

// checkCustomKind rejects a custom_fields input that isn't an object. The API contract lists this
// error before the errors for individual keys.
func (v *validation) checkCustomKind(in Custom) {
	const field = "custom_fields"
	switch in.Kind {
	case CustomNotObject:
		v.Add(field, errs.NotArray)
	case CustomNotJSON:
		v.Add(field, errs.NotJSON)
	case CustomInvalidText:
		v.Add(field, errs.InvalidCharacters)
	}
}

// value returns the JSON to store, or nil if there is no value or it is invalid.
func (v *validation) value(field string, def Field, in Input) json.RawMessage {
	switch {
	case in.IsBlank():
	case def.Type == Multiselect:
		return v.multiselect(field, def.Options, in)
	case def.Type == Number:
		return v.number(field, in)
	case def.Type != Checkbox:
		return v.text(field, def, in)
	case in.Kind != InputBoolean:
		v.Add(field, errs.NotBoolean)
	default:
		return in.JSON()
	}
	return nil
}

// text validates the value of a text, choice, or date field. It also accepts a JSON number,
// except for dates.
func (v *validation) text(field string, def Field, in Input) json.RawMessage {
	if def.Type != Date {
		in = in.asText()
	}
	var value string
	switch def.Type {
	case Paragraph:
		value = v.paragraph(field, in)
	case Date:
		value = v.date(field, in)
	case Money:
		value = v.money(field, in)
	case Email:
		value = v.email(field, in)
	case Phone:
		value = v.phone(field, in)
	case URL:
		value = v.url(field, in)
	default:
		value = v.line(field, in, MaxLineLength)
	}
	if value == "" {
		return nil
	}
	if def.Type == Dropdown && !slices.Contains(def.Options, value) {
		v.Add(field, errs.InvalidChoice)
		return nil
	}
	return encodeJSON(value)
}

// number accepts a JSON number, or a string that contains one, and keeps the digits as sent.
func (v *validation) number(field string, in Input) json.RawMessage {
	in.Value = strings.TrimSpace(in.Value)
	switch {
	case in.Kind == InputString && in.Value == "":
		return nil
	case in.Kind != InputString && in.Kind != InputNumber, !numberText.MatchString(in.Value):
		v.Add(field, errs.NotNumber)
		return nil
	case len(in.Value) > MaxLineLength:
		v.Add(field, errs.TooLong, MaxLineLength)
		return nil
	}
	return in.JSON()
}

// multiselect accepts a list of options, or one option as a string. It removes duplicates and
// keeps the order.
func (v *validation) multiselect(field string, options []string, in Input) json.RawMessage {
	items := in.Items
	switch {
	case in.Kind == InputString:
		items = []Input{in}
	case in.Kind != InputList:
		v.Add(field, errs.NotArray)
		return nil
	case len(items) > maxOptions:
		v.Add(field, TooManyItems, maxOptions)
		return nil
	}
	var chosen []string
	for _, item := range items {
		option := strings.TrimSpace(item.Value)
		switch {
		case item.IsBlank() || item.Kind == InputString && option == "":
		case item.Kind != InputString || !slices.Contains(options, option):
			v.Add(field, errs.InvalidChoice)
			return nil
		case !slices.Contains(chosen, option):
			chosen = append(chosen, option)
		}
	}
	if len(chosen) == 0 {
		return nil
	}
	return encodeJSON(chosen)
}

func decodeString(raw json.RawMessage) (string, bool) {
	if len(raw) == 0 || raw[0] != '"' {
		return "", false
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return "", false
	}
	return s, true
}

// encodeJSON encodes a value like json.Marshal, but without HTML escapes.
func encodeJSON[T string | []string | uint64 | []uint64 | bool | Field](text T) json.RawMessage {
	return marshalPlain(text)
}

// marshalPlain is encodeJSON for values of any type that can always be encoded.
func marshalPlain(value any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(value) // encoding plain values into a buffer never fails
	return bytes.TrimRight(b.Bytes(), "\n")
}

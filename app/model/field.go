package model

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// FieldType is the type of a custom field (API.md, "Field definitions").
type FieldType string

// The types a field may have.
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

// Field defines one custom field of a template, or of the workspace's orders.
type Field struct {
	Key      string    `json:"key"`
	Label    string    `json:"label"`
	Type     FieldType `json:"type"`
	Required bool      `json:"required,omitempty"`
	Options  []string  `json:"options,omitempty"`
}

// Rules are the settings that change what a draft must hold.
type Rules struct{ EnforceRequired bool }

var numberText = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

// checkCustom applies a definition set to what was sent. Unknown keys are ignored
// and keys without a value are left out (API.md, "Field definitions").
func (f *validation) checkCustom(in Custom, defs []Field, rules Rules) Values {
	in.tellIgnored(defs)
	values := Values{}
	for _, def := range defs {
		if value := f.custom(def, in.Values[def.Key], rules); value != nil {
			values[def.Key] = value
		}
	}
	return values
}

// custom applies one definition to what was sent for its key, nothing or null for
// no value. It gives the JSON to store, nil for "no value" or after a refusal.
func (f *validation) custom(def Field, raw json.RawMessage, rules Rules) json.RawMessage {
	field := "custom_fields." + def.Key
	before := len(f.Fields)
	value := f.value(field, def, bytes.TrimSpace(raw))
	if value == nil && len(f.Fields) == before && rules.EnforceRequired && def.Required {
		f.Add(field, required(field))
	}
	return value
}

// customForm refuses a custom_fields that is no map; it stands at its own place
// in the table of fields, before the refusals of single keys.
func (f *validation) customForm(in Custom) {
	const field = "custom_fields"
	switch in.Kind {
	case CustomNotObject:
		f.Add(field, notArray(field))
	case CustomNotJSON:
		f.Add(field, notJSON(field))
	case CustomInvalidText:
		f.Add(field, badCharacters(field))
	}
}

// value gives the JSON to store, nil for "no value" or after a refusal.
func (f *validation) value(field string, def Field, raw json.RawMessage) json.RawMessage {
	if noValue(raw) {
		return nil
	}
	switch def.Type {
	case Multiselect:
		return f.multiselect(field, def.Options, raw)
	case Checkbox:
		if s := string(raw); s != "true" && s != "false" {
			f.Add(field, notBoolean(field))
			return nil
		}
		return slices.Clone(raw)
	case Number:
		return f.number(field, raw)
	default:
		return f.text(field, def, raw)
	}
}

// text takes a string, or a number as its literal text, for the textual types.
func (f *validation) text(field string, def Field, raw json.RawMessage) json.RawMessage {
	in := Input{Kind: InputNotString}
	if s, ok := stringOf(raw); ok {
		in = StringInput(s)
	} else if isNumber(raw) && def.Type != Date {
		in = StringInput(string(raw))
	}
	var value string
	switch def.Type {
	case Paragraph:
		value = f.paragraph(field, in)
	case Date:
		value = f.date(field, in)
	case Money:
		value = f.money(field, in)
	case Email:
		value = f.email(field, in)
	case Phone:
		value = f.phone(field, in)
	case URL:
		value = f.url(field, in)
	default:
		value = f.line(field, in, MaxLineLength)
	}
	if value == "" {
		return nil
	}
	if def.Type == Dropdown && !slices.Contains(def.Options, value) {
		f.Add(field, notSelectable(field))
		return nil
	}
	return quote(value)
}

// paragraph is kept as sent: its white space is the writer's.
func (f *validation) paragraph(field string, in Input) string {
	if in.Kind == InputNotString {
		f.Add(field, notString(field))
		return ""
	}
	if !utf8.ValidString(in.Value) || strings.ContainsRune(in.Value, 0) {
		f.Add(field, badCharacters(field))
		return ""
	}
	if utf8.RuneCountInString(in.Value) > MaxParagraphLength {
		f.Add(field, tooLong(field, MaxParagraphLength))
		return ""
	}
	return in.Value
}

// number keeps a JSON number, or a string that is one, as it was sent.
func (f *validation) number(field string, raw json.RawMessage) json.RawMessage {
	s, quoted := stringOf(raw)
	s = strings.TrimSpace(s)
	literal := s
	if !quoted {
		literal = string(raw)
	}
	switch {
	case quoted && s == "":
		return nil
	case !numberText.MatchString(literal):
		f.Add(field, notNumber(field))
		return nil
	case len(literal) > MaxLineLength:
		f.Add(field, tooLong(field, MaxLineLength))
		return nil
	case quoted:
		return quote(s)
	}
	return slices.Clone(raw)
}

// multiselect takes an array of options, or one option as a string; repeats are
// dropped, the order is kept.
func (f *validation) multiselect(field string, options []string, raw json.RawMessage) json.RawMessage {
	var items []json.RawMessage // empty: decoding would write through a first item into raw
	switch raw[0] {
	case '"':
		items = append(items, raw)
	case '[':
		if err := json.Unmarshal(raw, &items); err != nil {
			f.Add(field, notArray(field))
			return nil
		}
	default:
		f.Add(field, notArray(field))
		return nil
	}
	var chosen []string
	for _, item := range items {
		if noValue(item) {
			continue
		}
		s, ok := stringOf(item)
		s = strings.TrimSpace(s)
		if ok && s == "" {
			continue
		}
		if !ok || !slices.Contains(options, s) {
			f.Add(field, notSelectable(field))
			return nil
		}
		if !slices.Contains(chosen, s) {
			chosen = append(chosen, s)
		}
	}
	if len(chosen) == 0 {
		return nil
	}
	return quote(chosen)
}

// noValue reports null, "" and [], which mean that a key has no value.
func noValue(raw json.RawMessage) bool {
	switch string(raw) {
	case "", "null", `""`, "[]":
		return true
	}
	return len(raw) > 1 && raw[0] == '[' && len(bytes.TrimSpace(raw[1:len(raw)-1])) == 0
}

func isNumber(raw json.RawMessage) bool { return numberText.Match(raw) }

func stringOf(raw json.RawMessage) (string, bool) {
	if len(raw) == 0 || raw[0] != '"' {
		return "", false
	}
	var s string
	if err := json.Unmarshal(raw, &s); err != nil {
		return "", false
	}
	return s, true
}

// quote is text as JSON without the HTML escapes of json.Marshal.
func quote[T string | []string | uint64 | []uint64 | bool | Field](text T) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(text) // texts, numbers and lists of them always encode, and a buffer never refuses
	return bytes.TrimRight(b.Bytes(), "\n")
}

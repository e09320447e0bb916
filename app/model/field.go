package model

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

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
		v.Add(field, errs.TooMany, maxOptions)
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

// Limits on definitions. They are high enough for any firm and low enough for one page and one
// request.
const (
	maxFields    = 200  // per template, and for orders
	maxOptions   = 500  // per field
	maxStatuses  = 100  // per template, and for orders
	maxTemplates = 1000 // not counting retired ones
)

// fieldKey is the format of a custom field's key.
var fieldKey = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)

// FieldTypes returns all field types, in the order in which help lists them.
func FieldTypes() []FieldType {
	return []FieldType{Text, Paragraph, Date, Dropdown, Multiselect, Number, Checkbox, Money, Email, Phone, URL}
}

// withArticle returns the type with its indefinite article, for messages.
func (t FieldType) withArticle() string {
	switch t {
	case Money:
		return string(t)
	case Email:
		return "an " + string(t)
	}
	return "a " + string(t)
}

// HasOptions reports whether values of the type are chosen from a list of options.
func (t FieldType) HasOptions() bool { return t == Dropdown || t == Multiselect }

// builtinAbstractKeys and builtinOrderKeys are the API names of built-in fields. A custom field
// can't use one of them as its key, because filters, exports, and history identify fields only by
// name.
var (
	builtinAbstractKeys = append(AbstractInputs(), "id", "template_id", statusName, customName, "files", "created_at", "updated_at")
	builtinOrderKeys    = append(OrderInputs(), "id", customName, "created_at", "updated_at")
)

// NewAbstractFieldKey derives a key for a new custom field of abstracts from its label. The key
// differs from the keys in defs and from the names of built-in fields.
func NewAbstractFieldKey(label string, defs []Field) string {
	return newFieldKey(label, defs, builtinAbstractKeys)
}

// NewOrderFieldKey does the same as NewAbstractFieldKey, but for orders.
func NewOrderFieldKey(label string, defs []Field) string {
	return newFieldKey(label, defs, builtinOrderKeys)
}

func newFieldKey(label string, defs []Field, builtinKeys []string) string {
	const maxLen = 60 // keys can have 64 characters; the rest is for a numeric suffix
	var b strings.Builder
	for _, r := range strings.ToLower(label) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "_"):
			b.WriteByte('_')
		}
		if b.Len() == maxLen {
			break
		}
	}
	base := strings.Trim(b.String(), "_")
	if base == "" || base[0] < 'a' {
		base = strings.TrimSuffix("field_"+base, "_")
	}
	base = strings.TrimRight(base[:min(len(base), maxLen)], "_")
	key := base
	taken := func(f Field) bool { return f.Key == key }
	for n := 2; slices.Contains(builtinKeys, key) || slices.ContainsFunc(defs, taken); n++ {
		key = fmt.Sprintf("%s_%d", base, n)
	}
	return key
}

// CheckOrderFields validates the custom fields of orders and returns them with trimmed labels
// and options. Errors have paths such as custom_fields.0.key.
func CheckOrderFields(defs []Field) ([]Field, errs.Fields) {
	var f validation
	defs = f.definitions("custom_fields", defs, builtinOrderKeys)
	return defs, f.Fields
}

// CheckStatuses validates the list of order statuses and returns them trimmed. At least one
// status is required. Errors have paths such as statuses.0.
func CheckStatuses(statuses []string) ([]string, errs.Fields) {
	var f validation
	if len(statuses) == 0 {
		f.Add("statuses", "Orders need at least one status. New orders get the first one.")
	}
	statuses = f.names("statuses", "status", statuses, maxStatuses)
	return statuses, f.Fields
}

// definitions validates each definition in a set, and checks that the keys are unique.
func (v *validation) definitions(path string, defs []Field, builtinKeys []string) []Field {
	if len(defs) > maxFields {
		v.Add(path, "At most %d fields are allowed.", maxFields)
		return nil
	}
	seen := map[string]bool{}
	out := make([]Field, 0, len(defs))
	for i, def := range defs {
		at := fmt.Sprintf("%s.%d", path, i)
		switch {
		case !fieldKey.MatchString(def.Key):
			v.Add(at+".key", "The key %q is invalid. Use 1 to 64 of a-z, 0-9, and _, starting with a letter.", def.Key)
		case slices.Contains(builtinKeys, def.Key):
			v.Add(at+".key", "The key %q is used by a built-in field.", def.Key)
		case seen[def.Key]:
			v.Add(at+".key", "The key %q is used twice.", def.Key)
		}
		seen[def.Key] = true
		def.Label = v.name(at+".label", "label", def.Label)
		def.Options = v.options(at, def)
		out = append(out, def)
	}
	return out
}

func (v *validation) options(at string, def Field) []string {
	switch {
	case !slices.Contains(FieldTypes(), def.Type):
		v.Add(at+".type", "The type %q is unknown. Types are %s.", def.Type, join(FieldTypes()))
	case !def.Type.HasOptions() && len(def.Options) > 0:
		v.Add(at+".options", "Only a dropdown or multiselect can have options, not %s.", def.Type.withArticle())
	case def.Type.HasOptions() && len(def.Options) == 0:
		v.Add(at+".options", "A %s field needs options.", def.Type)
	default:
		return v.names(at+".options", "option", def.Options, maxOptions)
	}
	return nil
}

// names validates each name in a list, and checks that the names are unique, ignoring case.
// itemName is what messages call an item.
func (v *validation) names(path, itemName string, list []string, limit int) []string {
	if len(list) > limit {
		v.Add(path, "At most %d are allowed.", limit)
		return nil
	}
	seen := map[string]bool{}
	var out []string
	for i, text := range list {
		at := fmt.Sprintf("%s.%d", path, i)
		text = v.name(at, itemName, text)
		if fold := Fold(text); text != "" && seen[fold] {
			v.Add(at, "%q is listed twice (ignoring case).", text)
		} else {
			seen[fold] = true
		}
		out = append(out, text)
	}
	return out
}

// name validates a display name: 1 to 255 characters without control characters. itemName is what
// messages call the item.
func (v *validation) name(path, itemName, text string) string {
	var rejected validation
	value := rejected.line(itemName, StringInput(text), MaxNameLength)
	switch {
	case len(rejected.Fields) > 0:
	case value == "":
		rejected.Add(itemName, errs.Required)
	case strings.ContainsFunc(value, unicode.IsControl):
		rejected.Add(itemName, errs.InvalidCharacters)
	}
	for _, r := range rejected.Fields {
		v.AddProblem(path, r.Problems[0])
	}
	return value
}

func join(types []FieldType) string {
	var words []string
	for _, t := range types {
		words = append(words, string(t))
	}
	return strings.Join(words, ", ")
}

package model

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"deedkeep/app/errs"
)

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

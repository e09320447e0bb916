package model

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"deedkeep/app/errs"
)

// At most so many (API.md, "Field definitions", asks for bounds without naming
// them): enough for any firm, little enough for a page and a request.
const (
	MaxFields    = 200  // in one set of definitions
	MaxOptions   = 500  // of one field
	MaxStatuses  = 100  // of one template, or of orders
	MaxTemplates = 1000 // that are not retired
)

// fieldKey is the form of a field's key (API.md, "Field definitions").
var fieldKey = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)

// FieldTypes are all types, in the order in which help lists them.
func FieldTypes() []FieldType {
	return []FieldType{Text, Paragraph, Date, Dropdown, Multiselect, Number, Checkbox, Money, Email, Phone, URL}
}

// named is the type in a sentence, with its article.
func (t FieldType) named() string {
	switch t {
	case Money:
		return string(t)
	case Email:
		return "an " + string(t)
	}
	return "a " + string(t)
}

// HasOptions reports a type whose values come from options.
func (t FieldType) HasOptions() bool { return t == Dropdown || t == Multiselect }

// abstractOwn and orderOwn are what a record has beside its custom fields. A custom
// field of the same name would be one word for two things in every filter, export
// and history, so it is refused.
var (
	abstractOwn = []string{"id", "template_id", "status", "address", "city", "county", "state", "tax_map", "custom_fields", "files", "created_at", "updated_at"}
	orderOwn    = []string{"id", "order_number", "status", "due_date", "address", "city", "county", "state", "custom_fields", "created_at", "updated_at"}
)

// NewAbstractFieldKey makes the key of a new custom field of abstracts out of its label, one
// that none of defs has and every abstract has not anyway.
func NewAbstractFieldKey(label string, defs []Field) string { return keyOf(label, defs, abstractOwn) }

// NewOrderFieldKey is NewAbstractFieldKey for orders.
func NewOrderFieldKey(label string, defs []Field) string { return keyOf(label, defs, orderOwn) }

func keyOf(label string, defs []Field, own []string) string {
	const most = 60 // of 64: a number may follow
	var b strings.Builder
	for _, r := range strings.ToLower(label) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "_"):
			b.WriteByte('_')
		}
		if b.Len() == most {
			break
		}
	}
	base := strings.Trim(b.String(), "_")
	if base == "" || base[0] < 'a' {
		base = strings.TrimSuffix("field_"+base, "_")
	}
	base = strings.TrimRight(base[:min(len(base), most)], "_")
	key := base
	taken := func(f Field) bool { return f.Key == key }
	for n := 2; slices.Contains(own, key) || slices.ContainsFunc(defs, taken); n++ {
		key = fmt.Sprintf("%s_%d", base, n)
	}
	return key
}

// CheckOrderFields applies every rule to the custom fields of orders and gives them
// trimmed. Refusals are under custom_fields.0.key and the like.
func CheckOrderFields(defs []Field) ([]Field, errs.Fields) {
	var f validation
	defs = f.definitions("custom_fields", defs, orderOwn)
	return defs, f.Fields
}

// CheckStatuses applies every rule to the statuses of orders, of which there must be
// one, and gives them trimmed. Refusals are under statuses.0 and the like.
func CheckStatuses(statuses []string) ([]string, errs.Fields) {
	var f validation
	if len(statuses) == 0 {
		f.Add("statuses", "Orders need at least one status; the first is given to new orders.")
	}
	statuses = f.names("statuses", "status", statuses, MaxStatuses)
	return statuses, f.Fields
}

// definitions applies the rules of a set: each field by itself, keys unique.
func (f *validation) definitions(path string, defs []Field, own []string) []Field {
	if len(defs) > MaxFields {
		f.Add(path, fmt.Sprintf("There must not be more than %d fields.", MaxFields))
		return nil
	}
	seen := map[string]bool{}
	out := make([]Field, 0, len(defs))
	for i, def := range defs {
		at := fmt.Sprintf("%s.%d", path, i)
		switch {
		case !fieldKey.MatchString(def.Key):
			f.Add(at+".key", fmt.Sprintf("The key %q must be 1 to 64 of a-z, 0-9 and _, and begin with a letter.", def.Key))
		case slices.Contains(own, def.Key):
			f.Add(at+".key", fmt.Sprintf("The key %q is a field that every record has.", def.Key))
		case seen[def.Key]:
			f.Add(at+".key", fmt.Sprintf("The key %q is there twice.", def.Key))
		}
		seen[def.Key] = true
		def.Label = f.name(at+".label", "label", def.Label)
		def.Options = f.options(at, def)
		out = append(out, def)
	}
	return out
}

func (f *validation) options(at string, def Field) []string {
	switch {
	case !slices.Contains(FieldTypes(), def.Type):
		f.Add(at+".type", fmt.Sprintf("The type %q is none; there are %s.", def.Type, join(FieldTypes())))
	case !def.Type.HasOptions() && len(def.Options) > 0:
		f.Add(at+".options", fmt.Sprintf("Options belong to a dropdown or a multiselect, not to %s.", def.Type.named()))
	case def.Type.HasOptions() && len(def.Options) == 0:
		f.Add(at+".options", fmt.Sprintf("A %s needs options.", def.Type))
	default:
		return f.names(at+".options", "option", def.Options, MaxOptions)
	}
	return nil
}

// names applies the rules of a list of names: each one by itself, unique without
// regard to case; noun is what each is called.
func (f *validation) names(path, noun string, list []string, most int) []string {
	if len(list) > most {
		f.Add(path, fmt.Sprintf("There must not be more than %d.", most))
		return nil
	}
	seen := map[string]bool{}
	var out []string
	for i, text := range list {
		at := fmt.Sprintf("%s.%d", path, i)
		text = f.name(at, noun, text)
		if fold := Fold(text); text != "" && seen[fold] {
			f.Add(at, fmt.Sprintf("%q is there twice; capital letters make no difference.", text))
		} else {
			seen[fold] = true
		}
		out = append(out, text)
	}
	return out
}

// name applies the rules of what people read and choose: 1 to 255 characters in one
// line that shows as it is. Sentences call it by the noun.
func (f *validation) name(path, noun, text string) string {
	var refused validation
	value := refused.line(noun, StringInput(text), MaxNameLength)
	switch {
	case len(refused.Fields) > 0:
	case value == "":
		refused.Add(noun, required(noun))
	case strings.ContainsFunc(value, unicode.IsControl):
		refused.Add(noun, badCharacters(noun))
	}
	for _, r := range refused.Fields {
		f.Add(path, r.Sentences[0])
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

package contract

import (
	"math/rand/v2"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// value returns a value that is valid for a schema. It prefers known values with the same name.
func (f *fuzzer) value(name string, ref *openapi3.SchemaRef) any {
	s := ref.Value
	switch {
	case s.Const != nil:
		return s.Const
	case len(s.Enum) > 0:
		return pick(f.rng, s.Enum)
	case len(s.AnyOf) > 0:
		return f.value(name, pick(f.rng, s.AnyOf))
	case len(s.OneOf) > 0:
		return f.value(name, pick(f.rng, s.OneOf))
	}
	isList := s.Type.Includes("array")
	if v := f.reference(name); v != nil && !isList && f.percent(90) {
		return v
	}
	if v := f.known(name); v != nil && !isList && f.percent(70) {
		return v
	}
	kind := "string"
	if types := s.Type.Slice(); len(types) > 0 {
		kind = pick(f.rng, types)
	}
	switch kind {
	case "object":
		return f.object(name, s)
	case "array":
		list := []any{}
		for range int(s.MinItems) + f.rng.IntN(3) {
			list = append(list, f.value(name, s.Items))
		}
		return list
	case "integer":
		return f.integer(s)
	case "number":
		return pick(f.rng, []any{0, -1.5, 2.25, 1e6})
	case "boolean":
		return f.percent(50)
	case "null":
		return nil
	}
	return f.text(s)
}

func (f *fuzzer) object(name string, s *openapi3.Schema) any {
	if name == "custom_fields" {
		return f.custom()
	}
	members := map[string]any{}
	for key, property := range sorted(s.Properties) {
		if slices.Contains(s.Required, key) || f.percent(40) {
			members[key] = f.value(key, property)
		}
	}
	return members
}

// sorted iterates over a map by key, so that the same seed generates the same values.
func sorted[V any](m map[string]V) func(func(string, V) bool) {
	return func(yield func(string, V) bool) {
		keys := make([]string, 0, len(m))
		for key := range m {
			keys = append(keys, key)
		}
		slices.Sort(keys)
		for _, key := range keys {
			if !yield(key, m[key]) {
				return
			}
		}
	}
}

// custom returns values for existing custom fields.
func (f *fuzzer) custom() any {
	values := map[string]any{}
	for range f.rng.IntN(4) {
		if len(f.state.fields) == 0 {
			break
		}
		custom := pick(f.rng, f.state.fields)
		switch {
		case len(custom.options) > 0:
			values[custom.key] = pick(f.rng, custom.options)
		case custom.kind == "number" || custom.kind == "currency":
			values[custom.key] = pick(f.rng, []any{1, 2.5, "12.50"})
		case custom.kind == "money":
			values[custom.key] = pick(f.rng, []any{387500, 2.5, "$1,250.5"})
		case custom.kind == "email":
			values[custom.key] = "ann@example.com"
		case custom.kind == "phone":
			values[custom.key] = "(985) 555-0142"
		case custom.kind == "url":
			values[custom.key] = "https://example.com/deeds?book=12"
		case custom.kind == "date":
			values[custom.key] = pick(f.rng, f.state.words["due_date"])
		case custom.kind == "checkbox":
			values[custom.key] = f.percent(50)
		default:
			values[custom.key] = pick(f.rng, words)
		}
	}
	return values
}

// known returns a known value for a name, or nil.
func (f *fuzzer) known(name string) any {
	recordKind, isID := map[string]string{"template_id": "template", "folder_id": "folder", "parent_id": "folder"}[name]
	if isID {
		if t := f.state.pickRecord(f.rng, recordKind, false); t != nil {
			return number(t.id)
		}
		return nil
	}
	if list := f.state.words[name]; len(list) > 0 {
		return pick(f.rng, list)
	}
	return nil
}

func number(text string) any {
	n := 0
	for _, c := range text {
		n = n*10 + int(c-'0')
	}
	return n
}

func (f *fuzzer) integer(s *openapi3.Schema) any {
	minimum, maximum := 0, 1<<31
	if s.Min != nil {
		minimum = int(*s.Min)
	}
	if s.Max != nil {
		maximum = int(*s.Max)
	}
	return pick(f.rng, []int{minimum, minimum + 1, min(minimum+f.rng.IntN(20), maximum), maximum})
}

var words = []string{
	"Elm Street 12", "O'Hara & Söhne", "第一抵当権", "x", "Ωμέγα", "a\tb", "1e5", "null", "<b>bold</b>", "=1+1", "ＦＵＬＬ", "e\u0301",
	"🏠 deed", " padded ", "12-3-045",
}

// text returns a random text, sometimes of the maximum or minimum length.
func (f *fuzzer) text(s *openapi3.Schema) string {
	switch {
	case s.Pattern != "":
		return matching(f.rng, s.Pattern)
	case s.Format == "date":
		return pick(f.rng, f.state.words["due_date"])
	case s.Format == "date-time":
		return "2026-05-29T04:00:00Z"
	}
	text := pick(f.rng, words)
	if s.MaxLength != nil && f.percent(15) {
		text = strings.Repeat(pick(f.rng, []string{"a", "é", "家"}), int(*s.MaxLength))
	}
	if s.MinLength == 0 && f.percent(5) {
		return ""
	}
	return text
}

// matching returns a text that matches a pattern.
func matching(rng *rand.Rand, pattern string) string {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		panic(err)
	}
	var b strings.Builder
	write(rng, &b, tree.Simplify())
	return b.String()
}

func write(rng *rand.Rand, b *strings.Builder, re *syntax.Regexp) {
	times := func(minimum, maximum int) {
		for range minimum + rng.IntN(maximum-minimum+1) {
			write(rng, b, re.Sub[0])
		}
	}
	switch re.Op {
	case syntax.OpLiteral:
		b.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		at := rng.IntN(len(re.Rune)/2) * 2
		b.WriteRune(re.Rune[at] + rune(rng.IntN(int(re.Rune[at+1]-re.Rune[at])+1)))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteByte('x')
	case syntax.OpStar:
		times(0, 3)
	case syntax.OpPlus:
		times(1, 4)
	case syntax.OpQuest:
		times(0, 1)
	case syntax.OpConcat, syntax.OpCapture:
		for _, sub := range re.Sub {
			write(rng, b, sub)
		}
	case syntax.OpAlternate:
		write(rng, b, pick(rng, re.Sub))
	}
}

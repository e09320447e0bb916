package model

import (
	"bytes"
	"cmp"
	"encoding/json"
	"regexp"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/cases"
)

// The keys of store indexes contain text normalized by NormalizeText and NormalizeNumber, so any
// change to either function requires a schema migration.

// NormalizeText normalizes text for sorting and lookups. It folds case, replaces each run of
// characters other than letters and digits with a space, and trims the result.
func NormalizeText(s string) string { return normalize(s, " ") }

// QuoteMarks are the characters that quote an exact phrase in a search.
const QuoteMarks = `"“”„‟«»`

// NormalizeNumber normalizes file and parcel numbers. It does the same as NormalizeText but omits
// the spaces, so "12-34-567" and "1234567" are equal.
func NormalizeNumber(s string) string { return normalize(s, "") }

// normalize keeps the letters and digits of the case-folded text and joins the runs of them with
// gap.
func normalize(s, gap string) string {
	var b strings.Builder
	b.Grow(len(s))
	between := false
	for _, r := range fastFold(s) {
		switch {
		case r < 0x80 && r != '\'' && (r < '0' || r > '9') && (r < 'a' || r > 'z'), r >= 0x80 &&
			!unicode.In(r, unicode.Letter, unicode.Mark, unicode.Number):
			between = true
		case r == '\'': // O'Neil and ONeil are equal
		default:
			if between && b.Len() > 0 {
				b.WriteString(gap)
			}
			between = false
			b.WriteRune(r)
		}
	}
	return b.String()
}

// fastFold does the same as Fold, with a fast path for ASCII.
func fastFold(s string) string {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return Fold(s)
		}
	}
	return strings.ToLower(s)
}

// Choices returns the value of a field with a list of choices, or nil if it has another type.
func (v CustomValues) Choices(key string) (chosen []string) {
	if json.Unmarshal(v[key], &chosen) != nil {
		return nil
	}
	return chosen
}

// Text returns the value of a string or number field, or "" if there is none.
func (v CustomValues) Text(key string) string {
	raw := v[key]
	if s, ok := decodeString(raw); ok {
		return s
	}
	var n json.Number
	if len(raw) > 0 && json.Unmarshal(raw, &n) == nil {
		return n.String()
	}
	return ""
}

// joinNonEmpty joins the parts that aren't empty.
func joinNonEmpty(separator string, parts ...string) string {
	var nonEmpty []string
	for _, part := range parts {
		if part != "" {
			nonEmpty = append(nonEmpty, part)
		}
	}
	return strings.Join(nonEmpty, separator)
}

// Fold returns the trimmed text with Unicode case folding, for comparisons that ignore case.
func Fold(s string) string {
	folded := cases.Fold().String(strings.TrimSpace(s))
	if !strings.ContainsFunc(folded, isCherokeeCapital) {
		return folded
	}
	return strings.Map(func(r rune) rune {
		if isCherokeeCapital(r) {
			return unicode.ToLower(r)
		}
		return r
	}, folded)
}

// isCherokeeCapital reports whether r is a capital Cherokee letter. Package cases swaps the case of
// Cherokee letters instead of folding it, so text in small letters becomes capitals.
func isCherokeeCapital(r rune) bool { return r >= '\u13A0' && r <= '\u13F5' }

// Types of values that are formatted but that no custom field has.
const (
	Choice  FieldType = "choice"  // a word such as on_hold
	guessed FieldType = "guessed" // a value of a field without a definition

	identity FieldType = "identity" // the ID of a row, which isn't shown
	pageArea FieldType = "area"     // an area of a page (loggedArea)
)

// FormatValues formats the stored values of a field of the given type.
func FormatValues(kind FieldType, values []string) string {
	switch {
	case len(values) == 0:
		return ""
	case kind == Date:
		return FormatDate(values[0])
	case (kind == Number || kind == Money) && len(values) == 1:
		return FormatAmount(kind, values[0])
	case kind == Choice:
		return FormatStatus(values[0])
	case kind == Checkbox && values[0] == "true":
		return "Yes"
	case kind == Checkbox && values[0] == "false":
		return "No"
	}
	return strings.Join(values, ", ")
}

// FormatDate formats a date as Jan 2, 2006. If text is not in the form YYYY-MM-DD, it is returned
// unchanged.
func FormatDate(text string) string {
	day, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return text
	}
	return day.Format("Jan 2, 2006")
}

// FormatStatus returns the display text of a status: on_hold becomes "On hold". Statuses with
// spaces or capital letters are returned unchanged.
func FormatStatus(status string) string {
	if status == "" || strings.ToLower(status) != status || strings.Contains(status, " ") {
		return status
	}
	if status[0] < 'a' || status[0] > 'z' {
		return status
	}
	return strings.ToUpper(status[:1]) + strings.ReplaceAll(status[1:], "_", " ")
}

// FormatAmount formats a number, or an amount of money as NormalizeMoney returns it. Other text is
// returned unchanged.
func FormatAmount(kind FieldType, text string) string {
	if kind != Money {
		m := longNumberPattern.FindStringSubmatch(text)
		if m == nil {
			return text
		}
		return m[1] + InsertCommas(m[2]) + m[3]
	}
	if amount, ok := NormalizeMoney(text); !ok || amount != text {
		return text
	}
	whole, cents, _ := strings.Cut(text, ".")
	return "$" + InsertCommas(whole) + "." + cents
}

// longNumberPattern matches numbers of five or more digits. Shorter numbers get no commas because
// they may be years.
var longNumberPattern = regexp.MustCompile(`^(-?)([0-9]{5,})(\.[0-9]+)?$`)

// InsertCommas inserts a comma between groups of three digits.
func InsertCommas(digits string) string {
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}

// StoredTexts returns the values of a stored custom field as text, no matter which type the field
// had when the value was stored.
func StoredTexts(raw json.RawMessage) []string {
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	switch raw[0] {
	case '"':
		var s string
		if json.Unmarshal(raw, &s) == nil {
			return []string{strings.ReplaceAll(s, "\r\n", "\n")}
		}
	case '[':
		var list []json.RawMessage
		if json.Unmarshal(raw, &list) == nil {
			var all []string
			for _, one := range list {
				all = append(all, StoredTexts(one)...)
			}
			return all
		}
	}
	return []string{string(bytes.TrimSpace(raw))}
}

// ConfirmationMatches reports whether the typed text matches the words requested to confirm an
// action. It ignores case and extra spaces.
func ConfirmationMatches(typed, asked string) bool {
	words := func(s string) string { return strings.Join(strings.Fields(Fold(s)), " ") }
	return words(typed) == words(asked) && words(asked) != ""
}

// Inputs are the values of a record's fields as received, by API name. A field that isn't there stays
// unchanged, and a blank one is cleared.
type Inputs = map[string]Input

// textField is a text that every order or abstract has and that clients set. Requests, history, search,
// and forms get the field from this declaration.
type textField[T any] struct {
	FieldLabel
	text     func(*T) *string
	check    func(f *validation, field string, in Input) string
	required bool
	find     searchUse
	apiLabel string // in the API's list of the fields of orders, and in search results; "" for the status
}

// propertyFields are the fields of the property of a record.
func propertyFields[T any](of func(*T) *Property) []textField[T] {
	line := lineUpTo(MaxLineLength)
	return []textField[T]{
		{FieldLabel: FieldLabel{Name: "address", Label: "Street address"}, text: func(r *T) *string { return &of(r).Address },
			check: line, find: foundAsName, apiLabel: "Address"},
		{FieldLabel: FieldLabel{Name: "city", Label: "City"}, text: func(r *T) *string { return &of(r).City },
			check: line, find: foundAsName, apiLabel: "City"},
		{FieldLabel: FieldLabel{Name: "county", Label: "County"}, text: func(r *T) *string { return &of(r).County },
			check: line, find: foundAsName, apiLabel: "County"},
		{FieldLabel: FieldLabel{Name: "state", Label: "State"}, text: func(r *T) *string { return &of(r).State },
			check: line, find: foundAsText, apiLabel: "State"},
	}
}

// statusName is the API name of the status, which is set apart from the other fields.
const statusName = "status"

// setTexts sets the fields that were sent.
func setTexts[T any](f *validation, fields []textField[T], record *T, in Inputs) {
	for _, field := range fields {
		value, sent := in[field.Name]
		if !sent {
			continue
		}
		text := field.check(f, field.Name, value)
		if field.required {
			f.require(field.Name, text)
		}
		*field.text(record) = text
	}
}

// loggedTexts returns the fields as those of the audit log.
func loggedTexts[T any](fields []textField[T]) (list []recordField[T]) {
	for _, field := range fields {
		list = append(list, recordField[T]{field.FieldLabel, func(r *T) any { return *field.text(r) }})
	}
	return list
}

// addTexts adds the values of the fields to the terms that search knows.
func addTexts[T any](k *SearchTerms, fields []textField[T], record *T) {
	for _, field := range fields {
		switch text := *field.text(record); field.find {
		case foundAsNumber:
			k.number(text)
		case foundAsName:
			k.name(text)
		case foundAsText:
			k.other(text)
		case notFound:
		}
	}
}

// FieldValue is a field that every order or abstract has, and its value.
type FieldValue struct {
	Field
	APILabel string // in the API and in search results
	Value    string
}

// fieldValues returns the fields with their values, except the status.
func fieldValues[T any](fields []textField[T], record *T) (list []FieldValue) {
	for _, field := range fields {
		if field.Name != statusName {
			list = append(list, FieldValue{Field{Key: field.Name, Label: field.Label, Type: cmp.Or(field.Type, Text),
				Required: field.required}, field.apiLabel, *field.text(record)})
		}
	}
	return list
}

// inputNames returns the API names of the fields.
func inputNames[T any](fields []textField[T]) (names []string) {
	for _, field := range fields {
		names = append(names, field.Name)
	}
	return names
}

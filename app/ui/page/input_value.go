package page

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"deedkeep/app/model"
)

// invalidDateText is what is said of a text that is no date.
const invalidDateText = "This is no date. Write it as month/day/year, like 3/14/2026."

// ProblemText is the sentence of a refusal as people need it.
func ProblemText(kind model.FieldType, sentence string) string {
	if sentence != "" && sentence != yearTooEarlyText && kind == model.Date {
		return invalidDateText
	}
	return sentence
}

// NormalizeDate spells a date as 2026-03-14 that people in the US write by hand, where a
// browser has no calendar for it; any other text stays as it is. A year has four
// digits: of two nobody knows the century of a deed.
func NormalizeDate(text string) string {
	text = strings.TrimSpace(text)
	for _, layout := range []string{"1/2/2006", "1-2-2006", "Jan 2, 2006", "January 2, 2006"} {
		if day, err := time.Parse(layout, text); err == nil {
			return day.Format(time.DateOnly)
		}
	}
	return text
}

// SubmittedValues are the values of a form's field; several controls of one name are led
// by an empty one, which says that the field was there.
func SubmittedValues(kind model.FieldType, sent []string) []string {
	if kind == model.Multiselect {
		return slices.DeleteFunc(slices.Clone(sent), func(v string) bool { return v == "" })
	}
	if len(sent) == 0 {
		return nil
	}
	text := normalizeNewlines(sent[len(sent)-1])
	if kind == model.Date {
		text = NormalizeDate(text)
	}
	return []string{text}
}

// normalizeNewlines is text as it stood in the page: a browser sends each end of a line as two
// characters.
func normalizeNewlines(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

// SubmittedCustom reads the custom fields of a form; a field that is not in it was not
// sent.
func SubmittedCustom(defs []model.Field, form url.Values) model.Custom {
	sent := map[string]json.RawMessage{}
	for _, def := range defs {
		if values, there := form[CustomFieldName(def.Key)]; there {
			sent[def.Key] = encodeValue(def.Type, SubmittedValues(def.Type, values))
		}
	}
	return model.Custom{Values: sent}
}

// encodeValue is the JSON of what stands in a field; null for nothing.
func encodeValue(kind model.FieldType, values []string) json.RawMessage {
	switch {
	case kind == model.Multiselect:
		return EncodeJSON(values)
	case len(values) == 0 || values[0] == "":
		return json.RawMessage("null")
	case kind == model.Checkbox && values[0] == "true":
		return json.RawMessage("true")
	case kind == model.Checkbox:
		return json.RawMessage("false")
	case kind == model.Money:
		return EncodeJSON(normalizeMoney(values[0])) // which is refused, if it is no amount
	case kind == model.Number && len(values) == 1:
		text := normalizeNumber(values[0])
		if number := json.RawMessage(text); json.Valid(number) && strings.ContainsAny(text[:1], "-0123456789") {
			return number
		}
		return EncodeJSON(values[0]) // which is refused, if it is no number
	}
	return EncodeJSON(values[0])
}

// normalizeNumber gives a number without what people write around its digits: a dollar
// sign, spaces, and commas between the thousands; any other text as it is.
func normalizeNumber(text string) string {
	text = strings.TrimSpace(text)
	m := writtenNumberPattern.FindStringSubmatch(text)
	if m == nil {
		return text
	}
	digits := strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, m[2])
	return m[1] + digits + m[3]
}

// formatAmount is Amount of a text; what is none stays as it is.
func formatAmount(kind model.FieldType, text string) string {
	if kind != model.Money {
		return groupThousands(text)
	}
	plain := normalizeMoney(text)
	whole, cents, _ := strings.Cut(plain, ".")
	if amount, ok := model.NormalizeMoney(plain); !ok || amount != plain {
		return text
	}
	return "$" + insertCommas(whole) + "." + cents
}

// normalizeMoney is an amount of money as it is stored, of any way in which people write one;
// any other text stays as it is.
func normalizeMoney(text string) string {
	if amount, ok := model.NormalizeMoney(normalizeNumber(text)); ok {
		return amount
	}
	return text
}

// longNumberPattern is a number that is hard to read without commas. A shorter one may be a
// year.
var longNumberPattern = regexp.MustCompile(`^(-?)([0-9]{5,})(\.[0-9]+)?$`)

// groupThousands gives a number from 10,000 on with commas between its thousands; any other
// text as it is.
func groupThousands(text string) string {
	m := longNumberPattern.FindStringSubmatch(text)
	if m == nil {
		return text
	}
	return m[1] + insertCommas(m[2]) + m[3]
}

// insertCommas puts a comma between the thousands.
func insertCommas(digits string) string {
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}

// writtenNumberPattern is a number as people in the US write it: commas or spaces stand between
// groups of three digits, or nowhere.
var writtenNumberPattern = regexp.MustCompile(`^(-?)[\s\xA0]*\$?[\s\xA0]*([0-9]{1,3}(?:[, \xA0][0-9]{3})+|[0-9]+)(?:(\.[0-9]+)|\.)?$`)

func EncodeJSON(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage("null") // texts and lists of them always encode
	}
	return raw
}

// StoredTexts are the values that a stored custom field shows, whatever its type was when
// it was filled in; nil for none.
func StoredTexts(raw json.RawMessage) []string {
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	switch raw[0] {
	case '"':
		var s string
		if json.Unmarshal(raw, &s) == nil {
			return []string{normalizeNewlines(s)}
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

// FormatValues is a stored value as people read it.
func FormatValues(kind model.FieldType, values []string) string {
	switch {
	case len(values) == 0:
		return ""
	case kind == model.Date:
		return FormatDate(values[0])
	case (kind == model.Number || kind == model.Money) && len(values) == 1:
		return formatAmount(kind, values[0])
	case kind == model.Checkbox && values[0] == "true":
		return "Yes"
	case kind == model.Checkbox && values[0] == "false":
		return "No"
	}
	return strings.Join(values, ", ")
}

// FingerprintFunc gives a short text for the values of a field.
type FingerprintFunc func(kind model.FieldType, values []string) string

// Fingerprint tells two values of a field apart as far as a form can: a blank is a
// blank, however it is sent, and what a browser changes on the way is no change.
func Fingerprint(kind model.FieldType, values []string) string {
	plain := make([]string, 0, len(values))
	for _, v := range values {
		v = string(StripBidi([]byte(strings.ReplaceAll(normalizeNewlines(v), "\r", "\n"))))
		if kind != model.Paragraph {
			v = strings.TrimSpace(strings.ReplaceAll(v, "\n", ""))
		}
		switch kind {
		case model.Number:
			v = normalizeNumber(v)
		case model.Money:
			v = normalizeMoney(v)
		case model.Phone:
			v = strings.Join(strings.Fields(v), " ")
		}
		if v != "" {
			plain = append(plain, v)
		}
	}
	if kind == model.Multiselect {
		slices.Sort(plain)
		plain = slices.Compact(plain)
	}
	sum := sha256.Sum256(EncodeJSON(plain))
	return hex.EncodeToString(sum[:6])
}

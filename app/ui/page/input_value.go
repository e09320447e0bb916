package page

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"deedkeep/app/model"
)

// SubmittedValues returns the submitted values of a field. For multiselects and checkboxes, the
// form also has a hidden input with an empty value, so that the field is submitted even if nothing
// is checked.
func SubmittedValues(kind model.FieldType, name string, sent []string, now time.Time) []string {
	if kind == model.Multiselect {
		return slices.DeleteFunc(slices.Clone(sent), func(v string) bool { return v == "" })
	}
	if len(sent) == 0 {
		return nil
	}
	text := normalizeNewlines(sent[len(sent)-1])
	if kind == model.Date {
		text = TypedDate(name, text, now)
	}
	return []string{text}
}

// TypedDate converts the date that users typed into a field of an order, an abstract, or a filter; see
// model.TypedDate and model.LatestOf.
func TypedDate(name, text string, now time.Time) string {
	return model.TypedDate(text, model.LatestOf(name, now))
}

// normalizeNewlines replaces each CRLF with LF.
func normalizeNewlines(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

// SubmittedCustom returns the values of the custom fields in the form. Fields that the form doesn't
// contain are omitted.
func SubmittedCustom(defs []model.Field, form url.Values, now time.Time) model.Custom {
	sent := model.Inputs{}
	for _, def := range defs {
		if values, there := form[CustomFieldName(def.Key)]; there {
			sent[def.Key] = customInput(def.Type, SubmittedValues(def.Type, def.Key, values, now))
		}
	}
	return model.Custom{Values: sent}
}

// customInput returns the input of a field with these values. Validation rejects it later if it has another type.
func customInput(kind model.FieldType, values []string) model.Input {
	if kind == model.Multiselect {
		return model.StringsInput(values)
	}
	if len(values) == 0 || values[0] == "" {
		return model.Input{}
	}
	switch kind {
	case model.Checkbox:
		return model.JSONInput(strconv.FormatBool(values[0] == "true"))
	case model.Money:
		return model.StringInput(normalizeMoney(values[0]))
	case model.Number:
		text := normalizeNumber(values[0])
		if number := model.JSONInput(text); number.Kind == model.InputNumber && json.Valid([]byte(text)) {
			return number
		}
	}
	return model.StringInput(values[0])
}

// normalizeNumber removes the dollar sign, spaces, and thousands separators. If text is not a
// number, it is returned unchanged.
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

// formatAmount formats a number or an amount of money. Other text is returned unchanged.
func formatAmount(kind model.FieldType, text string) string {
	if kind == model.Money {
		if amount, ok := model.NormalizeMoney(normalizeNumber(text)); ok {
			return model.FormatAmount(kind, amount)
		}
	}
	return model.FormatAmount(kind, text)
}

// FormatConsideration returns the consideration of an instrument as it is shown and typed: what the
// instrument says or, if that is unknown, the amount. An amount that the text doesn't state comes first.
func FormatConsideration(i model.Instrument) string {
	amount, says := FormatValues(model.Money, []string{i.Consideration}), i.ConsiderationText
	stated, _ := model.ParseConsideration(says)
	switch {
	case says == "":
		return amount
	case i.Consideration == "" || stated == i.Consideration:
		return says
	}
	return amount + " (" + says + ")"
}

// normalizeMoney converts an amount of money to its stored form. Other text is returned unchanged.
func normalizeMoney(text string) string {
	if amount, ok := model.NormalizeMoney(normalizeNumber(text)); ok {
		return amount
	}
	return text
}

// writtenNumberPattern matches numbers in US notation. Either all groups of three digits are
// separated by commas or spaces, or none are.
var writtenNumberPattern = regexp.MustCompile(`^(-?)[\s\xA0]*\$?[\s\xA0]*([0-9]{1,3}(?:[, \xA0][0-9]{3})+|[0-9]+)(?:(\.[0-9]+)|\.)?$`)

// FormatValues formats the stored values of a field of the given type.
func FormatValues(kind model.FieldType, values []string) string {
	if (kind == model.Number || kind == model.Money) && len(values) == 1 {
		return formatAmount(kind, values[0])
	}
	return model.FormatValues(kind, values)
}

// FingerprintFunc computes a fingerprint: a short hash of a field's values.
type FingerprintFunc func(kind model.FieldType, values []string) string

// Fingerprint returns a short hash of a field's values. Values that look the same in a form have
// the same hash. Examples are the different representations of a blank value, and values that
// browsers change when they submit them.
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
	sum := sha256.Sum256(model.StringsInput(plain).JSON())
	return hex.EncodeToString(sum[:6])
}

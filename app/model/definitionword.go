package model

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// DescribeDefinition says for people what became of a definition, in one line; "" when
// that is nothing:
//
//   - parcel_id "Parcel ID", text
//     ~ tax_status: label "Tax" → "Tax Status"; options (+ "Unknown" - "Due")
//     statuses: New, Done (+ "Done")
//     name: "Residential" → "Residential Abstract"
func (c Change) DescribeDefinition() string {
	key, isField := strings.CutPrefix(c.Field, "custom_fields.")
	switch {
	case isField:
		return fieldWords(key, decoded[*Field](c.From), decoded[*Field](c.To))
	case c.Field == "custom_fields":
		return "order of the fields: " + strings.Join(decoded[[]string](c.To), ", ")
	case c.Field == "statuses":
		from, to := decoded[[]string](c.From), decoded[[]string](c.To)
		return "statuses: " + FormatStatuses(to) + listWords(from, to)
	}
	return fmt.Sprintf("%s: %s → %s", c.Field, c.From, c.To)
}

// FormatStatuses lists statuses, or says that they are off.
func FormatStatuses(statuses []string) string {
	if len(statuses) == 0 {
		return "off"
	}
	return strings.Join(statuses, ", ")
}

func fieldWords(key string, was, now *Field) string {
	switch {
	case was == nil && now == nil:
		return ""
	case was == nil:
		return "+ " + now.words()
	case now == nil:
		return "- " + was.words()
	}
	var parts []string
	if was.Label != now.Label {
		parts = append(parts, fmt.Sprintf("label %q → %q", was.Label, now.Label))
	}
	if was.Type != now.Type {
		parts = append(parts, string(was.Type+" → "+now.Type))
	}
	if was.Required != now.Required {
		parts = append(parts, map[bool]string{true: "required", false: "no longer required"}[now.Required])
	}
	if !slices.Equal(was.Options, now.Options) {
		parts = append(parts, "options"+orReordered(listWords(was.Options, now.Options), now.Options))
	}
	return "~ " + key + ": " + strings.Join(parts, "; ")
}

func orReordered(diff string, now []string) string {
	if diff == "" {
		return " in another order: " + strings.Join(now, ", ")
	}
	return diff
}

// words is a field in one line.
func (f Field) words() string {
	text := fmt.Sprintf("%s %q, %s", f.Key, f.Label, f.Type)
	if f.Required {
		text += ", required"
	}
	if len(f.Options) > 0 {
		text += ": " + strings.Join(f.Options, ", ")
	}
	return text
}

// listWords names what came and what went.
func listWords(from, to []string) string {
	var parts []string
	for _, word := range to {
		if !slices.Contains(from, word) {
			parts = append(parts, fmt.Sprintf("+ %q", word))
		}
	}
	for _, word := range from {
		if !slices.Contains(to, word) {
			parts = append(parts, fmt.Sprintf("- %q", word))
		}
	}
	if len(parts) == 0 || len(from) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, " ") + ")"
}

// decoded reads the JSON of a change; the zero value where it is of another kind.
func decoded[T any](raw json.RawMessage) T {
	var v T
	if json.Unmarshal(raw, &v) != nil {
		return *new(T)
	}
	return v
}

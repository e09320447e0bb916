package model

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// DescribeDefinition describes a change to a definition in one line. It returns "" if nothing
// changed. Examples:
//
//	statuses: New, Done (+ "Done")
//	name: "Residential" → "Residential Abstract"
//	~ tax_status: label "Tax" → "Tax Status"; options (+ "Unknown" - "Due")
//	+ parcel_id "Parcel ID", text
func (c Change) DescribeDefinition() string {
	key, isField := strings.CutPrefix(c.Field, "custom_fields.")
	switch {
	case isField:
		return describeField(key, decodeAs[*Field](c.From), decodeAs[*Field](c.To))
	case c.Field == "custom_fields":
		return "sequence of fields: " + strings.Join(decodeAs[[]string](c.To), ", ")
	case c.Field == "sequence":
		return "sequence: " + strings.Join(decodeAs[[]string](c.To), ", ")
	case c.Field == "statuses":
		from, to := decodeAs[[]string](c.From), decodeAs[[]string](c.To)
		return "statuses: " + FormatStatuses(to) + listDiff(from, to)
	}
	return fmt.Sprintf("%s: %s → %s", c.Field, c.From, c.To)
}

// FormatStatuses lists statuses, or returns "off" if there are none.
func FormatStatuses(statuses []string) string {
	if len(statuses) == 0 {
		return "off"
	}
	return strings.Join(statuses, ", ")
}

func describeField(key string, from, to *Field) string {
	switch {
	case from == nil && to == nil:
		return ""
	case from == nil:
		return "+ " + to.summary()
	case to == nil:
		return "- " + from.summary()
	}
	var parts []string
	if from.Label != to.Label {
		parts = append(parts, fmt.Sprintf("label %q → %q", from.Label, to.Label))
	}
	if from.Type != to.Type {
		parts = append(parts, string(from.Type+" → "+to.Type))
	}
	if from.Required != to.Required {
		parts = append(parts, map[bool]string{true: "required", false: "no longer required"}[to.Required])
	}
	if !slices.Equal(from.Options, to.Options) {
		parts = append(parts, "options"+diffOrSequence(listDiff(from.Options, to.Options), to.Options))
	}
	return "~ " + key + ": " + strings.Join(parts, "; ")
}

// diffOrSequence returns diff or, if it is empty, a text that lists the items in their new order.
func diffOrSequence(diff string, to []string) string {
	if diff == "" {
		return " reordered: " + strings.Join(to, ", ")
	}
	return diff
}

// summary describes the definition in one line.
func (f Field) summary() string {
	text := fmt.Sprintf("%s %q, %s", f.Key, f.Label, f.Type)
	if f.Required {
		text += ", required"
	}
	if len(f.Options) > 0 {
		text += ": " + strings.Join(f.Options, ", ")
	}
	return text
}

// listDiff lists the added and removed items. It returns "" if there are none or if from is
// empty.
func listDiff(from, to []string) string {
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

// decodeAs decodes the From or To value of a change. It returns the zero value if raw doesn't
// decode to a T.
func decodeAs[T any](raw json.RawMessage) T {
	var v T
	if json.Unmarshal(raw, &v) != nil {
		return *new(T)
	}
	return v
}

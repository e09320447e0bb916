package model

import (
	"cmp"
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

// Describer is what the words of a change need besides the change.
type Describer struct {
	Name   func(record string) string // display name of a record, such as "folder:3", or ""
	Custom []Field                    // custom fields of the changed record
	Type   DocumentType               // type of the changed instrument; zero for other records

	created bool // the record is new: values before aren't mentioned
}

// maxTextBytes is the maximum length of a value in Change.Text. Longer values are cut.
const maxTextBytes = 300

// blank is the text for a missing value.
const blank = "(blank)"

// fieldLabels are the labels of the fields of all record types, except templates.
var fieldLabels = func() map[string]FieldLabel {
	labels := map[string]FieldLabel{documentTypesField.Name: documentTypesField, "position": {Label: "Position"}}
	addLabels(labels, noteFields)
	addLabels(labels, certificateFields)
	addLabels(labels, titleWorkFields)
	addLabels(labels, userFields)
	addLabels(labels, folderFields)
	addLabels(labels, fileFields)
	addLabels(labels, loggedOrderFields)
	addLabels(labels, loggedAbstractFields)
	addLabels(labels, loggedInstrumentFields)
	return labels
}()

func addLabels[T any](labels map[string]FieldLabel, fields []recordField[T]) {
	for _, f := range fields {
		labels[f.Name] = f.FieldLabel
	}
}

// Describe sets the text of each change that has none. A document that moved between an abstract and a
// folder has two changes; the first one has the text of both.
func (e *Event) Describe(d Describer) {
	definition := strings.HasPrefix(e.Kind, "template.") || strings.HasPrefix(e.Kind, "order_fields.") || strings.HasPrefix(e.Kind,
		"order_statuses.")
	if e.describesMove() {
		e.describeMove(d)
	}
	moved := e.describesMove()
	d.created = strings.HasSuffix(e.Kind, ".created")
	for n := range e.Changes {
		switch c := &e.Changes[n]; {
		case c.Text != "" || moved && isLocation(c.Field):
		case definition:
			c.Text = c.DescribeDefinition()
		default:
			c.Text = d.describe(*c)
		}
	}
}

func isLocation(field string) bool { return field == "abstract_id" || field == "folder_id" }

// describesMove reports whether the entry is about a document or an instrument that moved.
func (e *Event) describesMove() bool {
	return slices.ContainsFunc(e.Changes, func(c Change) bool { return isLocation(c.Field) })
}

// describeMove sets the text of the first change of a location.
func (e *Event) describeMove(d Describer) {
	var from, to string
	first := -1
	for n, c := range e.Changes {
		if !isLocation(c.Field) {
			continue
		}
		if first < 0 {
			first = n
		}
		f := fieldLabels[c.Field]
		place := func(raw json.RawMessage) string {
			if string(raw) == "null" {
				return ""
			}
			return f.Refers + " " + d.value(f, raw)
		}
		from, to = cmp.Or(from, place(c.From)), cmp.Or(to, place(c.To))
	}
	const noFolder = "the Vault (no folder)"
	if e.Changes[first].Text == "" {
		e.Changes[first].Text = "moved from " + cmp.Or(from, noFolder) + " to " + cmp.Or(to, noFolder)
	}
}

// label returns the label and the type of a field.
func (d Describer) label(c Change) FieldLabel {
	key, custom := c.isCustom()
	if !custom {
		if f, ok := fieldLabels[c.Field]; ok {
			return d.Type.LabelOf(f)
		}
		return FieldLabel{Label: FormatStatus(strings.ReplaceAll(c.Field, ".", " "))}
	}
	for _, def := range d.Custom {
		if def.Key == key {
			return FieldLabel{Label: def.Label, Type: def.Type}
		}
	}
	return FieldLabel{Label: FormatStatus(key), Type: guessed}
}

// describe returns a change in words.
func (d Describer) describe(c Change) string {
	f := d.label(c)
	from, to := string(c.From) == "null", string(c.To) == "null"
	switch {
	case c.Row != "" && from:
		return fmt.Sprintf("%s: added %s at %s", f.Label, d.row(f, c.Row), c.To)
	case c.Row != "" && to:
		return fmt.Sprintf("%s: removed %s from %s", f.Label, d.row(f, c.Row), c.From)
	case c.Row != "":
		return fmt.Sprintf("%s: moved %s from %s to %s", f.Label, d.row(f, c.Row), c.From, c.To)
	case d.created && from && !f.isList():
		return f.Label + ": " + d.value(f, c.To)
	case !f.isList() && !f.IsSequence:
		return f.Label + ": " + cmp.Or(d.value(f, c.From), blank) + " → " + cmp.Or(d.value(f, c.To), blank)
	case from:
		return f.Label + ": added " + d.rowText(f, c.To)
	case to:
		return f.Label + ": removed " + d.rowText(f, c.From)
	case len(f.Rows) == 0 || c.From[0] == '[' || c.To[0] == '[': // older versions didn't compare rows
		return f.Label + ": " + d.value(f, c.From) + " → " + d.value(f, c.To)
	}
	return f.Label + ", " + cutText(f.rowName(c.From, d.Name), maxTextBytes) + ": " + d.memberChanges(f, c)
}

// row returns the name of a row that moved.
func (d Describer) row(f FieldLabel, row string) string {
	if f.Refers != "" && strings.HasPrefix(row, f.Refers+":") {
		return cmp.Or(cutText(d.Name(row), maxTextBytes), strings.Replace(row, ":", " ", 1))
	}
	return cutText(row, maxTextBytes)
}

// memberChanges returns the differences between the members of two rows in words.
func (d Describer) memberChanges(f FieldLabel, c Change) string {
	from, to := decodeAs[map[string]json.RawMessage](c.From), decodeAs[map[string]json.RawMessage](c.To)
	var parts []string
	for _, member := range f.Rows {
		if old, now := d.value(member, from[member.Name]), d.value(member, to[member.Name]); old != now {
			parts = append(parts, cmp.Or(member.Label, FormatStatus(member.Name))+": "+cmp.Or(old, blank)+" → "+cmp.Or(now, blank))
		}
	}
	return strings.Join(parts, "; ")
}

// rowText returns a row with all its members.
func (d Describer) rowText(f FieldLabel, raw json.RawMessage) string {
	if len(f.Rows) == 0 || len(raw) == 0 || raw[0] != '{' {
		return d.value(f, raw)
	}
	members := decodeAs[map[string]json.RawMessage](raw)
	var name string
	var parts []string
	for _, member := range f.Rows {
		switch value := d.value(member, members[member.Name]); {
		case value == "":
		case name == "":
			name = value
		default:
			parts = append(parts, member.Label+": "+value)
		}
	}
	if len(parts) > 0 {
		name += " (" + strings.Join(parts, "; ") + ")"
	}
	return name
}

// rowName returns the first value of a row.
func (f FieldLabel) rowName(raw json.RawMessage, name func(record string) string) string {
	members := decodeAs[map[string]json.RawMessage](raw)
	d := Describer{Name: name}
	for _, member := range f.Rows {
		if value := d.value(member, members[member.Name]); value != "" {
			return value
		}
	}
	return d.value(f, raw)
}

// value returns a value as text on one line. It is "" if there is none.
func (d Describer) value(f FieldLabel, raw json.RawMessage) string {
	if len(raw) == 0 || string(raw) == "null" || f.Type == identity {
		return ""
	}
	if f.Type == pageArea {
		return decodeAs[loggedArea](raw).text()
	}
	if f.Refers != "" && d.Name != nil {
		if name := d.Name(f.Refers + ":" + string(raw)); name != "" {
			return cutText(name, maxTextBytes)
		}
	}
	values, kind := StoredTexts(raw), f.Type
	if f.Name == "status" && d.Type.ID != 0 && len(values) == 1 {
		return cmp.Or(d.Type.StatusText(values[0]), FormatStatus(values[0]))
	}
	if kind == guessed && len(values) == 1 {
		switch {
		case FormatDate(values[0]) != values[0]:
			kind = Date
		case raw[0] == 't' || raw[0] == 'f':
			kind = Checkbox
		}
	}
	if raw[0] == 't' || raw[0] == 'f' {
		kind = Checkbox
	}
	if f.Name == "category" && len(values) == 1 {
		return Category(values[0]).Label()
	}
	return cutText(FormatValues(kind, values), maxTextBytes)
}

// cutText returns a text on one line, cut after a number of bytes.
func cutText(text string, maxBytes int) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) <= maxBytes {
		return text
	}
	return strings.ToValidUTF8(text[:maxBytes-3], "") + "…"
}

// Records returns the records that the values of a change are the IDs of.
func (c Change) Records() (records []string) {
	f := fieldLabels[c.Field]
	if f.Refers == "" || f.IsSequence {
		return nil
	}
	for _, raw := range []json.RawMessage{c.From, c.To} {
		if len(raw) > 0 && string(raw) != "null" {
			records = append(records, f.Refers+":"+string(raw))
		}
	}
	return records
}

// Texts returns the changes of the entry in words.
func (e Event) Texts() (list []string) {
	for _, c := range e.Changes {
		if c.Text != "" {
			list = append(list, c.Text)
		}
	}
	return list
}

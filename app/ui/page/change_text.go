package page

import (
	"encoding/json"
	"strings"
	"time"

	"deedkeep/app/model"
	"deedkeep/app/vault"
)

// ChangeLine describes how one field changed. From and To are "" if the field was blank. Only Words
// is set if a field definition of a template changed.
type ChangeLine struct{ Label, From, To, Words string }

const (
	// maxValueBytes is the maximum length of a displayed value. Longer values are truncated.
	maxValueBytes = 240
	// maxDocumentNumbers is the maximum number of document IDs listed in a change.
	maxDocumentNumbers = 20
)

// DescribeChange formats a change for display. defs are the custom fields of the record; they may
// be empty. If the value is the ID of a record in names, the record's name is shown instead.
func DescribeChange(c model.Change, defs []model.Field, names map[string]vault.RecordName) ChangeLine {
	label, kind := fieldLabel(c.Field, defs)
	value := func(raw json.RawMessage) string {
		if name, is := names[ReferencedRecord(c.Field, raw)]; is {
			return name.Text
		}
		text := formatValue(kind, raw)
		switch c.Field {
		case "status":
			return FormatStatus(text)
		case "files":
			values := StoredTexts(raw)
			return Plural(len(values), "document", "documents") + " (" + strings.Join(values[:min(len(values), maxDocumentNumbers)], ", ") + ")"
		}
		return text
	}
	return ChangeLine{Label: label, From: value(c.From), To: value(c.To)}
}

// formatValue formats a stored value. If kind is "", it detects dates and checkboxes by their
// value.
func formatValue(kind model.FieldType, raw json.RawMessage) string {
	values := StoredTexts(raw)
	if kind == "" && len(values) == 1 {
		switch _, err := time.Parse(time.DateOnly, values[0]); {
		case err == nil:
			kind = model.Date
		case raw[0] == 't' || raw[0] == 'f':
			kind = model.Checkbox
		}
	}
	return Truncate(FormatValues(kind, values), maxValueBytes)
}

// fieldLabel returns the label and type of a field. The type is "" if the field is unknown.
func fieldLabel(field string, defs []model.Field) (string, model.FieldType) {
	for _, f := range propertyFieldLabels {
		if f.name == field {
			return f.label, model.Text
		}
	}
	key, custom := strings.CutPrefix(field, "custom_fields.")
	for _, def := range defs {
		if custom && def.Key == key {
			return def.Label, def.Type
		}
	}
	switch field {
	case "order_number":
		return OrderFieldLabel(field, field), model.Text
	case "due_date":
		return OrderFieldLabel(field, field), model.Date
	case "filename":
		return "Name", model.Text
	case "files":
		return "Documents", model.Multiselect
	}
	return FormatStatus(strings.ReplaceAll(strings.TrimSuffix(key, "_id"), ".", " ")), ""
}

// ReferencedRecords returns the records that the changes of the events refer to.
func ReferencedRecords(events []model.Event) (records []string) {
	for _, e := range events {
		for _, c := range e.Changes {
			records = append(records, ReferencedRecord(c.Field, c.From), ReferencedRecord(c.Field, c.To))
		}
	}
	return records
}

// ReferencedRecord returns the audit log's name of the record that the value of a folder or
// abstract field refers to. It returns "" for other fields.
func ReferencedRecord(field string, raw json.RawMessage) string {
	recordType, is := map[string]string{"folder_id": "folder", "parent_id": "folder", "abstract_id": "abstract"}[field]
	if !is {
		return ""
	}
	return recordType + ":" + string(raw)
}

package page

import (
	"encoding/json"
	"strings"
	"time"

	"deedkeep/app/model"
	"deedkeep/app/vault"
)

// ChangeLine describes the change of one field; "" means no value. The change of a definition is
// described by Words alone.
type ChangeLine struct{ Label, From, To, Words string }

const (
	// maxValueBytes is the maximum length of a value in a change.
	maxValueBytes = 240
	// maxDocumentNumbers is the maximum number of documents listed in a change.
	maxDocumentNumbers = 20
)

// DescribeChange returns a change with formatted values. defs are the record's custom fields if
// they are known. A value that refers to a record in names is replaced by the record's name.
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

// formatValue formats a value. If kind is "", the type follows from the value itself.
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

// fieldLabel returns the label and the type of a field; the type is "" if it is unknown.
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

// ReferencedRecord returns the name of the record that a value of the field refers to, "" for other
// fields.
func ReferencedRecord(field string, raw json.RawMessage) string {
	recordType, is := map[string]string{"folder_id": "folder", "parent_id": "folder", "abstract_id": "abstract"}[field]
	if !is {
		return ""
	}
	return recordType + ":" + string(raw)
}

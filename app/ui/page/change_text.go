package page

import (
	"encoding/json"
	"strings"
	"time"

	"deedkeep/app/model"
	"deedkeep/app/vault"
)

// ChangeLine is what became of one field; "" is no value. A change of definitions is in
// Words alone.
type ChangeLine struct{ Label, From, To, Words string }

const (
	// maxValueBytes is how many bytes of a value are shown of a change.
	maxValueBytes = 240
	// maxDocumentNumbers is how many numbers of documents are.
	maxDocumentNumbers = 20
)

// DescribeChange is a change as people read it, by the fields of the record where they are
// known. A record that a value names by its number is called as it is in names.
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

// formatValue is a value as people read it. Where the type of its field is not known, it
// tells itself what it is.
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

// fieldLabel is what people call a field, and its type; "" where that is not known.
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

// ReferencedRecord is the record that a changed field names by its number.
func ReferencedRecord(field string, raw json.RawMessage) string {
	noun, is := map[string]string{"folder_id": "folder", "parent_id": "folder", "abstract_id": "abstract"}[field]
	if !is {
		return ""
	}
	return noun + ":" + string(raw)
}

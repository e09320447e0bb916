package ui

import (
	"encoding/json"
	"strings"
	"time"

	"deedkeep/app/model"
	"deedkeep/app/vault"
)

// changeLine is what became of one field; "" is no value. A change of definitions is in
// Words alone.
type changeLine struct{ Label, From, To, Words string }

const (
	// mostValue is how many bytes of a value are shown of a change.
	mostValue = 240
	// mostNumbers is how many numbers of documents are.
	mostNumbers = 20
)

// changeWords is a change as people read it, by the fields of the record where they are
// known. A record that a value names by its number is called as it is in names.
func changeWords(c model.Change, defs []model.Field, names map[string]vault.RecordName) changeLine {
	label, kind := labelOf(c.Field, defs)
	value := func(raw json.RawMessage) string {
		if name, is := names[referred(c.Field, raw)]; is {
			return name.Text
		}
		text := valueOf(kind, raw)
		switch c.Field {
		case "status":
			return humane(text)
		case "files":
			values := texts(raw)
			return plural(len(values), "document", "documents") + " (" + strings.Join(values[:min(len(values), mostNumbers)], ", ") + ")"
		}
		return text
	}
	return changeLine{Label: label, From: value(c.From), To: value(c.To)}
}

// valueOf is a value as people read it. Where the type of its field is not known, it
// tells itself what it is.
func valueOf(kind model.FieldType, raw json.RawMessage) string {
	values := texts(raw)
	if kind == "" && len(values) == 1 {
		switch _, err := time.Parse(time.DateOnly, values[0]); {
		case err == nil:
			kind = model.Date
		case raw[0] == 't' || raw[0] == 'f':
			kind = model.Checkbox
		}
	}
	return shorten(shown(kind, values), mostValue)
}

// labelOf is what people call a field, and its type; "" where that is not known.
func labelOf(field string, defs []model.Field) (string, model.FieldType) {
	for _, f := range propertyLabels {
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
		return orderLabel(field, field), model.Text
	case "due_date":
		return orderLabel(field, field), model.Date
	case "filename":
		return "Name", model.Text
	case "files":
		return "Documents", model.Multiselect
	}
	return humane(strings.ReplaceAll(strings.TrimSuffix(key, "_id"), ".", " ")), ""
}

// referred is the record that a changed field names by its number.
func referred(field string, raw json.RawMessage) string {
	noun, is := map[string]string{"folder_id": "folder", "parent_id": "folder", "abstract_id": "abstract"}[field]
	if !is {
		return ""
	}
	return noun + ":" + string(raw)
}

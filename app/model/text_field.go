package model

import "cmp"

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

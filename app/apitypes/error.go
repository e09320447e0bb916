package apitypes

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Failure is the body of every error response. Errors is present only with status 422.
type Failure struct {
	Message string      `json:"message"`
	Errors  FieldErrors `json:"errors,omitempty"`
}

// CommandFailure is the output of a failed command with --json: its message and the errors of each invalid field.
//
//	{"error":{"message":"The selected record is invalid.","errors":{"record":["The selected record is invalid."]}}}
type CommandFailure struct {
	Error Failure `json:"error"`
}

// FieldError contains the messages about one field, such as custom_fields.search_type.
type FieldError struct {
	Field     string
	Sentences []string
}

// FieldErrors is a JSON object that maps fields to lists of messages. The order matters because the message of a 422
// is the first of these messages.
//
//	{"order_number":["The order number field is required."]}
type FieldErrors []FieldError

// Add appends a message to its field. A new field is added at the end.
func (e *FieldErrors) Add(field, sentence string) {
	for i := range *e {
		if (*e)[i].Field == field {
			(*e)[i].Sentences = append((*e)[i].Sentences, sentence)
			return
		}
	}
	*e = append(*e, FieldError{field, []string{sentence}})
}

// Of returns the messages about a field, or nil if there are none.
func (e FieldErrors) Of(field string) []string {
	for _, f := range e {
		if f.Field == field {
			return f.Sentences
		}
	}
	return nil
}

// MarshalJSON writes the object. Its fields keep their order.
func (e FieldErrors) MarshalJSON() ([]byte, error) {
	var buf bytes.Buffer
	buf.WriteByte('{')
	for i, f := range e {
		if i > 0 {
			buf.WriteByte(',')
		}
		key, err := Marshal(f.Field)
		if err != nil {
			return nil, err
		}
		sentences, err := Marshal(f.Sentences)
		if err != nil {
			return nil, err
		}
		buf.Write(key)
		buf.WriteByte(':')
		buf.Write(sentences)
	}
	buf.WriteByte('}')
	return buf.Bytes(), nil
}

// UnmarshalJSON reads the object and keeps the order of its fields. Null means no errors. If a field is repeated, its
// messages are added to the first one.
func (e *FieldErrors) UnmarshalJSON(data []byte) error {
	dec := json.NewDecoder(bytes.NewReader(data))
	open, err := dec.Token()
	if err != nil {
		return fmt.Errorf("decode field errors: %w", err)
	}
	*e = nil
	if open == nil {
		return nil
	}
	if open != json.Delim('{') {
		return fmt.Errorf("decode field errors: expected an object, got %v", open)
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return fmt.Errorf("decode field errors: %w", err)
		}
		var sentences []string
		if err := dec.Decode(&sentences); err != nil {
			return fmt.Errorf("decode field errors: %v: %w", key, err)
		}
		for _, s := range sentences {
			e.Add(key.(string), s)
		}
	}
	return nil
}

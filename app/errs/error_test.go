package errs

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"
)

// If the message equals the cause's text, Error returns it only once.
func TestErrorText(t *testing.T) {
	for _, row := range []struct {
		name string
		err  *Error
		want string
	}{
		{"no cause", &Error{Message: "The disk is full."}, "The disk is full."},
		{"a cause", &Error{Message: "The disk is full.", Err: fs.ErrPermission}, "The disk is full.: permission denied"},
		{"a message of the cause", &Error{Message: "/mnt/nas: no backups", Err: errors.New("/mnt/nas: no backups")}, "/mnt/nas: no backups"},
	} {
		if got := row.err.Error(); got != row.want {
			t.Errorf("%s: got %q, want %q", row.name, got, row.want)
		}
	}
}

// sentences returns the field errors in the form "field: sentence", in order.
func sentences(f Fields) []string {
	var lines []string
	for _, field := range f {
		for _, sentence := range field.Sentences() {
			lines = append(lines, field.Field+": "+sentence)
		}
	}
	return lines
}

func TestMessageCountsSentences(t *testing.T) {
	for _, row := range []struct {
		name   string
		fields [][2]string
		want   string
	}{
		{"one", [][2]string{{"a", "A."}}, "A."},
		{"two fields", [][2]string{{"a", "A."}, {"b", "B."}}, "A. (and 1 more error)"},
		{"two sentences of one field", [][2]string{{"a", "A."}, {"a", "B."}}, "A. (and 1 more error)"},
		{"three", [][2]string{{"a", "A."}, {"b", "B."}, {"c", "C."}}, "A. (and 2 more errors)"},
		{"a field again keeps its place", [][2]string{{"a", "A."}, {"b", "B."}, {"a", "C."}}, "A. (and 2 more errors)"},
	} {
		t.Run(row.name, func(t *testing.T) {
			var f Fields
			for _, add := range row.fields {
				f.Add(add[0], Code(add[1]))
			}
			err := f.Err()
			var e *Error
			if !errors.As(err, &e) || e.Kind != Invalid || e.Message != row.want {
				t.Fatalf("got %v, want %s", err, row.want)
			}
			if len(sentences(e.Fields)) != len(row.fields) || e.Fields[0].Field != "a" {
				t.Errorf("fields = %v, want %d beginning with a", sentences(e.Fields), len(row.fields))
			}
		})
	}
	if err := (Fields)(nil).Err(); err != nil {
		t.Errorf("no fields: Err() = %v, want nil", err)
	}
	if err := InvalidField("name", Taken); KindOf(err) != Invalid || err.Error() != "The name has already been taken." {
		t.Errorf("InvalidField = %v, want Invalid with the message", err)
	}
}

func TestKindOf(t *testing.T) {
	plain := errors.New("disk")
	for _, row := range []struct {
		name string
		err  error
		want Kind
	}{
		{"plain", plain, Internal},
		{"nil", nil, Internal},
		{"absent", RecordNotFound("order", 7), NotFound},
		{"wrapped", fmt.Errorf("get: %w", RecordNotFound("order", 7)), NotFound},
		{"joined", errors.Join(plain, &Error{Kind: InsufficientStorage}), InsufficientStorage},
		{"the first of two", &Error{Kind: Unavailable, Err: &Error{Kind: InsufficientStorage}}, Unavailable},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := KindOf(row.err); got != row.want {
				t.Errorf("kind %d, want %d", got, row.want)
			}
		})
	}
	wrapped := &Error{Kind: InsufficientStorage, Message: "The disk is full.", Err: plain}
	if !errors.Is(wrapped, plain) || wrapped.Error() != "The disk is full.: disk" {
		t.Errorf("the cause is lost: %v", wrapped)
	}
	if got := RecordNotFound("order", 7).Error(); got != "Not found.: no order 7" {
		t.Errorf("absent says %q", got)
	}
}

// The wording is part of the API contract.
func TestSentences(t *testing.T) {
	for _, row := range []struct {
		field string
		code  Code
		args  []any
		want  string
	}{
		{"order_number", Required, nil, "The order number field is required."},
		{"order_number", TooLong, []any{255}, "The order number field must not be greater than 255 characters."},
		{"address", NotString, nil, "The address field must be a string."},
		{"template_id", NotInteger, nil, "The template id field must be an integer."},
		{"custom_fields", NotArray, nil, "The custom fields field must be an array."},
		{"custom_fields.fee", NotNumber, nil, "The fee field must be a number."},
		{"custom_fields.rush_order", NotBoolean, nil, "The rush order field must be true or false."},
		{"files", NotFile, nil, "The files field must be a file."},
		{"due_date", NotDate, nil, "The due date field must match the format Y-m-d."},
		{"custom_fields", NotJSON, nil, "The custom fields field must be a valid JSON string."},
		{"template_id", InvalidChoice, nil, "The selected template id is invalid."},
		{"custom_fields.search_type", InvalidChoice, nil, "The selected search type is invalid."},
		{"name", Taken, nil, "The name has already been taken."},
		{"order_number", Taken, nil, "The order number has already been taken."},
		{"address", InvalidCharacters, nil, "The address field contains invalid characters."},
		{"per_page", NotBetween, []any{1, 100}, "The per page field must be between 1 and 100."},
		{"sort", NotCombinable, []any{"after"}, "The sort field cannot be combined with after."},
		{"file", "%s", []any{"100% {field}"}, "100% {field}"},
		{"reason", "100% wrong.", nil, "100% wrong."},
	} {
		if err := InvalidField(row.field, row.code, row.args...); err.Error() != row.want {
			t.Errorf("%s, %s: got %q, want %q", row.field, row.code, err, row.want)
		}
	}
}

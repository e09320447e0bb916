package model

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// told writes refusals as "field: sentence" lines, in their order.
func told(f Fields) []string {
	var lines []string
	for _, field := range f {
		for _, sentence := range field.Sentences {
			lines = append(lines, field.Field+": "+sentence)
		}
	}
	return lines
}

func wantTold(t *testing.T, f Fields, want ...string) {
	t.Helper()
	if got := told(f); !slices.Equal(got, want) {
		t.Errorf("refused\n got %s\nwant %s", strings.Join(got, "\n     "), strings.Join(want, "\n     "))
	}
}

// The wording table of API.md, "Everywhere", to the letter.
func TestSentences(t *testing.T) {
	for _, row := range []struct{ name, got, want string }{
		{"required", required("order_number"), "The order number field is required."},
		{"too long", tooLong("order_number", 255), "The order number field must not be greater than 255 characters."},
		{"not a string", notString("address"), "The address field must be a string."},
		{"not an integer", notInteger("template_id"), "The template id field must be an integer."},
		{"not an array", notArray("custom_fields"), "The custom fields field must be an array."},
		{"not a number", notNumber("custom_fields.fee"), "The fee field must be a number."},
		{"not a boolean", notBoolean("custom_fields.rush_order"), "The rush order field must be true or false."},
		{"not a file", notFile("files"), "The files field must be a file."},
		{"bad date", notDate("due_date"), "The due date field must match the format Y-m-d."},
		{"bad JSON", notJSON("custom_fields"), "The custom fields field must be a valid JSON string."},
		{"no such id", notSelectable("template_id"), "The selected template id is invalid."},
		{"outside the options", notSelectable("custom_fields.search_type"), "The selected search type is invalid."},
		{"taken", Taken("name"), "The name has already been taken."},
		{"order number taken", Taken("order_number"), "The order number has already been taken."},
		{"characters", badCharacters("address"), "The address field contains invalid characters."},
	} {
		t.Run(row.name, func(t *testing.T) {
			if row.got != row.want {
				t.Errorf("got  %s\nwant %s", row.got, row.want)
			}
		})
	}
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
				f.Add(add[0], add[1])
			}
			err := f.Err()
			var e *Error
			if !errors.As(err, &e) || e.Kind != Invalid || e.Message != row.want {
				t.Fatalf("got %v, want %s", err, row.want)
			}
			if len(told(e.Fields)) != len(row.fields) || e.Fields[0].Field != "a" {
				t.Errorf("fields %v", told(e.Fields))
			}
		})
	}
	if err := (Fields)(nil).Err(); err != nil {
		t.Errorf("no refusal is an error: %v", err)
	}
	if err := Refusal("name", Taken("name")); KindOf(err) != Invalid || err.Error() != "The name has already been taken." {
		t.Errorf("refusal of one field: %v", err)
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
		{"absent", Absent("order", 7), NotFound},
		{"wrapped", fmt.Errorf("get: %w", Absent("order", 7)), NotFound},
		{"joined", errors.Join(plain, &Error{Kind: Full}), Full},
		{"the first of two", &Error{Kind: Closing, Err: &Error{Kind: Full}}, Closing},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := KindOf(row.err); got != row.want {
				t.Errorf("kind %d, want %d", got, row.want)
			}
		})
	}
	wrapped := &Error{Kind: Full, Message: "The disk is full.", Err: plain}
	if !errors.Is(wrapped, plain) || wrapped.Error() != "The disk is full.: disk" {
		t.Errorf("the cause is lost: %v", wrapped)
	}
	if got := Absent("order", 7).Error(); got != "Not found.: no order 7" {
		t.Errorf("absent says %q", got)
	}
}

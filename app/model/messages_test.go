package model

import (
	"slices"
	"strings"
	"testing"

	"deedkeep/app/errs"
)

// fieldErrors returns the errors as "field: message" lines, in order.
func fieldErrors(f errs.Fields) []string {
	var lines []string
	for _, field := range f {
		for _, sentence := range field.Sentences {
			lines = append(lines, field.Field+": "+sentence)
		}
	}
	return lines
}

func checkFieldErrors(t *testing.T, f errs.Fields, want ...string) {
	t.Helper()
	if got := fieldErrors(f); !slices.Equal(got, want) {
		t.Errorf("field errors\n got %s\nwant %s", strings.Join(got, "\n     "), strings.Join(want, "\n     "))
	}
}

// The wording is part of the API contract.
func TestMessages(t *testing.T) {
	for _, row := range []struct{ name, got, want string }{
		{"required", MsgRequired("order_number"), "The order number field is required."},
		{"too long", MsgTooLong("order_number", 255), "The order number field must not be greater than 255 characters."},
		{"not a string", msgNotString("address"), "The address field must be a string."},
		{"not an integer", MsgNotInteger("template_id"), "The template id field must be an integer."},
		{"not an array", msgNotArray("custom_fields"), "The custom fields field must be an array."},
		{"not a number", msgNotNumber("custom_fields.fee"), "The fee field must be a number."},
		{"not a boolean", MsgNotBoolean("custom_fields.rush_order"), "The rush order field must be true or false."},
		{"not a file", msgNotFile("files"), "The files field must be a file."},
		{"bad date", msgNotDate("due_date"), "The due date field must match the format Y-m-d."},
		{"bad JSON", msgNotJSON("custom_fields"), "The custom fields field must be a valid JSON string."},
		{"no such id", MsgInvalidChoice("template_id"), "The selected template id is invalid."},
		{"outside the options", MsgInvalidChoice("custom_fields.search_type"), "The selected search type is invalid."},
		{"taken", MsgTaken("name"), "The name has already been taken."},
		{"order number taken", MsgTaken("order_number"), "The order number has already been taken."},
		{"characters", MsgInvalidCharacters("address"), "The address field contains invalid characters."},
	} {
		t.Run(row.name, func(t *testing.T) {
			if row.got != row.want {
				t.Errorf("got  %s\nwant %s", row.got, row.want)
			}
		})
	}
}

package model

import (
	"slices"
	"strings"
	"testing"

	"deedkeep/app/errs"
)

// told writes refusals as "field: sentence" lines, in their order.
func told(f errs.Fields) []string {
	var lines []string
	for _, field := range f {
		for _, sentence := range field.Sentences {
			lines = append(lines, field.Field+": "+sentence)
		}
	}
	return lines
}

func wantTold(t *testing.T, f errs.Fields, want ...string) {
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
		{"taken", MsgTaken("name"), "The name has already been taken."},
		{"order number taken", MsgTaken("order_number"), "The order number has already been taken."},
		{"characters", badCharacters("address"), "The address field contains invalid characters."},
	} {
		t.Run(row.name, func(t *testing.T) {
			if row.got != row.want {
				t.Errorf("got  %s\nwant %s", row.got, row.want)
			}
		})
	}
}

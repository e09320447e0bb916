package page

import (
	"encoding/json"
	"testing"

	"deedkeep/app/model"
	"deedkeep/app/vault"
)

// Record histories and the activity page use the same formatter.
func TestDescribeChange(t *testing.T) {
	t.Parallel()
	defs := []model.Field{{Key: "rush", Label: "Rush order", Type: model.Checkbox}, {Key: "number", Label: "Book", Type: model.Text},
		{Key: "day", Label: "Effective", Type: model.Date}}
	names := map[string]vault.RecordName{"folder:3": {Text: "Deeds"}}
	for _, c := range []struct {
		name, field, from, to string
		defs                  []model.Field
		want                  ChangeLine
	}{
		{"a property", "county", `null`, `"Ada"`, nil, ChangeLine{"County", "", "Ada", ""}},
		{"a parcel", "tax_map", `"1"`, `"2"`, nil, ChangeLine{"Parcel ID", "1", "2", ""}},
		{"a due date", "due_date", `"2026-06-02"`, `null`, nil, ChangeLine{"Due date", "Jun 2, 2026", "", ""}},
		{"a status", "status", `"on_hold"`, `"In Exam"`, nil, ChangeLine{"Status", "On hold", "In Exam", ""}},
		{"a defined checkbox", "custom_fields.rush", `false`, `true`, defs, ChangeLine{"Rush order", "No", "Yes", ""}},
		{"a checkbox without a definition", "custom_fields.rush", `false`, `true`, nil, ChangeLine{"Rush", "No", "Yes", ""}},
		{"a text that says true", "custom_fields.number", `"true"`, `"1"`, defs, ChangeLine{"Book", "true", "1", ""}},
		{"a text like a date", "custom_fields.number", `"2026-06-02"`, `"1"`, defs, ChangeLine{"Book", "2026-06-02", "1", ""}},
		{"a defined date", "custom_fields.day", `"2026-06-02"`, `null`, defs, ChangeLine{"Effective", "Jun 2, 2026", "", ""}},
		{"a date without a definition", "custom_fields.some_day", `"2026-06-02"`, `null`, nil, ChangeLine{"Some day", "Jun 2, 2026", "", ""}},
		{"several values", "custom_fields.sources", `["a","b"]`, `[]`, nil, ChangeLine{"Sources", "a, b", "", ""}},
		{"a folder", "folder_id", `3`, `4`, nil, ChangeLine{"Folder", "Deeds", "4", ""}},
		{"documents", "files", `[1,2]`, `[2]`, nil, ChangeLine{"Documents", "2 documents (1, 2)", "1 document (2)", ""}},
		{"a filename", "filename", `"a.pdf"`, `"b.pdf"`, nil, ChangeLine{"Name", "a.pdf", "b.pdf", ""}},
	} {
		t.Run(c.name, func(t *testing.T) {
			change := model.Change{Field: c.field, From: json.RawMessage(c.from), To: json.RawMessage(c.to)}
			if got := DescribeChange(change, c.defs, names); got != c.want {
				t.Errorf("DescribeChange() = %+v, want %+v", got, c.want)
			}
		})
	}
}

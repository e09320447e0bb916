package model

import "testing"

func TestDescribeDefinition(t *testing.T) {
	for _, c := range []struct{ name, field, from, to, want string }{
		{"a new field", "custom_fields.rush", "null",
			`{"key":"rush","label":"Rush","type":"dropdown","required":true,"options":["Yes","No"]}`, `+ rush "Rush", dropdown, required: Yes, No`},
		{"a removed field", "custom_fields.rush", `{"key":"rush","label":"Rush","type":"text"}`, "null", `- rush "Rush", text`},
		{"a changed field", "custom_fields.rush", `{"key":"rush","label":"Rush","type":"date","required":true}`,
			`{"key":"rush","label":"Hurry","type":"text"}`, `~ rush: label "Rush" → "Hurry"; date → text; no longer required`},
		{"other options", "custom_fields.rush", `{"key":"rush","label":"R","type":"dropdown","options":["A","B"]}`,
			`{"key":"rush","label":"R","type":"dropdown","options":["B","C"]}`, `~ rush: options (+ "C" - "A")`},
		{"the same options in another sequence", "custom_fields.rush", `{"key":"rush","label":"R","type":"dropdown","options":["A","B"]}`,
			`{"key":"rush","label":"R","type":"dropdown","options":["B","A"]}`, `~ rush: options reordered: B, A`},
		{"another sequence", "custom_fields", `["a","b"]`, `["b","a"]`, "sequence of fields: b, a"},
		{"statuses", "statuses", `["New"]`, `["New","Done"]`, `statuses: New, Done (+ "Done")`},
		{"statuses removed", "statuses", `["New"]`, `null`, `statuses: off (- "New")`},
		{"a name", "name", `"A"`, `"B"`, `name: "A" → "B"`},
		{"not a field", "custom_fields.rush", "7", "[]", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := (Change{Field: c.field, From: []byte(c.from), To: []byte(c.to)}).DescribeDefinition(); got != c.want {
				t.Errorf("DescribeDefinition = %s, want %s", got, c.want)
			}
		})
	}
}

func TestNewFieldKeys(t *testing.T) {
	defs := []Field{{Key: "rush"}, {Key: "rush_2"}}
	for _, c := range []struct{ label, want string }{
		{"Tax Status", "tax_status"}, {"  Buyer / Borrower!  ", "buyer_borrower"}, {"Rush", "rush_3"}, {"County", "county_2"},
		{"3rd party", "field_3rd_party"},
		{"日本", "field"}, {"", "field"}, {"_x_", "x"}, {"Ünit", "nit"},
		{"A label that is so very long that no key of the sixty-four characters could ever hold it",
			"a_label_that_is_so_very_long_that_no_key_of_the_sixty_four_c"},
	} {
		got := NewAbstractFieldKey(c.label, defs)
		if got != c.want || !fieldKey.MatchString(got) {
			t.Errorf("NewAbstractFieldKey(%q) = %s, want %s", c.label, got, c.want)
		}
	}
	if got := NewOrderFieldKey("Due Date", nil); got != "due_date_2" {
		t.Errorf("NewOrderFieldKey(Due Date) = %q, want due_date_2", got)
	}
}

// A change to any part of a template changes its fingerprint.
func TestTemplateFingerprint(t *testing.T) {
	base := Template{ID: 1, Name: "A", Statuses: []string{"New"}, Fields: []Field{{Key: "a", Label: "A", Type: Text}}}
	seen := map[string]string{base.Fingerprint(): "the first"}
	for name, change := range map[string]func(*Template){
		"name": func(t *Template) { t.Name = "B" }, "default": func(t *Template) { t.Default = true },
		"retired":  func(t *Template) { t.Retired = true },
		"statuses": func(t *Template) { t.Statuses = nil },
		"fields":   func(t *Template) { t.Fields = []Field{{Key: "a", Label: "A", Type: Text, Required: true}} },
	} {
		other := base
		change(&other)
		if duplicate := seen[other.Fingerprint()]; duplicate != "" {
			t.Errorf("%s: fingerprint equals that of %s, want another", name, duplicate)
		}
		seen[other.Fingerprint()] = name
	}
}

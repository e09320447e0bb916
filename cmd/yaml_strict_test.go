package cmd

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"time"

	"deedkeep/app/apitypes"
	"deedkeep/app/strictyaml"
)

// parseTemplateFile parses a template definition file as "templates import" does.
func parseTemplateFile(text string) ([]apitypes.TemplateDraft, *strictYAML, error) {
	return parseDefinitions[apitypes.TemplateDraft]("t.yaml", strings.NewReader(text), "templates")
}

// An invalid or ambiguous file is rejected with the line number of each problem.
func TestStrictYAMLRejects(t *testing.T) {
	for _, row := range []struct{ name, text, want string }{
		{"empty file", "", "t.yaml is empty"},
		{"only a comment", "# x\n", "t.yaml is empty"},
		{"invalid YAML", "templates:\n  - name: [\n", "t.yaml:2: not valid YAML: did not find expected node content"},
		{"invalid JSON", "{\"templates\": [\n{\"name\" \"x\"}]}", "t.yaml:2: not valid JSON: invalid character '\"' after object key"},
		{"text after JSON", "{} x", "t.yaml:1: not valid JSON: invalid character 'x' after top-level value"},
		{"file of fields", "custom_fields: []", "t.yaml:1: unknown key \"custom_fields\" (valid keys: templates)"},
		{"missing key", "{}", "t.yaml:1: missing key templates"},
		{"list at the top", "- name: x", "t.yaml:1: must contain keys (valid keys: templates)"},
		{"misspelled key on several lines of JSON", "{\"templates\"\n:\n[{\"nam\"\n:\"x\"}]}", "t.yaml:3: unknown key \"nam\" (valid keys: id, name, default, retired, statuses, custom_fields)"},
		{"two documents", "templates: []\n---\ntemplates: []", "t.yaml:2: the file must contain only one YAML document"},
		{"misspelled key", "templates:\n- name: x\n  status: []",
			"t.yaml:3: unknown key \"status\" (valid keys: id, name, default, retired, statuses, custom_fields)"},
		{"duplicate key", "templates:\n- name: x\n  name: y", "t.yaml:3: duplicate key name"},
		{"duplicate key in JSON", "{\"templates\": [{\"name\": \"x\",\n\"name\": \"y\"}]}", "t.yaml:2: duplicate key name"},
		{"alias bomb", "a: &a [x]\ntemplates: *a",
			"t.yaml:1: unknown key \"a\" (valid keys: templates)\nt.yaml:2: YAML anchors and aliases (& and *) are not supported; write the value out"},
		{"anchor", "templates: &a []", "t.yaml:1: YAML anchors and aliases (& and *) are not supported; write the value out"},
		{"merge key", "templates:\n- <<: {name: x}",
			"t.yaml:2: unknown key \"<<\" (valid keys: id, name, default, retired, statuses, custom_fields)"},
		{"tag", "templates:\n- name: !!binary aGk=", "t.yaml:2: YAML tags (!) are not supported"},
		{"no value", "templates:\n- name: x\n  statuses:", "t.yaml:3: statuses has no value; omit it, or use [] for an empty list"},
		{"text instead of a list", "templates:\n- name: x\n  statuses: New", "t.yaml:3: statuses must be a list"},
		{"list instead of a text", "templates:\n- name: [x]", "t.yaml:2: name must be text"},
		{"text instead of a flag", "templates:\n- name: x\n  default: yes please", "t.yaml:3: default must be true or false"},
		{"id 0", "templates:\n- name: x\n  id: 0", "t.yaml:3: id must be a number greater than 0"},
		{"id in quotes", "templates:\n- name: x\n  id: '1'", "t.yaml:3: id must be a number greater than 0"},
		{"two problems in order", "templates:\n- name: x\n  custom_fields:\n  - keey: a\n  default: 3",
			"t.yaml:4: unknown key \"keey\" (valid keys: key, label, type, required, options)\nt.yaml:5: default must be true or false"},
		{"too long", "#" + strings.Repeat("x", strictyaml.MaxSize), "t.yaml is longer than 1 MB"},
	} {
		t.Run(row.name, func(t *testing.T) {
			if _, _, err := parseTemplateFile(row.text); err == nil || err.Error() != row.want {
				t.Errorf("got  %v\nwant %v", err, row.want)
			}
		})
	}
}

// YAML and JSON files with the same content produce the same drafts. Omitted keys remain nil.
func TestStrictYAMLParses(t *testing.T) {
	want := []apitypes.TemplateDraft{{ID: 2, Name: "30", Default: true, Retired: new(false), Statuses: new([]string{}),
		CustomFields: &[]apitypes.Field{{Key: "a", Label: "No 😀 / 1.50", Type: "dropdown", Required: true,
			Options: []string{"yes", "2026-01-02", "1.50"}}}}}
	for name, text := range map[string]string{
		"YAML": "\ufefftemplates:\n- id: 2\n  name: 30\n  default: true\n  retired: false\n  statuses: []\n  custom_fields:\n" +
			"  - {key: a, label: No 😀 / 1.50, type: dropdown, required: true, options: [yes, 2026-01-02, 1.50]}",
		"JSON": `{"templates":[{"id":2,"name":30,"default":true,"retired":false,"statuses":[],"custom_fields":[` + "\n\t" +
			`{"key":"a","label":"No \ud83d\ude00 \/ 1.50","type":"dropdown","required":true,"options":["yes","2026-01-02",1.50]}]}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			got, yamlFile, err := parseTemplateFile(text)
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("got %+v, %v, want %+v", got, err, want)
			}
			wantPosition := map[string]string{"YAML": "t.yaml:8", "JSON": "t.yaml:2"}[name]
			if position := yamlFile.position("templates.0.custom_fields.0.options.9"); position != wantPosition {
				t.Errorf("position of option 9: got %s, want %s", position, wantPosition)
			}
		})
	}
	got, _, err := parseTemplateFile("templates: [{name: x}]")
	if err != nil || got[0].Statuses != nil || got[0].CustomFields != nil || got[0].Retired != nil {
		t.Errorf("omitted keys: got %+v, %v, want nil", got, err)
	}
}

// Importing an exported file results in the same names and labels. The parser never panics.
func FuzzStrictYAML(f *testing.F) {
	for _, seed := range []string{
		"templates:\n- {name: x}", `{"templates":[{"name":"x","custom_fields":[]}]}`, "templates: *a", "[[[[", "? ? ? : -",
		"a: &a [*a]", "\xff", "true", "~", "1e3", "\x00\a\b\v\f\x1b\x7f\u0085\ufeff\ufffe\U0001F600 \\/\"", "a\u2028b", "- #", "|\n x",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		drafts, yamlFile, err := parseTemplateFile(text)
		if err == nil && drafts == nil || yamlFile == nil {
			t.Errorf("parse %q: got neither drafts nor an error", text)
		}
		text = strings.ToValidUTF8(text, "?") // the vault accepts only valid UTF-8
		field := apitypes.Field{Key: "a", Label: text, Type: "dropdown", Options: []string{text}}
		list := []apitypes.TemplateDefinition{{ID: 1, Name: text, Statuses: []string{text, "New"}, CustomFields: []apitypes.Field{field}}}
		for _, asJSON := range []bool{false, true} {
			var out bytes.Buffer
			if err := (&shell{out: &out, json: asJSON}).printTemplates(list, false); err != nil {
				t.Fatalf("print templates: %v", err)
			}
			got, _, err := parseTemplateFile(out.String())
			if err != nil {
				if out.Len() > strictyaml.MaxSize {
					continue
				}
				t.Fatalf("parse exported file: %v\n%s", err, out.String())
			}
			first := got[0]
			imported := (*first.CustomFields)[0]
			if first.Name != text || (*first.Statuses)[0] != text || imported.Label != text || imported.Options[0] != text {
				t.Errorf("round trip: got %+v, want the text %q in\n%s", first, text, out.String())
			}
		}
	})
}

func TestDiffText(t *testing.T) {
	id := new(int64(3))
	raw := func(s string) []byte { return []byte(s) }
	d := apitypes.Definition{ID: id, Name: "T", Changes: []apitypes.DefinitionChange{
		{Field: "name", From: raw(`"S"`), To: raw(`"T"`)},
		{Field: "statuses", From: raw(`["A","B"]`), To: raw(`["B","C"]`)},
		{Field: "custom_fields.a", From: raw(`{"key":"a","label":"A","type":"dropdown","options":["x","y"]}`),
			To: raw(`{"key":"a","label":"Aa","type":"dropdown","required":true,"options":["y","z"]}`)},
		{Field: "custom_fields.b", From: raw(`{"key":"b","label":"B","type":"dropdown","options":["x","y"]}`),
			To: raw(`{"key":"b","label":"B","type":"multiselect","options":["y","x"]}`)},
		{Field: "custom_fields.c", From: raw(`null`), To: raw(`{"key":"c","label":"C","type":"date","required":true}`)},
		{Field: "custom_fields.d", From: raw(`{"key":"d","label":"D","type":"dropdown","options":["x"]}`), To: raw(`null`)},
		{Field: "custom_fields", From: raw(`["a","b"]`), To: raw(`["b","a"]`)},
	}}
	const want = `~ template 3 "T"
    name: "S" → "T"
    statuses: B, C (+ "C" - "A")
  ~ a: label "A" → "Aa"; required; options (+ "z" - "x")
  ~ b: dropdown → multiselect; options reordered: y, x
  + c "C", date, required
  - d "D", dropdown: x
    sequence of fields: b, a
`
	if got := diffText(d, "template"); got != want {
		t.Errorf("diffText: got\n%s\nwant\n%s", got, want)
	}
}

// Files of 1 MB that are the most expensive to parse are rejected in bounded time.
func TestStrictYAMLIsFast(t *testing.T) {
	const n = 1 << 20
	for name, unit := range map[string]string{
		"lists in lists": "[", "maps in maps": "{a: ", "dashes": "- ", "keys": "? ", "empty lists": "[],", "colons": ": ",
		"words": "a,", "tags": "!a ", "quotes": "'' ", "lines": "a:\n", "anchors": "&a ", "escapes": `"\x41`,
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			_, _, err := parseTemplateFile("templates: [" + strings.Repeat(unit, (n-20)/len(unit)))
			if took := time.Since(start); took > time.Minute || err == nil {
				t.Errorf("parse took %v and returned %v, want an error within a minute", took, err)
			} else {
				t.Log(took)
			}
		})
	}
}

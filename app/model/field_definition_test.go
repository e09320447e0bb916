package model

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"deedkeep/app/errs"
)

func TestCheckOrderFields(t *testing.T) {
	textFields := func(n int) (list []Field) {
		for i := range n {
			list = append(list, Field{Key: fmt.Sprintf("k%d", i), Label: "L", Type: Text})
		}
		return list
	}
	options := func(n int) (list []string) {
		for i := range n {
			list = append(list, fmt.Sprint(i))
		}
		return list
	}
	single := func(f Field) []Field { return []Field{f} }
	for _, row := range []struct {
		name string
		defs []Field
		want string // field: sentence, joined
	}{
		{"none", nil, ""},
		{"all types", []Field{{"a", "A", Text, false, nil}, {"b", "B", Paragraph, true, nil}, {"c", "C", Date, false, nil},
			{"d", "D", Number, false, nil},
			{"e", "E", Checkbox, false, nil}, {"f", "F", Dropdown, false, []string{"x"}}, {"g", "G", Multiselect, false, []string{"x", "y"}},
			{"h", "H", Money, false, nil}, {"i", "I", Email, false, nil}, {"j", "J", Phone, false, nil}, {"k", "K", URL, false, nil}}, ""},
		{"options of an email", single(Field{"a", "L", Email, false, []string{"x"}}),
			"custom_fields.0.options: Only a dropdown or multiselect can have options, not an email."},
		{"as many fields as allowed", textFields(maxFields), ""},
		{"one field too many", textFields(maxFields + 1), "custom_fields: At most 200 fields are allowed."},
		{"key of 64", single(Field{Key: "a" + strings.Repeat("_", 63), Label: "L", Type: Text}), ""},
		{"key of 65", single(Field{Key: "a" + strings.Repeat("_", 64), Label: "L", Type: Text}),
			`custom_fields.0.key: The key "a` + strings.Repeat("_", 64) + `" is invalid. Use 1 to 64 of a-z, 0-9, and _, starting with a letter.`},
		{"key with a line end", single(Field{Key: "a\n", Label: "L", Type: Text}),
			`custom_fields.0.key: The key "a\n" is invalid. Use 1 to 64 of a-z, 0-9, and _, starting with a letter.`},
		{"no key", single(Field{Label: "L", Type: Text}),
			`custom_fields.0.key: The key "" is invalid. Use 1 to 64 of a-z, 0-9, and _, starting with a letter.`},
		{"the key of a core field", single(Field{Key: "due_date", Label: "L", Type: Date}),
			`custom_fields.0.key: The key "due_date" is used by a built-in field.`},
		{"the key of a core field of abstracts alone", single(Field{Key: "tax_map", Label: "L", Type: Text}), ""},
		{"twice", append(textFields(2), textFields(1)...), `custom_fields.2.key: The key "k0" is used twice.`},
		{"no label", single(Field{Key: "a", Label: " ", Type: Text}), "custom_fields.0.label: The label field is required."},
		{"label of 255", single(Field{Key: "a", Label: strings.Repeat("ß", 255), Type: Text}), ""},
		{"label of 256", single(Field{Key: "a", Label: strings.Repeat("ß", 256), Type: Text}),
			"custom_fields.0.label: The label field must not be greater than 255 characters."},
		{"label of two lines", single(Field{Key: "a", Label: "a\nb", Type: Text}),
			"custom_fields.0.label: The label field contains invalid characters."},
		{"unknown type", single(Field{Key: "a", Label: "L", Type: "Text"}),
			`custom_fields.0.type: The type "Text" is unknown. Types are text, paragraph, date, dropdown, multiselect, number, checkbox, money, ` +
				`email, phone, url.`},
		{"options of a text", single(Field{"a", "L", Text, false, []string{"x"}}),
			"custom_fields.0.options: Only a dropdown or multiselect can have options, not a text."},
		{"no options", single(Field{"a", "L", Dropdown, false, nil}), "custom_fields.0.options: A dropdown field needs options."},
		{"an empty option", single(Field{"a", "L", Dropdown, false, []string{"x", ""}}),
			"custom_fields.0.options.1: The option field is required."},
		{"an option twice", single(Field{"a", "L", Dropdown, false, []string{"Paid", " PAID"}}),
			`custom_fields.0.options.1: "PAID" is listed twice (ignoring case).`},
		{"many options", single(Field{"a", "L", Dropdown, false, options(maxOptions)}), ""},
		{"too many options", single(Field{"a", "L", Multiselect, false, options(maxOptions + 1)}),
			"custom_fields.0.options: At most 500 are allowed."},
		{"all errors", []Field{{"A", "", "x", false, nil}},
			`custom_fields.0.key: The key "A" is invalid. Use 1 to 64 of a-z, 0-9, and _, starting with a letter.; ` +
				`custom_fields.0.label: The label field is required.; custom_fields.0.type: The type "x" is unknown. Types are text, paragraph, ` +
				`date, dropdown, multiselect, number, checkbox, money, email, phone, url.`},
	} {
		t.Run(row.name, func(t *testing.T) {
			_, rejected := CheckOrderFields(row.defs)
			if got := joinErrors(rejected); got != row.want {
				t.Errorf("got  %s\nwant %s", got, row.want)
			}
		})
	}
}

func joinErrors(f errs.Fields) string {
	var lines []string
	for _, field := range f {
		lines = append(lines, field.Field+": "+strings.Join(field.Sentences(), " "))
	}
	return strings.Join(lines, "; ")
}

// The definitions in the initial workspace are valid, and validation doesn't change them.
func TestNewWorkspaceIsValid(t *testing.T) {
	w := NewWorkspace()
	if fields, rejected := CheckOrderFields(w.OrderFields); len(rejected) > 0 || !reflect.DeepEqual(fields, w.OrderFields) {
		t.Errorf("order fields = %v, errors %v; want them unchanged", fields, rejected)
	}
	if statuses, rejected := CheckStatuses(w.OrderStatuses); len(rejected) > 0 || !slices.Equal(statuses, w.OrderStatuses) {
		t.Errorf("statuses = %v, errors %v; want them unchanged", statuses, rejected)
	}
	for _, template := range w.Templates {
		applied, rejected := TemplateDraft{Name: template.Name, Statuses: &template.Statuses, Fields: &template.Fields}.Apply("t", Template{})
		if len(rejected) > 0 || !reflect.DeepEqual(applied, template) {
			t.Errorf("template = %+v, errors %v; want %+v", applied, rejected, template)
		}
	}
}

func TestCheckStatuses(t *testing.T) {
	for _, row := range []struct {
		name string
		list []string
		want string
	}{
		{"good", []string{" active ", "done"}, ""},
		{"none", nil, "statuses: Orders need at least one status. New orders get the first one."},
		{"twice", []string{"Done", "done"}, `statuses.1: "done" is listed twice (ignoring case).`},
		{"too many", make([]string, maxStatuses+1), "statuses: At most 100 are allowed."},
	} {
		t.Run(row.name, func(t *testing.T) {
			if _, rejected := CheckStatuses(row.list); joinErrors(rejected) != row.want {
				t.Errorf("errors = %s, want %s", joinErrors(rejected), row.want)
			}
		})
	}
}

func TestCheckTemplates(t *testing.T) {
	a, b, c := Template{ID: 1, Name: "A", Default: true}, Template{ID: 2, Name: "B"}, Template{ID: 3, Name: "C", Retired: true}
	with := func(t Template, change func(*Template)) Template { change(&t); return t }
	asDefault := func(t *Template) { t.Default = true }
	retired := func(t *Template) { t.Retired = true }
	for _, row := range []struct {
		name         string
		list, wanted []Template
		defaults     string // IDs of the changed templates that are the default after the change
		want         string
	}{
		{"nothing", []Template{a, b, c}, nil, "", ""},
		{"a new default", []Template{a, b, c}, []Template{with(b, asDefault)}, "2", ""},
		{"the default retired", []Template{a, b}, []Template{with(a, retired)}, "1", "templates.0.retired: " + MsgRetireDefault},
		{"another default first", []Template{a, b}, []Template{with(a, retired), with(b, asDefault)}, "2", ""},
		{"a retired default", []Template{a, b, c}, []Template{with(c, asDefault)}, "3", "templates.0.retired: " + MsgRetireDefault},
		{"two defaults", []Template{a, b, c}, []Template{with(b, asDefault), with(Template{Name: "D"}, asDefault)}, "2 0",
			"templates.1.default: Only one template can be the default."},
		{"the first templates", nil, []Template{with(Template{Name: "R"}, retired), {Name: "D"}}, "0", ""},
		{"only a retired one", nil, []Template{with(Template{Name: "R"}, retired)}, "", ""},
		{"an existing name", []Template{a, b, c}, []Template{{Name: "b"}}, "",
			`templates.0.name: Another template is named "b" (ignoring case).`},
		{"the name of a retired template", []Template{a, b, c}, []Template{{Name: "c"}}, "", ""},
		{"names swapped", []Template{a, b},
			[]Template{with(a, func(t *Template) { t.Name = "B" }), with(b, func(t *Template) { t.Name = "A" })}, "1", ""},
		{"a name twice in the file", []Template{a}, []Template{{Name: "X"}, {Name: "x"}}, "",
			`templates.1.name: Another template is named "x" (ignoring case).`},
	} {
		t.Run(row.name, func(t *testing.T) {
			wanted, rejected := CheckTemplates(row.list, row.wanted)
			var defaults []string
			for _, t := range wanted {
				if t.Default {
					defaults = append(defaults, fmt.Sprint(t.ID))
				}
			}
			if got := strings.Join(defaults, " "); got != row.defaults || joinErrors(rejected) != row.want {
				t.Errorf("defaults = %q, errors %q; want %q, %q", got, joinErrors(rejected), row.defaults, row.want)
			}
			if len(wanted) > 0 && len(row.wanted) > 0 && &wanted[0] == &row.wanted[0] {
				t.Error("CheckTemplates modified the caller's list")
			}
		})
	}
}

func TestTemplateChanges(t *testing.T) {
	old := Template{ID: 1, Name: "A", Statuses: []string{"New"},
		Fields: []Field{{Key: "a", Label: "A", Type: Text}, {Key: "b", Label: "B", Type: Text}, {Key: "c", Label: "C", Type: Text}}}
	now := Template{ID: 1, Name: "A & B", Default: true,
		Fields: []Field{{Key: "b", Label: "B", Type: Text}, {Key: "a", Label: "A", Type: Dropdown, Options: []string{"x"}},
			{Key: "d", Label: "D", Type: Date, Required: true}}}
	got, err := json.Marshal(TemplateChanges(old, now))
	if err != nil {
		t.Fatalf("encode changes: %v", err)
	}
	const want = `[{"field":"name","from":"A","to":"A \u0026 B"},{"field":"default","from":false,"to":true},{"field":"statuses",` +
		`"from":["New"],"to":null},` +
		`{"field":"custom_fields.a","from":{"key":"a","label":"A","type":"text"},"to":{"key":"a","label":"A","type":"dropdown",` +
		`"options":["x"]}},` +
		`{"field":"custom_fields.d","from":null,"to":{"key":"d","label":"D","type":"date","required":true}},` +
		`{"field":"custom_fields.c","from":{"key":"c","label":"C","type":"text"},"to":null},` +
		`{"field":"custom_fields","from":["a","b"],"to":["b","a"]}]`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if same := TemplateChanges(old, old); same != nil {
		t.Errorf("no difference: changes = %v, want none", same)
	}
}

func TestTemplateImpact(t *testing.T) {
	fields := func(f ...Field) Template { return Template{ID: 3, Name: "T", Fields: f} }
	text, choice := Field{Key: "k", Label: "K", Type: Text}, Field{Key: "k", Label: "K", Type: Dropdown, Options: []string{"x", "y"}}
	multi := Field{Key: "k", Label: "K", Type: Multiselect, Options: []string{"x", "y"}}
	as := func(f Field, kind FieldType, options ...string) Field { f.Type, f.Options = kind, options; return f }
	for _, row := range []struct {
		name     string
		old, now Template
		value    string // of k, JSON; "" for none
		status   string
		want     string
	}{
		{"a removed field", fields(text), fields(), `"v"`, "", `Can't remove the field "k" of "T": 1 abstract has a value.`},
		{"without a value", fields(text), fields(), ``, "", ``},
		{"a changed type", fields(text), fields(as(text, Date)), `"v"`, "",
			`Can't change the field "k" of "T" to a date: 1 abstract has a value of type text.`},
		{"text to paragraph", fields(text), fields(as(text, Paragraph)), `"v"`, "", ``},
		{"paragraph to text", fields(as(text, Paragraph)), fields(text), `"v"`, "",
			`Can't change the field "k" of "T" to a text: 1 abstract has a value of type paragraph.`},
		{"text to email", fields(text), fields(as(text, Email)), `"a@b.co"`, "",
			`Can't change the field "k" of "T" to an email: 1 abstract has a value of type text.`},
		{"number to money", fields(as(text, Number)), fields(as(text, Money)), `12.5`, "",
			`Can't change the field "k" of "T" to money: 1 abstract has a value of type number.`},
		{"phone to url", fields(as(text, Phone)), fields(as(text, URL)), `"9855550142"`, "",
			`Can't change the field "k" of "T" to a url: 1 abstract has a value of type phone.`},
		{"money to text", fields(as(text, Money)), fields(text), `"12.50"`, "", ``},
		{"email to text", fields(as(text, Email)), fields(text), `"a@b.co"`, "", ``},
		{"phone to paragraph", fields(as(text, Phone)), fields(as(text, Paragraph)), `"9855550142"`, "", ``},
		{"url to text", fields(as(text, URL)), fields(text), `"http://a.b/"`, "", ``},
		{"dropdown to text", fields(choice), fields(text), `"x"`, "", ``},
		{"multiselect to dropdown", fields(multi), fields(choice), `["x"]`, "",
			`Can't change the field "k" of "T" to a dropdown: 1 abstract has a value of type multiselect.`},
		{"a removed option", fields(choice), fields(as(choice, Dropdown, "y")), `"x"`, "",
			`Can't remove the option "x" of the field "k" of "T": 1 abstract uses it.`},
		{"another removed option", fields(choice), fields(as(choice, Dropdown, "x")), `"x"`, "", ``},
		{"an option in another case", fields(choice), fields(as(choice, Dropdown, "X", "y")), `"x"`, "",
			`Can't remove the option "x" of the field "k" of "T": 1 abstract uses it.`},
		{"a removed option of several", fields(multi), fields(as(multi, Multiselect, "y")), `["y","x"]`, "",
			`Can't remove the option "x" of the field "k" of "T": 1 abstract uses it.`},
		{"an unreadable value", fields(multi), fields(as(multi, Multiselect, "y")), `7`, "",
			`Can't remove the option "x" of the field "k" of "T": 1 abstract uses it.`},
		{"options in another sequence", fields(choice), fields(as(choice, Dropdown, "y", "x")), `"x"`, "", ``},
		{"a removed status", Template{Statuses: []string{"New", "Done"}}, Template{Statuses: []string{"New"}}, ``, "Done",
			`Can't remove the status "Done": 1 abstract uses it.`},
		{"all statuses removed", Template{Statuses: []string{"New"}}, Template{}, ``, "New", `Can't remove the status "New": 1 abstract uses it.`},
		{"all statuses removed, none in use", Template{Statuses: []string{"New"}}, Template{}, ``, "", ``},
		{"label, required, and sequence changed", fields(text, Field{Key: "l", Type: Text}),
			fields(Field{Key: "l", Type: Text}, requiredField(text)),
			`"v"`, "", ``},
	} {
		t.Run(row.name, func(t *testing.T) {
			values := CustomValues{}
			if row.value != "" {
				values["k"] = json.RawMessage(row.value)
			}
			var got []string
			for _, loss := range TemplateImpact(row.old, row.now) {
				if loss.Affects(values, row.status) {
					got = append(got, loss.Message(1, "abstract"))
				}
			}
			if strings.Join(got, " ") != row.want {
				t.Errorf("messages = %s, want %s", got, row.want)
			}
		})
	}
	const want = `Can't remove the field "k": 12 orders have a value.`
	if got := (Impact{Key: "k", OldType: Text}).Message(12, "order"); got != want {
		t.Errorf("Message = %s, want %s", got, want)
	}
}

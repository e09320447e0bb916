package page

import (
	"bytes"
	"encoding/json"
	"html/template"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"deedkeep/app/model"
	"deedkeep/web"
)

// testNow is far from the clock of the machine, so that a function that reads that one fails.
var testNow = time.Date(2046, 3, 9, 12, 0, 0, 0, time.UTC)

var everyField = []model.Field{
	{Key: "line", Label: "Line", Type: model.Text, Required: true},
	{Key: "long", Label: "Long", Type: model.Paragraph},
	{Key: "day", Label: "Day", Type: model.Date},
	{Key: "few", Label: "Few", Type: model.Dropdown, Options: []string{"A", "B"}},
	{Key: "many", Label: "Many", Type: model.Dropdown, Options: []string{"1", "2", "3", "4", "5"}},
	{Key: "several", Label: "Several", Type: model.Multiselect, Options: []string{"X", "Y", "Z"}},
	{Key: "amount", Label: "Amount", Type: model.Number},
	{Key: "yes", Label: "Yes", Type: model.Checkbox},
	{Key: "fee", Label: "Fee", Type: model.Money},
	{Key: "mail", Label: "Mail", Type: model.Email},
	{Key: "phone", Label: "Phone", Type: model.Phone},
	{Key: "web", Label: "Web", Type: model.URL},
}

// Submitted fields are converted to the JSON that package model validates.
func TestSubmittedCustom(t *testing.T) {
	t.Parallel()
	form := url.Values{
		"custom_fields.line": {" a <b> "}, "custom_fields.long": {"one\r\ntwo"}, "custom_fields.day": {"2026-03-14"},
		"custom_fields.few": {""}, "custom_fields.several": {"", "X", "Z"}, "custom_fields.amount": {"1,200.50"},
		"custom_fields.yes": {"", "true"},
		"custom_fields.fee": {"$1,234.5"}, "custom_fields.mail": {"a@b.co"}, "custom_fields.phone": {"(985) 555-0142"},
		"custom_fields.web":     {"https://a.b/"},
		"custom_fields.unknown": {"no"},
	}
	got := SubmittedCustom(everyField, form, testNow).Values
	want := map[string]string{
		"line": `" a <b> "`, "long": `"one\ntwo"`, "day": `"2026-03-14"`, "few": "null", "several": `["X","Z"]`,
		"amount": "1200.50", "yes": "true",
		"fee": `"1234.50"`, "mail": `"a@b.co"`, "phone": `"(985) 555-0142"`, "web": `"https://a.b/"`,
	}
	for key, raw := range want {
		if sent := string(got[key].JSON()); sent != raw {
			t.Errorf("SubmittedCustom() of %s = %s, want %s", key, sent, raw)
		}
	}
	if _, sent := got["many"]; sent || len(got) != len(want) {
		t.Errorf("SubmittedCustom() = %v, want %d fields without many", got, len(want))
	}
}

// A date that users type is stored, and other text is kept for the form to show again. A two-digit year is at most
// ten years ahead, and the search period has passed.
func TestTypedDate(t *testing.T) {
	t.Parallel()
	year := testNow.Year()
	soon := strconv.Itoa(year + 5)
	for _, row := range []struct{ name, text, want string }{
		{"due_date", "3/14/2026", "2026-03-14"}, {"due_date", "1/1/" + soon[2:], soon + "-01-01"}, {"due_date", "2/30/2026", "2/30/2026"},
		{"custom_fields.search_from", "1/1/" + soon[2:], strconv.Itoa(year-95) + "-01-01"}, {"effective_date", "soon", "soon"},
	} {
		if got := TypedDate(row.name, row.text, testNow); got != row.want {
			t.Errorf("TypedDate(%q, %q) = %q, want %q", row.name, row.text, got, row.want)
		}
	}
	form := url.Values{"custom_fields.day": {"3/14/2026"}}
	if got := string(SubmittedCustom(everyField, form, testNow).Values["day"].JSON()); got != `"2026-03-14"` {
		t.Errorf("SubmittedCustom() = %s, want the date 2026-03-14", got)
	}
	if in := SubmittedInputs(everyField, form, nil, testNow)[2]; in.Value() != "2026-03-14" {
		t.Errorf("SubmittedInputs() = %q, want 2026-03-14", in.Value())
	}
}

// Numbers can be entered in US notation and are displayed that way. Validation rejects ambiguous
// numbers.
func TestNumberInput(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ typed, stored, shown string }{
		{"$387,500.00", "387500.00", "387,500.00"}, {"387,500", "387500", "387,500"}, {"387500", "387500", "387,500"},
		{" $ 1,250 ", "1250", "1250"},
		{"387 500", "387500", "387,500"}, {"387\u00a0500.5", "387500.5", "387,500.5"}, {"-$12,000", "-12000", "-12,000"},
		{"12,000.", "12000", "12,000"},
		{"2026", "2026", "2026"}, {"10000", "10000", "10,000"}, {"1234567890123", "1234567890123", "1,234,567,890,123"},
		{"0.125", "0.125", "0.125"}, {"1e5", "1e5", "1e5"},
		{"38,75", `"38,75"`, "38,75"}, {"3,875,00", `"3,875,00"`, "3,875,00"}, {"387.500,00", `"387.500,00"`, "387.500,00"},
		{"$", `"$"`, "$"}, {"five", `"five"`, "five"}, {"007", `"007"`, "007"},
	} {
		t.Run(row.typed, func(t *testing.T) {
			sent := string(SubmittedCustom(everyField, url.Values{"custom_fields.amount": {row.typed}}, testNow).Values["amount"].JSON())
			if sent != row.stored {
				t.Errorf("SubmittedCustom(%q) = %s, want %s", row.typed, sent, row.stored)
			}
			if got := FormatValues(model.Number, model.StoredTexts(json.RawMessage(sent))); got != row.shown {
				t.Errorf("FormatValues of %q = %q, want %q", row.typed, got, row.shown)
			}
			if in := NewInput(everyField[6], model.StoredTexts(json.RawMessage(sent))); in.Amount() != row.shown {
				t.Errorf("Amount() of %q = %q, want %q", row.typed, in.Amount(), row.shown)
			}
		})
	}
}

// Amounts can be entered in common notations. They are stored as decimals and displayed in dollars
// and cents. If an amount is rejected, the text is shown as the user typed it.
func TestMoneyInput(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ typed, stored, shown string }{
		{"$387,500.00", "387500.00", "$387,500.00"}, {"387500", "387500.00", "$387,500.00"}, {" $ 1,250.5 ", "1250.50", "$1,250.50"},
		{"387 500", "387500.00", "$387,500.00"},
		{"12,000.", "12000.00", "$12,000.00"}, {".5", "0.50", "$0.50"}, {"999.99", "999.99", "$999.99"},
		{"1,234,567,890,123", "1234567890123.00", "$1,234,567,890,123.00"},
		{"-5", "-5", "-5"}, {"38,75", "38,75", "38,75"}, {"1.005", "1.005", "1.005"}, {"five", "five", "five"}, {"$", "$", "$"},
		{"1e5", "1e5", "1e5"},
	} {
		t.Run(row.typed, func(t *testing.T) {
			sent := string(SubmittedCustom(everyField, url.Values{"custom_fields.fee": {row.typed}}, testNow).Values["fee"].JSON())
			if want := string(model.StringInput(row.stored).JSON()); sent != want {
				t.Errorf("SubmittedCustom(%q) = %s, want %s", row.typed, sent, want)
			}
			if got := FormatValues(model.Money, model.StoredTexts(json.RawMessage(sent))); got != row.shown {
				t.Errorf("FormatValues of %q = %q, want %q", row.typed, got, row.shown)
			}
			if in := NewInput(everyField[8], model.StoredTexts(json.RawMessage(sent))); in.Amount() != row.shown {
				t.Errorf("Amount() of %q = %q, want %q", row.typed, in.Amount(), row.shown)
			}
		})
	}
}

func TestStoredTexts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		raw  string
		want []string
	}{
		{"", nil}, {"null", nil}, {`"a\r\nb"`, []string{"a\nb"}}, {"1.50", []string{"1.50"}}, {"true", []string{"true"}},
		{`["a","b"]`, []string{"a", "b"}}, {`{"x":1}`, []string{`{"x":1}`}}, {"[", []string{"["}},
	} {
		t.Run(c.raw, func(t *testing.T) {
			if got := model.StoredTexts(json.RawMessage(c.raw)); !slices.Equal(got, c.want) {
				t.Errorf("StoredTexts(%s) = %q, want %q", c.raw, got, c.want)
			}
		})
	}
}

// Valid web and email addresses are displayed as links.
func TestFieldLinks(t *testing.T) {
	t.Parallel()
	set := template.Must(template.New("").Funcs(template.FuncMap{"plural": Plural, "icon": func(string) string { return "" },
		"date": FormatDate}).ParseFS(web.Pages(), "part-group.html", "part-notice.html"))
	for _, row := range []struct {
		name string
		in   Input
		want string
	}{
		{"url", NewInput(everyField[11], []string{"https://a.b/?c=<d>"}),
			`<a href="https://a.b/?c=%3cd%3e" rel="noopener noreferrer">https://a.b/?c=&lt;d&gt;</a>`},
		{"a script", NewInput(everyField[11], []string{"javascript:alert(1)"}), "javascript:alert(1)"},
		{"email", NewInput(everyField[9], []string{"a@b.co"}), `<a href="mailto:a@b.co" rel="noopener noreferrer">a@b.co</a>`},
		{"invalid email", NewInput(everyField[9], []string{"x"}), "x"},
		{"no value", NewInput(everyField[11], nil), ""},
		{"money", NewInput(everyField[8], []string{"1234.50"}), "$1,234.50"},
		{"phone", NewInput(everyField[10], []string{"(985) 555-0142"}), "(985) 555-0142"},
	} {
		t.Run(row.name, func(t *testing.T) {
			var b bytes.Buffer
			if err := set.ExecuteTemplate(&b, "value", row.in); err != nil || b.String() != row.want {
				t.Errorf("template value = %s, %v, want %s", b.String(), err, row.want)
			}
		})
	}
}

// For every type, the rendered control contains the escaped value and the problem.
func TestFieldTemplate(t *testing.T) {
	t.Parallel()
	set := template.Must(template.New("").Funcs(template.FuncMap{
		"plural": Plural,
		"icon":   func(string) string { return "" }}).ParseFS(web.Pages(), "part-field.html"))
	show := func(in Input) string {
		var b bytes.Buffer
		if err := set.ExecuteTemplate(&b, "field", in); err != nil {
			t.Fatalf("ExecuteTemplate: %v", err)
		}
		return b.String()
	}
	hostile := `"><script>alert(1)</script>`
	for _, c := range []struct {
		name string
		in   Input
		want []string
	}{
		{"text", NewInput(everyField[0], []string{hostile}),
			[]string{`value="&#34;&gt;&lt;script`, `<abbr class="required"`, `for="custom_fields-line"`}},
		{"missing", NewInput(everyField[0], nil), []string{`class="field missing"`}},
		{"paragraph", NewInput(everyField[1], []string{"\n" + hostile}), []string{"<textarea", ">\n\n&#34;&gt;&lt;script"}},
		{"date", NewInput(everyField[2], []string{"2026-03-14"}), []string{`type="date"`, `value="2026-03-14"`}},
		{"radios", NewInput(everyField[3], []string{"B"}), []string{`role="radiogroup"`, `value="B" checked`, "No selection"}},
		{"dropdown", NewInput(everyField[4], []string{"5"}), []string{"<select", `<option value="5" selected>5</option>`}},
		{"a removed option", NewInput(everyField[4], []string{"old"}), []string{`<option value="old" selected>old</option>`}},
		{"multiselect", NewInput(everyField[5], []string{"X", "Z"}),
			[]string{`type="hidden" name="custom_fields.several" value=""`, `value="X" checked`, `value="Z" checked`}},
		{"number", NewInput(everyField[6], []string{"1.50"}), []string{`inputmode="decimal"`, `value="1.50"`}},
		{"checkbox", NewInput(everyField[7], []string{"true"}), []string{`value="false"`, `value="true" checked`}},
		{"money", NewInput(everyField[8], []string{"1234.50"}), []string{`inputmode="decimal"`, `value="$1,234.50"`}},
		{"invalid money", NewInput(everyField[8], []string{"1.005"}), []string{`value="1.005"`}},
		{"email", NewInput(everyField[9], []string{"a@b.co"}), []string{`type="email" inputmode="email"`, `value="a@b.co"`}},
		{"email in foreign letters", NewInput(everyField[9], []string{"a@bücher.example"}),
			[]string{`type="text" inputmode="email"`, `value="a@bücher.example"`}},
		{"email in Punycode", NewInput(everyField[9], []string{"a@xn--bcher-kva.example"}), []string{`type="text" inputmode="email"`}},
		{"invalid email", NewInput(everyField[9], []string{hostile}), []string{`type="text" inputmode="email"`, `value="&#34;&gt;&lt;script`}},
		{"phone", NewInput(everyField[10], []string{"(985) 555-0142"}), []string{`type="tel" inputmode="tel"`, `value="(985) 555-0142"`}},
		{"no phone", NewInput(everyField[10], nil), []string{`type="tel"`, `value=""`}},
		{"url", NewInput(everyField[11], []string{"https://a.b/?c=d&e"}),
			[]string{`type="url" inputmode="url"`, `value="https://a.b/?c=d&amp;e"`}},
		{"invalid url", NewInput(everyField[11], []string{"http://192.0.2.999/"}), []string{`type="text" inputmode="url"`}},
		{"problem", Input{Name: "county", Label: "County", Type: model.Text, Problem: "Too long.", Values: []string{"x"}},
			[]string{`aria-invalid="true"`, `aria-describedby="county-problem"`, `id="county-problem"`, "Too long."}},
		{"an invalid date keeps its text", Input{Name: "d", Type: model.Date, Problem: "No.", Values: []string{"3/14"}},
			[]string{`value="3/14"`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := show(c.in)
			for _, want := range c.want {
				if !strings.Contains(got, want) {
					t.Errorf("template field = %s, want it to contain %s", got, want)
				}
			}
			if strings.Contains(got, "<script") {
				t.Errorf("template field = %s, want it escaped", got)
			}
		})
	}
}

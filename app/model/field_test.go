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

// digits returns a number of count digits.
func digits(count int) string { return strings.Repeat("7", count) }

func TestCheckCustomEachType(t *testing.T) {
	options := []string{"Purchase", "2024", "R & D <x>", "Full Search"}
	for _, row := range []struct {
		name     string
		kind     FieldType
		sent     string
		value    string // "" for no value
		rejected string
	}{
		{"text", Text, `" Smith "`, `"Smith"`, ""},
		{"text from a number", Text, `1.50`, `"1.50"`, ""},
		{"text from a large number", Text, `123456789012345678901234567890`, `"123456789012345678901234567890"`, ""},
		{"text, null", Text, `null`, "", ""},
		{"text, empty", Text, `""`, "", ""},
		{"text, blanks", Text, `"  "`, "", ""},
		{"text, empty array", Text, `[ ]`, "", ""},
		{"text, HTML stays", Text, `"a<b>&c"`, `"a<b>&c"`, ""},
		{"text, array", Text, `["a"]`, "", "must be a string"},
		{"text, object", Text, `{}`, "", "must be a string"},
		{"text, boolean", Text, `true`, "", "must be a string"},
		{"text, NUL", Text, `"a\u0000"`, "", "contains invalid characters"},
		{"text, at max", Text, jsonString(2000), jsonString(2000), ""},
		{"text, too long", Text, jsonString(2001), "", "must not be greater than 2000 characters"},
		{"text, number too long", Text, digits(2001), "", "must not be greater than 2000 characters"},

		{"paragraph is kept as sent", Paragraph, `" a\n\tb "`, `" a\n\tb "`, ""},
		{"paragraph of blanks is kept", Paragraph, `"  "`, `"  "`, ""},
		{"paragraph from a number", Paragraph, `-0.0e+5`, `"-0.0e+5"`, ""},
		{"paragraph, empty", Paragraph, `""`, "", ""},
		{"paragraph, at max", Paragraph, jsonString(65535), jsonString(65535), ""},
		{"paragraph, too long", Paragraph, jsonString(65536), "", "must not be greater than 65535 characters"},
		{"paragraph, NUL", Paragraph, `"\u0000"`, "", "contains invalid characters"},
		{"paragraph, object", Paragraph, `{"a":1}`, "", "must be a string"},

		{"date", Date, `" 2026-06-15 "`, `"2026-06-15"`, ""},
		{"date, no such day", Date, `"2026-02-30"`, "", "must match the format Y-m-d"},
		{"date from a number", Date, `20260615`, "", "must match the format Y-m-d"},
		{"date, null", Date, `null`, "", ""},
		{"date, array", Date, `["2026-06-15"]`, "", "must match the format Y-m-d"},

		{"dropdown", Dropdown, `"Purchase"`, `"Purchase"`, ""},
		{"dropdown, trimmed", Dropdown, `" Purchase "`, `"Purchase"`, ""},
		{"dropdown from a number", Dropdown, `2024`, `"2024"`, ""},
		{"dropdown, HTML stays", Dropdown, `"R & D <x>"`, `"R & D <x>"`, ""},
		{"dropdown, case matters", Dropdown, `"purchase"`, "", "selected"},
		{"dropdown, outside", Dropdown, `"Lease"`, "", "selected"},
		{"dropdown, another number", Dropdown, `2024.0`, "", "selected"},
		{"dropdown, array", Dropdown, `["Purchase"]`, "", "must be a string"},
		{"dropdown, empty", Dropdown, `""`, "", ""},

		{"multiselect", Multiselect, `["Full Search","Purchase"]`, `["Full Search","Purchase"]`, ""},
		{"multiselect, repeats", Multiselect, `["Purchase","2024","Purchase"]`, `["Purchase","2024"]`, ""},
		{"multiselect, HTML stays", Multiselect, `["R & D <x>"]`, `["R & D <x>"]`, ""},
		{"multiselect from a string", Multiselect, `"Purchase"`, `["Purchase"]`, ""},
		{"multiselect, empty items", Multiselect, `["", null, " ", "Purchase"]`, `["Purchase"]`, ""},
		{"multiselect, only empty items", Multiselect, `["", null]`, "", ""},
		{"multiselect, empty", Multiselect, `[]`, "", ""},
		{"multiselect, one outside", Multiselect, `["Purchase","Lease"]`, "", "selected"},
		{"multiselect, an array inside", Multiselect, `[["Purchase"]]`, "", "selected"},
		{"multiselect, number inside", Multiselect, `[2024]`, "", "selected"},
		{"multiselect, object", Multiselect, `{"0":"Purchase"}`, "", "must be an array"},
		{"multiselect, number", Multiselect, `2024`, "", "must be an array"},
		{"multiselect, boolean", Multiselect, `false`, "", "must be an array"},

		{"number", Number, `1.50`, `1.50`, ""},
		{"number, exponent", Number, `-1E+400`, `-1E+400`, ""},
		{"number as a string", Number, `" 007 "`, "", "must be a number"},
		{"number in a string", Number, `" 1.50 "`, `"1.50"`, ""},
		{"number, empty", Number, `"  "`, "", ""},
		{"number, hexadecimal", Number, `"0x1F"`, "", "must be a number"},
		{"number, words", Number, `"12 acres"`, "", "must be a number"},
		{"number, NaN", Number, `"NaN"`, "", "must be a number"},
		{"number, boolean", Number, `true`, "", "must be a number"},
		{"number, object", Number, `{}`, "", "must be a number"},
		{"number, at max", Number, digits(2000), digits(2000), ""},
		{"number, too long", Number, digits(2001), "", "must not be greater than 2000 characters"},
		{"number in a string, at max", Number, `"` + digits(2000) + `"`, `"` + digits(2000) + `"`, ""},
		{"number, a long object", Number, `{"a":` + jsonString(2001) + `}`, "", "must be a number"},

		{"checkbox, true", Checkbox, ` true `, `true`, ""},
		{"checkbox, false is a value", Checkbox, `false`, `false`, ""},
		{"checkbox, string", Checkbox, `"true"`, "", "must be true or false"},
		{"checkbox, number", Checkbox, `1`, "", "must be true or false"},
		{"checkbox, null", Checkbox, `null`, "", ""},

		{"money", Money, `"$1,234.5"`, `"1234.50"`, ""},
		{"money is canonical", Money, `"1234.50"`, `"1234.50"`, ""},
		{"money from a number", Money, `1234.5`, `"1234.50"`, ""},
		{"money from a number, no cents", Money, `387500`, `"387500.00"`, ""},
		{"money, trimmed", Money, `" $ 12,000. "`, `"12000.00"`, ""},
		{"money, cents alone", Money, `"$.05"`, `"0.05"`, ""},
		{"money, leading zeros", Money, `"0000250.00"`, `"250.00"`, ""},
		{"money, zero", Money, `0`, `"0.00"`, ""},
		{"money, empty", Money, `" "`, "", ""},
		{"money, null", Money, `null`, "", ""},
		{"money, below zero", Money, `"-5.00"`, "", "must be an amount of money"},
		{"money from a number below zero", Money, `-5`, "", "must be an amount of money"},
		{"money, a sign alone", Money, `"$"`, "", "must be an amount of money"},
		{"money, a point alone", Money, `"."`, "", "must be an amount of money"},
		{"money, three decimals", Money, `1.005`, "", "must be an amount of money"},
		{"money with an exponent", Money, `1e3`, "", "must be an amount of money"},
		{"money, commas elsewhere", Money, `"12,34"`, "", "must be an amount of money"},
		{"money of another country", Money, `"1.234,50"`, "", "must be an amount of money"},
		{"money in words", Money, `"five"`, "", "must be an amount of money"},
		{"money, boolean", Money, `true`, "", "must be an amount of money"},
		{"money, array", Money, `["5"]`, "", "must be an amount of money"},
		{"money, NUL", Money, `"5\u0000"`, "", "contains invalid characters"},
		{"money, at max", Money, digits(13), `"7777777777777.00"`, ""},
		{"money, commas, at max", Money, `"$9,999,999,999,999.99"`, `"9999999999999.99"`, ""},
		{"money, one digit more", Money, digits(14), "", "must not be greater than 9999999999999.99"},
		{"money, too long", Money, digits(2001), "", "must not be greater than 2000 characters"},

		{"email", Email, `" Ann.O'Neil+title@bayou-title.com "`, `"Ann.O'Neil+title@bayou-title.com"`, ""},
		{"email in other letters", Email, `"änn@bücher.example"`, `"änn@bücher.example"`, ""},
		{"email, empty", Email, `""`, "", ""},
		{"email without a domain", Email, `"ann@"`, "", "must be a valid email address"},
		{"email without a dot", Email, `"ann@localhost"`, "", "must be a valid email address"},
		{"email with a name", Email, `"Ann <ann@example.com>"`, "", "must be a valid email address"},
		{"email in brackets", Email, `"<ann@example.com>"`, "", "must be a valid email address"},
		{"email in quotes", Email, `"\"ann o\"@example.com"`, "", "must be a valid email address"},
		{"two emails", Email, `"a@example.com, b@example.com"`, "", "must be a valid email address"},
		{"email with two dots", Email, `"ann..o@example.com"`, "", "must be a valid email address"},
		{"email at a number", Email, `"ann@192.0.2.10"`, "", "must be a valid email address"},
		{"email with a hyphen at an end", Email, `"ann@-example.com"`, "", "must be a valid email address"},
		{"email with a bidirectional control", Email, `"ann\u202e@example.com"`, "", "must be a valid email address"},
		{"email from a number", Email, `7`, "", "must be a valid email address"},
		{"email, object", Email, `{}`, "", "must be a valid email address"},
		{"email, longest parts", Email, `"` + digits(64) + `@` + digits(63) + `.com"`, `"` + digits(64) + `@` + digits(63) + `.com"`, ""},
		{"email, part before the @ too long", Email, `"` + digits(65) + `@example.com"`, "", "must be a valid email address"},
		{"email, part of the domain too long", Email, `"a@` + digits(64) + `.com"`, "", "must be a valid email address"},
		{"email, too long", Email, jsonString(255), "", "must not be greater than 254 characters"},

		{"phone", Phone, `"(985) 555-0142"`, `"(985) 555-0142"`, ""},
		{"phone, white space", Phone, `"  985\u00a0\t555  0142 "`, `"985 555 0142"`, ""},
		{"international phone", Phone, `"+49 (30) 901820"`, `"+49 (30) 901820"`, ""},
		{"phone with an extension", Phone, `"985.555.0142, ext. 12"`, `"985.555.0142, ext. 12"`, ""},
		{"phone with a short extension", Phone, `"985-555-0142 X7"`, `"985-555-0142 X7"`, ""},
		{"phone from a number", Phone, `9855550142`, `"9855550142"`, ""},
		{"phone, empty", Phone, `" "`, "", ""},
		{"phone, six digits", Phone, `"555-014"`, "", "must be a valid phone number"},
		{"phone, fifteen digits", Phone, digits(15), `"` + digits(15) + `"`, ""},
		{"phone, sixteen digits", Phone, digits(16), "", "must be a valid phone number"},
		{"phone, digits of the extension don't count", Phone, `"985 x5550142"`, "", "must be a valid phone number"},
		{"phone in letters", Phone, `"1-800-FLOWERS"`, "", "must be a valid phone number"},
		{"phone below zero", Phone, `-9855550142`, "", "must be a valid phone number"},
		{"phone, array", Phone, `["9855550142"]`, "", "must be a valid phone number"},
		{"phone, at max", Phone, `"9855550142` + strings.Repeat("-", 54) + `"`, `"9855550142` + strings.Repeat("-", 54) + `"`, ""},
		{"phone, too long", Phone, `"9855550142` + strings.Repeat("-", 55) + `"`, "", "must not be greater than 64 characters"},

		{"url", URL, `" https://recorder.example.gov/deeds?book=12&page=7#top "`, `"https://recorder.example.gov/deeds?book=12&page=7#top"`, ""},
		{"url with a blank", URL, `"http://example.com/a b"`, "", "must be a valid URL"},
		{"url in capitals", URL, `"HTTP://Example.com:8080/%7Ea"`, `"HTTP://Example.com:8080/%7Ea"`, ""},
		{"url of a local host name", URL, `"http://gis01/maps"`, `"http://gis01/maps"`, ""},
		{"url of an IPv4 address", URL, `"http://192.0.2.10/"`, `"http://192.0.2.10/"`, ""},
		{"url of an IPv6 address", URL, `"http://[2001:db8::1]:80/"`, `"http://[2001:db8::1]:80/"`, ""},
		{"url with non-ASCII letters", URL, `"https://bücher.example/ü"`, `"https://bücher.example/ü"`, ""},
		{"url, empty", URL, `""`, "", ""},
		{"url without a scheme", URL, `"example.com"`, "", "must be a valid URL"},
		{"url of a script", URL, `"javascript:alert(1)"`, "", "must be a valid URL"},
		{"url of files", URL, `"ftp://example.com/"`, "", "must be a valid URL"},
		{"url without a host", URL, `"https:///deeds"`, "", "must be a valid URL"},
		{"url without slashes", URL, `"http:example.com"`, "", "must be a valid URL"},
		{"url with a password", URL, `"https://ann:secret@example.com/"`, "", "must be a valid URL"},
		{"url of an invalid address", URL, `"http://192.0.2.999/"`, "", "must be a valid URL"},
		{"url with an empty label", URL, `"http://a..example.com/"`, "", "must be a valid URL"},
		{"url of a port too high", URL, `"http://example.com:65536/"`, "", "must be a valid URL"},
		{"url of two lines", URL, `"http://example.com/a\nb"`, "", "must be a valid URL"},
		{"url with a bidirectional control", URL, `"http://example.com/\u202efdp"`, "", "must be a valid URL"},
		{"url from a number", URL, `7`, "", "must be a valid URL"},
		{"url, boolean", URL, `true`, "", "must be a valid URL"},
		{"url, at max", URL, `"http://example.com/` + strings.Repeat("a", 1981) + `"`,
			`"http://example.com/` + strings.Repeat("a", 1981) + `"`, ""},
		{"url, too long", URL, `"http://example.com/` + strings.Repeat("a", 1982) + `"`, "", "must not be greater than 2000 characters"},
	} {
		t.Run(row.name, func(t *testing.T) {
			var f validation
			defs := []Field{{Key: "the_key", Type: row.kind, Options: options}}
			got := f.checkCustom(Custom{Values: Inputs{"the_key": JSONInput(row.sent)}}, defs, Rules{})
			if string(got["the_key"]) != row.value {
				t.Errorf("value = %.80s, want %.80s", got["the_key"], row.value)
			}
			if _, found := got["the_key"]; found != (row.value != "") {
				t.Errorf("values = %v, want no key without a value", got)
			}
			switch row.rejected {
			case "":
				checkFieldErrors(t, f.Fields)
			case "selected":
				checkFieldErrors(t, f.Fields, "custom_fields.the_key: The selected the key is invalid.")
			default:
				checkFieldErrors(t, f.Fields, "custom_fields.the_key: The the key field "+row.rejected+".")
			}
		})
	}
}

// jsonString returns a JSON string with n characters.
func jsonString(n int) string { return `"` + strings.Repeat("x", n) + `"` }

func TestCheckCustomFieldSet(t *testing.T) {
	defs := []Field{{Key: "z", Type: Text, Required: true}, {Key: "a", Type: Date, Required: true}, {Key: "m", Type: Text}}
	for _, row := range []struct {
		name     string
		sent     string
		enforce  bool
		values   string
		rejected []string
	}{
		{"nothing", `{}`, false, `{}`, nil},
		{"unknown keys are ignored", `{"q":1,"__proto__":{},"Z":"x"}`, false, `{}`, nil},
		{"only keys with a value", `{"z":"1","a":null,"m":""}`, false, `{"z":"1"}`, nil},
		{"required is accepted", `{"m":"1"}`, false, `{"m":"1"}`, nil},
		{"required is enforced, in the sequence of the definition", `{"m":"1"}`, true, `{"m":"1"}`,
			[]string{"custom_fields.z: The z field is required.", "custom_fields.a: The a field is required."}},
		{"an empty value is missing", `{"z":" ","a":"2026-01-01"}`, true, `{"a":"2026-01-01"}`,
			[]string{"custom_fields.z: The z field is required."}},
		{"an invalid value is not also missing", `{"z":"1","a":"x"}`, true, `{"z":"1"}`,
			[]string{"custom_fields.a: The a field must match the format Y-m-d."}},
		{"errors in the sequence of the definition", `{"a":"x","m":[1],"z":{}}`, false, `{}`,
			[]string{"custom_fields.z: The z field must be a string.", "custom_fields.a: The a field must match the format Y-m-d.",
				"custom_fields.m: The m field must be a string."}},
	} {
		t.Run(row.name, func(t *testing.T) {
			var sent Inputs
			if err := json.Unmarshal([]byte(row.sent), &sent); err != nil {
				t.Fatalf("decode %s: %v", row.sent, err)
			}
			var f validation
			got, err := json.Marshal(f.checkCustom(Custom{Values: sent}, defs, Rules{EnforceRequired: row.enforce}))
			if err != nil || string(got) != row.values {
				t.Errorf("values = %s, %v; want %s", got, err, row.values)
			}
			checkFieldErrors(t, f.Fields, row.rejected...)
		})
	}
}

// A draft is validated twice: before its files are stored, and inside the transaction.
func TestMultiselectCanBeCheckedTwice(t *testing.T) {
	sent := Custom{Values: Inputs{"k": JSONInput(`["Purchase","Lease"]`)}}
	defs := []Field{{Key: "k", Type: Multiselect, Options: []string{"Purchase", "Lease"}}}
	for range 2 {
		var f validation
		if got := f.checkCustom(sent, defs, Rules{}); string(got["k"]) != `["Purchase","Lease"]` {
			t.Errorf("value = %s, want both options", got["k"])
		}
		checkFieldErrors(t, f.Fields)
	}
}

func TestValuesDoNotAliasRequestBody(t *testing.T) {
	for _, kind := range []FieldType{Number, Checkbox} {
		raw := json.RawMessage(`true`)
		if kind == Number {
			raw = json.RawMessage(`1234`)
		}
		var f validation
		got := f.checkCustom(Custom{Values: Inputs{"k": JSONInput(raw)}}, []Field{{Key: "k", Type: kind}}, Rules{})
		before := string(got["k"])
		copy(raw, "####")
		if string(got["k"]) != before {
			t.Errorf("%s after the request body changed = %s, want %s", kind, got["k"], before)
		}
	}
}

func FuzzCheckCustom(f *testing.F) {
	for _, seed := range []string{`{"text":"a","paragraph":" b ","date":"2026-02-30","dropdown":"A & B","multiselect":["C","C"],` +
		`"number":"1e5","checkbox":true}`,
		`{"text":1.50,"number":-0,"multiselect":"C","dropdown":7}`, `{"text":"\u0000","paragraph":"\ud800","multiselect":[[],{},null,""]}`,
		`{"money":"$1,234.5","email":"a@b.co","phone":"(985)  555-0142 x7","url":"http://a.b/c"}`, `{"money":0.5,"phone":9855550142}`,
		`{"checkbox":"true","date":[ ],"number":" "}`, `{"text":"\u2028<>&"}`, `tru`, "\x00", `"\xff"`} {
		f.Add([]byte(seed))
	}
	types := FieldTypes()
	var defs []Field
	for _, kind := range types {
		defs = append(defs, Field{Key: string(kind), Type: kind, Options: []string{"A & B", "C", "7"}, Required: true})
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var sent Inputs
		if json.Unmarshal(body, &sent) != nil {
			// Callers never pass invalid JSON, but it must not cause a panic.
			sent = Inputs{}
			for _, kind := range types {
				sent[string(kind)] = JSONInput(body)
			}
		}
		var rejected validation
		values := rejected.checkCustom(Custom{Values: sent}, defs, Rules{})
		for key, value := range values {
			if !json.Valid(value) {
				t.Errorf("%s = %q, want valid JSON", key, value)
			}
		}
		var again validation
		stored := Inputs{}
		for key, value := range values {
			stored[key] = JSONInput(value)
		}
		second := again.checkCustom(Custom{Values: stored}, defs, Rules{})
		if len(again.Fields) > 0 || len(second) != len(values) {
			t.Fatalf("check the accepted values again: errors %v, values %v; want %v", fieldErrors(again.Fields), second, values)
		}
		for key, value := range values {
			if string(second[key]) != string(value) {
				t.Errorf("%s checked again = %q, want %q", key, second[key], value)
			}
		}
	})
}

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

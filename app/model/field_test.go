package model

import (
	"encoding/json"
	"strings"
	"testing"
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

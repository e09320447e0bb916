package decode

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestIsFileField(t *testing.T) {
	for _, name := range []string{"files", "files[]", "files[0]", "files[12]"} {
		if !IsFileField(name) {
			t.Errorf("IsFileField(%q) = false, want true", name)
		}
	}
	for _, name := range []string{"", "file", "Files", "files[", "files]", "files[a]", "files[-1]", "files[1", "files[][]", "files[1]x",
		"files ", "files[१]", "template_id", "template_id[]", "xfiles", "files\n"} {
		if IsFileField(name) {
			t.Errorf("IsFileField(%q) = true, want false", name)
		}
	}
}

func TestValidText(t *testing.T) {
	for in, want := range map[string]bool{"": true, " \u200b\ufeff\x01": true, "a\x00": false, "a\xff": false} {
		if got := ValidText(in); got != want {
			t.Errorf("ValidText(%q) = %t, want %t", in, got, want)
		}
	}
}

func TestInteger(t *testing.T) {
	rows := map[string]string{ // values are n, present, and ok
		"": "0 false true", "  \n": "0 false true",
		"1": "1 true true", " 12 ": "12 true true", "007": "7 true true", "0": "0 true true", "-1": "-1 true true",
		"999999999999999999": "999999999999999999 true true", "1000000000000000000": "0 true true",
		"null": "0 true false", "+1": "0 true false", "1.0": "0 true false", "1e3": "0 true false", "0x1": "0 true false",
		"1 2": "0 true false", "1,000": "0 true false", "-": "0 true false", "--1": "0 true false", "١": "0 true false",
		"1\x00": "0 true false", "\xff": "0 true false", "true": "0 true false",
	}
	for in, want := range rows {
		n, present, ok := Integer(in)
		if got := fmt.Sprint(n, present, ok); got != want {
			t.Errorf("Integer(%q) = %s, want %s", in, got, want)
		}
	}
}

func TestIntegerJSON(t *testing.T) {
	rows := map[string]string{
		"": "0 false true", "null": "0 false true", `""`: "0 false true", `" "`: "0 false true",
		"3": "3 true true", " 3 ": "3 true true", "-3": "-3 true true", "-0": "0 true true", `" 3 "`: "3 true true", `"\u0033"`: "3 true true",
		"3.0": "0 true false", "3e0": "0 true false", "true": "0 true false", "[]": "0 true false", "{}": "0 true false",
		`"null"`: "0 true false", `"3.0"`: "0 true false", "1234567890123456789": "0 true true", `"3`: "0 true false", "x": "0 true false",
	}
	for in, want := range rows {
		n, present, ok := IntegerJSON(json.RawMessage(in))
		if got := fmt.Sprint(n, present, ok); got != want {
			t.Errorf("IntegerJSON(%q) = %s, want %s", in, got, want)
		}
	}
}

func TestParseForm(t *testing.T) {
	rows := []struct {
		in, want string // pairs, or ! and the reason
	}{
		{"", "[]"},
		{"a=1&b=2", `[{"a" "1"} {"b" "2"}]`},
		{"&&a&&b=&=c&", `[{"a" ""} {"b" ""} {"" "c"}]`},
		{"a+b=c+d%2B%20e=f;g", `[{"a b" "c d+ e=f;g"}]`},
		{"%61=%c3%A9&a=2", `[{"a" "é"} {"a" "2"}]`},
		{"a=%00%ff", `[{"a" "\x00\xff"}]`},
		{"a=1&b=%zz", "!byte 7."},
		{"a=1&%4=c", "!byte 5."},
		{"abc%", "!byte 4."},
		{"a=%4&b=1", "!byte 3."},
	}
	for _, row := range rows {
		pairs, err := ParseForm([]byte(row.in))
		if at, bad := strings.CutPrefix(row.want, "!"); bad {
			var m *MalformedError
			if !errors.As(err, &m) || !strings.HasSuffix(m.Reason, "hexadecimal digits at "+at) {
				t.Errorf("ParseForm(%q): error %v, want a MalformedError at %s", row.in, err, at)
			}
			continue
		}
		if got := fmt.Sprintf("%q", pairs); err != nil || got != row.want {
			t.Errorf("ParseForm(%q) = %s, %v; want %s", row.in, got, err, row.want)
		}
	}
	var tooMany *LimitError
	if _, err := ParseForm([]byte(strings.Repeat("a&", maxMembers))); err != nil {
		t.Errorf("pairs at the limit: %v", err)
	}
	if _, err := ParseForm([]byte(strings.Repeat("a&", maxMembers+1))); !errors.As(err, &tooMany) {
		t.Errorf("pairs over the limit: error %v, want a LimitError", err)
	}
}

func TestBoundary(t *testing.T) {
	long := strings.Repeat("b", 257)
	rows := []struct {
		in, want string // media type|boundary|charset, with ! in front if there is an error
	}{
		{"", "||"},
		{"  ", "||"},
		{"Application/JSON", "application/json||"},
		{"application/json; charset=UTF-8", "application/json||utf-8"},
		{`application/json;CHARSET="utf8"`, "application/json||utf-8"},
		{"application/json; charset=utf-8; charset=latin1", "application/json||latin1"},
		{"application/json; charset=latin1; charset=utf-8", "application/json||latin1"},
		{`application/json; junk; =; x="y; charset=utf-16`, "application/json||"},
		{"application/json; junk; charset=utf-16", "application/json||utf-16"},
		{"multipart/form-data; boundary=AaB03x", "multipart/form-data|AaB03x|"},
		{`MULTIPART/Form-Data ; Boundary = "Aa B:03x" ; charset=utf-8;`, "multipart/form-data|Aa B:03x|utf-8"},
		{"multipart/form-data; boundary=a=b/c?d", "multipart/form-data|a=b/c?d|"},
		{"multipart/form-data; boundary=x; boundary=x", "multipart/form-data|x|"},
		{"multipart/form-data; boundary=x; boundary=y", "!multipart/form-data||"},
		{"multipart/form-data", "!multipart/form-data||"},
		{"multipart/form-data; boundary=", "!multipart/form-data||"},
		{`multipart/form-data; boundary="x`, "!multipart/form-data||"},
		{"multipart/form-data; boundary=" + long, "!multipart/form-data||"},
		{"multipart/form-data; boundary=a\x01", "!multipart/form-data||"},
		{"json", "!json||"},
		{"a b/c", "!a b/c||"},
		{"; charset=utf-8", "!||"},
	}
	for _, row := range rows {
		mediaType, boundary, charset, err := Boundary(row.in)
		want, bad := strings.CutPrefix(row.want, "!")
		var m *MalformedError
		if got := mediaType + "|" + boundary + "|" + charset; got != want || errors.As(err, &m) != bad {
			t.Errorf("Boundary(%q) = %s, %v; want %s, malformed: %v", row.in, got, err, want, bad)
		}
	}
}

func TestIsJSON(t *testing.T) {
	rows := map[string]bool{
		"application/json": true, "application/problem+json": true, "application/vnd.api+json": true,
		"": false, "text/json": false, "application/+json": false, "application/jsonx": false, "application/json+x": false, "json": false,
	}
	for in, want := range rows {
		if IsJSON(in) != want {
			t.Errorf("%q: not %t", in, want)
		}
	}
}

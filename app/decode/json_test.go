package decode

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestObject(t *testing.T) {
	members := func(n int, last string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `"k%d":%d,`, i, i)
		}
		return "{" + b.String() + last + "}"
	}
	nest := func(n int) string {
		return `{"a":` + strings.Repeat("[", n-1) + strings.Repeat("]", n-1) + "}"
	}
	rows := []struct {
		name, in string
		want     string // members as name=value, or ! and the end of the reason
	}{
		{"empty body", "", ""},
		{"blank body", " \r\n\t", ""},
		{"byte order mark alone", "\xef\xbb\xbf", ""},
		{"byte order mark", "\xef\xbb\xbf{\"a\":1}", "a=1"},
		{"two byte order marks", "\xef\xbb\xbf\xef\xbb\xbf{}", "!unexpected '\\ufeff', expected a value at line 1, column 1."},
		{"members", ` { "a" : [1, {"b":null}] , "c":"d" } `, `a=[1, {"b":null}] c="d"`},
		{"array at the top", `[1,{"a":2}]`, ""},
		{"string at the top", `"x"`, ""},
		{"null at the top", `null`, ""},
		{"number at the top", `-1.5e+3`, ""},
		{"true at the top", `true`, ""},
		{"broken array at the top", `[1,`, "!unexpected end of input, expected a value at line 1, column 4."},
		{"trailing text", `{"a":1} x`, "!text after the end of the value at line 1, column 9."},
		{"two values", `{}{}`, "!text after the end of the value at line 1, column 3."},
		{"repeated key", `{"a":1,"a":2}`, `!repeated key "a" at line 1, column 8.`},
		{"repeated key, escaped", "{\"a\":1,\n \"\\u0061\":2}", `!repeated key "a" at line 2, column 2.`},
		{"repeated key, surrogate pair", `{"😀":1,"\ud83d\ude00":2}`, `!repeated key "😀" at line 1, column 8.`},
		{"repeated key, deep", `{"a":[{"b":{"c":1,"c":1}}]}`, `!repeated key "c" at line 1, column 19.`},
		{"repeated empty key", `{"":1,"":2}`, `!repeated key "" at line 1, column 7.`},
		{"repeated long key", `{"` + strings.Repeat("é", 40) + `":1,"` + strings.Repeat("é", 40) + `":1}`,
			`!repeated key "` + strings.Repeat("é", 32) + `…" at line 1, column 47.`},
		{"same key in sisters", `{"a":{"x":1},"b":{"x":1,"a":2}}`, `a={"x":1} b={"x":1,"a":2}`},
		{"keys by case", `{"a":1,"A":2}`, "a=1 A=2"},
		{"repeated at 16", members(15, `"k3":0`), `!repeated key "k3" at line 1, column`},
		{"repeated at 17", members(16, `"k3":0`), `!repeated key "k3" at line 1, column`},
		{"repeated at 18", members(17, `"k16":0`), `!repeated key "k16" at line 1, column`},
		{"first repeat of a large object", members(40, `"k9":0,"k3":0`), `!repeated key "k9" at line 1, column`},
		{"members at the limit", members(maxMembers-1, `"a":{}`), "-"},
		{"members over the limit", members(maxMembers-1, `"a":{"b":0}`), "!more than 65536 members at line 1"},
		{"depth 32", nest(32), "-"},
		{"depth 33", nest(33), "!nested deeper than 32 at line 1, column 37."},
		{"escapes in a key", `{"\"\\\/\b\f\n\r\t\u00e9":1}`, "\"\\/\b\f\n\r\té=1"},
		{"control character", "{\"a\":\"\x1f\"}", "!a control character inside a string at line 1, column 7."},
		{"newline in a string", "{\"a\":\"\n\"}", "!a control character inside a string at line 1, column 7."},
		{"DEL is fine", "{\"a\":\"\x7f\"}", "a=\"\x7f\""},
		{"unknown escape", `{"a":"\x"}`, "!an unknown escape sequence at line 1, column 7."},
		{"short escape", `{"a":"\u12g4"}`, "!a \\u escape without four hexadecimal digits at line 1, column 7."},
		{"unfinished escape", `{"a":"\`, "!an incomplete escape sequence at line 1, column 7."},
		{"unfinished string", `{"a":"bc`, "!a string without its closing quote at line 1, column 6."},
		{"lone high surrogate", `{"a":"\ud800"}`, "!a lone surrogate at line 1, column 7."},
		{"high surrogate, text", `{"a":"\ud800abcdef"}`, "!a lone surrogate at line 1, column 7."},
		{"two high surrogates", `{"a":"\ud800\ud800"}`, "!a lone surrogate at line 1, column 7."},
		{"lone low surrogate", `{"a":"é\udc00"}`, "!a lone surrogate at line 1, column 8."},
		{"lone surrogate in a key", `{"\udc00":1}`, "!a lone surrogate at line 1, column 3."},
		{"invalid UTF-8", "{\"a\":\"\xff\"}", "!invalid UTF-8 at line 1, column 7."},
		{"surrogate as UTF-8", "{\"a\":\"\xed\xa0\x80\"}", "!invalid UTF-8 at line 1, column 7."},
		{"invalid UTF-8 outside", "{\"a\":\xff}", "!invalid UTF-8 at line 1, column 6."},
		{"single quotes", `{'a':1}`, `!unexpected '\'', expected a key in quotes at line 1, column 2.`},
		{"comma at the end", `{"a":1,}`, "!unexpected '}', expected a key in quotes at line 1, column 8."},
		{"comma at the end of an array", `{"a":[1,]}`, "!unexpected ']', expected a value at line 1, column 9."},
		{"no colon", `{"a" 1}`, "!unexpected '1', expected a colon at line 1, column 6."},
		{"no comma", `{"a":1 "b":2}`, "!unexpected '\"', expected a comma or } at line 1, column 8."},
		{"no comma in array", `[1 2]`, "!unexpected '2', expected a comma or ] at line 1, column 4."},
		{"comment", `{/**/}`, "!unexpected '/', expected a key in quotes at line 1, column 2."},
		{"form feed", "{\f}", `!unexpected '\f', expected a key in quotes at line 1, column 2.`},
		{"NUL", "{\"a\":\x00}", `!unexpected '\x00', expected a value at line 1, column 6.`},
		{"word", `{"a":True}`, "!unexpected 'T', expected a value at line 1, column 6."},
		{"half word", `{"a":nul}`, "!an unknown word instead of true, false, or null at line 1, column 6."},
		{"a form, not JSON", `a=1&b=2`, "!unexpected 'a', expected a value at line 1, column 1."},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			got, err := Object([]byte(row.in))
			if reason, bad := strings.CutPrefix(row.want, "!"); bad {
				var m *MalformedError
				if !errors.As(err, &m) {
					t.Fatalf("got %v, %v; want a MalformedError", got, err)
				}
				if !strings.HasPrefix(m.Reason, "The request body is not valid JSON: "+reason) {
					t.Errorf("reason %q, want %q", m.Reason, reason)
				}
				return
			}
			if err != nil {
				t.Fatalf("Object(%s): %v", row.in, err)
			}
			if row.want == "-" {
				return
			}
			if got == nil {
				t.Fatal("Object = nil, want a map")
			}
			want := map[string]string{}
			for _, pair := range strings.Fields(strings.ReplaceAll(row.want, ", ", ",")) {
				name, value, _ := strings.Cut(pair, "=")
				want[name] = value
			}
			if strings.Contains(row.name, "escapes") {
				name, value, _ := strings.Cut(row.want, "=")
				want = map[string]string{name: value}
			}
			if len(got) != len(want) {
				t.Fatalf("got %q, want %q", got, want)
			}
			for name, value := range want {
				if g := strings.ReplaceAll(string(got[name]), ", ", ","); g != value {
					t.Errorf("member %q = %s, want %s", name, g, value)
				}
			}
		})
	}
}

func TestNumberGrammar(t *testing.T) {
	valid := "0 -0 1 -1 10 1.0 0.5 -0.5e1 1e3 1E+3 1e-3 12345678901234567890 1e999"
	invalid := "+1 .5 1. 01 -01 00 - -a 1e 1e+ 1.e3 0x1 1_000 Infinity NaN 1.5.2 --1"
	for in := range strings.FieldsSeq(valid) {
		if err := Valid([]byte(in)); err != nil {
			t.Errorf("Valid(%s) = %v, want nil", in, err)
		}
	}
	for in := range strings.FieldsSeq(invalid) {
		for _, text := range []string{in, `{"a":` + in + `}`, "[" + in + "]"} {
			if err := Valid([]byte(text)); err == nil {
				t.Errorf("Valid(%s) = nil, want an error", text)
			}
		}
	}
}

func TestValidNeedsAValue(t *testing.T) {
	for _, in := range []string{"", " ", "\xef\xbb\xbf{}", "{} {}"} {
		var m *MalformedError
		if err := Valid([]byte(in)); !errors.As(err, &m) || !strings.HasPrefix(m.Reason, "The text is not valid JSON: ") {
			t.Errorf("Valid(%q) = %v, want a MalformedError", in, err)
		}
	}
}

func TestString(t *testing.T) {
	if s, ok := String(json.RawMessage(`"a\u00e9\ud83d\ude00\n\/"`)); !ok || s != "aé😀\n/" {
		t.Errorf("String = %q, %t; want the decoded text", s, ok)
	}
	for _, in := range []string{"", "1", `"a`, `"a"b`, `[1`, `{"a":1}`} {
		if s, ok := String(json.RawMessage(in)); ok {
			t.Errorf("String(%s) = %q, want false", in, s)
		}
	}
}

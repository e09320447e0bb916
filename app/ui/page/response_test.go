package page

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestStripBidi(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                "",
		"Lane 7\r\n\tno. 2":               "Lane 7\r\n\tno. 2",
		"“Ünal” – 道 \u200d\u200f…":        "“Ünal” – 道 \u200d\u200f…",
		"a\u202eb\u202ac\u2069\u2066d":    "abcd",
		"\x00\x07\x1b[1m\x7f\u009f\u2028": "[1m",
		"\xe2\x80":                        "\xe2\x80",
		"\xe2":                            "\xe2",
		"\xc2":                            "\xc2",
	} {
		t.Run(text, func(t *testing.T) {
			if got := StripBidi([]byte(text)); string(got) != want {
				t.Errorf("StripBidi(%q) = %q, want %q", text, got, want)
			}
		})
	}
}

func FuzzStripBidi(f *testing.F) {
	f.Add("1\u202e\r\n2\x07")
	f.Add("\xe2\x07\x80\xae")
	f.Add("\u2067\u2028\u0085")
	f.Fuzz(func(t *testing.T, text string) {
		got := string(StripBidi([]byte(text)))
		if utf8.ValidString(text) && !utf8.ValidString(got) ||
			strings.ContainsAny(got, "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u2028\u2029\x00\x07\x1b") {
			t.Errorf("StripBidi(%q) = %q, want valid UTF-8 without controls", text, got)
		}
		raw, err := json.Marshal(text)
		if err != nil || !json.Valid(StripBidi(raw)) {
			t.Errorf("StripBidi(%q) = %q, want valid JSON", raw, StripBidi(raw))
		}
	})
}

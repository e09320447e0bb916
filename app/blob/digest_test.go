package blob

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestParseDigest(t *testing.T) {
	good := "ab12" + strings.Repeat("0f", 30)
	rows := []struct {
		name, text string
		ok         bool
	}{
		{"good", good, true},
		{"upper case", strings.ToUpper(good), false},
		{"short", good[:62], false},
		{"long", good + "00", false},
		{"no hex", "zz" + good[2:], false},
		{"empty", "", false},
		{"a way out", "../" + good[3:], false},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			d, err := ParseDigest(row.text)
			if (err == nil) != row.ok {
				t.Fatalf("ParseDigest = %v, want an error", err)
			}
			if row.ok && d.String() != row.text {
				t.Errorf("got %s, want %s", d, row.text)
			}
		})
	}
}

func FuzzDigestText(f *testing.F) {
	f.Add("ab12" + strings.Repeat("0f", 30))
	f.Add(strings.Repeat("A", 64))
	f.Add("")
	f.Fuzz(func(t *testing.T, text string) {
		var d Digest
		if err := d.UnmarshalText([]byte(text)); err != nil {
			return
		}
		b, err := json.Marshal(d)
		if err != nil || string(b) != `"`+text+`"` {
			t.Errorf("Marshal = %s, %v, want %q", b, err, text)
		}
	})
}

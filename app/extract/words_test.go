package extract

import (
	"strings"
	"testing"
)

func TestEach(t *testing.T) {
	for typed, want := range map[string]string{
		"":                      "",
		"smith":                 `"smith"*`,
		"smith jones":           `"smith" "jones"*`,
		"smith ":                `"smith"*`,
		`smith "warranty deed"`: `"smith" "warranty deed"`,
		`“Warranty deed” smith`: `"Warranty deed" "smith"*`,
		"estate of john":        `"estate" "john"*`,
		"of the":                `"of" "the"*`,
		"smith smith x":         `"smith" "x"`,
		`"to have and to hold`:  `"to have and to hold"`,
		"Bk1022-Pg311":          `"Bk1022-Pg311"*`,
		"- & ,":                 "",
		"a\tb\nc":               `"b" "c"`,
	} {
		if got := strings.Join(Each(typed), " "); got != want {
			t.Errorf("%q: %s, want %s", typed, got, want)
		}
	}
}

func TestWords(t *testing.T) {
	for _, c := range []struct {
		name, typed, text string
		want              string // what is found, parted by bars
	}{
		{"each word", "smith jones", "Jones and SMITH, Smithson, Jonesboro", "Jones|SMITH|Jonesboro"},
		{"whole words but the last", "ann lot", "Annual Ann lots", "Ann lots"},
		{"beside each other they are one", "dana birch", "DANA BIRCH and Birch, Dana", "DANA BIRCH|Birch, Dana"},
		{"a phrase", `"warranty deed" x`, "a deed, Warranty\nDeed", "Warranty\nDeed"},
		{"a parcel with and without", "12-3-045", "123045 12.3.045 12-3-0456 112-3-045 12-30-45", "123045 12.3.045 12-3-0456|12-30-45"},
		{"and typed without", "123045 x", "Parcel 12-3-045, 12 3 045", "12-3-045"},
		{"book and page", "Bk 1022 Pg 311", "Bk1022-Pg311; Bk. 1022, Pg. 311; Bk 1023 Pg 311", "Bk1022-Pg311; Bk. 1022, Pg. 311; Bk|Pg 311"},
		{"and typed as one", "Bk1022-Pg311", "Bk 1022 Pg 311 and Bk1022Pg311", "Bk 1022 Pg 311|Bk1022Pg311"},
		{"apostrophes", "oneil o'brien", "O’Neil met OBrien", "O’Neil|OBrien"},
		{"accents", "ibáñez", "IBANEZ Iba\u0301n\u0303ez", "IBANEZ Iba\u0301n\u0303ez"},
		{"the end of a line parts a word", "holdings", "HOLD-\nINGS", "HOLD-\nINGS"},
		{"a hyphen in a name", "smith-jones", "Smith-Jones, Smith Jones, SmithJones", "Smith-Jones, Smith Jones, SmithJones"},
		{"not there", "lien tax", "deed", ""},
		{"ligatures", "final", "ﬁnal", "ﬁnal"},
	} {
		text := []rune(c.text)
		var found []string
		for _, s := range NewPhrase(strings.Join(Each(c.typed), " ")).Find(text, 10) {
			found = append(found, string(text[s.Start:s.End]))
		}
		if got := strings.Join(found, "|"); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	if got := NewPhrase(`"a"`).Find([]rune("a b a b a b a"), 3); len(got) != 3 {
		t.Errorf("%d of at most 3", len(got))
	}
	for _, typed := range []string{`"a" b`, `the "lot"`, `"a"b`} {
		if NewPhrase(typed).words != nil {
			t.Errorf("%s is read as words", typed)
		}
	}
	if long := NewPhrase(strings.Repeat(`"a" `, 100)); len(long.words) > mostWords {
		t.Errorf("%d words", len(long.words))
	}
}

package phrase

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

func TestSplit(t *testing.T) {
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
		if got := strings.Join(Split(typed), " "); got != want {
			t.Errorf("Split(%q) = %s, want %s", typed, got, want)
		}
	}
}

func TestWords(t *testing.T) {
	for _, c := range []struct {
		name, typed, text string
		want              string // expected matches, separated by vertical bars
	}{
		{"each word", "smith jones", "Jones and SMITH, Smithson, Jonesboro", "Jones|SMITH|Jonesboro"},
		{"complete words except the last", "ann lot", "Annual Ann lots", "Ann lots"},
		{"adjacent words are one match", "dana birch", "DANA BIRCH and Birch, Dana", "DANA BIRCH|Birch, Dana"},
		{"a phrase", `"warranty deed" x`, "a deed, Warranty\nDeed", "Warranty\nDeed"},
		{"a parcel ID in several groupings", "12-3-045", "123045 12.3.045 12-3-0456 112-3-045 12-30-45", "123045 12.3.045 12-3-0456|12-30-45"},
		{"a parcel ID without separators", "123045 x", "Parcel 12-3-045, 12 3 045", "12-3-045"},
		{"book and page", "Bk 1022 Pg 311", "Bk1022-Pg311; Bk. 1022, Pg. 311; Bk 1023 Pg 311", "Bk1022-Pg311; Bk. 1022, Pg. 311; Bk|Pg 311"},
		{"book and page in one word", "Bk1022-Pg311", "Bk 1022 Pg 311 and Bk1022Pg311", "Bk 1022 Pg 311|Bk1022Pg311"},
		{"apostrophes", "oneil o'brien", "O’Neil met OBrien", "O’Neil|OBrien"},
		{"accents", "ibáñez", "IBANEZ Iba\u0301n\u0303ez", "IBANEZ Iba\u0301n\u0303ez"},
		{"a word split at the end of a line", "holdings", "HOLD-\nINGS", "HOLD-\nINGS"},
		{"a hyphen in a name", "smith-jones", "Smith-Jones, Smith Jones, SmithJones", "Smith-Jones, Smith Jones, SmithJones"},
		{"not there", "lien tax", "deed", ""},
		{"ligatures", "final", "ﬁnal", "ﬁnal"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := []rune(c.text)
			var found []string
			for _, s := range New(strings.Join(Split(c.typed), " ")).Find(text, 10) {
				found = append(found, string(text[s.Start:s.End]))
			}
			if got := strings.Join(found, "|"); got != c.want {
				t.Errorf("Find = %q, want %q", got, c.want)
			}
		})
	}
	if got := New(`"a"`).Find([]rune("a b a b a b a"), 3); len(got) != 3 {
		t.Errorf("Find of at most 3 = %d matches, want 3", len(got))
	}
	for _, typed := range []string{`"a" b`, `the "lot"`, `"a"b`} {
		if New(typed).words != nil {
			t.Errorf("New(%s) has quoted words, want none", typed)
		}
	}
	if long := quotedWords(strings.Repeat(`"a" `, 10) + distinct(60)); len(long) != maxWords {
		t.Errorf("quotedWords = %d words, want %d", len(long), maxWords)
	}
}

// TestManyWordsMatchLikeEach checks that a search for several words matches wherever one of them
// matches, and that the longest word wins.
func TestManyWordsMatchLikeEach(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	random := func(pieces []string, n int) string {
		var b strings.Builder
		for range n {
			b.WriteString(pieces[rng.IntN(len(pieces))])
		}
		return b.String()
	}
	for range 3000 {
		var typed []string
		for range 1 + rng.IntN(6) {
			typed = append(typed, `"`+random([]string{"a", "b", "1", "-", " ", "'"}, 1+rng.IntN(5))+`"`+random([]string{"", "*"}, 1))
		}
		list := quotedWords(strings.Join(typed, " "))
		text, _ := fold([]rune(random([]string{"a", "a", "b", "1", "1", " ", "-", "'", "-\n", "ﬁ"}, 40)))
		tree, run := newWordTree(list), wordRun{-1, -1}
		for i := range text {
			want := -1
			for _, w := range list {
				want = max(want, matchOne(w, text, i))
			}
			if got := tree.longest(text, i, &run); got != want {
				t.Fatalf("longest(%q in %q at %d) = %d, want %d", typed, string(text), i, got, want)
			}
		}
	}
}

// matchOne returns the end of a match of one word that starts at i, or -1. Its implementation is as
// simple as possible.
func matchOne(w word, text []rune, i int) int {
	if text[i] != w.runes[0] || !isBoundary(text, i) {
		return -1
	}
	for k := 1; k < len(w.runes); k++ {
		if i = skipSeparators(text, i+1, w.maxSeparators(k)); i >= len(text) || text[i] != w.runes[k] {
			return -1
		}
	}
	for i++; w.prefix && i < len(text) && isWordCharacter(text[i]); i++ {
	}
	if !isBoundary(text, i) {
		return -1
	}
	return i
}

// slowQueries require as much work as possible to search for in slowTexts, which don't contain
// matches.
var (
	slowQueries = map[string]string{"one word": `"zebra"`, "max words": distinct(maxWords), "prefixes": longPrefixes()}
	slowTexts   = map[string]string{"short words": "aa ab ", "one long word": "a", "numbers": "1-a2.b"}
)

// longPrefixes returns as many prefixes of one long word as fit into a phrase.
func longPrefixes() string {
	var b strings.Builder
	for n := 12; n > 0; n-- {
		b.WriteString(`"` + strings.Repeat("a", n) + `"* `)
	}
	return b.String()
}

// TestManyWordsAreFast checks that searching a page for many words takes about as long as searching
// it for one word.
func TestManyWordsAreFast(t *testing.T) {
	for name, piece := range slowTexts {
		text := []rune(strings.Repeat(piece, 200_000/len(piece)))
		duration := func(typed string) time.Duration {
			phrase, best := New(typed), time.Hour
			for range 5 {
				start := time.Now()
				phrase.Find(text, 1000)
				best = min(best, time.Since(start))
			}
			return best
		}
		one := duration(slowQueries["one word"])
		for query, typed := range slowQueries {
			if many := duration(typed); many > 6*one {
				t.Errorf("%s in %s took %v, want at most 6 times the %v of one word", query, name, many, one)
			}
		}
	}
}

func BenchmarkManyWords(b *testing.B) {
	for name, piece := range slowTexts {
		text := []rune(strings.Repeat(piece, (1<<20)/len(piece)))
		for query, typed := range slowQueries {
			b.Run(query+" in "+name, func(b *testing.B) {
				b.SetBytes(1 << 20)
				for b.Loop() {
					New(typed).Find(text, 1000)
				}
			})
		}
	}
}

// distinct returns n different quoted words that start with the same letter.
func distinct(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"a%c%c" `, 'a'+i/26, 'a'+i%26)
	}
	return b.String()
}

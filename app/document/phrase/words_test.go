package phrase

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
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
		if got := strings.Join(Split(typed), " "); got != want {
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
		for _, s := range New(strings.Join(Split(c.typed), " ")).Find(text, 10) {
			found = append(found, string(text[s.Start:s.End]))
		}
		if got := strings.Join(found, "|"); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	if got := New(`"a"`).Find([]rune("a b a b a b a"), 3); len(got) != 3 {
		t.Errorf("%d of at most 3", len(got))
	}
	for _, typed := range []string{`"a" b`, `the "lot"`, `"a"b`} {
		if New(typed).words != nil {
			t.Errorf("%s is read as words", typed)
		}
	}
	if long := words(strings.Repeat(`"a" `, 10) + distinct(60)); len(long) != mostWords {
		t.Errorf("%d words", len(long))
	}
}

// Many words at once are found where each of them is, the longest where several are.
func TestManyWordsAreAsEach(t *testing.T) {
	chance := rand.New(rand.NewPCG(1, 2))
	some := func(of []string, n int) string {
		var b strings.Builder
		for range n {
			b.WriteString(of[chance.IntN(len(of))])
		}
		return b.String()
	}
	for range 3000 {
		var typed []string
		for range 1 + chance.IntN(6) {
			typed = append(typed, `"`+some([]string{"a", "b", "1", "-", " ", "'"}, 1+chance.IntN(5))+`"`+some([]string{"", "*"}, 1))
		}
		list := words(strings.Join(typed, " "))
		text, _ := fold([]rune(some([]string{"a", "a", "b", "1", "1", " ", "-", "'", "-\n", "ﬁ"}, 40)))
		by, run := newWordTree(list), stretch{-1, -1}
		for i := range text {
			want := -1
			for _, w := range list {
				want = max(want, plainly(w, text, i))
			}
			if got := by.longest(text, i, &run); got != want {
				t.Fatalf("%q in %q at %d: %d, want %d", typed, string(text), i, got, want)
			}
		}
	}
}

// plainly is where one word ends that begins at i, without regard to what that costs.
func plainly(w word, text []rune, i int) int {
	if text[i] != w.runes[0] || !edge(text, i) {
		return -1
	}
	for k := 1; k < len(w.runes); k++ {
		if i = over(text, i+1, w.apart(k)); i >= len(text) || text[i] != w.runes[k] {
			return -1
		}
	}
	for i++; w.begins && i < len(text) && bears(text[i]); i++ {
	}
	if !edge(text, i) {
		return -1
	}
	return i
}

// typedLong are what is the most work to look for in textsLong, which they are not in.
var (
	typedLong = map[string]string{"one word": `"zebra"`, "most words": distinct(mostWords), "beginnings": beginnings()}
	textsLong = map[string]string{"short words": "aa ab ", "one long word": "a", "numbers": "1-a2.b"}
)

// beginnings are as many of one long word as a phrase has room for, none of them whole.
func beginnings() string {
	var b strings.Builder
	for n := 12; n > 0; n-- {
		b.WriteString(`"` + strings.Repeat("a", n) + `"* `)
	}
	return b.String()
}

// However much is looked for, a page costs about what it costs to look for one word.
func TestManyWordsCostLittle(t *testing.T) {
	for name, piece := range textsLong {
		text := []rune(strings.Repeat(piece, 200_000/len(piece)))
		took := func(typed string) time.Duration {
			phrase, best := New(typed), time.Hour
			for range 5 {
				begun := time.Now()
				phrase.Find(text, 1000)
				best = min(best, time.Since(begun))
			}
			return best
		}
		one := took(typedLong["one word"])
		for what, typed := range typedLong {
			if many := took(typed); many > 6*one {
				t.Errorf("%s in %s: %v, one word %v", what, name, many, one)
			}
		}
	}
}

func BenchmarkManyWords(b *testing.B) {
	for name, piece := range textsLong {
		text := []rune(strings.Repeat(piece, (1<<20)/len(piece)))
		for what, typed := range typedLong {
			b.Run(what+" in "+name, func(b *testing.B) {
				b.SetBytes(1 << 20)
				for b.Loop() {
					New(typed).Find(text, 1000)
				}
			})
		}
	}
}

// distinct are n different words of one first letter, as somebody typed them.
func distinct(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"a%c%c" `, 'a'+i/26, 'a'+i%26)
	}
	return b.String()
}

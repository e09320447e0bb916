package query

import (
	"context"
	"strings"
	"testing"
)

// nameDocs returns documents with names that are written as one word or as several.
func nameDocs() []Document {
	var list []Document
	for i, name := range []string{
		"Le Blanc, Jean", "Leblanc, Marie", "Houssaye, de la", "de la Houssaye", "Delahoussaye", "De Lahoussaye", "Dela Houssaye",
		"Mac Dermott", "McDermott", "MacDermott", "Mc Dermott", "St. Pierre", "Saint Pierre", "Jo Ann Smith", "Joann Smith",
		"1731 Gov. Nicholls", "1733 Governor Nicholls", "Ft. Worth", "Mount Vernon"} {
		list = append(list, Document{Kind: Abstract, ID: uint64(i + 1), CreatedDay: int32(i), Names: []string{name}})
	}
	return append(list, Document{Kind: File, ID: 20, CreatedDay: 20, Names: []string{"scan.pdf"},
		Text: pages("made by Jean Le Blanc and Emile de la Houssaye", "Jo Ann")})
}

// spellingDocs returns documents with various spellings in fields and in texts.
func spellingDocs() []Document {
	var list []Document
	for i, s := range []string{
		"Hawaiʻi County, Oʻahu", "Jean Le\nBlanc", "Emile van der Berg", "Coeur d'Alene", "Omar al-Hakim", "Smith-Jones", "Miami-Dade",
		"S½ of SW¼ Sec. 9", "Bo Reed a/k/a Bob Reed, u/a/d 2019, f/b/o Kay", "J. P. Morganfield", "JP Morganton", "Maria Dangelo",
		"S 1/2 of NE 1/4", "Smithjones Vanderberg"} {
		list = append(list, Document{Kind: Abstract, ID: uint64(i + 1), CreatedDay: int32(i), Names: []string{strings.ReplaceAll(s, "\n", " ")}},
			Document{Kind: File, ID: uint64(i + 1), CreatedDay: int32(i), Text: pages(s)})
	}
	return list
}

func TestAlternativeSpellings(t *testing.T) {
	n, x := newNaiveEngine(t, spellingDocs()), newTestIndex(t, spellingDocs())
	for _, row := range []struct{ text, want string }{
		{"hawaii ", "a1 f1"},
		{"hawaiʻi ", "a1 f1"},
		{"oahu", "a1 f1"},
		{"leblanc ", "a2 f2"},
		{"le blanc", "a2 f2"},
		{"vanderberg ", "[a3 a14] [f3 f14]"},
		{"van der berg ", "[a3 a14] [f3 f14]"},
		{"coeur d alene ", "a4 f4"},
		{"coeur d'alene ", "a4 f4"},
		{"d angelo ", "a12 f12"},
		{"d'angelo", "a12 f12"},
		{"alhakim ", "a5 f5"},
		{"al hakim", "a5 f5"},
		{"smithjones ", "[a6 a14] [f6 f14]"},
		{"smith-jones ", "[a6 a14] [f6 f14]"},
		{"smith jones ", "a6 f6"},
		{"miamidade", "a7 f7"},
		{"s 1/2 ", "a13 f13 a8 f8"},
		{"s1/2 ", "[a13 a8] [f13 f8]"},
		{"S½ ", "[a13 a8] [f13 f8]"},
		{"sw 1/4 ", "a8 f8"},
		{"ne ¼ ", "a13 f13"},
		{`"SW 1/4"`, "a8 f8"},
		{"aka ", "a9 f9"},
		{"a/k/a bob", "a9 f9"},
		{"uad ", "a9 f9"},
		{"fbo kay ", "a9 f9"},
		{"jp morganfield ", "a10 f10"},
		{"j. p. morganton ", "a11 f11"},
		{"j.p. morganfield ", "a10 f10"},
	} {
		t.Run(row.text, func(t *testing.T) {
			for _, engine := range []searcher{n, x.Index} {
				a, err := search(context.Background(), engine, Options{}.withDefaults(), Query{Text: row.text, Limit: 4})
				if got := formatHits(a); err != nil || !sameOrder(got, row.want) && !sameOrder(got, "["+row.want+"]") || a.Fuzzy || a.Relaxed {
					t.Errorf("search(%q) = %s (fuzzy: %t, relaxed: %t, %v), want %s", row.text, got, a.Fuzzy, a.Relaxed, err, row.want)
				}
			}
		})
	}
}

func TestNames(t *testing.T) {
	n := newNaiveEngine(t, nameDocs())
	for _, row := range []struct{ name, text, want string }{
		{"joined name", "leblanc ", "[a1 a2] f20"},
		{"separate words", "le blanc ", "[a1 a2] f20"},
		{"prefix of separate words", "le bla", "[a1 a2] f20"},
		{"prefix of a joined name", "lebla", "[a1 a2] f20"},
		{"with a first name", "le blanc jean ", "a1 f20"},
		{"three words joined", "delahoussaye ", "[a4 a5 a6 a7] f20"},
		{"three words", "de la houssaye ", "[a3 a4 a5 a6 a7] f20"},
		{"last two of three joined", "de lahoussaye ", "[a4 a5 a6 a7] f20"},
		{"first two of three joined", "dela houssaye ", "[a3 a4 a5 a6 a7] f20"},
		{"Mc", "mcdermott ", "[a8 a9 a10 a11]"},
		{"Mac", "macdermott ", "[a8 a9 a10 a11]"},
		{"Mc separate", "mc dermott ", "[a8 a9 a10 a11]"},
		{"prefix of separate Mac", "mac dermo", "[a8 a9 a10 a11]"},
		{"saint", "saint pierre ", "[a12 a13]"},
		{"st", "st pierre ", "[a12 a13]"},
		{"stpierre", "stpierre ", "[a12]"},
		{"short first names", "joann smith ", "[a14 a15]"},
		{"separate short first names", "jo ann smith ", "[a14 a15]"},
		{"not in texts", "joann emile ", ""},
		{"exact phrase in quotes", `"jo ann smith"`, "a14"},
		{"governor", "1731 governor nicholls ", "a16"},
		{"gov", "1733 gov nicholls ", "a17"},
		{"fort and mount", "fort worth ", "a18"},
		{"mt", "mt vernon ", "a19"},
	} {
		t.Run(row.name, func(t *testing.T) {
			a, err := search(context.Background(), n, Options{}.withDefaults(), Query{Text: row.text, Limit: 6})
			if got := formatHits(a); err != nil || !sameOrder(got, row.want) || a.Fuzzy {
				t.Errorf("search(%q) = %s (fuzzy: %t, %v), want %s", row.text, got, a.Fuzzy, err, row.want)
			}
		})
	}
}

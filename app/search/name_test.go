package search

import (
	"context"
	"testing"
)

// people are names as they are written, joined and apart.
func people() []Document {
	var list []Document
	for i, name := range []string{"Le Blanc, Jean", "Leblanc, Marie", "Houssaye, de la", "de la Houssaye", "Delahoussaye", "De Lahoussaye", "Dela Houssaye",
		"Mac Dermott", "McDermott", "MacDermott", "Mc Dermott", "St. Pierre", "Saint Pierre", "Jo Ann Smith", "Joann Smith",
		"1731 Gov. Nicholls", "1733 Governor Nicholls", "Ft. Worth", "Mount Vernon"} {
		list = append(list, Document{Kind: Abstract, ID: uint64(i + 1), Day: int32(i), Names: []string{name}})
	}
	return append(list, Document{Kind: File, ID: 20, Day: 20, Names: []string{"scan.pdf"}, Text: pages("made by Jean Le Blanc and Emile de la Houssaye", "Jo Ann")})
}

func TestNames(t *testing.T) {
	n := naiveOf(t, people())
	for _, row := range []struct{ name, text, want string }{
		{"joined", "leblanc ", "[a1 a2] f20"},
		{"apart", "le blanc ", "[a1 a2] f20"},
		{"on the way", "le bla", "[a1 a2] f20"},
		{"joined, on the way", "lebla", "[a1 a2] f20"},
		{"and a name", "le blanc jean ", "a1 f20"},
		{"three words joined", "delahoussaye ", "[a4 a5 a6 a7] f20"},
		{"three words", "de la houssaye ", "[a3 a4 a5 a6 a7] f20"},
		{"two of three", "de lahoussaye ", "[a4 a5 a6 a7] f20"},
		{"the other two", "dela houssaye ", "[a3 a4 a5 a6 a7] f20"},
		{"Mc", "mcdermott ", "[a8 a9 a10 a11]"},
		{"Mac", "macdermott ", "[a8 a9 a10 a11]"},
		{"Mc apart", "mc dermott ", "[a8 a9 a10 a11]"},
		{"Mac apart, on the way", "mac dermo", "[a8 a9 a10 a11]"},
		{"saint", "saint pierre ", "[a12 a13]"},
		{"st", "st pierre ", "[a12 a13]"},
		{"stpierre", "stpierre ", "[a12]"},
		{"short first names", "joann smith ", "[a14 a15]"},
		{"short first names apart", "jo ann smith ", "[a14 a15]"},
		{"not in texts", "joann emile ", ""},
		{"in quotes as it stands", `"jo ann smith"`, "a14"},
		{"governor", "1731 governor nicholls ", "a16"},
		{"gov", "1733 gov nicholls ", "a17"},
		{"fort and mount", "fort worth ", "a18"},
		{"mt", "mt vernon ", "a19"},
	} {
		t.Run(row.name, func(t *testing.T) {
			a, err := search(context.Background(), n, Options{}.whole(), Query{Text: row.text, Limit: 6})
			if got := names(a); err != nil || !sameOrder(got, row.want) || a.Fuzzy {
				t.Errorf("%q finds %s (fuzzy: %t, %v), want %s", row.text, got, a.Fuzzy, err, row.want)
			}
		})
	}
}

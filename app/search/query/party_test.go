package query

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"deedkeep/app/search/index"
)

// instruments returns instruments with the given parties, which are separated by semicolons.
func instruments(parties ...string) (list []Document) {
	for i, names := range parties {
		list = append(list, Document{Kind: Instrument, ID: uint64(i + 1), DocumentType: uint64(i%2 + 1), County: "Wexcombe",
			Parties: strings.Split(names, ";"), Names: strings.Split(names, ";")})
	}
	return list
}

// ids returns the IDs of the hits of a query in order.
func ids(t testing.TB, x *Index, q Query) string {
	t.Helper()
	if q.Limit == 0 {
		q.Limit = 20
	}
	result, err := x.Search(context.Background(), q)
	if err != nil {
		t.Fatalf("Search(%+v): %v", q, err)
	}
	var list []uint64
	for _, hit := range result.Hits {
		list = append(list, hit.ID)
	}
	return strings.Trim(fmt.Sprint(list), "[]")
}

// All words of a party must be in the name of one party, in any order and notation.
func TestParty(t *testing.T) {
	t.Parallel()
	x := newTestIndex(t, instruments(
		"Smith, John A.;Mary Jones",
		"John Jones;Smith & Sons, L.L.C.",
		"O'Brien, Théodore;J.P. Morgan Chase Bank, N.A.",
		"de la Croix, Marie;First Nat'l Bk. of Troy",
		"Smith-Jones, Ann;AT&T Corp.",
		"John Smith;John Smith, Jr.;Mary Smith",
	))
	for party, want := range map[string]string{
		"smith":                   "6 5 2 1",
		"John Smith":              "6 1",
		"SMITH, JOHN":             "6 1",
		"smith john a":            "1",
		"a. john smith":           "1",
		"mary smith":              "6",
		"mary jones":              "1",
		"john mary":               "",
		"smith jones":             "5",
		"Jones Smith":             "5",
		"smithjones":              "5",
		"smith sons":              "2",
		"Smith and Sons":          "2",
		"Smith & Sons LLC":        "2",
		"sons smith l.l.c.":       "2",
		"obrien":                  "3",
		"O Brien Theodore":        "3",
		"théodore o’brien":        "3",
		"JP Morgan":               "3",
		"j p morgan chase":        "3",
		"chase bank na":           "3",
		"Delacroix":               "4",
		"marie de la croix":       "4",
		"first natl book troy":    "4",
		"First Nat'l Bk":          "4",
		"AT&T":                    "5",
		"at t corp":               "5",
		"smit":                    "",
		"wexcombe":                "",
		"smith john john":         "6 1",
		"john smith jr":           "6",
		"de la houssaye":          "",
		"john smith esq and sons": "",
	} {
		t.Run(party, func(t *testing.T) {
			if got := ids(t, x, Query{Party: party}); got != want {
				t.Errorf("Search for party %q = %q, want %q", party, got, want)
			}
		})
	}
}

func TestPartyWithFilters(t *testing.T) {
	t.Parallel()
	x := newTestIndex(t, append(instruments("John Smith", "John Smith", "Mary Smith", "John Doe;Mary Smith"),
		Document{Kind: File, ID: 9, Names: []string{"John Smith.pdf"}, County: "Wexcombe"}))
	for name, row := range map[string]struct {
		q    Query
		want string
	}{
		"type":           {Query{Party: "smith", DocumentType: 1}, "3 1"},
		"county":         {Query{Party: "smith", County: "wexcombe county"}, "4 3 2 1"},
		"other county":   {Query{Party: "smith", County: "Essex"}, ""},
		"text":           {Query{Party: "smith", Text: "doe "}, "4"},
		"text elsewhere": {Query{Party: "john smith", Text: "mary "}, ""},
		"kind":           {Query{Party: "smith", Kind: Instrument, Limit: 2}, "4 3"},
		"second page":    {Query{Party: "smith", Kind: Instrument, Offset: 2, Limit: 2}, "2 1"},
		"only a type":    {Query{Text: "smith ", DocumentType: 2}, "4 2"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := ids(t, x, row.q); got != row.want {
				t.Errorf("Search(%+v) = %q, want %q", row.q, got, row.want)
			}
		})
	}
}

func TestPartyRejects(t *testing.T) {
	t.Parallel()
	x := newTestIndex(t, nil)
	for _, party := range []string{" ", "&", ".,", strings.Repeat("a ", 33)} {
		if _, err := x.Search(context.Background(), Query{Party: party, Limit: 1}); !errors.Is(err, ErrParty) {
			t.Errorf("Search for party %q: %v, want %v", party, err, ErrParty)
		}
	}
	if got := ids(t, x, Query{Party: strings.Repeat("de la o b.c.d. ", 4)}); got != "" {
		t.Errorf("Search for a party with many spellings = %q, want nothing", got)
	}
}

// A name is found by its own words in any order, and the spellings are limited.
func FuzzParty(f *testing.F) {
	for _, name := range []string{"Smith, John A.", "O'Brien & Co.", "J.P. Morgan", "de la Croix", "0883 Main L.L.C.", "A/K/A ½"} {
		f.Add(name, uint64(1))
	}
	f.Fuzz(func(t *testing.T, name string, seed uint64) {
		spellings := partySpellings(name, 32)
		if len(spellings) > maxPartySpellings {
			t.Fatalf("partySpellings(%q) has %d spellings", name, len(spellings))
		}
		if len(spellings) == 0 || strings.ContainsRune(name, '&') {
			return
		}
		n := newNaiveEngine(t, instruments("Other;"+strings.ReplaceAll(name, ";", " ")))
		r := rand.New(rand.NewPCG(seed, 0))
		words := slices.Clone(spellings[0])
		r.Shuffle(len(words), func(i, j int) { words[i], words[j] = words[j], words[i] })
		if _, ok := n.score(n.docs[0], togetherNode(words)); !ok && !strings.ContainsRune(name, ';') {
			t.Errorf("party %q does not find %q", words, name)
		}
	})
}

// togetherNode returns the node for a party with these words.
func togetherNode(words []string) index.Node { return index.Together(termsOf(nsPartyWord, words)) }

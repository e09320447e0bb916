package search

import (
	"slices"
	"strings"
	"testing"

	"deedkeep/app/model"
	"deedkeep/app/search/query"
)

func TestSplitOwners(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		text string
		want []string
	}{
		{"", nil},
		{"Ada B. Quill", []string{"Ada B. Quill"}},
		{"John and Mary Quill", []string{"John Quill", "Mary Quill"}},
		{"JOHN T. & MARY QUILL, JR.", []string{"JOHN T. QUILL", "MARY QUILL, JR."}},
		{"John and Mary Quill Jr.", []string{"John Quill", "Mary Quill Jr."}},
		{"John Poe and Mary Quill", []string{"John Poe", "Mary Quill"}},
		{"Quill, John and Mary", []string{"Quill, John", "Quill, Mary"}},
		{"QUILL, JOHN T & MARY ANN", []string{"QUILL, JOHN T", "QUILL, MARY ANN"}},
		{"Quill, John, Jr. and Eudora B.", []string{"Quill, John, Jr.", "Quill, Eudora B."}},
		{"Quill, John and Mary, Trustees", []string{"Quill, John", "Quill, Mary, Trustees"}},
		{"Quill, John and Poe, Mary and Sam", []string{"Quill, John", "Poe, Mary", "Poe, Sam"}},
		{"Quill, John and Acme Homes", []string{"Quill, John", "Acme Homes"}},
		{"Quill, John and Acme, LLC", []string{"Quill, John", "Acme, LLC"}},
		{"Acme, LLC and John Quill", []string{"Acme, LLC", "John Quill"}},
		{"Quill, John; Mary Poe", []string{"Quill, John", "Mary Poe"}},
	} {
		t.Run(row.text, func(t *testing.T) {
			t.Parallel()
			if got := splitOwners(row.text); !slices.Equal(got, row.want) {
				t.Errorf("splitOwners(%q) = %q, want %q", row.text, got, row.want)
			}
		})
	}
}

func TestSpokenName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Ada B. Quill":              "Ada B. Quill",
		"Quill, Ada B.":             "Ada B. Quill",
		"Quill, Ada B., Jr.":        "Ada B. Quill, Jr.",
		"Quill, V. James":           "V. James Quill",
		"Quill, Ada, Trustee":       "Ada Quill, Trustee",
		"Quill, Jr.":                "Quill, Jr.",
		"Quill, III":                "Quill, III",
		"Acme, LLC":                 "Acme, LLC",
		"Acme, L.L.C.":              "Acme, L.L.C.",
		"Acme, Inc., a Corporation": "Acme, Inc., a Corporation",
		"Firstbank, N.A.":           "Firstbank, N.A.",
		"Quill, Family Trust":       "Quill, Family Trust",
		"Birch Orchard, Ada":        "Birch Orchard, Ada",
		"":                          "",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := spokenName(name); got != want {
				t.Errorf("spokenName(%q) = %q, want %q", name, got, want)
			}
		})
	}
}

// FuzzOwners checks that owners as people type them give names, keys, and clues that can be looked for.
func FuzzOwners(f *testing.F) {
	for _, text := range []string{"", "'", "’ & '", "and", " and ", "&&&", ",", ", Jr.", "Quill, , Jr.", "John and Mary Quill",
		"QUILL, JOHN T & MARY ANN, TRUSTEES",
		"Jose\u0301 & O’Neil, et ux", "\"Quill; Ada\" and Poe", "A B & C D", "Comelius Quill and", "\u0301, \u0301",
		"\xff & \x00", "Lot 12, Block C, “Oak” Hill", "12-34-567."} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		owners := splitOwners(text)
		if limit := maxPriorNames * (model.MaxListItems + 1); len(owners) > limit {
			t.Errorf("splitOwners(%q) has %d names, want at most %d", text, len(owners), limit)
		}
		sub := subject{parcel: text, parcels: []string{text, text}}
		sub.names = owners
		sub.addLot(text)
		list := sub.clues()
		if limit := maxPriorParcels + maxPriorLots + 2*maxPriorNames; len(list) > limit {
			t.Errorf("%d clues, want at most %d", len(list), limit)
		}
		for _, c := range list {
			bad := strings.Count(c.Text, `"`)%2 != 0 || c.Query.Kind == query.Instrument && nameKey(c.Party) != c.Party
			if bad || c.Text == "" && c.Party == "" {
				t.Errorf("clue %+v of %q can't be looked for", c, text)
			}
		}
		for _, owner := range append(owners, text) {
			spoken := strings.Fields(model.NormalizeText(spokenName(owner)))
			written := strings.Fields(model.NormalizeText(owner))
			slices.Sort(spoken)
			slices.Sort(written)
			if !slices.Equal(spoken, written) {
				t.Errorf("spokenName(%q) = %q, want the same words", owner, spokenName(owner))
			}
		}
	})
}

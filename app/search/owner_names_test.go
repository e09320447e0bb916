package search

import (
	"slices"
	"testing"
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

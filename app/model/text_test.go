package model

import (
	"encoding/json"
	"testing"
)

func TestNormalize(t *testing.T) {
	for text, want := range map[string][2]string{
		"":                       {"", ""},
		" - / ":                  {"", ""},
		"12-34-567":              {"12 34 567", "1234567"},
		"12.34-5/67A":            {"12 34 5 67a", "1234567a"},
		"  12  Elm St.,  Troy ":  {"12 elm st troy", "12elmsttroy"},
		"O'Neil Rd":              {"oneil rd", "oneilrd"},
		"Doña Ana #7":            {"doña ana 7", "doñaana7"},
		"STRASSE straße":         {"strasse strasse", "strassestrasse"},
		"caf\xe9 7":              {"caf 7", "caf7"},
		"10½ Main":               {"10½ main", "10½main"},
		"\u00a012\u2013A\u2028b": {"12 a b", "12ab"},
	} {
		if got := [2]string{NormalizeText(text), NormalizeNumber(text)}; got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

func TestHeadings(t *testing.T) {
	number := CustomValues{"file_number": json.RawMessage(`"26-0017"`), "parcel_id": json.RawMessage(`"9-9"`)}
	elm := Property{Address: "12 Elm St", City: "Troy", County: "Rensselaer", State: "NY"}
	for _, row := range []struct {
		name                string
		abstract            Abstract
		heading, subheading string
	}{
		{"nothing", Abstract{}, "", ""},
		{"a file number", Abstract{Custom: number, TaxMap: "1-2-3", Property: elm}, "26-0017", "12 Elm St, Troy, Rensselaer County, NY · 1-2-3"},
		{"a file number that is a number", Abstract{Custom: CustomValues{"file_number": json.RawMessage(`26.50`)}}, "26.50", ""},
		{"a list for a file number", Abstract{Custom: CustomValues{"file_number": json.RawMessage(`["a"]`)}, TaxMap: "1-2-3"}, "1-2-3", ""},
		{"an address", Abstract{Property: elm, TaxMap: "1-2-3"}, "12 Elm St, Troy, Rensselaer County, NY", "1-2-3"},
		{"a county in full", Abstract{Property: Property{County: "Orleans Parish", State: "LA"}}, "Orleans Parish, LA", ""},
		{"a parcel among the fields", Abstract{Custom: CustomValues{"parcel_id": json.RawMessage(`"9-9"`)}}, "9-9", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			if heading, subheading := row.abstract.Heading(), row.abstract.Subheading(); heading != row.heading || subheading != row.subheading {
				t.Errorf("Heading, Subheading = %q, %q; want %q, %q", heading, subheading, row.heading, row.subheading)
			}
		})
	}
	const want = "12 Elm St, Troy, Rensselaer County, NY · 9-9"
	if o := (Order{Property: elm, Custom: number}); o.Subheading() != want {
		t.Errorf("order Subheading = %q, want %q", o.Subheading(), want)
	}
}

func TestOrderIsOpen(t *testing.T) {
	for status, open := range map[string]bool{
		"": true, "active": true, "on_hold": true, "In Search": true, "Not completed": true, "Complete search needed": true, "Doneness": true,
		"completed": false, "COMPLETED": false, " cancelled ": false, "Canceled": false, "Closed": false,
		"Cancelled (by client)": false, "Completed - billed": false, "done/invoiced": false, "Void": false,
	} {
		if o := (Order{Status: status}); o.IsOpen() != open {
			t.Errorf("status %q: IsOpen = %v, want %v", status, o.IsOpen(), !o.IsOpen())
		}
	}
}

// FuzzNormalize checks that normalizing a text twice is the same as normalizing it once, and that
// the result doesn't contain the byte that ends an index key.
func FuzzNormalize(f *testing.F) {
	f.Add("12-34 Elm, İ ß\xff\x00")
	f.Add("ᏣᎳᎩ ꮳꮃꭹ Ᏸ ᏸ")
	f.Fuzz(func(t *testing.T, text string) {
		for _, form := range []func(string) string{NormalizeText, NormalizeNumber} {
			once := form(text)
			if form(once) != once {
				t.Errorf("%q normalized twice = %q, want %q", text, form(once), once)
			}
			for i := range len(once) {
				if once[i] == 0 || once[i] == 0xFF {
					t.Errorf("%q normalized = %q, want no byte 0x00 or 0xFF", text, once)
				}
			}
		}
	})
}

func TestFold(t *testing.T) {
	for _, row := range []struct {
		name, a, b string
		same       bool
	}{
		{"case", "Plats & SURVEYS", "plats & surveys", true},
		{"blanks around", " Inbox ", "inbox", true},
		{"sharp s", "STRASSE", "straße", true},
		{"Cherokee", "ᏣᎳᎩ", "ꮳꮃꭹ", true},
		{"sigma", "ΟΔΟΣ", "οδος", true},
		{"no Turkish rules", "I", "ı", false},
		{"blanks inside", "A B", "AB", false},
		{"accents", "resume", "résumé", false},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := Fold(row.a) == Fold(row.b); got != row.same {
				t.Errorf("Fold(%q) == Fold(%q) is %v, want %v", row.a, row.b, got, row.same)
			}
		})
	}
}

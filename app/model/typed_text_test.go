package model

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// misreadTexts are names, dates, amounts, and references as OCR and people write them.
var misreadTexts = []string{
	"", "'", "’", ".", "-", "\"", ";", ",", "\u0301", "\u200b", "\x00", "\xff", "John Smith '", "O’Neil", "Jose\u0301 Pen\u0303a",
	"Comelius Quill", "Cornelius Quill", "A. B. Quill, Jr., et ux.", "\"Quill; Ada\";Poe", "3-9-98", "2/30/2024", "0/0/0000", "1998-02-30",
	"$10 & OVC", "$1.00 ovc", "$1,234,567.8", "1O,OOO.OO", "-5", "1e9", "Bk 1022 Pg 311", "Bk1022-Pg311-", "1022/0311-313", "7 p. m.",
	"23:59:61", "9:41 AM", "3-7", "1, 3–5", "7-3", "0-0", "99999999999999999999", "12-34-567.", "St. Tammany Parish", "Parish of", "county of",
	"Lot 12, Block C, Oak Hill", "ꮳꮃꭹ", "İstanbul", "ß", strings.Repeat("'", 300), strings.Repeat("A ", 300),
}

// FuzzNames checks that names survive being joined and split, and that splitting a text twice is the same as
// splitting it once.
func FuzzNames(f *testing.F) {
	for _, text := range misreadTexts {
		f.Add(text, "Quill; Ada")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		for _, separator := range []string{"; ", "\n"} {
			names := SplitNames(a + separator + b)
			if len(names) > MaxListItems+1 {
				t.Fatalf("SplitNames returns %d names, want at most %d", len(names), MaxListItems+1)
			}
			for _, name := range names {
				if strings.TrimSpace(name) != name || name == "" {
					t.Errorf("SplitNames(%q) has the name %q, want no blank ones and no spaces around", a+separator+b, name)
				}
			}
			if again := SplitNames(JoinNames(names, separator)); !slices.Equal(again, names) {
				t.Errorf("names are %q after joining and splitting, want %q", again, names)
			}
		}
	})
}

// FuzzParsePages checks that a parsed list of pages is parsed as itself and contains its first and last page.
func FuzzParsePages(f *testing.F) {
	for _, text := range misreadTexts {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		first := FirstPage(text)
		if first < 1 {
			t.Errorf("FirstPage(%q) = %d, want at least 1", text, first)
		}
		pages, last, ok := ParsePages(text)
		if !ok {
			return
		}
		if again, lastAgain, ok := ParsePages(pages); again != pages || lastAgain != last || !ok {
			t.Errorf("ParsePages(%q) = %q, %d, %v, want it unchanged and %d", pages, again, lastAgain, ok, last)
		}
		first = FirstPage(pages)
		if !ContainsPage(pages, first) || !ContainsPage(pages, last) || first > last || ContainsPage(pages, 0) || ContainsPage(pages, first-1) {
			t.Errorf("pages %q are from %d to %d", pages, first, last)
		}
	})
}

// FuzzFoldPlace checks that folding the name of a county or a state twice is the same as folding it once.
func FuzzFoldPlace(f *testing.F) {
	for _, text := range misreadTexts {
		f.Add(text)
	}
	f.Add("Parish of St. Mary Parish")
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.ToValidUTF8(text, "\ufffd") // as in all stored values
		for name, fold := range map[string]func(string) string{"FoldState": FoldState, "Fold": Fold,
			"plainWords": func(s string) string { return strings.Join(PlainWords(s), " ") }} {
			if once := fold(text); fold(once) != once {
				t.Errorf("%s(%q) = %q, and %q again", name, text, once, fold(once))
			}
		}
		if folded := FoldCounty(text); strings.Join(strings.Fields(folded), " ") != folded || (folded == "") != (len(PlainWords(text)) == 0) {
			t.Errorf("FoldCounty(%q) = %q", text, folded)
		}
		_ = Property{Address: text, County: text, State: text}.FullAddress()
	})
}

// FuzzFindType checks that a type that a text names is offered and is found by its own name.
func FuzzFindType(f *testing.F) {
	for _, text := range append([]string{"wd", "QCD", "mort", "Sheriff’s deed", "deed-of-trust", "Release o f Mortgage"}, misreadTexts...) {
		f.Add(text)
	}
	types := append(NewDocumentTypes(), DocumentType{ID: 900, Name: "’"}, DocumentType{ID: 901, Name: "Ödeed - x", Retired: true})
	f.Fuzz(func(t *testing.T, text string) {
		found, ok := types.Find(text)
		if !ok {
			if found != (DocumentType{}) {
				t.Errorf("Find(%q) = %v, false", text, found)
			}
			return
		}
		if again, ok := types.Find(found.Name); !ok || again.ID != found.ID {
			t.Errorf("Find(%q) = %q, but Find of that is %q, %v", text, found.Name, again.Name, ok)
		}
	})
}

// FuzzInstrumentInput checks that each text is either rejected or stored in a form that is stored as itself,
// within its length, and that what follows from it can be computed.
func FuzzInstrumentInput(f *testing.F) {
	for _, text := range misreadTexts {
		f.Add(text, "[\"A\"]")
	}
	f.Add("14:05", `[{"kind":"releases","text":"Bk 1022 Pg 311"},{"kind":"releases","instrument_id":"2"}]`)
	f.Add("1", `[{"file_id":1,"pages":"1, 3–5"},{"role":"'","name":"’"}]`)
	types := NewDocumentTypes()
	pages := 7
	about := InstrumentContext{Types: types, File: func(id uint64) (*int, bool) { return &pages, id == 1 },
		Instrument: func(id uint64) (Instrument, bool) { return Instrument{ID: id}, id == 2 }}
	f.Fuzz(func(t *testing.T, text, list string) {
		for _, field := range InstrumentInputFields() {
			for _, raw := range []string{string(encodeJSON(text)), list} {
				if !isJSON(raw) {
					continue
				}
				in := Inputs{field: JSONInput([]byte(raw))}
				i, rejected := CheckInstrument(in, Instrument{ID: 1, AbstractID: 1, Page: "1"}, about)
				if len(rejected) > 0 {
					continue
				}
				again, rejected := CheckInstrument(i.Normalize(in, types), Instrument{ID: 1, AbstractID: 1, Page: i.Page}, about)
				again.StatusSetBy, i.StatusSetBy = nil, nil
				if len(rejected) > 0 || !reflect.DeepEqual(again, i) {
					t.Errorf("%s %s is stored as %+v, and that as %+v, rejected %v", field, raw, i, again, rejected)
				}
				checkDerived(t, i, types)
			}
		}
	})
}

// isJSON reports whether a text is JSON as it arrives in a request.
func isJSON(text string) bool { return json.Valid([]byte(text)) && strings.TrimSpace(text) == text }

// checkDerived computes everything that follows from an instrument.
func checkDerived(t *testing.T, i Instrument, types DocumentTypes) {
	kind, _ := types.ByID(i.TypeID)
	if heading := i.Heading(kind); heading == "" {
		t.Errorf("no heading for %+v", i)
	}
	for _, list := range [][]string{i.SearchTerms(kind.Name).Numbers, i.SearchTerms(kind.Name).Names, i.SearchTerms(kind.Name).Other} {
		if slices.Contains(list, "") {
			t.Errorf("search terms %q of %+v, want no empty ones", list, i)
		}
	}
	for _, ended := range []bool{false, true} {
		if status := i.EffectiveStatus(kind, ended, "2026-01-02"); !slices.Contains(InstrumentStatuses(), status) {
			t.Errorf("status %q of %+v", status, i)
		}
	}
	for _, number := range []string{i.Number, i.Book, i.Page} {
		if once := NormalizeRecordingNumber(number); NormalizeRecordingNumber(once) != once {
			t.Errorf("NormalizeRecordingNumber(%q) = %q, and %q again", number, once, NormalizeRecordingNumber(once))
		}
	}
	_ = fmt.Sprint(Instrument{}.Changes(i), Gaps([]Instrument{i, i}, types))
}

package model

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestSortRunsheet(t *testing.T) {
	list := []Instrument{
		{ID: 1, Recorded: "2019-04-17", Book: "10", Page: "2"},
		{ID: 2, Recorded: "2019-04-17", Book: "9", Page: "12"},
		{ID: 3, Recorded: "2019-04-17", Book: "9", Page: "3"},
		{ID: 4},
		{ID: 5, Recorded: "1998-01-02"},
		{ID: 6, Recorded: "2019-04-17", RecordedTime: "09:00", Book: "99"},
	}
	for _, row := range []struct {
		name     string
		sequence []uint64
		want     []uint64
	}{
		{"by recording", nil, []uint64{5, 6, 3, 2, 1, 4}},
		{"complete sequence", []uint64{4, 1, 2, 3, 5, 6}, []uint64{4, 1, 2, 3, 5, 6}},
		{"the others go where their date fits", []uint64{3, 5, 9}, []uint64{3, 5, 2, 1, 6, 4}},
		{"a sequence in the usual direction", []uint64{5, 1}, []uint64{5, 6, 3, 2, 1, 4}},
		{"undated rows in the sequence", []uint64{4, 1}, []uint64{4, 5, 6, 3, 2, 1}},
		{"an undated row at the end of the sequence", []uint64{1, 4}, []uint64{5, 6, 3, 2, 1, 4}},
		{"only undated rows in the sequence", []uint64{4}, []uint64{5, 6, 3, 2, 1, 4}},
	} {
		t.Run(row.name, func(t *testing.T) {
			var got []uint64
			for _, i := range SortRunsheet(slices.Clone(list), row.sequence) {
				got = append(got, i.ID)
			}
			if !slices.Equal(got, row.want) {
				t.Errorf("SortRunsheet = %v, want %v", got, row.want)
			}
		})
	}
}

// A row without a recording date has the place of its own date. Rows whose date fits in no single place of
// a chosen sequence are at the end and marked.
func TestArrangeKeys(t *testing.T) {
	key := func(id uint64, recorded, dated string) RunsheetKey {
		return RunsheetKey{ID: id, Recorded: recorded, Dated: dated}
	}
	for _, row := range []struct {
		name           string
		keys           []RunsheetKey
		sequence, want []uint64
		unplaced       []uint64
	}{
		{"dated", []RunsheetKey{key(1, "2022-01-01", ""), key(2, "", "1979-05-02"), key(3, "", ""), key(4, "1979-05-01", "1979-04-01")}, nil,
			[]uint64{4, 2, 1, 3}, nil},
		{"between its neighbors", []RunsheetKey{key(1, "1990-01-01", ""), key(2, "1980-01-01", ""), key(3, "2000-01-01", ""),
			key(4, "1995-01-01", "")}, []uint64{2, 1, 3}, []uint64{2, 1, 4, 3}, nil},
		{"before all", []RunsheetKey{key(1, "1990-01-01", ""), key(2, "1980-01-01", ""), key(3, "1970-01-01", "")},
			[]uint64{1, 2}, []uint64{3, 1, 2}, nil},
		{"after all", []RunsheetKey{key(1, "1990-01-01", ""), key(2, "1980-01-01", ""), key(3, "1995-01-01", ""), key(4, "1993-01-01", "")},
			[]uint64{1, 2}, []uint64{1, 2, 4, 3}, nil},
		{"in no single place", []RunsheetKey{key(1, "1990-01-01", ""), key(2, "1980-01-01", ""), key(3, "1985-01-01", ""), key(4, "", ""),
			key(5, "1984-01-01", "")}, []uint64{1, 2}, []uint64{1, 2, 5, 3, 4}, []uint64{3, 5}},
	} {
		t.Run(row.name, func(t *testing.T) {
			sorted, unplaced := arrangeKeys(row.keys, row.sequence)
			if got := slices.Sorted(maps.Keys(unplaced)); !slices.Equal(sorted, row.want) || !slices.Equal(got, row.unplaced) {
				t.Errorf("arrangeKeys = %v, %v, want %v, %v", sorted, got, row.want, row.unplaced)
			}
		})
	}
}

// A sequence that a person chose is stored, but not one that follows from the dates.
func TestChosenSequence(t *testing.T) {
	keys := []RunsheetKey{{ID: 1, Recorded: "1990-01-01"}, {ID: 2, Recorded: "2000-01-01"}, {ID: 3}, {ID: 4}}
	for _, row := range []struct {
		name      string
		ids, want []uint64
		moved     uint64
	}{
		{"by date", []uint64{1, 2, 3, 4}, nil, 0},
		{"moved and moved back", []uint64{1, 2, 3, 4}, nil, 2},
		{"undated rows at the end get their place when they are dated", []uint64{2, 1, 3, 4}, []uint64{2, 1}, 2},
		{"undated rows in another sequence", []uint64{2, 1, 4, 3}, []uint64{2, 1, 4}, 2},
		{"an undated row that was moved", []uint64{3, 1, 2, 4}, []uint64{3, 1, 2}, 3},
		{"an undated row that was moved to the end", []uint64{2, 1, 3, 4}, []uint64{2, 1, 3, 4}, 4},
	} {
		t.Run(row.name, func(t *testing.T) {
			got := ChosenSequence(keys, row.ids, row.moved)
			if !slices.Equal(got, row.want) {
				t.Errorf("ChosenSequence = %v, want %v", got, row.want)
			}
			if sorted := SortKeys(keys, got); !slices.Equal(sorted, row.ids) {
				t.Errorf("SortKeys = %v, want %v", sorted, row.ids)
			}
		})
	}
}

func TestGaps(t *testing.T) {
	types := NewDocumentTypes()
	instrument := func(typeName, grantor, grantee string) Instrument {
		kind, ok := types.ByName(typeName)
		if !ok {
			t.Fatalf("no document type %q", typeName)
		}
		return Instrument{TypeID: kind.ID, Grantors: []string{grantor}, Grantees: []string{grantee}}
	}
	deed := func(grantor, grantee string) Instrument { return instrument("Warranty Deed", grantor, grantee) }
	for _, row := range []struct {
		name string
		list []Instrument
		want []string
	}{
		{"an unbroken chain", []Instrument{deed("Amos Reed", "Bea Cole"), deed("Bea Cole", "Carl Diaz")}, nil},
		{"a missing deed", []Instrument{deed("Amos Reed", "Bea Cole"), deed("Dora Finch", "Carl Diaz")}, []string{"1 Dora Finch"}},
		{"the gap is after the conveyance before it", []Instrument{deed("Amos Reed", "Bea Cole"),
			instrument("Mortgage", "Bea Cole", "First Bank"), deed("Dora Finch", "Carl Diaz")}, []string{"1 Dora Finch"}},
		{"several names in one text", []Instrument{deed("Amos Reed", "Bea Cole and Dan A. Cole, husband and wife"),
			deed("Dan Cole", "Carl Diaz"), deed("Bea Cole & Dan Cole, as joint tenants", "Carl Diaz"),
			deed("Bea Cole & Ed Gray", "Carl Diaz")}, []string{"3 Bea Cole & Ed Gray"}},
		{"several names, each received", []Instrument{deed("Amos Reed", "Bea Cole"), deed("Amos Reed", "Ed T. Gray"),
			deed("Bea Cole AND Ed Thomas Gray", "Carl Diaz")}, nil},
		{"an initial of the other name",
			[]Instrument{deed("Amos Reed", "John J. Doe"), deed("John J. Doe and Jane Doe", "Carl Diaz")},
			[]string{"1 John J. Doe and Jane Doe"}},
		{"a partnership",
			[]Instrument{deed("Amos Reed", "Jones, Miller & Company"), deed("Jones, Miller and Co.", "Carl Diaz")}, nil},
		{"last name first", []Instrument{deed("Amos Reed", "COLE, BEA M."), deed("Bea Cole, single woman", "Carl Diaz")}, nil},
		{"an initial", []Instrument{deed("Amos Reed", "Bea Margaret Cole"), deed("Bea M. Cole", "Carl Diaz")}, nil},
		{"another first name", []Instrument{deed("Amos Reed", "Bea Cole"), deed("Ben Cole", "Carl Diaz")}, []string{"1 Ben Cole"}},
		{"an initial is not enough", []Instrument{deed("Amos Reed", "Bea Cole"), deed("B. C.", "Carl Diaz")}, []string{"1 B. C."}},
		{"a company", []Instrument{deed("Amos Reed", "Wexcombe Holdings, LLC"), deed("Wexcombe Holdings LLC", "Carl Diaz")}, nil},
		{"heirs received by probate", []Instrument{deed("Amos Reed", "Bea Cole"), instrument("Probate", "Estate of Bea Cole", "Ned Cole"),
			deed("Ned Cole", "Carl Diaz")}, nil},
		{"a probate before the first deed", []Instrument{instrument("Probate", "Estate of Bea Cole", "Ned Cole"),
			deed("Dora Finch", "Carl Diaz"), deed("Ned Cole", "Ed Gray"), deed("Bea Cole", "Ed Gray")}, []string{"1 Dora Finch"}},
		{"a court paper without heirs before the first deed", []Instrument{{TypeID: instrument("Probate", "", "").TypeID,
			Grantors: []string{"Bea Cole"}}, deed("Dora Finch", "Carl Diaz")}, nil},
		{"a lender never becomes the owner", []Instrument{deed("Amos Reed", "Bea Cole"), instrument("Mortgage", "Bea Cole", "First Bank"),
			deed("First Bank", "Carl Diaz")}, []string{"1 First Bank"}},
		{"a sheriff", []Instrument{deed("Amos Reed", "Bea Cole"), instrument("Sheriff's or Tax Deed", "Sheriff of Wexcombe County", "Carl Diaz")},
			nil},
		{"the first owner conveys twice", []Instrument{deed("Amos Reed", "Bea Cole"), deed("Amos Reed", "Carl Diaz")}, nil},
		{"an instrument without a type may be a deed", []Instrument{deed("Amos Reed", "Bea Cole"),
			{Grantors: []string{"Bea Cole"}, Grantees: []string{"Dora Finch"}}, deed("Dora Finch", "Carl Diaz")}, nil},
		{"a gap after an instrument without a type", []Instrument{deed("Amos Reed", "Bea Cole"),
			{Grantors: []string{"Bea Cole"}, Grantees: []string{"Dora Finch"}}, deed("Ed Gray", "Carl Diaz")}, []string{"1 Ed Gray"}},
		{"a name without words", []Instrument{deed("Amos Reed", "Bea Cole"), deed("et al.", "Carl Diaz")}, []string{"1 et al."}},
		{"a lone apostrophe", []Instrument{deed("Amos Reed", "John Smith '"), deed("John X Smith", "Carl Diaz")}, nil},
		{"an apostrophe instead of a name", []Instrument{deed("Amos Reed", "Bea Cole"), deed("'", "Carl Diaz")}, []string{"1 '"}},
		{"a curly apostrophe", []Instrument{deed("Amos Reed", "Bea O’Neil"), deed("Bea O'Neil", "Carl Diaz")}, nil},
		{"accents", []Instrument{deed("Amos Reed", "Jose\u0301 Pen\u0303a"), deed("JOSÉ PEÑA", "Carl Diaz")}, nil},
		{"an initial that is no ASCII letter", []Instrument{deed("Amos Reed", "Anna Øien Cole"), deed("Anna Ø. Cole", "Carl Diaz")}, nil},
		{"an initial of two names", []Instrument{deed("Amos Reed", "Abe Amos Cole"), deed("Abe A. Cole", "Carl Diaz")}, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			for n := range row.list {
				row.list[n].ID = uint64(n + 1)
			}
			var got []string
			for _, gap := range Gaps(row.list, types) {
				got = append(got, fmt.Sprintf("%d %s", gap.After, gap.Name))
			}
			if !slices.Equal(got, row.want) {
				t.Errorf("Gaps = %q, want %q", got, row.want)
			}
		})
	}
}

// The index of received names finds the same names as a comparison with all of them.
func TestReceivedNames(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	words := []string{"amos", "bea", "carl", "b", "c", "cole", "reed", "reed", "éva"}
	name := func() partyName {
		var list []string
		for range random.IntN(4) {
			list = append(list, words[random.IntN(len(words))])
		}
		return parsePartyName(strings.Join(list, " "))
	}
	received := NewPartyNames()
	var all []partyName
	for range 60 {
		added := name()
		received.add(added)
		all = append(all, added)
		for range 60 {
			asked := name()
			if got, want := received.has(asked), slices.ContainsFunc(all, asked.matches); got != want {
				t.Fatalf("has(%q) = %v, want %v; received: %v", asked.words, got, want, all)
			}
		}
	}
}

// A runsheet with very many names doesn't keep the server busy.
func TestGapsOfManyNames(t *testing.T) {
	types := NewDocumentTypes()
	deed, _ := types.ByName("Warranty Deed")
	for _, row := range []struct{ name, format string }{
		{"different names", "n%[1]d m%[1]d"}, {"names with common words", "John Smith n%d"},
		{"long names with common words", "a b c d e f g h i j k l m o p q r s n%d"},
	} {
		t.Run(row.name, func(t *testing.T) {
			var list []Instrument
			for n := range 2_000 {
				i := Instrument{ID: uint64(n + 1), TypeID: deed.ID}
				for k := range 20 {
					i.Grantors = append(i.Grantors, fmt.Sprintf(row.format, 2*(20*n+k)))
					i.Grantees = append(i.Grantees, fmt.Sprintf(row.format, 2*(20*n+k)+1))
				}
				list = append(list, i)
			}
			start := time.Now()
			gaps := Gaps(list, types)
			if took := time.Since(start); took > time.Minute { // a hang, also on a busy machine
				t.Errorf("Gaps took %v", took)
			}
			if want := 1_999 * 20; len(gaps) != want {
				t.Errorf("%d gaps, want %d", len(gaps), want)
			}
		})
	}
}

// FuzzGaps checks the gaps of random runsheets: they are those that a comparison of all names finds, they
// don't depend on specks and punctuation around a name, and they are gone if their names received title.
func FuzzGaps(f *testing.F) {
	for _, text := range []string{
		"WAmos Reed>John Smith '\nWJohn X Smith>Carl Diaz",
		"WAmos Reed>Bea O’Neil;Ned Cole\nMBea O'Neil>First Bank\nWBEA ONEIL, et vir>Carl Diaz",
		"WA. B. C>'\n>'';\"\nW';.;a>x",
		"WAbe Reed>Abe Amos Cole\nWAbe A. Cole>Cornelius Quill\nWComelius Quill>Jose\u0301 Pen\u0303a\nWJOSÉ PEÑA>\u0301",
		"PEstate of Bea Cole>Ned Cole\nWSheriff of Wexcombe>Wexcombe Holdings, L.L.C.\nWWexcombe Holdings LLC>х",
		"W\xff\xfe>\x00\n\n\nW>\nWa>a a a a a a a a\nWa a>a",
	} {
		f.Add(text)
	}
	types := NewDocumentTypes()
	f.Fuzz(func(t *testing.T, text string) {
		list := runsheetOf(text[:min(len(text), 600)], types)
		before := fmt.Sprint(list)
		gaps := Gaps(list, types)
		if fmt.Sprint(list) != before {
			t.Errorf("Gaps changed its input: %v, want %v", list, before)
		}
		if want := gapsByPairs(t, list, types); !slices.Equal(gaps, want) {
			t.Errorf("Gaps = %v, want %v", gaps, want)
		}
		specks := runsheetOf("", types)
		for _, i := range list {
			i.Grantors, i.Grantees = slices.Clone(i.Grantors), slices.Clone(i.Grantees)
			for _, names := range [][]string{i.Grantors, i.Grantees} {
				for n := range names {
					names[n] = "' " + names[n] + " , ’ .\u0301"
				}
			}
			specks = append(specks, i)
		}
		if got := Gaps(specks, types); len(got) != len(gaps) {
			t.Errorf("%d gaps with specks beside the names: %v, want %d: %v", len(got), got, len(gaps), gaps)
		}
		first := slices.IndexFunc(list, func(i Instrument) bool {
			category := categoryOf(i, types)
			return category == Conveyance || category == Court && len(i.Grantees) > 0
		})
		for _, gap := range gaps {
			list[first].Grantees = append(list[first].Grantees, gap.Name)
		}
		for _, gap := range Gaps(list, types) {
			if len(parsePartyName(gap.Name).words) > 0 {
				t.Errorf("gap for %q, who received title", gap.Name)
			}
		}
	})
}

// runsheetOf returns a runsheet with an instrument for each line: the letter of its type, its grantors,
// ">", and its grantees.
func runsheetOf(text string, types DocumentTypes) (list []Instrument) {
	names := map[byte]string{'W': "Warranty Deed", 'M': "Mortgage", 'P': "Probate", 'A': "Affidavit"}
	for line := range strings.SplitSeq(text, "\n") {
		i := Instrument{ID: uint64(len(list) + 1)}
		if line != "" && names[line[0]] != "" {
			kind, _ := types.ByName(names[line[0]])
			i.TypeID, line = kind.ID, line[1:]
		}
		from, to, _ := strings.Cut(line, ">")
		i.Grantors, i.Grantees = SplitNames(from), SplitNames(to)
		list = append(list, i)
	}
	return list
}

func categoryOf(i Instrument, types DocumentTypes) Category {
	kind, _ := types.ByID(i.TypeID)
	return kind.Category
}

// gapsByPairs finds the gaps by comparing each grantor with everyone who received title.
func gapsByPairs(t *testing.T, list []Instrument, types DocumentTypes) (gaps []Gap) {
	var received []partyName
	last := uint64(0)
	for _, i := range list {
		category := categoryOf(i, types)
		if i.TypeID != 0 && !slices.Contains([]Category{Conveyance, Court, Support}, category) {
			continue
		}
		starts := last == 0 && category == Court && len(i.Grantees) > 0
		for _, grantor := range i.Grantors {
			name := parsePartyName(grantor)
			if slices.Contains(name.words, "") {
				t.Errorf("parsePartyName(%q) = %q, want no empty words", grantor, name.words)
			}
			for _, other := range received {
				if name.matches(other) != other.matches(name) {
					t.Errorf("%q.matches(%q) = %v, but not the other way around", name.words, other.words, name.matches(other))
				}
			}
			known := knownByPairs(received, grantor)
			switch {
			case category != Conveyance && !starts:
			case last == 0:
				received = append(received, name)
			case !known && !name.official:
				gaps = append(gaps, Gap{last, grantor})
			}
		}
		if category == Conveyance || starts {
			last = i.ID
		}
		for _, grantee := range i.Grantees {
			received = append(received, parsePartyName(grantee))
		}
	}
	return gaps
}

// knownByPairs reports whether the names that match a text have all of its words, or that there is one if the text has
// one name.
func knownByPairs(received []partyName, text string) bool {
	name, covered, matched := parsePartyName(text), map[string]bool{}, false
	several := strings.Contains(text, "&") || slices.Contains(PlainWords(text), "and")
	for _, other := range received {
		if name.key() == other.key() && name.key() != "" {
			return true
		}
		if !name.matches(other) {
			continue
		}
		matched = true
		for _, word := range other.words {
			covered[word] = true
			for _, long := range name.words {
				covered[long] = covered[long] || isInitialOf(word, long) && !slices.Contains(name.words, word)
			}
		}
	}
	return matched && (!several || !slices.ContainsFunc(name.words, func(word string) bool {
		return !covered[word] && len([]rune(word)) > 1 && !tenancyWords[word]
	}))
}

// FuzzSortKeys checks that the sequence of a runsheet has each instrument once, follows the sequence that a
// person chose, and doesn't depend on how the instruments were sorted before.
func FuzzSortKeys(f *testing.F) {
	f.Add("2019-04-17 10 2\n2019-04-17 9 12\n\n1998-01-02 007 0\n2019-04-17 9a 12", []byte{3, 1})
	f.Add("x 1a b1\nx 01a b01\nx ' ’\nx 99999999999999999999999 1", []byte{9, 0, 0})
	f.Fuzz(func(t *testing.T, text string, chosen []byte) {
		var keys []RunsheetKey
		for line := range strings.SplitSeq(text[:min(len(text), 400)], "\n") {
			parts := strings.SplitN(line+"   ", " ", 4)
			keys = append(keys, RunsheetKey{ID: uint64(len(keys) + 1), Recorded: parts[0], Book: parts[1], Page: parts[2], Number: parts[3]})
		}
		var sequence []uint64
		for _, id := range chosen {
			if !slices.Contains(sequence, uint64(id)) {
				sequence = append(sequence, uint64(id))
			}
		}
		sorted := SortKeys(keys, sequence)
		ids := slices.Sorted(slices.Values(sorted))
		for n, id := range ids {
			if len(ids) != len(keys) || id != uint64(n+1) {
				t.Fatalf("SortKeys = %v, want each of the %d IDs once", sorted, len(keys))
			}
		}
		at := -1
		for _, id := range sequence {
			if place := slices.Index(sorted, id); place >= 0 {
				if place < at {
					t.Errorf("SortKeys = %v, want the sequence %v in it", sorted, sequence)
				}
				at = place
			}
		}
		slices.Reverse(keys)
		if again := SortKeys(keys, sequence); !slices.Equal(again, sorted) {
			t.Errorf("SortKeys of the reversed list = %v, want %v", again, sorted)
		}
		for _, a := range keys {
			for _, b := range keys {
				if compareRecorded(&a, &b) != -compareRecorded(&b, &a) {
					t.Errorf("%v and %v compare as %d and %d", a, b, compareRecorded(&a, &b), compareRecorded(&b, &a))
				}
			}
		}
	})
}

package model

import (
	"fmt"
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
		{"the others are placed by recording", []uint64{3, 5, 9}, []uint64{6, 3, 5, 2, 1, 4}},
		{"a sequence in the usual direction", []uint64{5, 1}, []uint64{5, 6, 3, 2, 1, 4}},
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
		{"last name first", []Instrument{deed("Amos Reed", "COLE, BEA M."), deed("Bea Cole, single woman", "Carl Diaz")}, nil},
		{"an initial", []Instrument{deed("Amos Reed", "Bea Margaret Cole"), deed("Bea M. Cole", "Carl Diaz")}, nil},
		{"another first name", []Instrument{deed("Amos Reed", "Bea Cole"), deed("Ben Cole", "Carl Diaz")}, []string{"1 Ben Cole"}},
		{"an initial is not enough", []Instrument{deed("Amos Reed", "Bea Cole"), deed("B. C.", "Carl Diaz")}, []string{"1 B. C."}},
		{"a company", []Instrument{deed("Amos Reed", "Wexcombe Holdings, LLC"), deed("Wexcombe Holdings LLC", "Carl Diaz")}, nil},
		{"heirs received by probate", []Instrument{deed("Amos Reed", "Bea Cole"), instrument("Probate", "Estate of Bea Cole", "Ned Cole"),
			deed("Ned Cole", "Carl Diaz")}, nil},
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
	received := receivedNames{byWord: map[string][]int{}, known: map[string]bool{}}
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
			if took := time.Since(start); took > 10*time.Second {
				t.Errorf("Gaps took %v", took)
			}
			if want := 1_999 * 20; len(gaps) != want {
				t.Errorf("%d gaps, want %d", len(gaps), want)
			}
		})
	}
}

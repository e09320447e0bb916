package model

import (
	"slices"
	"strings"
	"testing"
)

// references are common ways to cite a book and page in deeds and county indexes.
var references = []struct {
	text     string
	bookType BookType
	want     string
}{
	{"Bk 1022 Pg 311", AnyBook, "1022 311"},
	{"Bk1022-Pg311", AnyBook, "1022 311"},
	{"Book 1022, Page 311", AnyBook, "1022 311"},
	{"Book No. 1022 at Page No. 311", AnyBook, "1022 311"},
	{"book #1022, pages 311", AnyBook, "1022 311"},
	{"Book 1022/311", AnyBook, "1022 311"},
	{"Liber 7 f. 12", AnyBook, "7 12"},
	{"L. 7 fol. 12", AnyBook, "7 12"},
	{"Volume 7, Folio 12", AnyBook, "7 12"},
	{"Vol. 7 Pg. 12", AnyBook, "7 12"},
	{"Reel 7 Page 12", AnyBook, "7 12"},
	{"Record Book 7 Page 12", AnyBook, "7 12"},
	{"MB 7 Pg 12", AnyBook, "7 12"},
	{"COB 1022, folio 312", deedBook, "1022 312"},
	{"C.O.B. 1022, Pg. 312", deedBook, "1022 312"},
	{"Conveyance Book 1505 Page 205", deedBook, "1505 205"},
	{"conv. bk 1022 pg 311", deedBook, "1022 311"},
	{"Deed Book 12 Page 3", deedBook, "12 3"},
	{"D.B. 12, p. 3", deedBook, "12 3"},
	{"db 12/3", deedBook, "12 3"},
	{"MOB 12 Folio 3", mortgageBook, "12 3"},
	{"Mortgage Book 12, Page 3", mortgageBook, "12 3"},
	{"Mtg Bk 12 Pg 3", mortgageBook, "12 3"},
	{"Map Book 12 Page 3", PlatBook, "12 3"},
	{"Plat Bk. 12 Pg. 3", PlatBook, "12 3"},
	{"PB 12 PG 3", PlatBook, "12 3"},
	{"OR Book 1022 Page 311", officialRecords, "1022 311"},
	{"O.R. Book 1022, Page 311", officialRecords, "1022 311"},
	{"OR 1022/311", officialRecords, "1022 311"},
	{"ORB 1022 PG 311", officialRecords, "1022 311"},
	{"ob 1022 pg 311", officialRecords, "1022 311"},
	{"Official Records Book 1022, Page 311", officialRecords, "1022 311"},
	{"Misc. Book 12 Page 3", miscBook, "12 3"},
	{"Will Book 12 Page 3", willBook, "12 3"},
}

// wordsOf splits a text into words as a search does.
func wordsOf(text string) (words []string) {
	var last rune
	for _, r := range strings.ToLower(text) {
		letter, digit := r >= 'a' && r <= 'z', r >= '0' && r <= '9'
		switch {
		case letter && last == 'a', digit && last == '0':
			words[len(words)-1] += string(r)
		case letter || digit:
			words = append(words, string(r))
		}
		switch last = ' '; {
		case letter:
			last = 'a'
		case digit:
			last = '0'
		}
	}
	return words
}

func TestParseBookPage(t *testing.T) {
	for _, row := range references {
		t.Run(row.text, func(t *testing.T) {
			r, ok := ParseBookPage(wordsOf(row.text))
			if got := strings.Join(r.Numbers, " "); !ok || got != row.want || r.Type != row.bookType {
				t.Errorf("ParseBookPage = %q of %q (%t), want %q of %q", got, r.Type, ok, row.want, row.bookType)
			}
			for _, text := range []string{row.text, "recorded in " + row.text + " of the land records", "Deed-" + row.text + "-Hebert"} {
				found := bookPage().FindAllString(text, 9)
				if !slices.ContainsFunc(found, func(s string) bool { return strings.HasSuffix(s, row.text) }) {
					t.Errorf("FindAllString(%q) = %q, want a match that ends in %q", text, found, row.text)
				}
			}
		})
	}
}

func TestParseBookPageRejectsOtherText(t *testing.T) {
	for _, text := range []string{
		"", "1022 311", "1022/311", "12-3-045", "Bk 1022", "book", "page 311", "deed 2019 45", "map 12-3-045", "lot 5 page", "real 12 of 3",
		"Bk 1022 Pg", "Bk 1022 see 311", "Book 1022 Page 311 Page 4 of 5", "COB", "no 12 3", "deed book", "Bk 12 at 3",
	} {
		t.Run(text, func(t *testing.T) {
			if r, ok := ParseBookPage(wordsOf(text)); ok {
				t.Errorf("ParseBookPage(%q) = %v, want none", text, r)
			}
		})
	}
	for _, text := range []string{"lots 11 or 12, page 3", "2019 Taxes", "page 311 of 500", "L 12", "the notebook 12 page 3", "Lot 12/13"} {
		if found := bookPage().FindAllString(text, 9); found != nil {
			t.Errorf("FindAllString(%q) = %q, want none", text, found)
		}
	}
}

// FuzzParseBookPage checks that every number in a parsed reference occurs in the text.
func FuzzParseBookPage(f *testing.F) {
	for _, row := range references {
		f.Add(row.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		words := wordsOf(text)
		before := slices.Clone(words)
		r, ok := ParseBookPage(words)
		if !slices.Equal(words, before) {
			t.Errorf("words after ParseBookPage = %q, want them unchanged: %q", words, before)
		}
		numbers := slices.DeleteFunc(before, func(w string) bool { return !isNumeric(w) })
		if ok && !slices.Equal(r.Numbers, numbers) {
			t.Errorf("ParseBookPage(%q): numbers %q, want those of the text, %q", text, r.Numbers, numbers)
		}
	})
}

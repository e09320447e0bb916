package runsheet

import (
	"strings"
	"testing"

	"deedkeep/app/model"
)

func TestParseBookPage(t *testing.T) {
	for text, want := range map[string]BookPage{
		"":                            {},
		"1022/311":                    {"", "1022", "311", ""},
		"1022-311":                    {"", "1022", "311", ""},
		"1022-311,":                   {"", "1022", "311", ""},
		"1022/311-313":                {"", "1022", "311", "313"},
		"1022 / 311 – 313":            {"", "1022", "311", "313"},
		"Bk 1022 Pg 311":              {"", "1022", "311", ""},
		"Book 1022, Page 311–313":     {"", "1022", "311", "313"},
		"Deed Book 1022, Page 311":    {"Deed Book", "1022", "311", ""},
		"Deed Book 1022/311":          {"Deed Book", "1022", "311", ""},
		"Official Records 7, Pages 2": {"Official Records", "7", "2", ""},
		"Liber 12 folio 7":            {"Liber", "12", "7", ""},
		"COB 12/7A":                   {"COB", "12", "7A", ""},
		"Plat Cabinet A, Slide 35":    {"Plat Cabinet", "A", "35", ""},
		"Deed Book 1022":              {"Deed Book", "1022", "", ""},
		"0417":                        {"", "0417", "", ""},
		"1/12-A":                      {"", "1", "12-A", ""},
	} {
		if got := ParseBookPage(text); got != want {
			t.Errorf("ParseBookPage(%q) = %+v, want %+v", text, got, want)
		}
		shown := FormatBookPage(model.Instrument{BookType: want.BookType, Book: want.Book, Page: want.Page, PageTo: want.PageTo})
		if got := ParseBookPage(shown); got != want {
			t.Errorf("ParseBookPage(%q) = %+v, want %+v, which is shown so", shown, got, want)
		}
	}
}

func TestReadBookPageColumn(t *testing.T) {
	for name, row := range map[string]struct{ file, want string }{
		"one column":           {"Type,Bk/Pg\nDeed,Deed Book 1022/311-313\n", "Deed Book 1022 311 313"},
		"separate columns win": {"Book,Reference,Page\n7,1022/311,8\n", "7 8"},
	} {
		entries, err := entries([]byte(row.file), DefaultLimits())
		if err != nil || len(entries) != 1 {
			t.Fatalf("%s: ReadCSV = %+v, %v, want an entry", name, entries, err)
		}
		got := ""
		for _, field := range []string{"book_type", "book", "page", "page_to"} {
			got = strings.TrimSpace(got + " " + entries[0].Fields[field].Value)
		}
		if got != row.want {
			t.Errorf("%s: got %s, want %s", name, got, row.want)
		}
	}
}

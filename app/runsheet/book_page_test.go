package runsheet

import (
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
		"OR 1234-567":                 {"OR", "1234", "567", ""},
		"Deed Book 12A - 7":           {"Deed Book", "12A", "7", ""},
		"3002/14 thru 16":             {"", "3002", "14", "16"},
		"DB 12 pgs. 14 to 16":         {"DB", "12", "14", "16"},
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
		"one column":           {"Type,Bk/Pg\nDeed,Deed Book 1022/311-313\n", "|Deed Book|1022|311|313"},
		"separate columns win": {"Book,Reference,Page\n7,1022/311,8\n", "||7|8|"},
		"a range of pages":     {"Book,Page\n1106,245-252\n", "||1106|245|252"},
		"a book with its type": {"Book,Page\nDB 877,412\n", "|DB|877|412|"},
		"the word book":        {"Book,Page\nBk. 877,412\n", "||877|412|"},
		"a page in the book":   {"Book,Page,Type\nBK 12 PG 34,,Deed\n", "||12|34|"},
		"a type of its own":    {"Book,Page,Book Type\nDB 877,412,Deeds\n", "|Deeds|DB 877|412|"},
		"a last page":          {"Book,Page,Last Page\n1106,245-252,300\n", "||1106|245-252|300"},
		"a book of words":      {"Book,Page\nCabinet A,Slide 35\n", "||Cabinet A|Slide 35|"},
	} {
		entries, err := entries([]byte(row.file), DefaultLimits())
		if err != nil || len(entries) != 1 {
			t.Fatalf("%s: ReadCSV = %+v, %v, want an entry", name, entries, err)
		}
		got := ""
		for _, field := range []string{"book_type", "book", "page", "page_to"} {
			got += "|" + entries[0].Fields[field].Value
		}
		if got != row.want {
			t.Errorf("%s: got %s, want %s", name, got, row.want)
		}
	}
}

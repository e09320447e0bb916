package instruments

import (
	"testing"

	"deedkeep/app/model"
)

func TestParseBookPage(t *testing.T) {
	for text, want := range map[string]recordedPlace{
		"":                            {},
		"1022/311":                    {"", "1022", "311", ""},
		"1022-311":                    {"", "1022", "311", ""},
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
		if got := parseBookPage(text); got != want {
			t.Errorf("parseBookPage(%q) = %+v, want %+v", text, got, want)
		}
		shown := bookPageText(model.Instrument{BookType: want.bookType, Book: want.book, Page: want.page, PageTo: want.pageTo})
		if got := parseBookPage(shown); got != want {
			t.Errorf("parseBookPage(%q) = %+v, want %+v, which is shown so", shown, got, want)
		}
	}
}

func TestFindType(t *testing.T) {
	types := model.NewDocumentTypes()
	for text, want := range map[string]string{
		"Warranty Deed": "Warranty Deed", "WARRANTY  deed": "Warranty Deed", "wd": "Warranty Deed", "swd": "Special Warranty Deed", "QCD": "Quitclaim Deed",
		"war": "Warranty Deed", "mort": "Mortgage", "DOT": "Deed of Trust", "sat": "Release or Satisfaction", "rel": "Release or Satisfaction",
		"easement": "Easement or Right of Way", "fed": "Federal Tax Lien", "deed": "", "tax": "", "lien": "", "m": "", "": "", "par": "", "nothing": "",
	} {
		if got, found := types.Find(text); got.Name != want || found != (want != "") {
			t.Errorf("findType(%q) = %q, %t, want %q", text, got.Name, found, want)
		}
	}
}

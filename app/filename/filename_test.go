package filename_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"deedkeep/app/filename"
	"deedkeep/app/model"
)

func TestInstrument(t *testing.T) {
	types := model.NewDocumentTypes()
	about := model.InstrumentContext{Types: types}
	for _, row := range []struct{ name, want string }{ // want: "" if the name doesn't describe an instrument
		// sequence, type, date, book and page, parties
		{"02_Deed_2019-03-14_Bk1022-Pg311_Smith-to-Jones.pdf",
			`{"book":"1022","grantees":["Jones"],"grantors":["Smith"],"page":"311","position":2,"recorded":"2019-03-14","type":"Deed"}`},
		{"03_Mortgage_2019-03-14_Bk881-Pg12_Jones-to-First National Bank.tif",
			`{"book":"881","grantees":["First National Bank"],"grantors":["Jones"],"page":"12","position":3,"recorded":"2019-03-14","type":"Mortgage"}`},
		{"1. Warranty Deed Smith to Jones 3-14-2019.pdf",
			`{"grantees":["Jones"],"grantors":["Smith"],"position":1,"recorded":"2019-03-14","type":"Warranty Deed"}`},
		{"07) QCD 1998.11.02 Book 417 Page 7 Cole to Poe.PDF",
			`{"book":"417","grantees":["Poe"],"grantors":["Cole"],"page":"7","position":7,"recorded":"1998-11-02","type":"Quitclaim Deed"}`},
		// abbreviations of types
		{"Mtg Smith to Bank of Wexcombe 20190314.pdf",
			`{"grantees":["Bank of Wexcombe"],"grantors":["Smith"],"recorded":"2019-03-14","type":"Mortgage"}`},
		{"DOT_2005-06-01_Inst-200506010012345.pdf",
			`{"instrument_number":"200506010012345","recorded":"2005-06-01","type":"Deed of Trust"}`},
		{"wd 1987-05-12 db 220 pg 14.pdf",
			`{"book":"220","book_type":"Deed Book","page":"14","recorded":"1987-05-12","type":"Warranty Deed"}`},
		{"SWD_DB 1022-311.pdf", `{"book":"1022","book_type":"Deed Book","page":"311","type":"Special Warranty Deed"}`},
		{"Rel of Mtg Bk 900 Pg 1.pdf", `{"book":"900","page":"1","type":"Release or Satisfaction"}`},
		{"Mortgage Release 2010-01-05 First Bank to Smith.pdf",
			`{"grantees":["Smith"],"grantors":["First Bank"],"recorded":"2010-01-05","type":"Release or Satisfaction"}`},
		{"Satisfaction_of_Mortgage_2010-01-05.pdf", `{"recorded":"2010-01-05","type":"Release or Satisfaction"}`},
		{"Partial Release Bk12 Pg13.pdf", `{"book":"12","page":"13","type":"Partial Release"}`},
		{"Esmt to Power Co.pdf", `{"type":"Easement or Right of Way"}`},
		{"ROW_1954-07-01_B55_P601_Cole-to-Wexcombe Power.tiff",
			`{"book":"55","grantees":["Wexcombe Power"],"grantors":["Cole"],"page":"601","recorded":"1954-07-01","type":"Easement or Right of Way"}`},
		{"Assignment of Mortgage 2012-02-03 MERS to Acme Mortgage LLC.pdf",
			`{"grantees":["Acme Mortgage LLC"],"grantors":["MERS"],"recorded":"2012-02-03","type":"Assignment"}`},
		{"Assignment of Rents and Leases Bk1 Pg2.pdf", `{"book":"1","page":"2","type":"Assignment of Rents"}`},
		{"Loan Mod 2015-05-05.pdf", `{"recorded":"2015-05-05","type":"Modification"}`},
		{"UCC-1 20200102 2020-0000123.pdf", `{"instrument_number":"2020-0000123","recorded":"2020-01-02","type":"UCC Financing Statement"}`},
		{"Federal Tax Lien Doc# 4455667.pdf", `{"instrument_number":"4455667","type":"Federal Tax Lien"}`},
		{"judgment-search-utf8.txt", ""},
		{"Runsheet_2019-03-14_Smith-to-Jones_Deed.xlsx", ""},
		{"05_Mortgage Search_2019-03-14_Smith-to-Jones.pdf", ""},
		{"Mechanic's Lien.pdf", `{"type":"Mechanic's Lien"}`},
		{"Judgment First Bank v. Smith 2001-04-05.pdf",
			`{"grantees":["First Bank"],"grantors":["Smith"],"recorded":"2001-04-05","type":"Judgment"}`},
		{"Lis_Pendens_2001-04-05.pdf", `{"recorded":"2001-04-05","type":"Lis Pendens"}`},
		{"CCRs Oak Ridge.pdf", `{"type":"Restrictions"}`},
		{"Oil & Gas Lease Vol 12 Pg 90.pdf", `{"book":"12","book_type":"Volume","page":"90","type":"Oil and Gas Lease"}`},
		{"Plat Cabinet 3 Slide 112.pdf", `{"book":"3","book_type":"Plat Cabinet","page":"112","type":"Plat"}`},
		{"Executor's Deed Liber 22 folio 33.pdf", `{"book":"22","book_type":"Liber","page":"33","type":"Fiduciary Deed"}`},
		{"Trustee's Deed 2003-03-03.pdf", `{"recorded":"2003-03-03","type":"Fiduciary Deed"}`},
		{"Sheriff Deed 1933.pdf", `{"type":"Sheriff's Deed"}`},
		{"POA Smith.pdf", `{"type":"Power of Attorney"}`},
		{"WarrantyDeed_2019-03-14.pdf", `{"recorded":"2019-03-14","type":"Warranty Deed"}`},
		// separators, spaces, and parties
		{"04_Mtg_Smith_to_Jones.pdf", `{"grantees":["Jones"],"grantors":["Smith"],"position":4,"type":"Mortgage"}`},
		{"12-deed-smith-to-jones.pdf", `{"grantees":["Jones"],"grantors":["Smith"],"position":12,"type":"Deed"}`},
		{"WD - John Smith et ux to Ann Poe-Cole - 1999-01-02.pdf",
			`{"grantees":["Ann Poe-Cole"],"grantors":["John Smith et ux"],"recorded":"1999-01-02","type":"Warranty Deed"}`},
		{"03_Deed_Smith-Et-Ux-to-Jones.pdf", `{"grantees":["Jones"],"grantors":["Smith et ux"],"position":3,"type":"Deed"}`},
		{"03_Mtg_Smith to First Mortgage Co.pdf", `{"grantees":["First Mortgage Co"],"grantors":["Smith"],"position":3,"type":"Mortgage"}`},
		{"QCD_O'Neil–to–Smith_2019-03-14 (1).pdf",
			`{"grantees":["Smith"],"grantors":["ONeil"],"recorded":"2019-03-14","type":"Quitclaim Deed"}`},
		// dates
		{"Mortgage dated 2019-03-12 rec 2019-03-14.pdf", `{"dated":"2019-03-12","recorded":"2019-03-14","type":"Mortgage"}`},
		{"Mortgage 2019-03-12 2019-03-14.pdf", `{"dated":"2019-03-12","recorded":"2019-03-14","type":"Mortgage"}`},
		{"Mortgage Mar 14, 2019.pdf", `{"recorded":"2019-03-14","type":"Mortgage"}`},
		{"Mortgage 14Mar2019.pdf", `{"recorded":"2019-03-14","type":"Mortgage"}`},
		{"Mortgage 3-14-98.pdf", `{"recorded":"1998-03-14","type":"Mortgage"}`},
		{"Mortgage 12_31_2005.pdf", `{"recorded":"2005-12-31","type":"Mortgage"}`},
		{"Mortgage 2019-02-30.pdf", `{"type":"Mortgage"}`},
		// numbers
		{"Mortgage 201904170093382.pdf", `{"instrument_number":"201904170093382","type":"Mortgage"}`},
		{"Mortgage Instrument No. 2019-00417.pdf", `{"instrument_number":"2019-00417","type":"Mortgage"}`},
		{"Mortgage OR Book 1234 Pages 56-61.pdf", `{"book":"1234","book_type":"Official Records","page":"56","page_to":"61","type":"Mortgage"}`},
		{"Mtg $387,500 2019-04-17.pdf", `{"consideration":"387500.00","recorded":"2019-04-17","type":"Mortgage"}`},
		{"B1022 P311.pdf", `{"book":"1022","page":"311"}`},
		// not instruments
		{"scan0001.pdf", ""}, {"IMG_20190314_101500.jpg", ""}, {"Letter to Jones.pdf", ""}, {"12 Main Street.pdf", ""},
		{"invoice 12345678.pdf", ""}, {"2019-03-14.pdf", ""}, {"", ""}, {".pdf", ""}, {"to", ""}, {" to .pdf", ""}, {"Deed.pdf", `{"type":"Deed"}`},
		{"Commitment_2019-03-14_Bank-to-Smith.pdf", ""}, {"row.pdf", ""}, {"mod 3.pdf", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			fields, ok := filename.Instrument(row.name, types, time.Now())
			got, err := json.Marshal(fields)
			if err != nil {
				t.Fatalf("encode fields: %v", err)
			}
			if ok != (row.want != "") || ok && string(got) != row.want {
				t.Errorf("Instrument = %s, %v, want %s", got, ok, row.want)
			}
			if i, rejected := model.CheckInstrument(fields, model.Instrument{AbstractID: 1}, about); ok && len(rejected) > 0 {
				t.Errorf("Check = %+v, rejected %v, want nothing", i, rejected)
			}
		})
	}
}

// The types of the firm count, and retired ones don't.
func TestSuggestTypesOfFirm(t *testing.T) {
	types := model.DocumentTypes{{ID: 1, Name: "Deed"}, {ID: 2, Name: "Timber Deed"}, {ID: 3, Name: "Mortgage", Retired: true},
		{ID: 4, Name: "Water Right"}}
	for name, want := range map[string]string{
		"Deed 2019-03-14.pdf": "Deed", "Timber Deed 2019-03-14.pdf": "Timber Deed", "Water Right 2019-03-14.pdf": "Water Right",
		"Mortgage 2019-03-14.pdf": "",
	} {
		fields, ok := filename.Instrument(name, types, time.Now())
		if !ok || fields["type"].Value != want {
			t.Errorf("filename.Instrument(%q, time.Now()) = %q, %v, want type %q", name, fields["type"].Value, ok, want)
		}
	}
}

// No filename makes the parser fail, and all of its values are accepted.
func FuzzInstrument(f *testing.F) {
	for _, name := range []string{"02_Deed_2019-03-14_Bk1022-Pg311_Smith-to-Jones.pdf", "é_to_ü", "\xff-to-\xfe Mtg 1-1-01", "|||",
		"İ to ı WD"} {
		f.Add(name)
	}
	for _, text := range []string{"'", "\u0301", "\x00", "\xff", "2/30/2024", "1O,OOO.OO", "Bk1022-Pg311-", "7-3", "99999999999999999999",
		"Parish of", strings.Repeat("A ", 300)} {
		f.Add(text)
		f.Add("Deed " + text + " to O’Neil.pdf")
	}
	f.Add("Deed $10000000000000")
	types := model.NewDocumentTypes()
	about := model.InstrumentContext{Types: types}
	f.Fuzz(func(t *testing.T, name string) {
		fields, ok := filename.Instrument(name, types, time.Now())
		if _, rejected := model.CheckInstrument(fields, model.Instrument{AbstractID: 1}, about); ok && len(rejected) > 0 {
			t.Errorf("filename.Instrument(%q, time.Now()) = %+v, rejected %v", name, fields, rejected)
		}
	})
}

package extract_test

import (
	"strings"
	"testing"
	"time"

	"deedkeep/app/extract"
	"deedkeep/app/model"
)

// scannedPage returns a page of OCR with the confidence of 96 in all words but those given.
func scannedPage(text string, unsure map[string]int) (page extract.Page) {
	for line := range strings.Lines(text) {
		read := extract.Line{Text: strings.TrimSpace(line)}
		for word := range strings.FieldsSeq(line) {
			confidence, found := unsure[word]
			if !found {
				confidence = 96
			}
			read.Confidence = append(read.Confidence, confidence)
		}
		page.Lines = append(page.Lines, read)
	}
	return page
}

// A field is doubtful if its characters were corrected, if OCR isn't sure of them, or if there is another reading.
func TestDoubtful(t *testing.T) {
	const stamp = "Instrument No. 201904170093382\nRecorded 04/17/2019 at 10:42 AM\n\nWARRANTY DEED\n"
	for _, c := range []struct {
		name, text string
		unsure     map[string]int
		field      string
		readings   string // "-" if the field isn't doubtful
	}{
		{"sure", stamp, nil, extract.InstrumentNumber, "-"},
		{"letter in a number", strings.Replace(stamp, "2019041", "2OI9041", 1), nil, extract.InstrumentNumber, ""},
		{"letter in a date", strings.Replace(stamp, "04/17", "O4/17", 1), nil, extract.Recorded, ""},
		{"ordinal", "WARRANTY DEED\nTHIS DEED, made this 1st day of April, 2019, by\n", nil, extract.Dated, "-"},
		{"letter in an amount", "DEED\nin consideration of the sum of $l85,000.00, paid\n", nil, extract.Consideration, ""},
		{"letter of a parcel", "Tax Map Parcel 47-0312-B-119.04\n", nil, extract.Parcels, "-"},
		{"letter in a parcel", "Tax Map Parcel 47-O312-B-119.04\n", nil, extract.Parcels, ""},
		{"letter of a lot", "Lot 12B, Sunset Hills, as shown\n", nil, extract.Lot, "-"},
		{"unsure number", stamp, map[string]int{"201904170093382": 79}, extract.InstrumentNumber, ""},
		{"unsure date", stamp, map[string]int{"04/17/2019": 79}, extract.Recorded, ""},
		{"other number", stamp + "Instrument No. 201904170093882\n", nil, extract.InstrumentNumber, "201904170093882"},
		{"same number", stamp + "Instrument No. 201904170093382\n", nil, extract.InstrumentNumber, "-"},
		{"other parcel", "Tax Map Parcel 47-0312-119\nParcel ID: 47-0812-119\n", nil, extract.Parcels, "47-0812-119"},
		{"blank in a parcel", "Tax Map Parcel 47-0312 B-119.04\n", nil, extract.Parcels, "47-0312B-119.04"},
		{"blank before a digit", "Tax Map Parcel 47-0312-381 1\n", nil, extract.Parcels, "47-0312-3811"},
		{"numeral", "THIS DEED, by and between John A. Kessler Ill, Grantor, and Mary Roe, Grantee\n", nil, extract.Grantors,
			"John A. Kessler III"},
		{"signed with an initial", "THIS DEED, by and between John Doe, Grantor, and Mary Roe, Grantee\n\n_______\nJohn Q. Doe\n", nil,
			extract.Grantors, "John Q. Doe"},
		{"signed with a name more", "THIS DEED, by and between John Doe, Grantor, and Mary Roe, Grantee\n\n_______\nPeter John Doe\n", nil,
			extract.Grantors, "Peter John Doe"},
		{"end is missing", "THIS DEED, by and between John Q. Montgome, Grantor, and Mary Roe, Grantee\n\nJohn Q. Montgomery\n", nil,
			extract.Grantors, "John Q. Montgomery"},
		{"one letter", "THIS DEED, by and between John Tillman, Grantor, and Mary Roe, Grantee\n\nJohn Tillmon\n", nil,
			extract.Grantors, "John Tillmon"},
		{"signed the same", "THIS DEED, by and between John Q. Doe, Grantor, and Mary Roe, Grantee\n\n_______\nJohn Q. Doe\n", nil,
			extract.Grantors, "-"},
		{"other party", "THIS DEED, by and between John Doe and John Doe, Jr., Grantors, and Mary Roe, Grantee\n\nJohn Doe, Jr.\n", nil,
			extract.Grantors, "-"},
		{"unusual name", "THIS DEED, by and between Business Entity, Grantor, and Mary Roe, Grantee\n", nil, extract.Grantors, ""},
		{"unusual name again", "THIS DEED, by and between Xanthe Oyelaran, Grantor, and Mary Roe, Grantee\n\nXANTHE OYELARAN\n", nil,
			extract.Grantors, "-"},
		{"state and its abbreviation", "Recorded 04/17/2019\nLARAMIE COUNTY, WY\nDEED\nLand in Laramie County, State of Wyoming\n", nil,
			extract.State, "-"},
		{"deed of a kind", "SURVIVORSHIP DEED\n", nil, extract.Type, ""},
		{"any deed", "GRANT, BARGAIN, SALE DEED\n", nil, extract.Type, "-"},
		{"short line", "Lot 75, Sunset Hills\n2 Notes; other obligations that this instrument secures, and the interest\n", nil,
			extract.Subdivision, "Sunset Hills"},
		{"wrapped line", "known as Lot 75, in Sunset\nHills, as shown on the plat\n", nil, extract.Subdivision, "-"},
		{"dates of a judgment", "CERTIFICATE OF JUDGMENT\nDate of Judgment: 05/03/2021\nDated: 05/07/2021\n", nil, extract.Dated,
			"2021-05-03"},
		{"years apart", "Recorded 04/17/2019\nDEED\nDated: 04/15/2009\n", nil, extract.Dated, ""},
		{"one party", "THIS DEED, by and between John Doe, Grantor, and John Doe, Grantee\n", nil, extract.Grantees, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			field := extract.Read([]extract.Page{scannedPage(c.text, c.unsure)}, extract.DefaultRules(), model.NewDocumentTypes(), time.Now())[c.field]
			if len(field.Values) == 0 {
				t.Fatalf("%s is missing", c.field)
			}
			if got := strings.Join(field.Readings, "|"); field.Doubtful != (c.readings != "-") || got != strings.Trim(c.readings, "-") {
				t.Errorf("%s %q: doubtful %v with readings %q, want %q", c.field, field.Values, field.Doubtful, got, c.readings)
			}
		})
	}
}

// Pages of an instrument have their own pages of the book.
func TestPagesOfBook(t *testing.T) {
	pages := []extract.Page{extract.PlainText("Deed Book 2417 Page 0883\nWARRANTY DEED\n"), extract.PlainText("Deed Book 2417 Page 0884\n")}
	for _, name := range []string{extract.Book, extract.PageNumber} {
		if f := extract.Read(pages, extract.DefaultRules(), model.NewDocumentTypes(), time.Now())[name]; f.Doubtful || f.Value() == "" {
			t.Errorf("%s %q is doubtful, other readings %q", name, f.Values, f.Readings)
		}
	}
}

// Facts about the property show misreadings in the document.
func TestCompareKnown(t *testing.T) {
	for _, c := range []struct{ name, text, field, readings string }{
		{"same parcel", "Tax Map Parcel 47-0312-B-119.04\n", extract.Parcels, ""},
		{"no dashes", "Tax Map Parcel 470312119\n", extract.Parcels, ""},
		{"other parcel", "Tax Map Parcel 99-1234-119\n", extract.Parcels, ""},
		{"misread digit", "Tax Map Parcel 47-0812-B-119.04\n", extract.Parcels, "47-0312-B-119.04"},
		{"start of a parcel", "Tax Map Parcel 47.0312\n", extract.Parcels, "47-0312-B-119.04|47-0312-119"},
		{"county", "Recorded 04/17/2019\nSurnmit County, Ohio\n", extract.County, "Summit"},
		{"other county", "Recorded 04/17/2019\nMedina County, Ohio\n", extract.County, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			fields := readText(c.text)
			fields.CompareKnown([]string{"47-0312-B-119.04", "47-0312-119"}, "Summit")
			field, found := fields[c.field]
			if !found {
				t.Fatalf("%s is missing", c.field)
			}
			if got := strings.Join(field.Readings, "|"); got != c.readings || field.Doubtful != (c.readings != "") {
				t.Errorf("%s %q: doubtful %v with readings %q, want %q", c.field, field.Values, field.Doubtful, got, c.readings)
			}
		})
	}
}

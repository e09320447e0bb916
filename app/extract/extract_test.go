package extract_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"deedkeep/app/extract"
	"deedkeep/app/model"
)

// readText returns the fields of a text that is not from OCR.
func readText(text string) extract.Fields {
	return extract.Read([]extract.Page{extract.PlainText(text)}, extract.DefaultRules(), model.NewDocumentTypes(), time.Now())
}

func TestValues(t *testing.T) {
	for _, c := range []struct{ name, text, field, want string }{
		{"day in words", "THIS DEED, made this twenty-second day of June, A.D., 2008, between", extract.Dated, "2008-06-22"},
		{"ordinal", "THIS DEED, made this 15th day of April, 2019, by", extract.Dated, "2019-04-15"},
		{"acknowledged later", "THIS DEED, by John Doe\nIN WITNESS WHEREOF, he signed it.\nIt was acknowledged before me this 21st day of " +
			"April, 2019\n", extract.Dated, ""},
		{"acknowledged another day", "THIS DEED, made this 15th day of April, 2019, by\nOn this 21st day of April, 2019, before me " +
			"personally appeared John Doe\n", extract.Dated, "2019-04-15"},
		{"label", "DEED\nDated: 04/15/2019\n", extract.Dated, "2019-04-15"},
		{"as of", "THIS AGREEMENT is made and entered into as of April 15, 2019, by", extract.Dated, "2019-04-15"},
		{"letters in a date", "THIS DEED, made this l5th day of Apri1, 2OI9, by", extract.Dated, "2019-04-15"},
		{"blank date", "THIS DEED, made this ____ day of ________, 20__, by", extract.Dated, ""},
		{"no such day", "THIS DEED, made this 31st day of April, 2019, by", extract.Dated, ""},
		{"in the future", "THIS DEED, made this 15th day of April, 2919, by", extract.Dated, ""},
		{"date of another deed", "WHEREAS, by deed dated April 15, 2009, the property was conveyed", extract.Dated, ""},

		{"stamp", "Deed Book 2417 Page 0883\nRecorded 04/17/2019 at 10:42 AM\n", extract.Book, "2417"},
		{"misread label and number", "Deed Bock 24l7 Page 0883\n", extract.Book, "2417"},
		{"ambiguous number", "Deed Book 24S7 Page 0883\n", extract.Book, ""},
		{"page keeps its zeros", "Deed Book 2417 Page 0883\n", extract.PageNumber, "0883"},
		{"page with an ambiguous book", "Deed Book 24S7 Page 0883\n", extract.PageNumber, ""},
		{"range", "BK 2417 PG 883-886\n", extract.PageTo, "886"},
		{"liber", "LIBER 523 FOLIO 642\n", extract.BookType, "Liber"},
		{"official records", "O.R. Book 523 Page 642\n", extract.BookType, "Official Records"},
		{"reel", "Reel 523 Image 642\n", extract.PageNumber, "642"},
		{"prior deed", "Prior instrument reference: Deed Book 2417 Page 883\n", extract.Book, ""},
		{"number of the pages", "BK 2417 PG 883 - 2\n", extract.PageTo, ""},
		{"reference after a line break", "DEED\nand recorded in the office of the Recorder in Deed\nBook 1106, Page 0241, granted",
			extract.Book, ""},
		{"reference in running text", "being a part of the land that was conveyed to him in\n1921, Deed Book 212, Page 77.\n\n" +
			"Book 2417 Page 0885\n", extract.Book, "2417"},
		{"plat", "DEED\nas shown on the plat recorded in Plat Book 12, Page 34\n", extract.Book, ""},

		{"instrument number", "Instrument No. 201904170093382\n", extract.InstrumentNumber, "201904170093382"},
		{"reception number", "Reception #: 2019-0093382\n", extract.InstrumentNumber, "2019-0093382"},
		{"number after its year", "Document 2019 00431\nBook 2019 Page 431\n", extract.InstrumentNumber, "2019 00431"},
		{"number after its year and a hyphen", "Document 2019-00431\n", extract.InstrumentNumber, "2019-00431"},
		{"year alone", "Document 2019\nBook 2019 Page 431\n", extract.InstrumentNumber, ""},
		{"document number with letters", "Document Number: 2O19-OO93382\n", extract.InstrumentNumber, "2019-0093382"},

		{"recorded", "Recorded: 04/17/2019 10:42:07 AM\n", extract.Recorded, "2019-04-17"},
		{"time with seconds", "Recorded: 04/17/2019 10:42:07 AM\n", extract.RecordedTime, "10:42:07"},
		{"afternoon", "Filed for record April 17, 2019 at 2:42 o'clock P.M.\n", extract.RecordedTime, "14:42"},
		{"time that could be either", "Recorded: 04/17/2019 2:42\n", extract.RecordedTime, ""},
		{"signed at the end of a page", "DEED\nRecorder of Deeds\nSigned this 16th day of May, 2015.\n", extract.Recorded, ""},
		{"fax header", "04/17/2019 10:42 FAX 304 555 0101 P.01\nRecorder\n", extract.Recorded, ""},
		{"recorded before it was signed", "Recorded: 04/17/2009\nTHIS DEED, made this 15th day of April, 2019, by", extract.Recorded, ""},

		{"words and figures", "for and in consideration of the sum of Three Hundred Eighty-Seven Thousand Five Hundred " +
			"Dollars ($387,500.00), " +
			"paid", extract.Consideration, "387500.00"},
		{"words and figures that differ", "for and in consideration of the sum of Three Hundred Thousand Dollars ($387,500.00), paid",
			extract.Consideration, ""},
		{"points for commas", "in consideration of the sum of $387.500.00, paid", extract.Consideration, "387500.00"},
		{"blank in an amount", "in consideration of the sum of $1 87,500.00, paid", extract.Consideration, ""},
		{"nominal", "in consideration of the sum of Ten Dollars ($10.00) and other good and valuable consideration",
			extract.Consideration, "10.00"},
		{"nominal beside the price", "in consideration of the sum of Ten Dollars ($10.00)\nConsideration: $387,500.00\n", extract.Consideration,
			"387500.00"},
		{"nominal beside what is declared", "in consideration of the sum of Ten Dollars ($10.00), paid\nThe undersigned declare that the " +
			"total consideration paid for the property is $387,500.00.\n", extract.Consideration, "387500.00"},
		{"transfer tax", "Documentary Transfer Tax: $1,240.00\n", extract.Consideration, ""},
		{"mortgage", "MORTGAGE\nBorrower is indebted to Lender in the principal sum of U.S. $211,000.00, which",
			extract.Consideration, "211000.00"},
		{"amount of a released mortgage", "SATISFACTION OF MORTGAGE\nsecuring a note in the principal sum of $211,000.00",
			extract.Consideration, ""},

		{"parcel", "Tax Map Parcel 47-0312-B-119.04\n", extract.Parcels, "47-0312-B-119.04"},
		{"letters in a parcel", "APN: 47-O3l2-119\n", extract.Parcels, "47-0312-119"},
		{"ambiguous parcel", "APN: 47-03S2-119\n", extract.Parcels, ""},
		{"parcels", "Parcel ID Nos. 83-13-17 and 57-17-24\n", extract.Parcels, "83-13-17|57-17-24"},
		{"parcel of land", "all that certain lot or parcel of land situate in", extract.Parcels, ""},

		{"lot", "Lot 12, Block C, Sunset Hills, as shown", extract.Lot, "12"},
		{"block", "Lot 12, Block C, Sunset Hills, as shown", extract.Block, "C"},
		{"block without a subdivision", "known as Lot 38 in Block 6 on a certain map", extract.Subdivision, ""},
		{"label below a subdivision", "LOT 24A, BLK 30, FOX RUN\nAssessor's Property Tax Parcel No.: 12-345\n", extract.Subdivision, "FOX RUN"},
		{"numbered subdivision", "Lot 14 of Quailbrook Subdivision No. 2.\nThe", extract.Subdivision, "Quailbrook Subdivision No. 2"},
		{"number on the next line", "Lot 14 of Quailbrook Subdivision No.\n2.\n", extract.Subdivision, "Quailbrook Subdivision No. 2"},
		{"number below a blank line", "Lot 14 of Quailbrook Subdivision No.\n\n2.\n", extract.Subdivision, "Quailbrook Subdivision No. 2"},
		{"comma before a number", "Lot 14 of Quailbrook Subdivision No, 2.\n", extract.Subdivision, "Quailbrook Subdivision No. 2"},
		{"number without a space", "Lot 14 of Quailbrook Subdivision No.2, as", extract.Subdivision, "Quailbrook Subdivision No.2"},
		{"end of a search", "JUDGMENT SEARCH\nFiled with the Clerk of Courts\nPeriod: April 16, 2009 through April 16, 2019, 8:00 a.m.",
			extract.Recorded, ""},
		{"time of a search", "CERTIFICATE OF SEARCH\nClerk, Wexcombe County\nPeriod: through April 16, 2019, 8:00 a.m.",
			extract.RecordedTime, ""},
		{"docket in a search", "Judgment and Lien Search\nDocket Filed\n2011-CV-00418 03/22/2011\n", extract.Recorded, ""},
		{"period of an index", "Recorded liens, Recorder of Wexcombe County\nPeriod: through April 16, 2019, 8:00 a.m.",
			extract.Recorded, ""},
		{"subdivision", "Lot 12, Block C, of the Plan of Sunset\nHills, Phase II, as shown", extract.Subdivision, "Sunset Hills, Phase II"},

		{"county of a stamp", "Deed Book 12 Page 3\nRecorder of Deeds, Wexcombe County\n", extract.County, "Wexcombe"},
		{"county and state of a stamp", "Recorded 04/17/2019\nSANTA CLARA COUNTY IOWA\n", extract.County, "Santa Clara"},
		{"state of a stamp", "Recorded 04/17/2019\nSANTA CLARA COUNTY IOWA\n", extract.State, "Iowa"},
		{"abbreviated state", "Filed and Recorded\nClerk of Superior Court\nFayette County, GA\n", extract.State, "GA"},
		{"officer of a county", "Filed for record\nOfficial Records of Polk County Recorder\n", extract.County, "Polk"},
		{"county of the land", "THIS DEED, made by John Smith of Story County, conveys land situated in St. Louis County, Missouri",
			extract.County, "St. Louis"},
		{"state of the land", "WITNESSETH: the property lying in the County of Polk and State of Iowa, to wit", extract.State, "Iowa"},
		{"clerk of a county", "Recorded 04/17/2019\nJames T. Kessler County Clerk, Santa Clara County, Texas\n", extract.County, "Santa Clara"},
		{"company before a county", "Recorded 04/17/2019\nFifth Third Bank DAVIDSON COUNTY, IDAHO\n", extract.County, "Davidson"},
		{"county of a saint", "Recorded 04/17/2019\nCLERK OF ST. LOUIS COUNTY\n", extract.County, "St. Louis"},
		{"county without a name", "Recorded 04/17/2019\nOffice of the County Clerk\nThis County\n", extract.County, ""},
		{"county of a notary", "THIS DEED, made by John Smith\nIN WITNESS WHEREOF, he signs.\nSTATE OF OHIO\nCOUNTY OF SUMMIT\n",
			extract.County, ""},

		{"case number", "Case No. 2019-CA-001234\n", extract.CaseNumber, "2019-CA-001234"},
		{"title", "GENERAL WARRANTY DEED\n", extract.Type, "Warranty Deed"},
		{"title of a release", "RELEASE OF DEED OF TRUST\n", extract.Type, "Release or Satisfaction"},
		{"title of a security deed", "SECURITY DEED\n", extract.Type, "Mortgage"},
		{"title of a sale", "SHERIFF'S DEED ON MORTGAGE SALE\n", extract.Type, "Sheriff's Deed"},
		{"title of two things", "DEED OF TRUST WITH ASSIGNMENT OF RENTS\n", extract.Type, "Deed of Trust"},
		{"title in running text", "This agreement releases the mortgage on the property.\n", extract.Type, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			fields := readText(c.text)
			if got := strings.Join(fields[c.field].Values, "|"); got != c.want {
				t.Errorf("%s is %q, want %q", c.field, got, c.want)
			}
		})
	}
}

func TestParties(t *testing.T) {
	for _, c := range []struct{ name, text, grantors, grantees string }{
		{"indenture", "THIS DEED, made this 15th day of April, 2019, by and between John A. Smith and Mary Smith, husband " +
			"and wife, parties of the " +
			"first part, and Acme Homes, LLC, a Delaware limited liability company, party of the second part,",
			"John A. Smith|Mary Smith", "Acme Homes, LLC"},
		{"first names share a surname", "by and between John and Mary Smith, his wife, Grantors, and Peter Jones, Grantee,",
			"John Smith|Mary Smith",
			"Peter Jones"},
		{"company with an and", "by and between Henderson and Sons, Inc., Grantor, and Farmers and Merchants Bank, Grantee,",
			"Henderson and Sons, Inc.",
			"Farmers and Merchants Bank"},
		{"person and company", "by and between John Smith and Acme Homes, LLC, Grantors, and Peter Jones, Jr., Grantee,",
			"John Smith|Acme Homes, LLC",
			"Peter Jones, Jr."},
		{"labels", "QUITCLAIM DEED\nGrantor(s): John Smith\nGrantee(s): Smith, Peter A.\n", "John Smith", "Smith, Peter A."},
		{"letters in names", "by and between J0HN SM1TH, Grantor, and PETER J0NES, Grantee,", "JOHN SMITH", "PETER JONES"},
		{"surnames like labels", "by and between John Page and Mary Deeds, Grantors, and Peter Booker, Grantee,",
			"John Page|Mary Deeds", "Peter Booker"},
		{"suit", "IN THE CIRCUIT COURT OF KING COUNTY\nFirst Bank, N.A.,\nPlaintiff,\nvs.\nJohn Smith,\nDefendant.\nNOTICE " +
			"OF LIS PENDENS\n", "John Smith",
			"First Bank, N.A."},
		{"name with an of", "THIS INDENTURE WITNESSETH, That John Doe, of Marion County, mortgages and warrants to Citizens State Bank of " +
			"Ashland, of Ashland, the following", "John Doe", "Citizens State Bank of Ashland"},
		{"trustee of a trust", "WITNESSETH, That Mary Doe, Trustee of the Doe Family Trust, conveys and warrants to Peter Jones, of " +
			"Marion, the following", "Mary Doe, Trustee of the Doe Family Trust", "Peter Jones"},
		{"surname like a title", "THIS INDENTURE, made the 26th day of January, 2022, by and between GRANT\nY. DOE, Grantor, and " +
			"Peter Jones, Grantee,", "GRANT Y. DOE", "Peter Jones"},
		{"kind of a company", "MORTGAGE\nThis Mortgage is given by\nPennsylvania banking institution (\"Borrower\") to Peter " +
			"Jones (\"Lender\")\n", "", "Peter Jones"},
		{"line within a name", "QUITCLAIM DEED\nfor ten dollars paid by John Doe, an\nOhio Homes (\"Grantee\")\n", "", ""},
		{"bank above the title", "Return to: First Bank, 12 Elm Street\nSECURITY DEED\nTHIS SECURITY DEED is given on May 2, 2019. The " +
			"grantor is John Doe (\"Borrower\"). It is given to Acme Bank, N.A. (\"Lender\").\n", "John Doe", "Acme Bank, N.A."},
		{"verb in lower case", "DEED OF TRUST\nWITNESSETH: That Trustor irrevocably grants and conveys to Trustee in trust, with power of " +
			"sale, all of the property\n", "", ""},
		{"blank form", "by and between ____________, Grantor, and ____________, Grantee,", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			fields := readText(c.text)
			if got := strings.Join(fields[extract.Grantors].Values, "|"); got != c.grantors {
				t.Errorf("grantors are %q, want %q", got, c.grantors)
			}
			if got := strings.Join(fields[extract.Grantees].Values, "|"); got != c.grantees {
				t.Errorf("grantees are %q, want %q", got, c.grantees)
			}
		})
	}
}

func TestEvidence(t *testing.T) {
	pages := []extract.Page{
		{Lines: []extract.Line{{Text: "WARRANTY DEED", Confidence: []int{96, 95}}}},
		{Lines: []extract.Line{
			{Text: "Deed Bock 2417 Page 0883", Confidence: []int{90, 60, 94, 91, 92}},
			{Text: "APN: 47-0312-119", Confidence: []int{90, 40}},
		}},
	}
	fields := extract.Read(pages, extract.DefaultRules(), model.NewDocumentTypes(), time.Now())
	book := fields[extract.Book]
	if book.Value() != "2417" || book.Page != 2 || book.Line != "Deed Bock 2417 Page 0883" || book.Confidence == nil ||
		*book.Confidence < extract.MinConfidence || book.Doubtful {
		t.Errorf("book is %+v, want 2417 on page 2, not doubtful", book)
	}
	if parcels, found := fields[extract.Parcels]; found {
		t.Errorf("parcels are %v although OCR was not sure of the number", parcels.Values)
	}
	if confidence := readText("Deed Book 2417 Page 0883\n")[extract.Book].Confidence; confidence != nil {
		t.Errorf("confidence of text that is not from OCR is %d, want none", *confidence)
	}
}

// TestNamesReadTwice checks that a name stays as it was read, and that the same name in another place is offered.
func TestNamesReadTwice(t *testing.T) {
	sure := func(text string, doubtful ...string) extract.Line {
		line := extract.Line{Text: text}
		for word := range strings.FieldsSeq(text) {
			confidence := 95
			for _, other := range doubtful {
				if strings.Trim(word, ",.") == other {
					confidence = 35
				}
			}
			line.Confidence = append(line.Confidence, confidence)
		}
		return line
	}
	first := sure("by and between John Kowalskl, Grantor, and Peter Jones, Grantee,", "Kowalskl")
	read := func(lines ...extract.Line) extract.Field {
		return extract.Read([]extract.Page{{Lines: lines}}, extract.DefaultRules(), model.NewDocumentTypes(), time.Now())[extract.Grantors]
	}
	got := read(first, sure("John Kowalski"))
	if got.Value() != "John Kowalskl" || !got.Doubtful || !slices.Equal(got.Readings, []string{"John Kowalski"}) {
		t.Errorf("grantors are %+v, want John Kowalskl, doubtful, or John Kowalski", got)
	}
	if got := read(first); len(got.Values) != 0 {
		t.Errorf("grantors are %q although OCR was not sure of the name", got.Values)
	}
}

// Fields are doubtful if there is another reading: a usual name, or a parcel number without a blank.
func TestOtherReadings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, field, value, reading string }{
		{"rn and m", "by and between Ann Comelius, Grantor, and Peter Jones, Grantee,", extract.Grantors, "Ann Comelius", "Ann Cornelius"},
		{"m that is right", "by and between Ann Homes, Grantor, and Peter Jones, Grantee,\nAnn Homes\n", extract.Grantors, "Ann Homes", ""},
		{"usual name", "by and between Ann Palmer, Grantor, and Peter Jones, Grantee,", extract.Grantors, "Ann Palmer", ""},
		{"blank in a parcel", "Parcel ID 37-0297-B- 173\n", extract.Parcels, "37-0297-B- 173", "37-0297-B-173"},
		{"parcel", "Parcel ID 37-0297-B-173\n", extract.Parcels, "37-0297-B-173", ""},
	} {
		field := readText(c.text)[c.field]
		if got := strings.Join(field.Readings, "|"); field.Value() != c.value || got != c.reading || field.Doubtful != (c.reading != "") {
			t.Errorf("%s: %q or %q, doubtful %v; want %q or %q", c.name, field.Value(), got, field.Doubtful, c.value, c.reading)
		}
	}
}

// The amount of a judgment is what it awards, in the usual forms.
func TestJudgmentAmounts(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"Total amount of judgment: $5,250.75\n", "Judgment Amount: $5,250.75\nCourt Costs: $100.00\n",
		"IT IS ADJUDGED that the plaintiff recover from the defendant the sum of $5,250.75, with costs of $12.00.\n",
		"ORDERED that Plaintiff have judgment against Defendant for $5,250.75, and costs\n",
		"a judgment was entered in the amount of $5,250.75 plus court costs of $99.00\n"} {
		if got := readText("JUDGMENT\n" + text)[extract.Consideration].Value(); got != "5250.75" {
			t.Errorf("amount in %q is %q, want 5250.75", text, got)
		}
	}
}

// TestHostileText checks that the time for a text has a limit.
func TestHostileText(t *testing.T) {
	const size = 1 << 20
	for name, part := range map[string]string{
		"letters": "a", "digits": "1", "spaces": " ", "lines": "\n", "book": "book 1 ", "between": "between A and ",
		"dollars":  "one hundred thousand ",
		"presents": "presents that John ",
		"labels":   "to John Doe (\"Grantor\") ",
		"names":    "that John Doe and to Jane Doe, the \"Grantee\" ",
		"dates":    "April 1, 2019 ", "misread": "Grantcr ", "invalid": "\xff\xfe", "and": "and,",
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			readText(strings.Repeat(part, size/len(part)))
			if took := time.Since(start); took > time.Minute { // a hang, also on a busy machine
				t.Errorf("reading took %v, want at most a minute", took)
			}
		})
	}
}

// Each party's address may come between its name and its role.
func TestPartiesWithAddresses(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text               string
		grantors, grantees []string
	}{{`GENERAL WARRANTY DEED

THIS INDENTURE, made the 15th day of April, in the year Two Thousand Nineteen
(2019), BETWEEN HARLAN T. QUILLFEATHER and ODESSA M. QUILLFEATHER,
husband and wife, of 88 Candlewick Hollow Road, Nether Gossamer, Pennsylvania,
hereinafter called the Grantors, AND BRINDLEWOOD ORCHARD HOLDINGS, LLC, a
Pennsylvania limited liability company, with an address of 1200 Tollgate Parade, Suite 4,
Merriweather, Pennsylvania, hereinafter called the Grantee.

WITNESSETH, that in consideration of the sum of THREE HUNDRED EIGHTY-SEVEN
THOUSAND FIVE HUNDRED AND 00/100 DOLLARS ($387,500.00), in hand paid, the
receipt whereof is hereby acknowledged, the said Grantors do hereby grant and convey, sell,
transfer and confirm unto the said Grantee, its successors and assigns,
`, []string{"HARLAN T. QUILLFEATHER", "ODESSA M. QUILLFEATHER"}, []string{"BRINDLEWOOD ORCHARD HOLDINGS, LLC"}}, {`DEED

 THIS       INDENTURE,         made      the 15th day of April, in the year Two   Thousand   Nineteen
 (2019), BETWEEN              HARLAN        T. QUILLFEATHER           and ODESSA   M. QUILLFEATHER,

 husband      and     wife,   of   88    Candlewick     Hollow     Road,    Nether   Gossamer,   Pennsylvania,

 hereinafter called the Grantors, AND               BRINDLEWOOD             ORCHARD        HOLDINGS,   LLC,   a

 Pennsylvania limited liability            company,     with an address of 1200 Tollgate Parade, Suite 4,
 Merriweather, Pennsylvania, hereinafter called the Grantee.

 WITNESSETH, that in consideration of the sum of THREE HUNDRED EIGHTY- SEVEN
 THOUSAND FIVE HUNDRED AND 00/100 DOLLARS ($387,500.00), in hand paid, the
`, []string{"HARLAN T. QUILLFEATHER", "ODESSA M. QUILLFEATHER"}, []string{"BRINDLEWOOD ORCHARD HOLDINGS, LLC"}}, {`OPEN-END MORTGAGE

THIS MORTGAGE is made April 15, 2019 between BRINDLEWOOD ORCHARD
HOLDINGS, LLC, a Pennsylvania limited liability company, of 1200 Tollgate Parade, Suite
4, Merriweather, Pennsylvania (Mortgagor), and TOLLGATE SAVINGS BANK, a
Pennsylvania banking institution, of 9 Exchange Court, Merriweather, Pennsylvania
(Mortgagee).

WHEREAS Mortgagor is indebted to Mortgagee in the principal sum of THREE
HUNDRED TEN THOUSAND AND 00/100 DOLLARS ($310,000.00), evidenced by a
`, []string{"BRINDLEWOOD ORCHARD HOLDINGS, LLC"}, []string{"TOLLGATE SAVINGS BANK"}}} {
		fields := extract.Read([]extract.Page{extract.PlainText(test.text)}, extract.DefaultRules(), model.NewDocumentTypes(), time.Now())
		for field, want := range map[string][]string{extract.Grantors: test.grantors, extract.Grantees: test.grantees} {
			if got := fields[field].Values; !slices.Equal(got, want) {
				t.Errorf("%s = %q, want %q", field, got, want)
			}
		}
	}
}

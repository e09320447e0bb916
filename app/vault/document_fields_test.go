package vault_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"deedkeep/app/blobstore"
	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/ocr"
	"deedkeep/app/runsheet"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

const recordedDeed = "Deed Book 2417 Page 0883\nRecorded 04/17/2019 at 10:42 AM\nGENERAL WARRANTY DEED\n" +
	"THIS DEED, made this 15th day of April, 2019, by and between John A. Smith and Mary Smith, husband and wife, Grantors, and\n" +
	"Acme Homes, LLC, Grantee: all that certain Lot 12, Block C, Sunset Hills, Tax Map Parcel 47-0312-119\n"

// storeText stores the text of the first pages of a document.
func storeText(t *testing.T, v *instance.Instance, digest string, texts ...string) {
	t.Helper()
	vaulttest.NoError(t, v.Vault.Previews.Put(digest, blobstore.TextFile, func(w io.Writer) error {
		pages, err := blobstore.NewTextWriter(w)
		if err != nil {
			return err
		}
		for n, text := range texts {
			err = errors.Join(err, pages.Page(n+1, text))
		}
		return errors.Join(err, pages.Close())
	}))
}

// suggestions returns the suggestions that the text of a document has for an instrument.
func suggestions(t *testing.T, v *instance.Instance, file, instrument uint64) []vault.Suggestion {
	t.Helper()
	work, err := v.Instruments.WorkOnDocument(t.Context(), file)
	vaulttest.NoError(t, err)
	list, err := v.Instruments.SuggestFromDocument(t.Context(), work)
	vaulttest.NoError(t, err)
	return vault.SuggestionsFor(list, instrument)
}

// suggested returns the fields of the suggestion that the text of a document has for an instrument, and
// its evidence.
func suggested(t *testing.T, v *instance.Instance, file, instrument uint64) (string, map[string]vault.Evidence) {
	t.Helper()
	list := suggestions(t, v, file, instrument)
	if len(list) == 0 {
		return "", nil
	}
	fields, err := json.Marshal(list[0].Fields)
	vaulttest.NoError(t, err)
	return string(fields), list[0].Evidence
}

func TestSuggestFromDocument(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	a := vaulttest.CreateAbstract(t, v, vaulttest.PDFDoc("03_Mortgage_Bk1-Pg2_$250,000.pdf", "1"), vaulttest.PDFDoc("scan.pdf", "2"))
	if fields, _ := suggested(t, v, a.Files[1].ID, 0); fields != "" {
		t.Errorf("fields of a document without text are %s, want none", fields)
	}
	storeText(t, v, a.Files[0].Digest, recordedDeed)
	fields, evidence := suggested(t, v, a.Files[0].ID, 0)
	const text = `"book":"2417","book_type":"Deed Book",`
	const rest = `"grantees":["Acme Homes, LLC"],"grantors":["John A. Smith","Mary Smith"],"legal":"Lot 12, Block C, Sunset Hills",` +
		`"page":"0883","parcels":["47-0312-119"],`
	const recorded = `"recorded":"2019-04-17","recorded_time":"10:42","type":"Warranty Deed"}`
	if want := `{` + text + `"consideration":"250000.00","dated":"2019-04-15","documents":[{"file_id":1}],` + rest + `"position":3,` +
		recorded; fields != want {
		t.Errorf("fields are %s, want %s", fields, want)
	}
	if e := evidence["book"]; e.Page != 1 || e.Line != "Deed Book 2417 Page 0883" || e.Confidence != nil {
		t.Errorf("evidence of the book is %+v", e)
	}
	if e, found := evidence["consideration"]; found {
		t.Errorf("evidence of the consideration is %+v, want none because it is from the name", e)
	}

	// The same text from OCR
	var page ocr.Page
	for n, line := range strings.Split(recordedDeed, "\n") {
		for word := range strings.FieldsSeq(line) {
			page.Words = append(page.Words, ocr.Word{Text: word, Confidence: 91, Line: n + 1, Paragraph: 1})
		}
	}
	storeText(t, v, a.Files[1].Digest, "")
	vaulttest.NoError(t, v.Texts.Put(a.Files[1].Digest, map[int]ocr.Page{1: page}))
	_, evidence = suggested(t, v, a.Files[1].ID, 0)
	if e := evidence["book"]; e.Line != "Deed Book 2417 Page 0883" || e.Confidence == nil || *e.Confidence < 80 {
		t.Errorf("evidence of the book from OCR is %+v, want its confidence", e)
	}

	linked := addInstrument(t, v, a.Abstract.ID, `{"documents": [{"file_id": 2}]}`).ID
	if fields, _ := suggested(t, v, a.Files[1].ID, 0); fields != "" {
		t.Errorf("fields of a linked document are %s, want none", fields)
	}
	if fields, _ := suggested(t, v, a.Files[1].ID, linked); !strings.Contains(fields, `"book":"2417"`) {
		t.Errorf("fields for the instrument of a document are %s, want its book", fields)
	}
	addInstrument(t, v, a.Abstract.ID, `{"documents": [{"file_id": 2}]}`)
	if fields, _ := suggested(t, v, a.Files[1].ID, linked); fields != "" {
		t.Errorf("fields for one of two instruments of a document are %s, want none", fields)
	}

	// A document that belongs to no abstract
	vaulttest.NoError(t, v.Abstracts.Detach(t.Context(), vaulttest.Operator, a.Abstract.ID, a.Files[0].ID, vault.Match{}))
	if _, err := v.Instruments.WorkOnDocument(t.Context(), 99); errs.KindOf(err) != errs.NotFound {
		t.Errorf("WorkOnDocument of an unknown document = %v, want NotFound", err)
	}
}

// A runsheet in a spreadsheet describes many instruments, so nothing is suggested from its text.
func TestNoSuggestionFromRunsheet(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	var b bytes.Buffer
	vaulttest.NoError(t, runsheet.WriteExcel(&b, func(func(*runsheet.Row, error) bool) {}))
	a := vaulttest.CreateAbstract(t, v, vaulttest.NewDoc("runsheet.xlsx", b.Bytes()), vaulttest.PDFDoc("scan.pdf", "2"))
	const rows = "Runsheet of Lot 12\n\nNo.\tType\tBook\tPage\tRecorded\tGrantors\tGrantees\tLegal Description\n" +
		"1\tWarranty Deed\t88\t12\t6/30/1921\tJohn A. Smith\tAcme Homes, LLC\tLot 12, Block C, Sunset Hills\n" +
		"2\tMortgage\t417\t7\t3/14/2001\tAcme Homes, LLC\tFirst Bank\t\n"
	for _, f := range a.Files {
		storeText(t, v, f.Digest, rows+recordedDeed)
	}
	if fields, evidence := suggested(t, v, a.Files[0].ID, 0); fields != "" {
		t.Errorf("fields from a runsheet are %s from %v, want none", fields, evidence)
	}
	documents, err := v.Instruments.UnlinkedDocumentFields(t.Context(), a.Abstract, 9)
	if err != nil || len(documents) != 1 {
		t.Errorf("%d documents state fields, %v, want only the scan", len(documents), err)
	}
	if fields, _ := suggested(t, v, a.Files[1].ID, 0); fields == "" {
		t.Error("no fields from the same text in a scan")
	}
}

// packet is the text of a document with three instruments on five pages.
var packet = []string{
	"Book 500 Page 1\nRecorded 01/05/2021 at 9:00 AM\nInstrument No. 20210000011\nSATISFACTION OF MORTGAGE\n" +
		"KNOW ALL MEN BY THESE PRESENTS that First Bank, the owner and holder of a mortgage executed by John A. Smith, dated May 1, 2001,\n" +
		"does hereby acknowledge that it is paid.\nIN WITNESS WHEREOF, it signs.\n",
	"Deed Book 2417 Page 0883\nRecorded 04/17/2019 at 10:42 AM\nGENERAL WARRANTY DEED\n" +
		"THIS DEED, made this 15th day of April, 2019, by and between John A. Smith and Mary Smith, husband and wife, Grantors, and\n" +
		"Acme Homes, LLC, Grantee: all that certain Lot 12, Block C, Sunset Hills, Tax Map Parcel 47-0312-119\n",
	"EXHIBIT A\nBEING the same premises conveyed by deed recorded in Deed Book 1106, Page 0241.\nIN WITNESS WHEREOF, they sign.\n",
	"Mortgage Book 77 Page 12\nRecorded 04/17/2019 at 10:43 AM\nMORTGAGE\n" +
		"THIS MORTGAGE, made this 15th day of April, 2019, between Acme Homes, LLC, Mortgagor, and First Bank, Mortgagee, in the\n" +
		"principal sum of $250,000.00\n",
	"1-4 FAMILY RIDER\n(Assignment of Rents)\nTHIS RIDER is made this 15th day of April, 2019.\n",
}

// Each instrument of a packet is suggested with its pages, and no field comes from another one. After one is saved, the
// others are still suggested.
func TestSuggestionsOfPacket(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	a := vaulttest.CreateAbstract(t, v, vaulttest.NewDoc("packet.pdf", vaulttest.PDF(5, "1")))
	file := a.Files[0]
	storeText(t, v, file.Digest, packet...)
	list := func(instrument uint64) (got []string) {
		t.Helper()
		for _, g := range suggestions(t, v, file.ID, instrument) {
			got = append(got, fmt.Sprintf("%d/%d pages %s %s %s %s", g.Part, g.Parts, g.Pages, g.Type.Name, g.Instrument.Book+"-"+g.Instrument.Page,
				strings.Join(g.Instrument.Grantees, "+")))
		}
		return got
	}
	want := []string{"1/3 pages 1 Release or Satisfaction 500-1 John A. Smith", "2/3 pages 2-3 Warranty Deed 2417-0883 Acme Homes, LLC",
		"3/3 pages 4-5 Mortgage 77-12 First Bank"}
	if got := list(0); !slices.Equal(got, want) {
		t.Errorf("suggestions are %q, want %q", got, want)
	}
	all := suggestions(t, v, file.ID, 0)
	if len(all) == 3 && (string(all[1].Fields["documents"].JSON()) != `[{"file_id":1,"pages":"2-3"}]` || all[1].Evidence["book"].Page != 2) {
		t.Errorf("documents of the deed are %s, and its book is on page %d", all[1].Fields["documents"].JSON(), all[1].Evidence["book"].Page)
	}
	if len(all) == 3 && (all[0].Boundary != 100 || all[1].Boundary < 50 || all[1].Boundary > 99) {
		t.Errorf("the boundaries of the release and of the deed have the confidence %d and %d, want 100 and one from 50 to 99", all[0].Boundary,
			all[1].Boundary)
	}
	// Saved with one page too few
	deed := addInstrument(t, v, a.Abstract.ID, `{"documents": [{"file_id": 1, "pages": "2"}]}`).ID
	if got := list(0); !slices.Equal(got, []string{want[0], want[2]}) {
		t.Errorf("suggestions after the deed was saved are %q", got)
	}
	if got := list(deed); !slices.Equal(got, want[1:2]) {
		t.Errorf("suggestions for the saved deed are %q, want %q", got, want[1])
	}
	// Saved without pages: the recording reference tells which one it is.
	addInstrument(t, v, a.Abstract.ID, `{"book": "0077", "page": "12", "documents": [{"file_id": 1}]}`)
	if got := list(0); !slices.Equal(got, want[:1]) {
		t.Errorf("suggestions after the mortgage was saved without pages are %q", got)
	}
	addInstrument(t, v, a.Abstract.ID, `{"documents": [{"file_id": 1}]}`)
	if got := list(0); len(got) > 0 {
		t.Errorf("suggestions after all three were saved are %q, want none", got)
	}
}

// The instruments of a packet start on the pages that a person chose, and each has only the fields of its own pages.
func TestSuggestFromChosenStarts(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	a := vaulttest.CreateAbstract(t, v, vaulttest.PDFDoc("packet.pdf", "1"))
	storeText(t, v, a.Files[0].Digest, recordedDeed, "EXHIBIT A\nLot 7", "Recorded 05/01/2020\nBook 2500 Page 11\n")
	work, err := v.Instruments.WorkOnDocument(t.Context(), a.Files[0].ID)
	vaulttest.NoError(t, err)
	for _, test := range []struct {
		starts []int
		want   string
	}{{nil, "[1-2:2417 3:2500]"}, {[]int{1}, "[2417]"}, {[]int{2, 1, 2, 99, -1}, "[1:2417 2-3:2500]"}} {
		work.Starts = test.starts
		list, err := v.Instruments.SuggestFromDocument(t.Context(), work)
		vaulttest.NoError(t, err)
		var got []string
		for _, g := range list {
			got = append(got, strings.TrimPrefix(g.Pages+":"+g.Instrument.Book, ":"))
		}
		if fmt.Sprint(got) != test.want {
			t.Errorf("starts %v: got %v, want %s", test.starts, got, test.want)
		}
	}
}

package ui_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"fmt"
	"html"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"deedkeep/app/model"
	"deedkeep/app/vaulttest"
)

// fileForm returns a form with one file in the field "file".
func fileForm(content string) (body, kind string) {
	return fmt.Sprintf("--XX\r\nContent-Disposition: form-data; name=\"file\"; filename=\"r.csv\"\r\nContent-Type: text/csv\r\n\r\n%s\r\n--XX--\r\n", content),
		"Content-Type: multipart/form-data; boundary=XX"
}

func gzipped(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err := w.Write([]byte(text))
	vaulttest.NoError(t, errors.Join(err, w.Close()))
	return b.Bytes()
}

var hiddenField = regexp.MustCompile(`name="(once|packed)" value="([^"]*)"`)

// A runsheet file is reviewed before its instruments are recorded, without scripts.
func TestRunsheetUpload(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	staff := h.newUser(t, "kim", model.RoleStaff)
	viewer := h.newUser(t, "vera", model.RoleViewer)
	created := vaulttest.CreateAbstract(t, h.vault)
	path := "/abstracts/" + h.vault.Secrets.IDs("abstracts").Encode(created.Abstract.ID)
	staff.get(t, 200, path+"/runsheet/upload", "Runsheet file", `enctype="multipart/form-data"`)
	viewer.get(t, 403, path+"/runsheet/upload")
	body, kind := fileForm("No.,Type,Book,Page,Grantors,Relations,Amount\n1,Mortgage,417,7,\"O\"\"Brien <b>\",,387500\n" +
		"2,Release or Satisfaction,500,1,First Bank,releases 1,\n3,Spaceship,1,1,,,\n")
	got := h.sendBody(t, 200, "POST", path+"/runsheet/upload", body, staff.cookie, kind)
	got.has(t, "2 instruments in the file", "1 row can't be added yet.", `name="cell.4.1" value="Spaceship"`, "isn&#39;t a document type",
		"releases row 2", "$387,500.00", "Mortgagor:</b> O&#34;Brien &lt;b&gt;", "Add selected instruments")
	hidden := url.Values{}
	for _, match := range hiddenField.FindAllStringSubmatch(string(got.body), -1) {
		hidden.Set(match[1], html.UnescapeString(match[2]))
	}
	accept := func(status int, rows ...string) reply {
		t.Helper()
		form := url.Values{"row": rows, "once": hidden["once"], "packed": hidden["packed"]}
		return staff.post(t, status, path+"/runsheet/accept", form)
	}
	accept(422).has(t, "No rows are selected.", `name="cell.4.1" value="Spaceship"`)
	done := accept(200, "2", "3")
	done.has(t, "<span>2 instruments added.</span>", path+"/instruments/undo", "Rows to correct", "1 row can't be added yet.",
		`name="cell.4.1" value="Spaceship"`)
	done.lacks(t, "Select row 2", "Add selected instruments")
	// A form that the server didn't render, or that belongs to another user, isn't unpacked.
	forged := base64.RawURLEncoding.EncodeToString(gzipped(t, `[`+strings.Repeat(`{},`, 1000)+`{}]`))
	for _, packed := range []string{"", "x", forged, hidden.Get("packed")[1:]} {
		staff.post(t, 400, path+"/runsheet/accept", url.Values{"row": {"0"}, "packed": {packed}})
	}
	h.newUser(t, "lee", model.RoleStaff).post(t, 400, path+"/runsheet/accept", url.Values{"row": {"2"}, "packed": hidden["packed"]})
	accept(200, "2", "3").has(t, "These instruments were already added.", `name="cell.4.1" value="Spaceship"`)
	sheet, err := h.vault.Instruments.Runsheet(t.Context(), created.Abstract.ID)
	if err != nil || len(sheet.Instruments) != 2 || sheet.Instruments[0].Status != model.InstrumentReleased {
		t.Errorf("runsheet = %+v, %v, want a released mortgage and its release", sheet, err)
	}
	// Going back and selecting other rows is another form. Its rows are on the runsheet by now.
	accept(422, "2").has(t, "The runsheet has changed in the meantime.", "Already on the runsheet as No. 1")
	h.sendBody(t, 200, "POST", path+"/runsheet/upload", body, staff.cookie, kind).has(t, "Already on the runsheet as No. 1")
	bad, _ := fileForm("a,b\n1,2\n")
	h.sendBody(t, 422, "POST", path+"/runsheet/upload", bad, staff.cookie, kind).has(t, "column headings")
	h.sendBody(t, 415, "POST", path+"/runsheet/upload", "file=x", staff.cookie, "Content-Type: application/x-www-form-urlencoded")
	h.sendBody(t, 403, "POST", path+"/runsheet/upload", body, viewer.cookie, kind)
	staff.post(t, 400, path+"/runsheet/accept", url.Values{"row": {"2"}, "packed": {"x"}})
}

// Rows that can't be added stay on the page when the others are added. Once they are corrected, they relate to the added
// ones, and none is added twice.
func TestRowsThatWereLeftOut(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	staff := h.newUser(t, "kim", model.RoleStaff)
	created := vaulttest.CreateAbstract(t, h.vault)
	path := "/abstracts/" + h.vault.Secrets.IDs("abstracts").Encode(created.Abstract.ID)
	body, kind := fileForm("No.,Type,Book,Page,Recorded,Relations\n1,Mortgage,417,7,3/9/1998,\n2,Plat,,,,\n" +
		"3,Release or Satisfaction,500,1,2/30/2019,releases 1\n4,Spaceship,,,,\n")
	got := h.sendBody(t, 200, "POST", path+"/runsheet/upload", body, staff.cookie, kind)
	form := reviewForm(got)
	form["row"] = []string{"2", "3"}
	got = staff.post(t, 200, path+"/runsheet/accept", form)
	got.has(t, "2 instruments added.", "2 rows can't be added yet.", `name="cell.4.4" value="2/30/2019"`, "The other rows are done.")
	form = reviewForm(got)
	form.Set("cell.4.4", "2/28/2019")
	got = staff.post(t, 200, path+"/runsheet/accept", form)
	got.has(t, "1 instrument in the file", "releases row 2", `aria-label="Select row 4" checked`, "Spaceship")
	got.lacks(t, "Select row 2", "Select row 3")
	form = reviewForm(got)
	form["row"] = []string{"4"}
	got = staff.post(t, 200, path+"/runsheet/accept", form)
	got.has(t, "1 instrument added.", "1 row can't be added yet.", "Spaceship")
	form = reviewForm(got)
	form.Set("cell.5.1", "Survey")
	form = reviewForm(staff.post(t, 200, path+"/runsheet/accept", form))
	form["row"] = []string{"5"}
	if notice := h.noticeOf(t, staff.post(t, 303, path+"/runsheet/accept", form)); notice != "1 instrument added." {
		t.Errorf("notice = %q", notice)
	}
	sheet, err := h.vault.Instruments.Runsheet(t.Context(), created.Abstract.ID)
	vaulttest.NoError(t, err)
	var list []string
	for _, i := range sheet.Instruments {
		list = append(list, fmt.Sprint(i.Type.Name, i.Relations))
	}
	want := []string{"Mortgage[]", "Plat[]", "Release or Satisfaction[{releases 1 }]", "Survey[]"}
	if slices.Sort(list); !slices.Equal(list, want) {
		t.Errorf("runsheet = %q, want %q", list, want)
	}
}

// The parties of all judgments of a file are swapped at once. Nothing is added before the page shows them.
func TestSwapPartiesOfFile(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	staff := h.newUser(t, "kim", model.RoleStaff)
	created := vaulttest.CreateAbstract(t, h.vault)
	path := "/abstracts/" + h.vault.Secrets.IDs("abstracts").Encode(created.Abstract.ID)
	body, kind := fileForm("Type,Filed,Grantor,Grantee\nJudgment,3/9/1998,First Bank,Bea Cole\nDeed,3/9/1999,Ann Lee,Bea Cole\n" +
		"Judgment,3/9/2001,Harlow Supply,Bea Cole\nJudgment,2/30/2001,Harlow Supply,Bea Cole\n")
	got := h.sendBody(t, 200, "POST", path+"/runsheet/upload", body, staff.cookie, kind)
	got.has(t, "<b>Defendant:</b> First Bank", "<b>Plaintiff:</b> Bea Cole",
		`name="swap" value="Judgment"><span>Judgment, 2 rows: swap Defendant and Plaintiff</span>`)
	got.lacks(t, `name="swap" value="Deed"`)
	form := reviewForm(got)
	form["row"], form["swap"] = []string{"2", "3", "4"}, []string{"Judgment"}
	got = staff.post(t, 200, path+"/runsheet/accept", form)
	got.has(t, "<b>Defendant:</b> Bea Cole", "<b>Plaintiff:</b> Harlow Supply", `name="swap" value="Judgment" checked`)
	form = reviewForm(got)
	form["row"], form["swap"] = []string{"2", "3", "4"}, []string{"Judgment"}
	got = staff.post(t, 200, path+"/runsheet/accept", form)
	got.has(t, "3 instruments added.")
	form = reviewForm(got)
	form["swap"] = []string{"Judgment"}
	form.Set("cell.5.1", "2/28/2001")
	form = reviewForm(staff.post(t, 200, path+"/runsheet/accept", form))
	form["row"], form["swap"] = []string{"5"}, []string{"Judgment"}
	staff.post(t, 303, path+"/runsheet/accept", form)
	sheet, err := h.vault.Instruments.Runsheet(t.Context(), created.Abstract.ID)
	vaulttest.NoError(t, err)
	var list []string
	for _, i := range sheet.Instruments {
		list = append(list, fmt.Sprint(i.Recorded, i.Grantors, i.Grantees))
	}
	want := []string{"1998-03-09[Bea Cole] [First Bank]", "1999-03-09[Ann Lee] [Bea Cole]",
		"2001-02-28[Bea Cole] [Harlow Supply]", "2001-03-09[Bea Cole] [Harlow Supply]"}
	if !slices.Equal(list, want) {
		t.Errorf("runsheet = %q\nwant       %q", list, want)
	}
}

// The rejected rows of a file are corrected on the page. Rows that were cleared stay cleared.
func TestCorrectRowsOfFile(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	staff := h.newUser(t, "kim", model.RoleStaff)
	created := vaulttest.CreateAbstract(t, h.vault)
	path := "/abstracts/" + h.vault.Secrets.IDs("abstracts").Encode(created.Abstract.ID)
	body, kind := fileForm("Type,Book,Page,Recorded\nSpaceship,1,1,3/9/1998\nMortgage,417,7,2/30/2019\n")
	got := h.sendBody(t, 200, "POST", path+"/runsheet/upload", body, staff.cookie, kind)
	got.has(t, "No row can be added yet", "2 rows can't be added yet.",
		`name="cell.2.0" value="Spaceship"`, `name="cell.3.3" value="2/30/2019"`,
		`list="runsheet-cell-types"`, `<option value="Mortgage">`)
	got.lacks(t, "Add selected instruments")
	form := reviewForm(got)
	form.Set("cell.2.0", "Plat")
	form.Set("cell.3.3", "2/30/2019")
	got = staff.post(t, 200, path+"/runsheet/accept", form)
	got.has(t, "1 instrument in the file", "1 row can't be added yet.", `name="cell.3.3" value="2/30/2019"`)
	form = reviewForm(got) // row 2 is cleared
	form.Set("cell.3.3", "2/28/2019")
	got = staff.post(t, 200, path+"/runsheet/accept", form)
	got.has(t, "2 instruments in the file", `value="3" aria-label="Select row 3" checked`, `value="2" aria-label="Select row 2">`)
	form = reviewForm(got)
	form["row"], form["check"] = []string{"2", "3"}, []string{"yes"}
	got = staff.post(t, 200, path+"/runsheet/accept", form)
	got.lacks(t, "be added yet")
	form = reviewForm(got)
	form["row"] = []string{"2", "3"}
	if notice := h.noticeOf(t, staff.post(t, 303, path+"/runsheet/accept", form)); notice != "2 instruments added." {
		t.Errorf("notice = %q", notice)
	}
}

// However many rows of a file are wrong, the page has no more fields than the server reads, and the other rows follow
// after the first ones are corrected.
func TestManyWrongRowsOfFile(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	staff := h.newUser(t, "kim", model.RoleStaff)
	created := vaulttest.CreateAbstract(t, h.vault)
	path := "/abstracts/" + h.vault.Secrets.IDs("abstracts").Encode(created.Abstract.ID)
	body, kind := fileForm("Type,Recorded,Dated,Expires,Cleared\n" +
		strings.Repeat("Spaceship,2/30/1998,2/30/1998,2/30/1998,2/30/1998\n", 2001))
	got := h.sendBody(t, 200, "POST", path+"/runsheet/upload", body, staff.cookie, kind)
	got.has(t, "2,001 rows can't be added yet.", "The other 1,201 rows can be corrected after these.", `name="cell.801.0"`,
		"isn&#39;t a document type")
	got.lacks(t, `name="cell.802.0"`)
	form := reviewForm(got)
	for row := 2; row <= 801; row++ {
		form.Set(fmt.Sprintf("cell.%d.0", row), "Mortgage")
		for column := 1; column <= 4; column++ {
			form.Set(fmt.Sprintf("cell.%d.%d", row, column), "3/9/1998")
		}
	}
	got = staff.post(t, 200, path+"/runsheet/accept", form)
	got.has(t, "1,201 rows can't be added yet.", "The other 401 rows can be corrected after these.", `name="cell.802.0"`)
	h.vault.Settings.Runsheet.Rows = 10_000
	body, _ = fileForm("Type,Book\n" + strings.Repeat("Plat,1\n", 5001))
	got = h.sendBody(t, 422, "POST", path+"/runsheet/upload", body, staff.cookie, kind)
	got.has(t, "The file has more than 5,000 rows.")
}

// reviewForm returns the hidden fields of a review.
func reviewForm(page reply) url.Values {
	hidden := url.Values{}
	for _, match := range hiddenField.FindAllStringSubmatch(string(page.body), -1) {
		hidden.Set(match[1], html.UnescapeString(match[2]))
	}
	return hidden
}

// The rows of a file that are on the runsheet already are skipped, unless the user fills the instrument or
// adds the row anyway.
func TestRepeatedRowsOfFile(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	staff := h.newUser(t, "kim", model.RoleStaff)
	created := vaulttest.CreateAbstract(t, h.vault)
	path := "/abstracts/" + h.vault.Secrets.IDs("abstracts").Encode(created.Abstract.ID)
	add := func(form url.Values) { staff.post(t, 303, path+"/instruments", form) }
	add(url.Values{"type_id": {"1"}, "book_type": {"Deed Book"}, "book": {"3433"}, "page": {"481"}})
	add(url.Values{"book": {"7"}, "page": {"8"}})
	body, kind := fileForm("No.,Type,Book,Page,Grantors,Relations\n1,Warranty Deed,3433,0481,Amos Reed,\n" +
		"2,Release or Satisfaction,500,1,,corrects 1\n3,Mortgage,7,8,Bea Cole,\n4,Mortgage,07,8,Bea Cole,\n5,Mortgage,3433,481,,\n")
	review := h.sendBody(t, 200, "POST", path+"/runsheet/upload", body, staff.cookie, kind)
	review.has(t, "Already on the runsheet as No. 2: Warranty Deed, Deed Book 3433, Page 481",
		"Already on the runsheet as No. 1: Instrument, Book 7, Page 8",
		"May already be on the runsheet as No. 2", `<option value="skip" selected>Skip</option>`, "Fill blank fields of No. 1",
		`<option value="add" selected>Add anyway</option>`)
	form := reviewForm(review)
	form["row"], form["act.4"], form["act.6"] = []string{"3"}, []string{"fill"}, []string{"skip"}
	done := staff.post(t, 303, path+"/runsheet/accept", form)
	if notice := h.noticeOf(t, done); notice != "1 instrument added, 1 instrument on the runsheet updated." {
		t.Errorf("notice = %q", notice)
	}
	sheet, err := h.vault.Instruments.Runsheet(t.Context(), created.Abstract.ID)
	vaulttest.NoError(t, err)
	var got []string
	for _, i := range sheet.Instruments {
		got = append(got, fmt.Sprintf("%d %s %v %v", i.ID, i.Type.Name, i.Grantors, i.Relations))
	}
	want := []string{"1 Warranty Deed [] []", "2 Mortgage [Bea Cole] []", "3 Release or Satisfaction [] [{corrects 1 }]"}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("runsheet = %q\nwant       %q", got, want)
	}
}

// The instruments that documents describe are reviewed on a page. Those on the runsheet get the document.
// All of it is undone in one step.
func TestAcceptSuggestions(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	staff := h.newUser(t, "kim", model.RoleStaff)
	viewer := h.newUser(t, "vera", model.RoleViewer)
	created := vaulttest.CreateAbstract(t, h.vault, vaulttest.PDFDoc("01_WD_Bk900-Pg7_Smith-to-Jones.pdf", "1"),
		vaulttest.PDFDoc("Mortgage Bk 9 Pg 8.pdf", "2"), vaulttest.PDFDoc("Deed_Bk3433-Pg481.pdf", "3"))
	path := "/abstracts/" + h.vault.Secrets.IDs("abstracts").Encode(created.Abstract.ID)
	staff.post(t, 303, path+"/instruments", url.Values{"type_id": {"1"}, "book": {"3433"}, "page": {"0481"}})
	viewer.post(t, 403, path+"/suggestions", nil)
	part := h.request(t, 200, "GET", path+"/suggestions", staff.cookie, "HX-Request: true")
	part.has(t, "2 suggested instruments</b> from document names",
		"1 instrument</b> on the runsheet without its document", "Review suggestions")
	part.lacks(t, "<html", "checkbox")
	viewer.get(t, 403, path+"/suggestions")

	staff.get(t, 200, path+"/suggestions", "Text not read completely yet", "Page 7", "01_WD_Bk900-Pg7_Smith-to-Jones.pdf")
	putText(t, h, created.Files[0], "Deed Book 901 Page 7\nWARRANTY DEED\nTHIS DEED, made this 15th day of April, 2019, by and between\n"+
		"Amos Reed, Grantor, and Bea Cole, Grantee, being Parcel No. 12-00345.000\nand again Parcel No. 12-00845.000\n")
	review := staff.get(t, 200, path+"/suggestions", "3 instruments in documents", "Book 901, Page 7", "Mortgage Bk 9 Pg 8.pdf",
		"Already on the runsheet as No. 1: Warranty Deed, Book 3433, Page 0481",
		`<option value="fill" selected>Add document to No. 1 and fill blank fields</option>`,
		"<small>Dated: Apr 15, 2019</small>", "<small>Parcel IDs: 12-00345.000</small>", "Doubtful: Grantor, Grantee, Parcel IDs<")
	review.lacks(t, "Book 900")
	form := reviewForm(review)
	none := staff.post(t, 422, path+"/suggestions", url.Values{"packed": form["packed"], "act.3": {"skip"}})
	none.has(t, "No rows are selected.", "Suggested instruments")
	form["row"] = []string{"1", "2"}
	other := reviewForm(staff.get(t, 200, path+"/suggestions")) // another tab
	done := staff.post(t, 303, path+"/suggestions", form)
	other["row"] = []string{"1", "2"}
	late := staff.post(t, 422, path+"/suggestions", other)
	late.has(t, "The runsheet has changed in the meantime.", "Already on the runsheet as No. 1", "Add document to No. 1")
	notice, undo, fields := h.undoOf(t, done)
	if notice != "2 instruments added, 1 instrument on the runsheet updated." || undo == "" {
		t.Fatalf("notice = %q, undo %q", notice, undo)
	}
	linked := func() (list []string) {
		sheet, err := h.vault.Instruments.Runsheet(t.Context(), created.Abstract.ID)
		vaulttest.NoError(t, err)
		for _, i := range sheet.Instruments {
			list = append(list, fmt.Sprint(i.Book, i.Documents))
		}
		return list
	}
	if got, want := linked(), []string{"901[{1 }]", "9[{2 }]", "3433[{3 }]"}; !slices.Equal(got, want) {
		t.Errorf("runsheet = %q, want %q", got, want)
	}
	if notice := h.noticeOf(t, staff.post(t, 303, path+"/suggestions", form)); notice != "These instruments were already added." {
		t.Errorf("notice after the form was sent again = %q", notice)
	}
	staff.get(t, 200, path+"/suggestions", "No suggestions")

	viewer.post(t, 403, undo, fields)
	late = staff.post(t, 303, undo, url.Values{"key": {strings.Repeat("0", 64)}})
	if notice := h.noticeOf(t, late); notice != "These instruments can no longer be removed by Undo." {
		t.Errorf("notice of an Undo that isn't stored = %q", notice)
	}
	staff.post(t, 404, undo, url.Values{"key": {"x"}})
	if notice := h.noticeOf(t, staff.post(t, 303, undo, fields)); notice != "Undone: 3 instruments." {
		t.Errorf("notice after Undo = %q", notice)
	}
	if got, want := linked(), []string{"3433[]"}; !slices.Equal(got, want) {
		t.Errorf("runsheet after Undo = %q, want %q", got, want)
	}
	part = h.request(t, 200, "GET", path+"/suggestions", staff.cookie, "HX-Request: true")
	part.has(t, "2 suggested instruments")
}

// Rows of files and pasted rows mark an amount that may have a typing error. Words aren't marked.
func TestCheckAmountOfRow(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	staff := h.newUser(t, "kim", model.RoleStaff)
	created := vaulttest.CreateAbstract(t, h.vault)
	path := "/abstracts/" + h.vault.Secrets.IDs("abstracts").Encode(created.Abstract.ID)
	const mark = ` <span class="badge warn">Check the amount</span>`
	body, kind := fileForm("Type,Amount\nMortgage,12.5.00\nPlat,\"1,00,0.0\"\nSurvey,$10 & OVC\nSpaceship,$98.5K\n")
	got := h.sendBody(t, 200, "POST", path+"/runsheet/upload", body, staff.cookie, kind)
	got.has(t, ">12.5.00</span>"+mark, ">1,00,0.0</span>"+mark, ">$10 &amp; OVC</span></div>", "$98.5K"+mark)
	pasted := "Type\tAmount\nMortgage\t12.5.00\nSurvey\t$10 & OVC\n"
	staff.post(t, 200, path+"/instruments/paste", url.Values{"text": {pasted}}).has(t, ">12.5.00"+mark+"</td>", ">$10 &amp; OVC</td>")
}

// Workbooks have numbers of days since 1900, and fractions of days. Examples and rows to correct show them as dates and
// times.
func TestDayNumbersOfWorkbook(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	staff := h.newUser(t, "kim", model.RoleStaff)
	created := vaulttest.CreateAbstract(t, h.vault)
	path := "/abstracts/" + h.vault.Secrets.IDs("abstracts").Encode(created.Abstract.ID)
	book := excelize.NewFile()
	for n, row := range [][]any{{"Type", "Recorded", "Dated", "Time", "Book"}, {"Spaceship", 43567.5, 43566, 0.75, 43567}} {
		vaulttest.NoError(t, book.SetSheetRow("Sheet1", fmt.Sprintf("A%d", n+1), &row))
	}
	content, err := book.WriteToBuffer()
	vaulttest.NoError(t, err)
	body, kind := fileForm(content.String())
	got := h.sendBody(t, 200, "POST", path+"/runsheet/upload", body, staff.cookie, kind)
	got.has(t, `id="example-1">4/12/2019 12:00<`, `id="example-2">4/11/2019<`, `id="example-3">18:00<`, `id="example-4">43567<`,
		`>4/12/2019 12:00</td>`, `>4/11/2019</td>`, `>18:00</td>`, `>43567</td>`)
	got.lacks(t, ">43566<", ">0.75<")
}

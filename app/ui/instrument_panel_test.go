package ui_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"deedkeep/app/blobstore"
	"deedkeep/app/model"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

// panelTest is a server with an abstract whose documents have instruments.
type panelTest struct {
	*testServer
	t        *testing.T
	abstract string
	deed     model.File   // a PDF with three pages
	files    []model.File // the documents of the abstract, in their sequence
	staff    *browser
}

func newPanelTest(t *testing.T) *panelTest {
	t.Helper()
	h, abstract, files := newServerWithDocuments(t)
	record, err := h.vault.Abstracts.Get(t.Context(), files[1].AbstractID)
	if err != nil {
		t.Fatalf("Abstracts.Get: %v", err)
	}
	return &panelTest{testServer: h, t: t, abstract: abstract, deed: files[1], files: record.Files, staff: h.openBrowser(t, model.RoleStaff)}
}

// path returns an address of a document in the abstract.
func (p *panelTest) path(f model.File, rest string) string {
	return documentPath(f, rest+"?in=abstract:"+p.abstract)
}

// fields returns a form for a new instrument. Its arguments are names of fields and values.
func fields(pairs ...string) url.Values {
	form := url.Values{"instrument": {"0"}}
	for n := 0; n+1 < len(pairs); n += 2 {
		name := pairs[n]
		if !slices.Contains([]string{"instrument", "then", "shown", "start", "once"}, name) && !strings.HasPrefix(name, "pick.") {
			name = "instrument." + name
		}
		form.Set(name, pairs[n+1])
	}
	return form
}

// post submits the form of the panel as the viewer's script does.
func (p *panelTest) post(want int, f model.File, form url.Values) reply {
	p.t.Helper()
	return p.staff.post(p.t, want, p.path(f, "/instruments"), form, "HX-Request", "true")
}

// runsheet returns the instruments of the abstract.
func (p *panelTest) runsheet() []vault.InstrumentView {
	p.t.Helper()
	sheet, err := p.vault.Instruments.Runsheet(p.t.Context(), p.deed.AbstractID)
	if err != nil {
		p.t.Fatalf("Runsheet: %v", err)
	}
	return sheet.Instruments
}

// only returns the only instrument of the abstract.
func (p *panelTest) only() vault.InstrumentView {
	p.t.Helper()
	list := p.runsheet()
	if len(list) != 1 {
		p.t.Fatalf("Runsheet = %+v, want one instrument", list)
	}
	return list[0]
}

// typeID returns the ID of a document type as text.
func (p *panelTest) typeID(name string) string {
	p.t.Helper()
	types, err := p.vault.Instruments.Types(p.t.Context())
	found, ok := types.ByName(name)
	if err != nil || !ok {
		p.t.Fatalf("Types = %v, %v, want one named %s", types, err, name)
	}
	return strconv.FormatUint(found.ID, 10)
}

// inputs returns the values of the inputs in a page whose names start with prefix.
func inputs(r reply, prefix string) url.Values {
	values := url.Values{}
	for _, part := range strings.Split(string(r.body), "<input ")[1:] {
		tag, _, _ := strings.Cut(part, ">")
		_, name, _ := strings.Cut(tag, `name="`)
		name, _, _ = strings.Cut(name, `"`)
		_, value, _ := strings.Cut(tag, ` value="`)
		value, _, _ = strings.Cut(value, `"`)
		if strings.HasPrefix(name, prefix) {
			values.Set(name, value)
		}
	}
	return values
}

// Without scripts, saving redirects to the next document with a blank form, and the notice there can
// undo it.
func TestRecordInstrumentWithoutScripts(t *testing.T) {
	t.Parallel()
	p := newPanelTest(t)
	first, second := p.files[0], p.files[1]
	p.staff.get(t, 200, p.path(first, "")+"&panel=new").has(t, "New instrument", `name="instrument.type_id"`, "Save and next document",
		"data-focus", `data-grantor="Mortgagor"`, `<dt>Abstract</dt>`, "118 Orchard &lt;Lane&gt;", `data-next="`+documentPath(second,
			""), "panel=1")
	form := fields("type_id", p.typeID("Warranty Deed"), "instrument_number", "201904170093382", "book_type", "Deed Book", "book", "2417",
		"page", "0883", "recorded", "041719", "dated", "4/15/2019", "grantors", "Alder, Casey; Alder, Robin",
		"grantees", "Birch, Dana\r\nBirch, Kim",
		"consideration", "$387,500", "parcels", "47-0312-B-119.04; 21-4-117", "remarks", "two\r\nlines")
	got := p.staff.post(t, 303, p.path(first, "/instruments"), form)
	want := p.path(second, "") + "&panel=next"
	if at := got.Header.Get("Location"); at != strings.Replace(want, "abstract:", "abstract%3A", 1) {
		t.Errorf("Location = %q, want %q", at, want)
	}
	i := p.only()
	for name, row := range map[string][2]string{
		"type": {i.Type.Name, "Warranty Deed"}, "number": {i.Number, "201904170093382"},
		"book":     {i.BookType + i.Book + i.Page, "Deed Book24170883"},
		"recorded": {i.Recorded, "2019-04-17"}, "dated": {i.Dated, "2019-04-15"},
		"grantors": {strings.Join(i.Grantors, "|"), "Alder, Casey|Alder, Robin"},
		"grantees": {strings.Join(i.Grantees, "|"), "Birch, Dana|Birch, Kim"}, "consideration": {i.Consideration, "387500.00"},
		"parcels": {strings.Join(i.Parcels, "|"), "47-0312-B-119.04|21-4-117"}, "remarks": {i.Remarks, "two\nlines"},
		"documents": {fmt.Sprint(i.Documents), fmt.Sprint([]model.DocumentLink{{FileID: first.ID}})},
	} {
		if row[0] != row[1] {
			t.Errorf("%s = %q, want %q", name, row[0], row[1])
		}
	}
	// Undo moves it to the trash, and undoing that restores it.
	undo := url.Values{"instrument": {fmt.Sprint(i.ID)}, "back": {want}}
	p.staff.post(t, 303, p.path(first, "/instruments/trash"), undo)
	if list := p.runsheet(); len(list) != 0 {
		t.Errorf("Runsheet after Undo = %+v, want none", list)
	}
	p.staff.post(t, 303, p.path(first, "/instruments/restore"), undo)
	p.only()
	p.staff.get(t, 303, p.path(first, "/instruments"))
	p.staff.get(t, 200, "/abstracts/"+p.abstract).has(t,
		"<b>Warranty Deed</b> Deed Book 2417, Page 0883; Inst. 201904170093382")
}

// A script gets the address of the next document, or the panel.
func TestRecordInstrumentWithScript(t *testing.T) {
	t.Parallel()
	p := newPanelTest(t)
	last := p.files[len(p.files)-1]
	got := p.post(204, p.files[0], fields("book", "7"))
	if to := got.Header.Get("HX-Redirect"); !strings.HasPrefix(to, documentPath(p.files[1], "?")) || !strings.Contains(to, "panel=next") {
		t.Errorf("HX-Redirect = %q, want the next document with the panel", to)
	}
	p.post(200, last, fields("book", "8")).has(t, "Instrument · Book 8 saved. This was the last document.", "New instrument", "data-focus",
		"/instruments/trash", "Undo")
	p.post(200, last, fields("book", "9", "then", "stay")).has(t, "Instrument · Book 9", `aria-current="true"`, `value="9"`)
	// The same form twice, because the response was lost: one instrument.
	repeated := fields("book", "10", "then", "stay", "once", "token", "shown", "1")
	p.post(200, last, repeated)
	repeated.Set("shown", "2")
	p.post(200, last, repeated).has(t, "This instrument was already saved.")
	if list := p.runsheet(); len(list) != 4 {
		t.Errorf("Runsheet = %d instruments, want 4", len(list))
	}
	// A blank form only opens the next document.
	p.post(204, p.files[0], fields("book", " "))
	p.post(422, last, fields("book", "")).has(t, "Enter at least one field.")
	if list := p.runsheet(); len(list) != 4 {
		t.Errorf("Runsheet after blank forms = %d instruments, want 4", len(list))
	}
}

// The instruments of a packet follow each other: each starts after the last page of the previous one
// and ends at the page that is shown, unless the user says otherwise.
func TestPagesOfPacket(t *testing.T) {
	t.Parallel()
	p := newPanelTest(t)
	post := func(pairs ...string) reply { return p.post(200, p.deed, fields(append(pairs, "then", "another")...)) }
	post("book", "1", "pages", "", "shown", "2").has(t, `name="start" value="3"`, `name="instrument.pages" value="3"`)
	post("book", "2", "pages", "3", "start", "3", "shown", "3").has(t, `name="start" value="3"`) // the last page
	post("book", "3", "pages", "1, 3", "start", "3", "shown", "2")
	post("book", "4", "pages", "", "shown", "1")
	p.post(422, p.deed, fields("book", "5", "pages", "2-4")).has(t, "must not be above the document&#39;s last page, 3", `value="2-4"`)
	p.post(422, p.deed, fields("book", "5", "pages", "x")).has(t, "must be a page or a range of pages", `value="x"`)
	var got []string
	for _, i := range p.runsheet() {
		got = append(got, i.Documents[0].Pages)
	}
	if want := []string{"1-2", "3", "1,3", "1"}; !slices.Equal(got, want) {
		t.Errorf("pages = %q, want %q", got, want)
	}
	p.staff.get(t, 200, p.path(p.deed, "")+"&panel=1").has(t, "pages 1–2", "page 3", "pages 1, 3", "page=3", `data-page="3"`)
}

// Problems are shown next to their fields, and nothing that was typed is lost.
func TestInstrumentProblems(t *testing.T) {
	t.Parallel()
	p := newPanelTest(t)
	form := fields("type_id", p.typeID("Mortgage"), "recorded", "2/30/2019", "consideration", strings.Repeat("x", 201),
		"grantors", "Kim <Lee>", "page_to", "9",
		"recorded_time", "25:00")
	for _, got := range []reply{p.post(422, p.deed, form), p.staff.post(t, 422, p.path(p.deed, "/instruments"), form)} {
		got.has(t, "“2/30/2019” isn&#39;t a date. Write it like 3/9/1998.", `value="2/30/2019"`, `xxx"`,
			"can have at most 200 characters",
			"must be a time such as 14:05", "must not be set without a page", "Kim &lt;Lee&gt;", "Mortgagor</label>",
			"Amount</label>", `id="instrument-recorded-problem"`, "<details open><summary>More fields")
	}
	if list := p.runsheet(); len(list) != 0 {
		t.Errorf("Runsheet = %+v, want none", list)
	}
	p.staff.post(t, 404, "/documents/999/instruments", form)
	p.post(404, p.deed, fields("instrument", "999", "book", "1"))
}

// Two users change an instrument. Changes of different fields are merged. If both changed a field,
// the second one chooses.
func TestInstrumentConflict(t *testing.T) {
	t.Parallel()
	p := newPanelTest(t)
	p.post(200, p.deed, fields("book", "7", "grantors", "Kim", "then", "stay"))
	i := p.only()
	number := fmt.Sprint(i.ID)
	mine := inputs(p.staff.get(t, 200, p.path(p.deed, "/instruments")+"&instrument="+number, "HX-Request", "true"), "was.")
	if len(mine) < 10 {
		t.Fatalf("fingerprints in the form = %v, want one for each field", mine)
	}
	_, other := p.createSession(t, "Ann Poe", model.RoleStaff)
	change := func(input model.Inputs) {
		t.Helper()
		if _, err := p.vault.Instruments.Patch(t.Context(), other, i.ID, vault.InstrumentPatch{Input: input}, vault.Match{}); err != nil {
			t.Fatalf("Instruments.Patch: %v", err)
		}
	}
	send := func(want int, pairs ...string) reply {
		t.Helper()
		form := fields(append(pairs, "then", "stay")...)
		form.Set("instrument", number)
		for name, values := range mine {
			form[name] = values
		}
		return p.post(want, p.deed, form)
	}
	change(model.Inputs{"remarks": model.JSONInput(`"by Ann"`)})
	send(200, "book", "8", "grantors", "Kim", "remarks", "")
	if now := p.only(); now.Book != "8" || now.Remarks != "by Ann" || !slices.Equal(now.Grantors, []string{"Kim"}) {
		t.Errorf("instrument = %+v, want book 8 and the remarks by Ann", now)
	}
	mine = inputs(p.staff.get(t, 200, p.path(p.deed, "/instruments")+"&instrument="+number, "HX-Request", "true"), "was.")
	change(model.Inputs{"book": model.JSONInput(`"9"`)})
	got := send(412, "book", "10", "grantors", "Kim", "remarks", "by Ann")
	got.has(t, "Ann Poe changed this to “9” on ", `value="10"`, `name="pick.instrument.book"`, "yours are not saved yet")
	got.lacks(t, `value="mine" checked`) // whose value is saved is a choice
	mine = inputs(got, "was.")
	send(200, "book", "10", "pick.instrument.book", "theirs")
	if now := p.only(); now.Book != "9" {
		t.Errorf("book = %q, want that of the other user", now.Book)
	}
	send(200, "book", "10", "pick.instrument.book", "mine")
	if now := p.only(); now.Book != "10" {
		t.Errorf("book = %q, want that of this user", now.Book)
	}
}

// A satisfaction that releases a mortgage closes it, and the form lists only open encumbrances first.
func TestRecordRelease(t *testing.T) {
	t.Parallel()
	p := newPanelTest(t)
	p.post(200, p.deed, fields("type_id", p.typeID("Mortgage"), "book", "88", "page", "12", "then", "another")).
		has(t, `<optgroup label="Open encumbrances">`, "Mortgage · Book 88, Page 12")
	mortgage := p.only()
	release := fields("type_id", p.typeID("Release or Satisfaction"), "book", "99", "then", "another")
	release.Set("instrument.relations.0.kind", "releases")
	release.Set("instrument.relations.0.instrument_id", fmt.Sprint(mortgage.ID))
	p.post(200, p.deed, release).lacks(t, `<option value="releases" selected>`)
	if got := p.runsheet()[0]; got.Status != model.InstrumentReleased {
		t.Errorf("status of the mortgage = %s, want %s", got.Status, model.InstrumentReleased)
	}
	// A relation without a target, which the form presets, is asked about.
	other := fields("type_id", p.typeID("Release or Satisfaction"), "book", "100", "then", "stay")
	other.Set("instrument.relations.0.kind", "releases")
	other.Set("instrument.relations.0.instrument_id", "")
	p.post(422, p.deed, other).has(t, "Which instrument is released? Select one or “Not on this runsheet”, or clear the row.",
		`<option value="releases" selected>`, `data-relation-kind`)
	other.Set("instrument.relations.0.instrument_id", "other")
	p.post(200, p.deed, other).has(t, `value="an instrument that is not on this runsheet"`)
	last := p.runsheet()[2]
	want := []model.Relation{{Kind: model.Releases, Text: "an instrument that is not on this runsheet"}}
	if !slices.Equal(last.Relations, want) {
		t.Errorf("relations = %+v, want %+v", last.Relations, want)
	}
	other.Set("instrument", fmt.Sprint(last.ID))
	other.Set("instrument.relations.0.kind", "") // no relation
	other.Set("instrument.relations.0.instrument_id", "")
	p.post(200, p.deed, other).lacks(t, `<option value="releases" selected>`) // a stored release presets none
	if now := p.runsheet()[2]; len(now.Relations) > 0 {
		t.Errorf("relations = %+v, want none", now.Relations)
	}
	release.Set("instrument.relations.0.instrument_id", "999")
	p.post(422, p.deed, release).has(t, "relations", `aria-describedby="instrument-relations-problem"`, "<details data-links open>")
}

// Users who may only read see the instruments. A document in the vault has no form.
func TestInstrumentPanelAccess(t *testing.T) {
	t.Parallel()
	p := newPanelTest(t)
	p.post(200, p.deed, fields("book", "7", "then", "stay"))
	viewer := p.openBrowser(t, model.RoleViewer)
	got := viewer.get(t, 200, p.path(p.deed, "")+"&panel=1")
	got.has(t, "Book 7", "Instruments of this document")
	got.lacks(t, "data-instrument-form", "/instruments/trash")
	viewer.post(t, 403, p.path(p.deed, "/instruments"), fields("book", "8"))
	loose := p.upload(t, "z.pdf", vaulttest.PDF(1, "z"))
	p.staff.get(t, 200, documentPath(loose, "?panel=1")).has(t, "Not in an abstract", documentPath(loose, "/move"))
	p.staff.post(t, http.StatusConflict, documentPath(loose, "/instruments"), fields("book", "8"))
	viewer.get(t, 200, documentPath(loose, "?panel=1")).lacks(t, "/move")
	if text := viewer.get(t, 200, documentPath(p.deed, "/pages/2/text")); string(text.body) != `{"text":"Page 2: GENERAL WARRANTY\nDEED\n"}` {
		t.Errorf("text of page 2 = %s, want only that page", text.body)
	}
}

// The panel of a document opens its first instrument. A new one is a link away, and a document without
// instruments has the form for a new one.
func TestPanelOpensInstrument(t *testing.T) {
	t.Parallel()
	p := newPanelTest(t)
	open := func(query string) reply { return p.staff.get(t, 200, p.path(p.deed, "")+"&panel="+query) }
	open("1").has(t, `data-id="0"`, ">New instrument</h3>")
	p.post(200, p.deed, fields("book", "7", "then", "stay"))
	first := p.only().ID
	p.post(200, p.deed, fields("book", "8", "then", "another")).has(t, `data-id="0"`)
	for _, query := range []string{"1", "next"} {
		open(query).has(t, fmt.Sprintf(`data-id="%d"`, first), fmt.Sprintf(`data-instrument="%d" aria-current="true"`, first),
			`panel=new" data-new`, "Book 8")
	}
	p.staff.get(t, 200, p.path(p.deed, "/instruments"), "HX-Request", "true").has(t, fmt.Sprintf(`data-id="%d"`, first))
	open("new").has(t, `data-id="0"`, "data-focus")
	p.post(200, p.deed, url.Values{"instrument": {fmt.Sprint(first)}, "instrument.book": {"9"}, "then": {"another"}}).has(t, `data-id="0"`)
}

// storePages stores the text of pages of a document.
func (p *panelTest) storePages(f model.File, texts ...string) {
	p.t.Helper()
	vaulttest.NoError(p.t, p.vault.Vault.Previews.Put(f.Digest, blobstore.TextFile, func(w io.Writer) error {
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

// The panel suggests one instrument of a packet after the other, each with its pages.
func TestSuggestionsOfPacket(t *testing.T) {
	t.Parallel()
	p := newPanelTest(t)
	p.storePages(p.deed, "Deed Book 2417 Page 0883\nRecorded 04/17/2019 at 10:42 AM\nWARRANTY DEED\n"+
		"THIS DEED, made this 15th day of April, 2019, by and between\nJohn Alder, Grantor, and Dana Birch, Grantee,\n"+
		"IN WITNESS WHEREOF, he signs.\n",
		"Mortgage Book 77 Page 12\nRecorded 04/18/2019 at 10:43 AM\nMORTGAGE\nTHIS MORTGAGE, made this 16th day of April, 2019, between\n"+
			"Dana Birch, Mortgagor, and First Bank, Mortgagee,\n")
	view := p.path(p.deed, "") + "&panel=new"
	first := p.staff.get(t, 200, view)
	first.has(t, "Instrument 1 of 2 · page 1", `data-accept="instrument-book" data-value="2417"`, `name="start" value="1"`, `data-start="2"`)
	first.lacks(t, `data-value="77"`)
	second := p.staff.get(t, 200, view+"&start=2")
	second.has(t, "Instrument 2 of 2 · pages 2-3", `data-accept="instrument-book" data-value="77"`, `value="2-3"`, `data-start="1"`)
	second.lacks(t, `data-value="2417"`)

	// After the first one was saved, the other one is suggested.
	next := p.post(200, p.deed, fields("type_id", p.typeID("Warranty Deed"), "pages", "1", "start", "1", "shown", "2", "then", "another"))
	next.has(t, "Instrument 2 of 2 · pages 2-3", `data-accept="instrument-book" data-value="77"`, `name="start" value="2"`)
	if saved := p.only(); saved.Documents[0].Pages != "1" {
		t.Errorf("pages of the deed are %q, want those that were suggested", saved.Documents[0].Pages)
	}
	last := p.post(200, p.deed, fields("type_id", p.typeID("Mortgage"), "pages", "2-3", "start", "2", "then", "another"))
	last.lacks(t, "Suggested from the text")
}

// "Save and next" goes to the next instrument of a packet until none is left, and then to the next document.
func TestSaveAndNextInPacket(t *testing.T) {
	t.Parallel()
	p := newPanelTest(t)
	p.storePages(p.deed, "Deed Book 2417 Page 0883\nRecorded 04/17/2019 at 10:42 AM\nWARRANTY DEED\n"+
		"THIS DEED, made this 15th day of April, 2019, by and between\nJohn Alder, Grantor, and Dana Birch, Grantee,\n"+
		"IN WITNESS WHEREOF, he signs.\n",
		"Mortgage Book 77 Page 12\nRecorded 04/18/2019 at 10:43 AM\nMORTGAGE\nTHIS MORTGAGE, made this 16th day of April, 2019, between\n"+
			"Dana Birch, Mortgagor, and First Bank, Mortgagee,\n")
	view := p.path(p.deed, "") + "&panel=new"
	p.staff.get(t, 200, view).has(t, "Save and next instrument")
	next := p.post(200, p.deed, fields("start", "1", "then", "next")) // nothing was entered
	next.has(t, "Instrument 2 of 2", `name="start" value="2"`, "no instrument was created")
	first := p.post(200, p.deed, fields("type_id", p.typeID("Mortgage"), "pages", "2-3", "start", "2", "then", "next"))
	first.has(t, "Mortgage saved.", "Instrument 1 of 2 · page 1", `name="start" value="1"`, "Save and next document")
	number := fmt.Sprint(p.only().ID)
	p.staff.get(t, 200, p.path(p.deed, "")+"&panel=1&instrument="+number).has(t, "Save and next instrument")
	changed := url.Values{"instrument": {number}, "instrument.remarks": {"Faint"}, "then": {"next"}}
	to, want := p.staff.post(t, http.StatusSeeOther, p.path(p.deed, "/instruments"), changed).location(), "page=1&panel=new&start=1"
	if !strings.HasSuffix(to, want) {
		t.Errorf("address after saving = %s, want it to end in %s", to, want)
	}
	p.post(http.StatusNoContent, p.deed, fields("type_id", p.typeID("Warranty Deed"), "pages", "1", "start", "1", "then", "next"))
	p.staff.get(t, 200, p.path(p.deed, "")+"&panel=1&instrument="+number).has(t, "Save and next document")
}

// The panel and the runsheet say so where a document is about another county or parcel than the abstract. A county that
// was suggested and accepted is stored.
func TestOtherPlace(t *testing.T) {
	t.Parallel()
	p := newPanelTest(t)
	county := model.AbstractPatch{Fields: model.Inputs{"county": model.StringInput("Story"),
		"state": model.StringInput("OH"), "tax_map": model.StringInput("12-7")}}
	_, err := p.vault.Abstracts.Patch(t.Context(), vaulttest.Operator, p.deed.AbstractID, county, vault.Match{})
	vaulttest.NoError(t, err)
	p.storePages(p.deed, "Deed Book 2417 Page 0883\nRecorded 04/17/2019\nRecorder of Polk County\nWARRANTY DEED\nParcel ID 99-8-77\n")
	view := p.path(p.deed, "") + "&panel=new"
	panel := p.staff.get(t, 200, view)
	for field, warning := range map[string]string{"county": "This page names Polk County; the abstract is for Story County.",
		"parcels": "This page names parcel 99-8-77; the abstract is for parcel 12-7."} {
		panel.matches(t, `(?s)<p class="warning" id="instrument-`+field+`-warning">.{0,300}(`+regexp.QuoteMeta(warning)+`)`)
	}
	panel.has(t, `<details open><summary>More fields</summary>`, `data-accept="instrument-county" data-value="Polk"`,
		"If blank: Story, from the abstract", "Enter the state of Polk County. That of the abstract isn&#39;t filled in for another county.")
	panel.lacks(t, "If blank: OH")
	p.post(200, p.deed, fields("county", "Polk", "parcels", "99-8-77", "then", "stay"))
	if saved := p.only(); saved.County != "Polk" || saved.State != "" {
		t.Errorf("county %q, state %q, want the accepted county, and no state, which the document doesn't name", saved.County, saved.State)
	}
	p.staff.get(t, 200, p.path(p.deed, "")+"&panel=1").has(t, "This instrument names Polk County; the abstract is for Story County.")
	p.staff.get(t, 200, "/abstracts/"+p.abstract).has(t,
		"This instrument names Polk County; the abstract is for Story County", ">Names Polk County<",
		"Names parcel 99-8-77")

	// A state that was filled in from the abstract is asked about when only the county changes.
	id := p.only().ID
	stored := fields("county", "Story", "state", "OH", "instrument", fmt.Sprint(id), "then", "stay")
	p.post(200, p.deed, stored)
	moved := fields("county", "Polk", "instrument", fmt.Sprint(id), "then", "stay")
	p.post(422, p.deed, moved).has(t, "Check the state: keep OH with the county Polk?")
	if saved := p.only(); saved.County != "Story" || saved.State != "OH" {
		t.Errorf("county %q, state %q before the question is answered, want what was stored", saved.County, saved.State)
	}
	moved.Set("keep.instrument.county", "Polk")
	p.post(200, p.deed, moved)
	p.staff.get(t, 200, p.path(p.deed, "")+"&panel=1").has(t, "the abstract is for Story County. Check the state: OH.")
	p.post(200, p.deed, fields("county", "Linn", "state", "IA", "instrument", fmt.Sprint(id), "then", "stay"))
	if saved := p.only(); saved.County != "Linn" || saved.State != "IA" {
		t.Errorf("county %q, state %q, want both as entered", saved.County, saved.State)
	}
}

// putText stores the text of a page that was read in a document.
func putText(t *testing.T, h *testServer, f model.File, text string) {
	t.Helper()
	err := h.vault.Vault.Previews.Put(f.Digest, blobstore.TextFile, func(w io.Writer) error {
		pages, err := blobstore.NewTextWriter(w)
		if err != nil {
			return err
		}
		return errors.Join(pages.Page(1, text), pages.Close())
	})
	if err != nil {
		t.Fatalf("Put: %v", err)
	}
}

// The consideration is suggested as the instrument says it, with an amount or without one.
func TestSuggestedConsideration(t *testing.T) {
	t.Parallel()
	for says, stored := range map[string]string{"Ten Dollars ($10.00) and other good and valuable consideration": "10.00",
		"valuable consideration": ""} {
		t.Run(says, func(t *testing.T) {
			t.Parallel()
			p := newPanelTest(t)
			putText(t, p.testServer, p.deed, "WARRANTY DEED\n\nJOHN ALDER, for "+says+" paid, grants to DANA BIRCH the following\n")
			p.staff.get(t, 200, p.path(p.deed, "")+"&panel=new").has(t, `data-accept="instrument-consideration" data-value="`+says+`"`,
				"<b>Consideration</b> "+says)
			p.post(200, p.deed, fields("consideration", says, "then", "stay"))
			if saved := p.only(); saved.ConsiderationText != says || saved.Consideration != stored {
				t.Errorf("stored %q and %q, want %q and %q", saved.ConsiderationText, saved.Consideration, says, stored)
			}
		})
	}
}

// The panel shows what the text of a document says about its instrument, with the line where it was
// read. It doesn't fill in the form.
func TestSuggestionsFromText(t *testing.T) {
	t.Parallel()
	p := newPanelTest(t)
	text := "Deed Book 2417 Page 0883\nWARRANTY DEED\nTHIS DEED, made this 15th day of April, 2019, by and between\n" +
		"John & Mary Alder, Grantors, and Dana Birch, Grantee,\n" +
		"WITNESSETH, that in consideration of the sum of THREE HUNDRED THOUSAND DOLLARS ($300,000.00), in hand paid\n"
	putText(t, p.testServer, p.deed, text)
	got := p.staff.get(t, 200, p.path(p.deed, "")+"&panel=new")
	got.has(t, "Suggested from the text", `data-accept="instrument-type_id" data-value="`+p.typeID("Warranty Deed")+`"`,
		`data-accept="instrument-book" data-value="2417"`, "<q>Deed Book 2417 Page 0883</q>", `data-evidence="1"`,
		`data-accept="instrument-dated" data-value="4/15/2019"`, "data-value=\"John Alder\nMary Alder\"", "John Alder; Mary Alder",
		`data-accept="instrument-consideration" data-value="300000"`, "<b>Consideration</b> $300,000.00 <")
	got.has(t, `name="instrument.book" autocomplete="off" value=""`)
	got.lacks(t, "% confidence")
	p.post(200, p.deed, fields("type_id", p.typeID("Warranty Deed"), "remarks", "first", "then", "stay"))
	p.staff.get(t, 200, p.path(p.deed, "")+"&panel=new").lacks(t, "Suggested from the text")

	// The only instrument of the document, such as one that was added from the document's name
	got = p.staff.get(t, 200, p.path(p.deed, "")+"&panel=1")
	got.has(t, "Suggested from the text", `data-accept="instrument-book" data-value="2417"`)
	got.lacks(t, `data-accept="instrument-type_id"`)
	p.post(200, p.deed, fields("type_id", p.typeID("Mortgage"), "then", "stay"))
	p.staff.get(t, 200, p.path(p.deed, "")+"&panel=1").lacks(t, "Suggested from the text")
}

// A value that can't be right for its field is asked about, in the panel and in the form of an instrument. It is
// saved after the user checks "Keep".
func TestFormQuestion(t *testing.T) {
	t.Parallel()
	p := newPanelTest(t)
	const question = "“3/9/1998” looks like a date. Keep it as a grantor?"
	p.post(422, p.deed, fields("type_id", p.typeID("Mortgage"), "grantors", "3/9/1998")).has(t, "Keep it as a mortgagor?")
	form := fields("grantors", "Ned Cole\r\n3/9/1998", "then", "stay")
	asked := p.post(422, p.deed, form)
	asked.has(t, question, "Nothing is saved yet.", `name="keep.instrument.grantors" value="Ned Cole`, `aria-invalid="true"`)
	if list := p.runsheet(); len(list) != 0 {
		t.Fatalf("runsheet = %+v, want no instruments", list)
	}
	form.Set("keep.instrument.grantors", "Ned Cole\r\n3/9/1998")
	p.post(200, p.deed, form).lacks(t, question)
	saved := p.only()
	if !slices.Equal(saved.Grantors, []string{"Ned Cole", "3/9/1998"}) {
		t.Errorf("grantors = %q, want both", saved.Grantors)
	}
	path := page.InstrumentPath(saved.ID)
	changes := url.Values{"book": {"Assign"}, "recorded": {"2/30/2019"}, "keep.book": {"Assign"}}
	p.staff.post(t, 422, path, changes).has(t, "“Assign” looks like words. Keep it as the book?", `value="Assign" checked`, `id="recorded-problem"`)
	changes.Del("keep.book")
	changes.Set("recorded", "2/28/2019")
	p.staff.post(t, 422, path, changes).has(t, "Keep it as the book?", `value="Assign"> Keep`)
	changes.Set("keep.book", "Assign")
	p.staff.post(t, 303, path, changes)
	// The form asks only about new values.
	p.staff.post(t, 303, path, url.Values{"grantors": {"3/9/1998\r\nAnn Cole"}, "book": {"Assign"}})
	added := p.abstractPath() + "/instruments"
	p.staff.post(t, 422, added, url.Values{"grantees": {"4800/12"}}).has(t, "“4800/12” looks like a book and page.")
	p.staff.post(t, 303, added, url.Values{"grantees": {"4800/12"}, "keep.grantees": {"4800/12"}})
}

// abstractPath returns the address of the abstract.
func (p *panelTest) abstractPath() string { return "/abstracts/" + p.abstract }

// Before an instrument is stored twice, the panel asks. The document is added to the instrument that is on
// the runsheet, whose blank fields are filled, or the user keeps both.
func TestPanelAsksAboutDuplicate(t *testing.T) {
	t.Parallel()
	p := newPanelTest(t)
	first := p.files[0]
	p.post(204, first, fields("type_id", p.typeID("Warranty Deed"), "book_type", "Deed Book", "book", "3433", "page", "481",
		"grantees", "Bea Cole"))
	typed := fields("book_type", "DB", "book", "3433", "page", "0481", "grantors", "Amos Reed", "grantees", "Someone Else", "pages", "2-3",
		"then", "stay")
	asked := p.post(422, p.deed, typed)
	asked.has(t, "Already on the runsheet as No. 1: Warranty Deed, Deed Book 3433, Page 481", "Add document to No. 1",
		"Save as a separate instrument", "Back to editing", "Fill its blank fields: Grantor<", `value="0481"`, `Someone Else`, `value="2-3"`, `name="asked_then" value="stay"`)
	p.only()
	answer := func(pairs ...string) url.Values {
		form := url.Values{"duplicate_of": {"1"}}
		for name, values := range typed {
			form[name] = values
		}
		form.Del("then")
		for n := 0; n < len(pairs); n += 2 {
			form.Set(pairs[n], pairs[n+1])
		}
		return form
	}
	// Without scripts.
	done := p.staff.post(t, 303, p.path(p.deed, "/instruments"), answer("duplicate", "add", "fill", "yes", "asked_then", "stay", "once", "a"))
	again := p.staff.post(t, 303, p.path(p.deed, "/instruments"), answer("duplicate", "add", "fill", "yes", "asked_then", "stay", "once", "a"))
	if again.Header.Get("Location") != done.Header.Get("Location") {
		t.Errorf("the same form again leads to %s, want %s", again.Header.Get("Location"), done.Header.Get("Location"))
	}
	notice, undo, undoFields := p.undoOf(t, done)
	added := "Added to No. 1: Warranty Deed, Deed Book 3433, Page 481."
	if to := done.Header.Get("Location"); !strings.Contains(to, "instrument=1") || notice != added {
		t.Errorf("Location = %q, notice %q, want the first instrument", to, notice)
	}
	want := fmt.Sprintf("[Amos Reed] [Bea Cole] [{%d } {%d 2-3}]", first.ID, p.deed.ID)
	if i := p.only(); fmt.Sprint(i.Grantors, i.Grantees, i.Documents) != want {
		t.Errorf("instrument = %+v, want %s", i, want)
	}
	back := p.staff.post(t, 303, undo, undoFields)
	if to := back.Header.Get("Location"); !strings.HasPrefix(to, documentPath(p.deed, "")) {
		t.Errorf("Location after Undo = %q, want the document", to)
	}
	want = fmt.Sprintf("[] [Bea Cole] [{%d }]", first.ID)
	if i := p.only(); fmt.Sprint(i.Grantors, i.Grantees, i.Documents) != want {
		t.Errorf("instrument after Undo = %+v, want %s", i, want)
	}
	// With scripts, and without filling.
	p.post(204, p.deed, answer("duplicate", "add", "then", "stay", "once", "b"))
	if i := p.only(); len(i.Grantors) != 0 || len(i.Documents) != 2 {
		t.Errorf("instrument = %+v, want only a second document", i)
	}
	p.post(204, p.deed, answer("duplicate", "add", "then", "stay", "once", "c"))
	if i := p.only(); len(i.Documents) != 2 {
		t.Errorf("instrument = %+v, want its document once", i)
	}
	p.post(200, p.deed, answer("duplicate", "keep", "then", "stay", "once", "d"))
	if list := p.runsheet(); len(list) != 2 {
		t.Errorf("runsheet = %+v, want both", list)
	}
	// A change that makes an instrument a duplicate is asked about, and others of it aren't.
	p.post(200, p.deed, fields("instrument", "2", "remarks", "Faint.", "then", "stay"))
	p.post(200, p.deed, fields("instrument", "2", "page", "482", "then", "stay"))
	p.post(422, p.deed, fields("instrument", "2", "page", "481", "then", "stay")).has(t, "Already on the runsheet as No. 1", "Keep both")
	// A deed and a mortgage on one page.
	mortgage := fields("type_id", p.typeID("Mortgage"), "book", "3433", "page", "481")
	p.post(422, p.deed, mortgage).has(t, "May already be on the runsheet as No. 1")
	p.post(404, p.deed, answer("duplicate", "add", "duplicate_of", "x"))
	p.post(409, p.deed, answer("duplicate", "add", "duplicate_of", "99"))
}

// transactions returns the number of read and write transactions of a request. Authenticating it is one of them.
func (p *panelTest) transactions(send func()) (read, written uint64) {
	before := p.vault.DB.Store.CommitStats()
	send()
	after := p.vault.DB.Store.CommitStats()
	return after.Views - before.Views, after.Changes.Count - before.Changes.Count
}

// Saving in the panel reads what is merged and what is shown in one transaction each. The notes of the instrument that is
// shown are another one.
func TestTransactionsOfPanel(t *testing.T) {
	t.Parallel()
	p := newPanelTest(t)
	p.staff.get(t, 200, p.path(p.deed, "")) // renders it
	p.storePages(p.deed, "WARRANTY DEED\nGrantor: Casey Alder\nGrantee: Dana Birch", "page two", "page three")
	deed := []string{"type_id", p.typeID("Warranty Deed"), "grantors", "Alder, Casey", "grantees", "Birch, Dana", "once", "token"}
	save := func(status int, instrument string, more ...string) func() {
		form := fields(slices.Concat(deed, more, []string{"instrument", instrument})...)
		return func() { p.post(status, p.deed, form) }
	}
	cell := func() {
		p.staff.post(t, 200, "/instruments/1/cell", url.Values{"field": {"remarks"}, "was": {""}, "value": {"Copy"}},
			"HX-Request", "true", "Accept", "application/json")
	}
	for _, row := range []struct {
		name          string
		send          func()
		read, written uint64
	}{
		{"a new instrument, then another", save(200, "0", "instrument_number", "17", "then", "another"), 3, 1},
		{"a new instrument with a problem", save(422, "0", "recorded", "5/5/2031"), 2, 0},
		{"a new instrument that repeats another one", save(422, "0", "instrument_number", "17"), 2, 0},
		{"a change", save(200, "1", "instrument_number", "18", "then", "stay"), 4, 1},
		{"a change, then the next document", save(204, "1", "instrument_number", "19"), 3, 1},
		{"nothing", save(200, "1", "instrument_number", "19", "then", "stay"), 4, 0},
		{"a cell of the runsheet", cell, 4, 1},
		{"the panel", func() { p.staff.get(t, 200, p.path(p.deed, "/instruments"), "HX-Request", "true") }, 3, 0},
		{"the page with the panel", func() { p.staff.get(t, 200, p.path(p.deed, "")+"&panel=1") }, 4, 0},
		{"the page without the panel", func() { p.staff.get(t, 200, p.path(p.deed, "")) }, 4, 0},
	} {
		if read, written := p.transactions(row.send); read != row.read || written != row.written {
			t.Errorf("%s: %d read and %d write transactions, want %d and %d", row.name, read, written, row.read, row.written)
		}
	}
}

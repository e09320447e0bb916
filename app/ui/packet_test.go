package ui_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"deedkeep/app/model"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

// storePacket stores the text of a deed and of a mortgage in the document with three pages.
func (p *panelTest) storePacket() {
	p.storePages(p.deed, "Deed Book 2417 Page 0883\nRecorded 04/17/2019 at 10:42 AM\nWARRANTY DEED\n"+
		"THIS DEED, made this 15th day of April, 2019, by and between\nJohn Alder, Grantor, and Dana Birch, Grantee,\n"+
		"IN WITNESS WHEREOF, he signs.\n",
		"Mortgage Book 77 Page 12\nRecorded 04/18/2019 at 10:43 AM\nMORTGAGE\nTHIS MORTGAGE, made this 16th day of April, 2019, between\n"+
			"Dana Birch, Mortgagor, and First Bank, Mortgagee,\n")
}

// formOfPacket returns the values of the form on the page, as a browser without scripts submits them.
func formOfPacket(t *testing.T, page reply) url.Values {
	t.Helper()
	form := url.Values{}
	_, body, _ := strings.Cut(string(page.body), `<form class="packet"`)
	for _, tag := range regexp.MustCompile(`<input[^>]* name="([^"]+)"[^>]*>`).FindAllStringSubmatch(body, -1) {
		value := regexp.MustCompile(` value="([^"]*)"`).FindStringSubmatch(tag[0])
		if value == nil || strings.Contains(tag[0], "checkbox") && !strings.Contains(tag[0], " checked") {
			continue
		}
		form.Add(tag[1], value[1])
	}
	for _, area := range regexp.MustCompile(`(?s)<textarea[^>]* name="([^"]+)"[^>]*>\n(.*?)</textarea>`).FindAllStringSubmatch(body, -1) {
		form.Set(area[1], area[2])
	}
	for _, list := range regexp.MustCompile(`(?s)<select[^>]* name="([^"]+)".*?</select>`).FindAllStringSubmatch(body, -1) {
		if chosen := regexp.MustCompile(`value="([^"]*)" selected`).FindStringSubmatch(list[0]); chosen != nil {
			form.Set(list[1], chosen[1])
		}
	}
	if form.Get("once") == "" || form.Get("starts") == "" {
		t.Fatalf("form of the packet = %v, want its token and starts", form)
	}
	return form
}

// All instruments of a document are reviewed on one page and added in one step, which can be undone. Submitting the form
// twice adds nothing twice.
func TestPacketIsAddedInOneStep(t *testing.T) {
	t.Parallel()
	p := newPanelTest(t)
	p.storePacket()
	path := documentPath(p.deed, "/packet")
	shown := p.staff.get(t, 200, path)
	shown.has(t, `name="starts" value="1,2"`, "1. Warranty Deed", "2. Mortgage", `name="p1.book" autocomplete="off" value="2417"`,
		`name="p2.book" autocomplete="off" value="77"`, "Page 2: “Mortgage Book 77 Page 12”", `name="split" value="3"`,
		`name="join" value="2"`, `name="row" value="1" checked`)
	shown.lacks(t, `name="join" value="1"`, `name="split" value="2"`)
	if list := p.runsheet(); len(list) > 0 {
		t.Fatalf("runsheet = %v, want nothing before the form is submitted", list)
	}
	form := formOfPacket(t, shown)
	form.Set("p2.grantees", "Second Bank")
	form.Set("add", "yes")
	added := p.staff.post(t, http.StatusSeeOther, path, form)
	notice, undo, fields := p.undoOf(t, added)
	if notice != "2 instruments added." {
		t.Errorf("notice = %q, want that both were added", notice)
	}
	list := p.runsheet()
	if len(list) != 2 || list[0].Documents[0].Pages != "1" || list[1].Documents[0].Pages != "2-3" ||
		!slices.Equal(list[1].Grantees, []string{"Second Bank"}) || !slices.Equal(list[0].Grantors, []string{"John Alder"}) {
		t.Fatalf("runsheet = %+v, want the deed of page 1 and the mortgage of pages 2-3 as corrected", list)
	}
	again := p.noticeOf(t, p.staff.post(t, http.StatusSeeOther, path, form))
	if n := len(p.runsheet()); n != 2 || again != "These instruments were already added." {
		t.Errorf("%d instruments and notice %q after the form was submitted twice, want 2", n, again)
	}
	p.staff.get(t, 200, path).has(t, "On the runsheet: Warranty Deed", "On the runsheet: Mortgage")
	p.staff.post(t, http.StatusSeeOther, undo, fields)
	if n := len(p.runsheet()); n != 0 {
		t.Errorf("%d instruments after Undo, want none", n)
	}
}

// A person splits and joins instruments. Typed values and checked fields stay.
func TestPacketIsSplitAndJoined(t *testing.T) {
	t.Parallel()
	p := newPanelTest(t)
	p.storePacket()
	path := documentPath(p.deed, "/packet")
	form := formOfPacket(t, p.staff.get(t, 200, path))
	form.Set("p2.remarks", "Faint")
	form.Set("checked", "p2.book")
	form.Set("split", "3")
	split := p.staff.post(t, 200, path, form)
	split.has(t, `name="starts" value="1,2,3"`, "Faint</textarea>", `name="checked" value="p2.book"`, `aria-label="Page 3" autofocus`,
		"3. Instrument", `name="row" value="3" aria`)
	form = formOfPacket(t, split)
	form.Add("row", "3")
	form.Set("add", "yes")
	p.staff.post(t, 422, path, form).has(t, "Nothing is filled in.", "No instruments were added.")
	form.Del("add")
	form.Set("join", "3")
	joined := p.staff.post(t, 200, path, form)
	joined.has(t, `name="starts" value="1,2"`, "Faint</textarea>")
	form = formOfPacket(t, joined)
	form.Set("join", "2")
	one := p.staff.post(t, 200, path, form)
	one.has(t, `name="starts" value="1"`, `value="2417"`, `name="kept" value="2 remarks Faint"`)
	one.lacks(t, "2. Mortgage", `value="p2.book"`)
	form = formOfPacket(t, one)
	form.Set("split", "2") // what was entered there comes back, to be checked again
	again := p.staff.post(t, 200, path, form)
	again.has(t, `name="starts" value="1,2"`, "Faint</textarea>")
	again.lacks(t, `name="kept"`, `value="p2.book"`)
	form = formOfPacket(t, again)
	form.Set("stay", "yes") // Enter without scripts
	p.staff.post(t, 200, path, form).has(t, `name="starts" value="1,2"`, "Faint</textarea>")
	if saved := len(p.runsheet()); saved != 0 {
		t.Errorf("%d instruments were added, want none", saved)
	}
	form = formOfPacket(t, p.staff.get(t, 200, path+"?starts=1,3"))
	form.Del("row")
	form.Add("row", "3")
	form.Set("p3.book", "12")
	form.Set("p3.recorded", "2/30/2019")
	p.staff.post(t, 422, path, form).has(t, "“2/30/2019” isn&#39;t a date", `name="p3.book" autocomplete="off" value="12"`)
	form.Set("p3.recorded", "2/28/2019")
	p.staff.post(t, http.StatusSeeOther, path, form)
	if saved := p.only(); saved.Book != "12" || saved.Documents[0].Pages != "3" || saved.Recorded != "2019-02-28" {
		t.Errorf("instrument = %+v, want the one of page 3, without the cleared one", saved)
	}
}

// An instrument that someone else recorded in the meantime is asked about.
func TestPacketAsksAboutChangedRunsheet(t *testing.T) {
	t.Parallel()
	p := newPanelTest(t)
	p.storePacket()
	path := documentPath(p.deed, "/packet")
	form := formOfPacket(t, p.staff.get(t, 200, path))
	_, err := p.vault.Instruments.Create(t.Context(), vaulttest.Operator, p.deed.AbstractID, vault.InstrumentPatch{Input: model.Inputs{
		"type": model.StringInput("Mortgage"), "book_type": model.StringInput("Mortgage Book"), "book": model.StringInput("77"),
		"page": model.StringInput("12")}}, vault.Idempotency[vault.InstrumentView]{})
	vaulttest.NoError(t, err)
	again := p.staff.post(t, 422, path, form)
	again.has(t, "The runsheet has changed in the meantime", "on the runsheet as No. 1", `<select name="act.2"`)
	form = formOfPacket(t, again)
	if form.Get("act.2") != "fill" {
		t.Errorf("choice = %q, want to add the document to the recorded one", form.Get("act.2"))
	}
	notice := p.noticeOf(t, p.staff.post(t, http.StatusSeeOther, path, form))
	if notice != "1 instrument added, 1 instrument on the runsheet updated." {
		t.Errorf("notice = %q, want one instrument added and the other updated", notice)
	}
}

// The page says what to do about a document that has no instruments to review.
func TestPacketWithoutInstruments(t *testing.T) {
	t.Parallel()
	p := newPanelTest(t)
	path := documentPath(p.deed, "/packet")
	p.staff.get(t, 200, path).has(t, `name="starts" value="1"`, `name="split" value="3"`, "still being read") // no text
	p.openBrowser(t, model.RoleViewer).get(t, 403, path)
	p.staff.get(t, 200, documentPath(p.files[0], "/packet")).has(t, "Open instruments")
	p.staff.post(t, http.StatusSeeOther, documentPath(p.deed, "/trash"), nil)
	p.staff.get(t, http.StatusSeeOther, path)
	moved := p.upload(t, "loose.pdf", vaulttest.PDF(3, "b"))
	p.staff.get(t, 200, documentPath(moved, "/packet")).has(t, "Not in an abstract", documentPath(moved, "/move"))
	p.staff.post(t, 409, documentPath(moved, "/packet"), url.Values{"starts": {"1"}})
}

// A document of 100 instruments fits on the page and in a form. More can't be started.
func TestPacketOf100Instruments(t *testing.T) {
	t.Parallel()
	p := newPanelTest(t)
	large := p.upload(t, "large.pdf", vaulttest.PDF(120, "c"))
	_, err := p.vault.Files.Patch(t.Context(), vaulttest.Operator, large.ID, model.FilePatch{
		AbstractID: model.Some(model.IDInput{Present: true, Valid: true, Value: int64(p.deed.AbstractID)})}, vault.Match{})
	vaulttest.NoError(t, err)
	var texts, starts []string
	for n := range 120 {
		texts = append(texts, fmt.Sprintf("Deed Book %d Page 1\nWARRANTY DEED\n", n+1))
		if n < 100 {
			starts = append(starts, fmt.Sprint(n+1))
		}
	}
	p.storePages(large, texts...)
	path := documentPath(large, "/packet")
	shown := p.staff.get(t, 200, path+"?starts="+strings.Join(starts, ","))
	form := formOfPacket(t, shown)
	form.Set("split", "110")
	p.staff.post(t, 422, path, form).has(t, "at most 100 instruments")
	form.Del("split")
	notice := p.noticeOf(t, p.staff.post(t, http.StatusSeeOther, path, form))
	if notice != "100 instruments added." {
		t.Errorf("notice = %q, want that all were added", notice)
	}
}

// A person is asked about an instrument whose start isn't sure, until it was checked or joined.
func TestPacketAsksAboutBoundary(t *testing.T) {
	t.Parallel()
	p := newPanelTest(t)
	p.storePages(p.deed, "Deed Book 2417 Page 0883\nRecorded 04/17/2019 at 10:42 AM\nWARRANTY DEED\n"+
		"THIS DEED, made this 15th day of April, 2019, by and between\nJohn Alder, Grantor, and Dana Birch, Grantee,\n"+
		"IN WITNESS WHEREOF, he signs.\n",
		"SATISFACTION OF MORTGAGE\n"+strings.Repeat("the loan that was made and recorded before is now paid and it is discharged\n", 5))
	path := documentPath(p.deed, "/packet")
	shown := p.staff.get(t, 200, path)
	shown.has(t, `name="starts" value="1,2"`, "Check this boundary", `name="unsure" value="2 `, `data-doubtful="p2."`)
	form := formOfPacket(t, shown)
	form.Set("split", "3")
	p.staff.post(t, 200, path, form).has(t, "Check this boundary", `name="unsure" value="2 `)
	form.Set("checked", "p2.")
	p.staff.post(t, 200, path, form).lacks(t, "Check this boundary")
	form.Del("checked")
	form.Del("split")
	form.Set("join", "2")
	p.staff.post(t, 200, path, form).lacks(t, "Check this boundary")
}

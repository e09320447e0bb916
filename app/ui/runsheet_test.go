package ui_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"deedkeep/app/model"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

// abstractID decodes the opaque ID of an abstract.
func (ts *testServer) abstractID(t *testing.T, opaque string) uint64 {
	t.Helper()
	id, ok := ts.vault.Secrets.IDs("abstracts").Decode(opaque)
	if !ok {
		t.Fatalf("%q is not the ID of an abstract", opaque)
	}
	return id
}

// createInstrument adds an instrument to an abstract and returns its ID. fields is a JSON object of
// the API.
func (ts *testServer) createInstrument(t *testing.T, abstract uint64, fields string) uint64 {
	t.Helper()
	var in model.Inputs
	if err := json.Unmarshal([]byte(fields), &in); err != nil {
		t.Fatalf("fields of an instrument: %v in %s", err, fields)
	}
	created, err := ts.vault.Instruments.Create(t.Context(), model.Actor{Kind: "operator", Name: "intake"}, abstract,
		vault.InstrumentPatch{Input: in},
		vault.Idempotency[vault.InstrumentView]{})
	if err != nil {
		t.Fatalf("Instruments.Create: %v", err)
	}
	return created.ID
}

// getInstrument returns a live instrument.
func (ts *testServer) getInstrument(t *testing.T, id uint64) vault.InstrumentView {
	t.Helper()
	i, err := ts.vault.Instruments.Get(t.Context(), id)
	if err != nil {
		t.Fatalf("Instruments.Get: %v", err)
	}
	return i
}

// sheetScript are the headers of the runsheet's script.
var sheetScript = []string{"HX-Request", "true", "Accept", "application/json"}

// sheetState is the response to the runsheet's script.
type sheetState struct {
	ID   uint64
	Rows []struct {
		ID   uint64
		HTML string
	}
	Sequence []uint64
	Gaps     []struct {
		Above uint64
		Name  string
	}
	Chosen                    bool
	Notice, Problem, Question string
	Undo                      struct{ Path, Token string }
}

// script sends a form as the runsheet's script does and returns the state in the response.
func (b *browser) script(t *testing.T, want int, path string, form url.Values) (s sheetState) {
	t.Helper()
	got := b.post(t, want, path, form, sheetScript...)
	if err := json.Unmarshal(got.body, &s); err != nil {
		t.Fatalf("POST %s: %v in %s", path, err, got.body)
	}
	return s
}

// The runsheet is the main view of an abstract once it has instruments. It shows what releases what,
// gaps, and where the documents are.
func TestRunsheetPage(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	staff, viewer := h.openBrowser(t, model.RoleStaff), h.openBrowser(t, model.RoleViewer)
	path, created := h.createAbstract(t, staff.actor, nil, model.Property{County: "Essex"}, "packet.pdf", "lost.pdf")
	id := created.Abstract.ID
	empty := staff.get(t, 200, path)
	empty.has(t, "No instruments yet", path+"/instruments/new", path+"/instruments/paste", path+"/runsheet/upload", `id="instrument-new"`)
	viewer.get(t, 200, path).lacks(t, "/instruments/new", "Add an instrument", "instrument-new", "<table")
	staff.get(t, 200, path).matches(t, `(?s)(href="#documents">Skip to documents.*id="documents".*id="runsheet")`)

	deed := h.createInstrument(t, id,
		`{"type":"Warranty Deed","recorded":"2001-05-02","recorded_time":"14:05","book_type":"Deed Book","book":"1022",
		"page":"311","page_to":"313","grantors":["Ned <Cole>","Ann Cole"],"grantees":["Bea Cole"],"consideration":"387500","documents":[{"file_id":1,"pages":"2"}]}`)
	mortgage := h.createInstrument(t, id, `{"type":"Mortgage","recorded":"2001-05-02","book":"1023","documents":[{"file_id":2}]}`)
	h.createInstrument(t, id,
		fmt.Sprintf(`{"type":"Release or Satisfaction","recorded":"2010-01-05","relations":[{"kind":"releases","instrument_id":%d},
		{"kind":"references","text":"Bk 9 Pg 8"}]}`, mortgage))
	last := h.createInstrument(t, id, `{"type":"Quitclaim Deed","recorded":"2019-04-17","grantors":["Dora Finch"],"grantees":["Carl Diaz"]}`)
	staff.post(t, 303, "/documents/2/trash", nil)

	page := staff.get(t, 200, path)
	page.has(t, "5/2/2001 2:05 PM", "Deed Book 1022/311-313", "Ned &lt;Cole&gt;; Ann Cole", `class="num">$387,500.00`,
		`href="/documents/1?in=abstract%3A`, `page=2" title="packet.pdf"`, "p. 2", `<del><a class="file" href="/documents/2"`,
		fmt.Sprintf(`Released by <a href="#instrument-%d">No. <span data-number>3</span></a>`, mortgage+1),
		fmt.Sprintf(`Releases <a href="#instrument-%d">No. <span data-number>2</span></a>`, mortgage), "References  Bk 9 Pg 8",
		`data-label="Status" data-edit="" title="Released by No. 3"> <span class="relation">Released by`, `data-status="not_applicable"`,
		`data-label="Grantors" title="Ned &lt;Cole&gt;; Ann Cole">Ned`, `data-label="Type" title="Warranty Deed (Conveyance)">Warranty Deed<`,
		`data-label="Grantors" data-party="Mortgagor"></td>`,
		fmt.Sprintf(`id="instrument-%d"`, deed), path+"/runsheet.csv",
		`<option value="Conveyance">Conveyance</option><option value="Security">Mortgages and Security Instruments</option>`,
		`<option value="Release">Release</option></select>`, `href="#runsheet">Skip to runsheet`)
	gap := regexp.MustCompile(`class="gap"><td colspan="13">Possible gap in the chain of title: no earlier instrument in this ` +
		`runsheet names Dora Finch ` +
		`as grantee</td></tr>` +
		`<tr id="instrument-(\d+)"`)
	if m := gap.FindSubmatch(page.body); m == nil || string(m[1]) != fmt.Sprint(last) {
		t.Errorf("gap = %q, want one above instrument %d\n%s", m, last, page.main())
	}
	page.matches(t, `(?s)(id="runsheet".*id="documents".*id="names-run".*id="requirements".*id="notes".*id="certificates")`)
	viewer.get(t, 200, path).lacks(t, "/edit\"", "formaction", "row-handle", "instrument-new", "data-editable", "sortable")
	if to := viewer.get(t, 303, fmt.Sprint("/instruments/",
		last)).Header.Get("Location"); to != fmt.Sprintf("%s#instrument-%d", path, last) {
		t.Errorf("address of an instrument = %q, want its row", to)
	}
	viewer.get(t, 404, "/instruments/99")
	viewer.get(t, 403, path+"/instruments/new")
	viewer.get(t, 403, fmt.Sprintf("/instruments/%d/edit", last))

	csv := viewer.get(t, 200, path+"/runsheet.csv")
	csv.has(t, "\ufeffNo.,Type,", "1,Warranty Deed,")
	csv.checkHeaders(t, map[string]string{"Content-Type": "text/csv; charset=utf-8",
		"Content-Disposition": "attachment; filename=Runsheet.csv"})
	if excel := viewer.get(t, 200, path+"/runsheet.xlsx"); !strings.HasPrefix(string(excel.body), "PK") {
		t.Errorf("runsheet.xlsx starts with %.4q, want PK", excel.body)
	}
}

// The header of an abstract shows its order, the people, and the due date.
func TestAbstractWorkHeader(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	staff := h.openBrowser(t, model.RoleStaff)
	path, created := h.createAbstract(t, staff.actor, nil, model.Property{})
	order, err := h.vault.Orders.Create(t.Context(), staff.actor,
		model.OrderDraft{Fields: model.Inputs{"order_number": model.StringInput("T-<7>")}},
		vault.Idempotency[model.Order]{})
	if err != nil {
		t.Fatalf("Orders.Create: %v", err)
	}
	if _, err := h.vault.TitleWork.SetOrder(t.Context(), staff.actor, created.Abstract.ID, order.ID, vault.Match{}); err != nil {
		t.Fatalf("TitleWork.SetOrder: %v", err)
	}
	members := model.Inputs{"searcher": model.JSONInput(fmt.Sprint(staff.actor.ID)), "due_date": model.JSONInput(`"2030-12-01"`)}
	if _, err := h.vault.TitleWork.SetAssignment(t.Context(), staff.actor, created.Abstract.ID, members, vault.Match{}); err != nil {
		t.Fatalf("TitleWork.SetAssignment: %v", err)
	}
	wants := []string{">T-&lt;7&gt;</a>", "<dt>Searcher</dt><dd>Kim of staff</dd>", "Dec 1, 2030"}
	page := staff.get(t, 200, path)
	page.has(t, wants...)
	if header := page.matches(t, `(?s)<dl class="abstract-work"[^>]*>(.*?)</dl>`)[0]; strings.Contains(header, "Examiner") {
		t.Errorf("header has an examiner, want only what is assigned: %s", header)
	}
	staff.post(t, 200, path+"/status", url.Values{"status": {"In Exam"}}, scriptHeader...).has(t, wants...)
	// An order in the trash is not shown.
	if err := h.vault.Orders.Trash(t.Context(), staff.actor, order.ID, vault.Match{}); err != nil {
		t.Fatalf("Orders.Trash: %v", err)
	}
	staff.get(t, 200, path).lacks(t, ">T-&lt;7&gt;</a>")
}

// Each cell is saved on its own, in the formats that users type.
func TestSaveCell(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	staff, viewer := h.openBrowser(t, model.RoleStaff), h.openBrowser(t, model.RoleViewer)
	path, created := h.createAbstract(t, staff.actor, nil, model.Property{County: "Essex"})
	state := staff.script(t, 200, path+"/instruments/row", url.Values{"field": {"type"}, "value": {"mort"}})
	id := state.ID
	if len(state.Rows) != 1 || !strings.Contains(state.Rows[0].HTML, ">Mortgage</td>") || !slices.Equal(state.Sequence, []uint64{id}) {
		t.Fatalf("new row = %+v, want a mortgage", state)
	}
	address := fmt.Sprintf("/instruments/%d/cell", id)
	was := func(field string) string {
		m := regexp.MustCompile(`data-label="` + field + `"(?: data-party="[^"]*")?` +
			`(?: class="[a-z]*")?(?: data-edit="([^"]*)")?(?: title="[^"]*")?>([^<]*)<`).FindStringSubmatch(
			string(staff.get(t, 200, path).body))
		if m == nil {
			t.Fatalf("no cell %s", field)
		}
		return html.UnescapeString(strings.TrimSpace(cmp.Or(m[1], m[2])))
	}
	for _, c := range []struct{ field, label, value, want, shown string }{
		{"type", "Type", "warranty deed", `"type_id":1,`, "Warranty Deed"},
		{"type", "Type", "dot", `"type_id":8`, "Deed of Trust"},
		{"recorded", "Recorded", "05022001", `"recorded":"2001-05-02"`, "5/2/2001"},
		{"recorded", "Recorded", "5/2/2001 2:05 pm", `"recorded_time":"14:05"`, "5/2/2001 2:05 PM"},
		{"recorded", "Recorded", "2001-05-03", `"recorded":"2001-05-03"`, "5/3/2001"},
		{"dated", "Dated", "May 1, 2001", `"dated":"2001-05-01"`, "5/1/2001"},
		{"book_page", "Book/Page", "Deed Book 1022/311-313", `"book_type":"Deed Book","book":"1022","page":"311","page_to":"313"`,
			"Deed Book 1022/311-313"},
		{"book_page", "Book/Page", "1023/7", `"book_type":"Deed Book","book":"1023","page":"7"`, "Deed Book 1023/7"},
		{"instrument_number", "Instr. No.", "2001-0007", `"number":"2001-0007"`, "2001-0007"},
		{"grantors", "Grantors", "Cole, Ned; Cole, Ann;", `"grantors":["Cole, Ned","Cole, Ann"]`, "Cole, Ned; Cole, Ann"},
		{"grantees", "Grantees", "Bea Cole", `"grantees":["Bea Cole"]`, "Bea Cole"},
		{"consideration", "Amount", "$387,500", `"consideration":"387500.00"`, "$387,500.00"},
		{"consideration", "Amount", "$10 &  OVC", `"consideration":"10.00","consideration_text":"$10 \u0026 OVC"`, "$10 & OVC"},
		{"consideration", "Amount", "love and affection", `"consideration_text":"love and affection"`, "love and affection"},
		{"dated", "Dated", "March 9 1998", `"dated":"1998-03-09"`, "3/9/1998"},
		{"recorded", "Recorded", "3-9-98 2:05 pm", `"recorded":"1998-03-09","recorded_time":"14:05"`, "3/9/1998 2:05 PM"},
		{"remarks", "Remarks", "one\ntwo", `"remarks":"one\ntwo"`, "one\ntwo"},
		{"status", "Status", "released", `"status":"released"`, "Released"},
		{"status", "Status", "automatic", `"version":`, ""},
		{"status", "Status", "not applicable", `"status":"not_applicable"`, "Not applicable"},
		{"status", "Status", "", `"version":`, ""},
		{"book_page", "Book/Page", "", `"version":`, ""},
	} {
		t.Run(c.field+" "+c.value, func(t *testing.T) {
			staff.script(t, 200, address, url.Values{"field": {c.field}, "value": {c.value}, "was": {was(c.label)}})
			stored, err := json.Marshal(h.getInstrument(t, id).Instrument)
			if err != nil {
				t.Fatalf("json.Marshal: %v", err)
			}
			if !strings.Contains(string(stored), c.want) {
				t.Errorf("stored %s, want %s", stored, c.want)
			}
			if got := was(c.label); got != c.shown {
				t.Errorf("cell = %q, want %q", got, c.shown)
			}
		})
	}
	for _, c := range []struct{ field, value, want string }{
		{"type", "grant", "“grant” isn't a document type. Select one from the list."},
		{"recorded", "2/30/2001", "“2/30/2001” isn't a date. Write it like 3/9/1998."},
		{"recorded", "5/2/2001 25:00", "must be a time such as 14:05"},
		{"consideration", strings.Repeat("x", 201), "can have at most 200 characters"},
		{"status", "paid", "“paid” isn't a status. Select one from the list."},
		{"status", "e", "“e” isn't a status."},
		{"type", "j", "“j” isn't a document type."},
	} {
		t.Run("invalid "+c.field+" "+c.value, func(t *testing.T) {
			s := staff.script(t, 422, address, url.Values{"field": {c.field}, "value": {c.value}, "was": {was(map[string]string{"type": "Type",
				"recorded": "Recorded", "consideration": "Amount", "status": "Status"}[c.field])}})
			if !strings.Contains(s.Problem, c.want) {
				t.Errorf("problem = %q, want %q", s.Problem, c.want)
			}
			staff.script(t, 422, path+"/instruments/row", url.Values{"field": {c.field}, "value": {c.value}})
		})
	}
	staff.post(t, 404, address, url.Values{"field": {"prior"}, "value": {"true"}}, sheetScript...)
	staff.post(t, 404, path+"/instruments/row", url.Values{"field": {"documents"}, "value": {"1"}}, sheetScript...)
	viewer.post(t, 403, address, url.Values{"field": {"remarks"}, "value": {"x"}}, sheetScript...)
	if sheet, err := h.vault.Instruments.Runsheet(t.Context(), created.Abstract.ID); err != nil || len(sheet.Instruments) != 1 {
		t.Errorf("runsheet = %+v, %v, want one instrument", sheet, err)
	}
}

// A value that can't be right for its column is asked about. The script undoes a change with the fields of the
// response, unless another user changed the cell.
func TestCellQuestionAndUndo(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	staff := h.openBrowser(t, model.RoleStaff)
	path, created := h.createAbstract(t, staff.actor, nil, model.Property{})
	id := h.createInstrument(t, created.Abstract.ID, `{"book_type":"Deed Book","book":"1022","page":"311","grantees":["Bea Cole"]}`)
	address := fmt.Sprintf("/instruments/%d/cell", id)
	typed := url.Values{"field": {"grantees"}, "value": {"3/9/1998"}, "was": {"Bea Cole"}}
	const question = "“3/9/1998” looks like a date. Keep it as a grantee?"
	for _, to := range []string{address, path + "/instruments/row"} {
		if s := staff.script(t, 422, to, typed); s.Question != question || s.Problem != "" {
			t.Errorf("question = %q, problem %q, want %q", s.Question, s.Problem, question)
		}
	}
	typed.Set("keep", "another value")
	staff.script(t, 422, address, typed)
	if got := h.getInstrument(t, id).Grantees; !slices.Equal(got, []string{"Bea Cole"}) {
		t.Errorf("grantees = %q, want Bea Cole", got)
	}
	typed.Set("keep", "3/9/1998")
	staff.script(t, 200, address, typed)
}

// The script undoes and repeats the change of a cell by the token that the server sent. The server restores the values and
// decides which entry of the audit log is an undo.
func TestUndoCell(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	staff, other := h.openBrowser(t, model.RoleStaff), h.openBrowserAs(t, "Lee Roe", model.RoleStaff)
	path, created := h.createAbstract(t, staff.actor, nil, model.Property{})
	id := h.createInstrument(t, created.Abstract.ID, `{"book_type":"Deed Book","book":"1022","page":"311","grantees":["Bea Cole"]}`)
	second := h.createInstrument(t, created.Abstract.ID, `{"book_type":"Deed Book","book":"5","page":"6"}`)
	address := fmt.Sprintf("/instruments/%d/cell", id)
	book := func(was string, of sheetState) url.Values {
		return url.Values{"field": {"book_page"}, "was": {was}, "change": {of.Undo.Token}}
	}
	check := func(what, want string, undo bool) {
		t.Helper()
		if i := h.getInstrument(t, id); i.BookType+" "+i.Book+"/"+i.Page != want {
			t.Errorf("%s: instrument = %+v, want %s", what, i, want)
		}
		if marked := vaulttest.AuditEntries(t, h.vault, 1)[0].Detail["undo"] == "1"; marked != undo {
			t.Errorf("%s: entry marked as undo: %t, want %t", what, marked, undo)
		}
	}
	changed := staff.script(t, 200, address, url.Values{"field": {"book_page"}, "value": {"7/8"}, "was": {"Deed Book 1022/311"},
		"step": {"undo"}})
	check("change", "Deed Book 7/8", false)
	undone := staff.script(t, 200, address, book("Deed Book 7/8", changed))
	check("undo", "Deed Book 1022/311", true)
	repeated := staff.script(t, 200, address, book("Deed Book 1022/311", undone))
	check("redo", "Deed Book 7/8", false)

	for what, tried := range map[string]struct {
		by     *browser
		path   string
		change string
	}{
		"other user":       {other, address, repeated.Undo.Token},
		"forged":           {staff, address, "x" + repeated.Undo.Token},
		"trash":            {staff, fmt.Sprintf("/instruments/%d/trash", id), repeated.Undo.Token},
		"sequence":         {staff, path + "/instruments/sort", repeated.Undo.Token},
		"move":             {staff, fmt.Sprintf("/instruments/%d/move", id), repeated.Undo.Token},
		"other instrument": {staff, fmt.Sprintf("/instruments/%d/cell", second), repeated.Undo.Token},
	} {
		status := 403
		if what == "other instrument" {
			status = 404
		}
		form := book("Deed Book 7/8", repeated)
		form.Set("change", tried.change)
		form.Set("position", "2")
		tried.by.post(t, status, tried.path, form, sheetScript...)
		check(what, "Deed Book 7/8", false)
	}

	h.patchInstrument(t, id, `{"page":"9"}`)
	for _, was := range []string{"Deed Book 7/8", "Deed Book 7/9"} {
		if s := staff.script(t, 412, address, book(was, repeated)); !strings.HasSuffix(s.Problem, "Your change wasn't undone.") {
			t.Errorf("problem = %q, want who changed the cell", s.Problem)
		}
	}
	check("after another user's change", "Deed Book 7/9", false)

	moved := staff.script(t, 200, fmt.Sprintf("/instruments/%d/move", id), url.Values{"position": {"1"}})
	staff.script(t, 200, fmt.Sprintf("/instruments/%d/move", id), url.Values{"position": {"2"}, "change": {moved.Undo.Token}})
	check("undo of a move", "Deed Book 7/9", true)
}

// If another user changed the same cell, nothing is saved. Changes of other cells don't matter.
func TestSaveCellConflict(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	staff := h.openBrowser(t, model.RoleStaff)
	_, created := h.createAbstract(t, staff.actor, nil, model.Property{})
	id := h.createInstrument(t, created.Abstract.ID, `{"book":"1","page":"2"}`)
	address := fmt.Sprintf("/instruments/%d/cell", id)
	h.patchInstrument(t, id, `{"book":"7","remarks":"hers"}`)
	s := staff.script(t, 412, address, url.Values{"field": {"book_page"}, "value": {"9/2"}, "was": {"1/2"}})
	if !strings.HasPrefix(s.Problem, "intake (command line) changed this to “7/2” on ") || len(s.Rows) != 1 {
		t.Errorf("conflict = %+v, want who changed the cell, and its row", s)
	}
	staff.script(t, 200, address, url.Values{"field": {"grantors"}, "value": {"Ann Poe"}, "was": {""}})
	staff.script(t, 200, address, url.Values{"field": {"book_page"}, "value": {"7/2"}, "was": {"1/2"}}) // the same value
	staff.script(t, 200, address, url.Values{"field": {"book_page"}, "value": {"9/2"}, "was": {"7/2"}})
	if i := h.getInstrument(t, id); i.Book != "9" || i.Remarks != "hers" || !slices.Equal(i.Grantors, []string{"Ann Poe"}) {
		t.Errorf("instrument = %+v, want the changes of both users", i)
	}
}

// patchInstrument changes an instrument as another user.
func (ts *testServer) patchInstrument(t *testing.T, id uint64, fields string) {
	t.Helper()
	var in model.Inputs
	if err := json.Unmarshal([]byte(fields), &in); err != nil {
		t.Fatalf("fields of an instrument: %v", err)
	}
	if _, err := ts.vault.Instruments.Patch(t.Context(), model.Actor{Kind: "operator", Name: "intake"}, id, vault.InstrumentPatch{Input: in},
		vault.Match{}); err != nil {
		t.Fatalf("Instruments.Patch: %v", err)
	}
}

// Rows move, go to the trash, and come back, with and without scripts.
func TestRunsheetActions(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	staff := h.openBrowser(t, model.RoleStaff)
	path, created := h.createAbstract(t, staff.actor, nil, model.Property{})
	mortgage := h.createInstrument(t, created.Abstract.ID, `{"type":"Mortgage","recorded":"2001-01-01"}`)
	deed := h.createInstrument(t, created.Abstract.ID, `{"type":"Warranty Deed","recorded":"2002-01-01"}`)
	release := h.createInstrument(t, created.Abstract.ID,
		fmt.Sprintf(`{"type":"Release or Satisfaction","relations":[{"kind":"releases","instrument_id":%d}]}`,
			mortgage))
	at := func(id uint64, action string) string { return fmt.Sprintf("/instruments/%d/%s", id, action) }
	if s := staff.script(t, 200, at(release, "move"), url.Values{"position": {"1"}}); !slices.Equal(s.Sequence, []uint64{release,
		mortgage, deed}) {
		t.Errorf("sequence = %v, want the release first", s.Sequence)
	}
	staff.post(t, 303, at(release, "move"), url.Values{"position": {"2"}}).checkHeaders(t,
		map[string]string{"Location": fmt.Sprintf("%s#instrument-%d", path, release)})
	for _, position := range []string{"", "0", "-1", "x"} {
		staff.post(t, 422, at(release, "move"), url.Values{"position": {position}})
	}
	// Without its release, the mortgage is open.
	s := staff.script(t, 200, at(release, "trash"), nil)
	if len(s.Rows) != 1 || s.Rows[0].ID != mortgage || !strings.Contains(s.Rows[0].HTML, `data-status="open"`) || s.Undo.Path != at(release,
		"restore") {
		t.Errorf("state = %+v, want the open mortgage", s)
	}
	s = staff.script(t, 200, s.Undo.Path, url.Values{"undoes": {s.Undo.Token}})
	if len(s.Rows) != 2 || !slices.Equal(s.Sequence, []uint64{mortgage, release, deed}) {
		t.Errorf("state = %+v, want the release and the mortgage", s)
	}
	trashed := staff.post(t, 303, at(deed, "trash"), nil)
	trashed.checkHeaders(t, map[string]string{"Location": path})
	staff.undo(t, trashed)
	h.getInstrument(t, deed)
}

// The form of an instrument works without scripts. It keeps everything that the user entered.
func TestInstrumentForm(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	staff := h.openBrowser(t, model.RoleStaff)
	path, created := h.createAbstract(t, staff.actor, nil, model.Property{County: "Essex", State: "NY"}, "deed.pdf")
	mortgage := h.createInstrument(t, created.Abstract.ID, `{"type":"Mortgage","book":"1022","page":"314","grantors":["Bea Cole"]}`)
	page := staff.get(t, 200, path+"/instruments/new")
	page.has(t, `<optgroup label="Conveyance"><option value="1" data-grantor="Grantor"`,
		`data-grantor="Mortgagor" data-grantee="Mortgagee" data-recorded="Recorded" data-amount="Amount">Mortgage<`,
		`name="county" autocomplete="off" value="Essex"`, ">Mortgage · Book 1022, Page 314 · Bea Cole</option>", ">deed.pdf</option>", `name="once"`)
	page.lacks(t, `name="position"`)
	once := regexp.MustCompile(`name="once" value="([^"]+)"`).FindSubmatch(page.body)
	form := url.Values{"once": {string(once[1])}, "type_id": {"14"}, "recorded": {"2010-02-30"},
		"grantors":      {"First Bank\r\n\r\n Second Bank "},
		"other_parties": {"Trustee: Ned Cole\r\nMERS"}, "consideration": {strings.Repeat("x", 201)},
		"relations.0.kind": {"releases"}, "relations.0.instrument_id": {"99"},
		"relations.3.kind": {"references"}, "relations.3.text": {"Bk 1 <Pg> 2"}, "documents.1.file_id": {"1"}, "documents.1.pages": {"2-9"},
		"county": {""}, "exception": {"B-II"}, "status": {""}}
	wrong := staff.post(t, 422, path+"/instruments", form)
	wrong.has(t, "Fix 4 fields to continue.", "“2010-02-30” isn&#39;t a date. Write it like 3/9/1998.", `value="2010-02-30"`, `xxx"`,
		"can have at most 200 characters",
		"Row 1: The selected instrument id is invalid.", "Row 1: The pages field must not be above the document&#39;s last page, 2.",
		"First Bank\nSecond Bank", "Bk 1 &lt;Pg&gt; 2", `value="2-9"`, `<option value="14" selected`,
		`aria-label="Related instrument 1" aria-invalid="true"`, `aria-label="Pages of document 1" aria-invalid="true"`)
	wrong.lacks(t, `aria-label="Related instrument 2" aria-invalid`, `aria-label="Document 1" aria-invalid`)
	form.Set("recorded", "1/5/2010")
	form.Set("consideration", "$1,000 & OVC")
	form.Set("relations.0.instrument_id", fmt.Sprint(mortgage))
	form.Set("documents.1.pages", "2")
	to := staff.post(t, 303, path+"/instruments", form).Header.Get("Location")
	if again := staff.post(t, 303, path+"/instruments", form).Header.Get("Location"); again != to || !strings.HasPrefix(to,
		path+"#instrument-") {
		t.Errorf("the form sent twice leads to %q and %q, want the same row", to, again)
	}
	var id uint64
	if _, err := fmt.Sscanf(to[strings.LastIndex(to, "-")+1:], "%d", &id); err != nil {
		t.Fatalf("ID in %s: %v", to, err)
	}
	i := h.getInstrument(t, id)
	want := fmt.Sprintf("14 2010-01-05 [First Bank Second Bank] [{Trustee Ned Cole} { MERS}] 1000.00 $1,000 & OVC [{releases %d } {references 0 Bk 1 <Pg> 2}] [{1 2}]  NY B-II",
		mortgage)
	if got := fmt.Sprintf("%v %v %v %v %v %v %v %v %v %v %v", i.TypeID, i.Recorded, i.Grantors, i.OtherParties, i.Consideration,
		i.ConsiderationText, i.Relations, i.Documents, i.County, i.State, i.Exception); got != want {
		t.Errorf("instrument = %s\nwant %s", got, want)
	}
	if status := h.getInstrument(t, mortgage).Status; status != model.InstrumentReleased {
		t.Errorf("status of the mortgage = %s, want released", status)
	}
	staff.post(t, 303, path+"/instruments", url.Values{"type_id": {""}, "then": {"new"}}).checkHeaders(t,
		map[string]string{"Location": path + "/instruments/new"})

	address := fmt.Sprint("/instruments/", id)
	edit := staff.get(t, 200, address+"/edit")
	edit.has(t, "Trustee: Ned Cole\nMERS", `value="$1,000 &amp; OVC"`, `value="1/5/2010"`, `name="position"`, `value="Bk 1 &lt;Pg&gt; 2"`)
	// Sending the form unchanged changes nothing.
	sent := submittedForm(t, edit)
	before := h.getInstrument(t, id)
	staff.post(t, 303, address, sent)
	if after := h.getInstrument(t, id); after.Version != before.Version {
		t.Errorf("an unchanged form made version %d of %d: %+v", after.Version, before.Version, after)
	}
	// Another user changes one field that this user changes, too, and one that this user doesn't change.
	h.patchInstrument(t, id, `{"remarks":"hers","book":"7","relations":[]}`)
	sent.Set("book", "9")
	sent.Set("position", "1")
	conflict := staff.post(t, 412, address, sent)
	conflict.has(t, "intake (command line) changed this to “7”", `name="pick.book" value="theirs"`, "hers")
	retry := submittedForm(t, conflict)
	retry.Set("pick.book", "mine")
	staff.post(t, 303, address, retry)
	if i := h.getInstrument(t, id); i.Book != "9" || i.Remarks != "hers" || len(i.Relations) != 0 || i.Position != 1 {
		t.Errorf("instrument = %+v, want both users' changes", i)
	}
	staff.post(t, 422, address, url.Values{"position": {"first"}}).has(t, "Enter a row number.", `value="first"`)
	staff.get(t, 404, "/instruments/99/edit")
}

var (
	inputTag    = regexp.MustCompile(`<input[^>]* name="([^"]+)"[^>]*>`)
	valueText   = regexp.MustCompile(` value="([^"]*)"`)
	areaTag     = regexp.MustCompile(`(?s)<textarea[^>]* name="([^"]+)"[^>]*>\n(.*?)</textarea>`)
	selectTag   = regexp.MustCompile(`(?s)<select[^>]* name="([^"]+)"[^>]*>(.*?)</select>`)
	selectedTag = regexp.MustCompile(`<option value="([^"]*)" selected`)
)

// submittedForm returns what a browser would submit for the form on the page.
func submittedForm(t *testing.T, page reply) url.Values {
	t.Helper()
	text, form := page.main(), url.Values{}
	unescape := strings.NewReplacer("&lt;", "<", "&gt;", ">", "&#34;", `"`, "&#39;", "'", "&amp;", "&", "&#43;", "+").Replace
	for _, m := range inputTag.FindAllStringSubmatch(text, -1) {
		unchecked := strings.Contains(m[0], `type="checkbox"`) && !strings.Contains(m[0], " checked")
		if value := valueText.FindStringSubmatch(m[0]); value != nil && !unchecked && !strings.HasPrefix(m[1], "pick.") {
			form.Set(m[1], unescape(value[1]))
		}
	}
	for _, m := range areaTag.FindAllStringSubmatch(text, -1) {
		form.Set(m[1], strings.ReplaceAll(unescape(m[2]), "\n", "\r\n"))
	}
	for _, m := range selectTag.FindAllStringSubmatch(text, -1) {
		form.Set(m[1], "")
		if selected := selectedTag.FindStringSubmatch(m[2]); selected != nil {
			form.Set(m[1], selected[1])
		}
	}
	return form
}

// Each cell of an unknown column is in the remarks unless a person chooses another field, wrong cells are corrected in place,
// and what is added is what the preview shows.
func TestCorrectPastedRows(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	staff := h.openBrowser(t, model.RoleStaff)
	path, created := h.createAbstract(t, staff.actor, nil, model.Property{})
	address := path + "/instruments/paste"
	shown := staff.post(t, 200, address,
		url.Values{"text": {"Instr. #\tType\tRec Date\tExecuted\tGrantor\tGrantee\tExaminer\tAmount\tTract\tDocuments\n" +
			"0077\tJudgment\t3-9-98\t3/8/1998\tFirst Bank\tNed Cole\tKim\t$1.00 ovc\tLot 4\ta.pdf\n" +
			"0078\tWarrenty Deed\t2/30/1998\tApr 1 1998\tA\tB\tKim\tlove and affection\tLot 5\t\n"}})
	shown.has(t, "Add 1 instrument?", "1 row can't be added yet", `name="cell.3.1" value="Warrenty Deed"`,
		`name="cell.3.2" value="2/30/1998"`,
		`>Examiner <span class="badge warn">Unknown`, `>Tract <span class="badge warn">Unknown`, ">3/8/1998<", ">$1.00 ovc<", ">Lot 4<",
		"<del>a.pdf</del>",
		"Defendant:</small> First Bank", "Plaintiff:</small> Ned Cole", `name="swap" value="2"`)
	form := submittedForm(t, shown)
	form.Set("cell.3.1", "wd")
	form.Set("field.6", "leave_out")
	form.Set("field.8", "legal")
	form.Set("confirm", "yes")
	again := staff.post(t, 200, address, form) // not added, because the preview didn't show it
	again.has(t, "Add 1 instrument?", `name="cell.3.2" value="2/30/1998"`, ">wd<", "<del>Kim</del>")
	form = submittedForm(t, again)
	form.Set("cell.3.2", "3/30/1998")
	form.Set("swap", "2")
	swapped := staff.post(t, 200, address, form)
	swapped.has(t, "Add 2 instruments?", "Plaintiff:</small> First Bank", "Defendant:</small> Ned Cole", `name="swapped" value="2"`,
		">3/30/1998<")
	swapped.lacks(t, "can't be added yet", `name="cell.`)
	form = submittedForm(t, swapped)
	form.Set("confirm", "yes")
	staff.post(t, 303, address, form)
	sheet, err := h.vault.Instruments.Runsheet(t.Context(), created.Abstract.ID)
	if err != nil {
		t.Fatalf("Instruments.Runsheet: %v", err)
	}
	var got []string
	for _, i := range sheet.Instruments {
		got = append(got, fmt.Sprint(i.Number, i.Type.Name, i.Recorded, i.Dated, i.Grantors, i.Grantees, i.Consideration,
			i.ConsiderationText, i.Legal, i.Remarks))
	}
	if want := "[0077Judgment1998-03-091998-03-08[Ned Cole] [First Bank]1.00$1.00 ovcLot 4 " +
		"0078Warranty Deed1998-03-301998-04-01[A] [B]love and affectionLot 5]"; fmt.Sprint(got) != want {
		t.Errorf("instruments = %s\nwant %s", got, want)
	}
	staff.post(t, 200, address,
		url.Values{"text": {"1\t1022\t311\t3/10/1998\t3/9/1998\tmtg\tNed Cole\tFirst Bank\n2\t1022\t313\t3/11/1998\t3/9/1998\tmtg\tA\tB"}}).has(
		t, "The rows have no column headings", "Column 2", `data-label="Book">1022<`, `data-label="Page">313<`, `data-label="Dated">3/9/1998<`,
		`data-label="Recorded">3/11/1998<`,
		"Mortgagor:</small> Ned Cole")
}

var (
	headCell = regexp.MustCompile(`(?s)<th scope="col"[^>]*>(.*?)</th>`)
	bodyRow  = regexp.MustCompile(`(?s)<tr[^>]* data-id="[^"]*"[^>]*>(.*?)</tr>|<tr class="gap">(.*?)</tr>`)
	bodyCell = regexp.MustCompile(`(?s)<t[hd][^>]*>(.*?)</t[hd]>`)
	anyTag   = regexp.MustCompile(`<[^>]*>`)
)

// copiedRunsheet returns what a browser copies from the runsheet on the page of an abstract.
func copiedRunsheet(page reply) string {
	text := func(cell string) string {
		cell = strings.TrimSpace(html.UnescapeString(anyTag.ReplaceAllString(cell, "")))
		if strings.ContainsAny(cell, "\n\"") {
			cell = `"` + strings.ReplaceAll(cell, `"`, `""`) + `"`
		}
		return cell
	}
	_, sheet, _ := strings.Cut(string(page.body), `<table class="list stack runsheet"`)
	sheet, _, _ = strings.Cut(sheet, "</table>")
	var cells []string
	for _, m := range headCell.FindAllStringSubmatch(sheet, -1) {
		cells = append(cells, text(m[1]))
	}
	copied := strings.Join(cells, "\t") + "\n"
	for _, row := range bodyRow.FindAllStringSubmatch(sheet, -1) {
		cells = nil
		for _, m := range bodyCell.FindAllStringSubmatch(row[0], -1) {
			cells = append(cells, text(m[1]))
		}
		copied += strings.Join(cells, "\t") + "\n"
	}
	return copied
}

// The runsheet itself comes back with every field: copied from its page, and as a CSV file or workbook.
func TestRunsheetRoundTrip(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	staff := h.openBrowser(t, model.RoleStaff)
	from, created := h.createAbstract(t, staff.actor, nil, model.Property{County: "Essex"})
	id := created.Abstract.ID
	h.createInstrument(t, id,
		`{"type":"Warranty Deed","instrument_number":"0077","recorded":"1990-01-02","grantors":["A"],"grantees":["Poe; Sons"],
		"county":"Wexcombe","book_type":"Deed Book","book":"12","page":"0034","page_to":"0036","dated":"1989-12-31","remarks":"one\ntwo",
		"consideration":"10","consideration_text":"$10 & OVC","recorded_time":"14:05"}`)
	mortgage := h.createInstrument(t, id,
		`{"type":"Mortgage","instrument_number":"78","recorded":"1998-03-09","grantors":["Ned \"Red\" Cole"],
		"grantees":["First Bank"],"consideration":"96000.50",
		"book":"13","page":"7","county":"Wexcombe","expires":"2028-03-09","legal":"Lot 7",
		"parcels":["21-4"],"other_parties":[{"role":"Trustee","name":"T Co"}],
		"exception":"B-II","requirement":"B-I","cleared":"2001-01-02"}`)
	h.createInstrument(t, id, fmt.Sprintf(`{"type":"Release or Satisfaction","recorded":"2010-01-05","county":"Wexcombe","relations":[
		{"kind":"releases","instrument_id":%d},{"kind":"references","text":"Bk 9 Pg 8"}]}`, mortgage))
	h.createInstrument(t, id,
		`{"type":"Judgment","recorded":"2011-01-05","grantors":["Ned Cole"],"grantees":["Gap & Co"],"status":"released","county":"Wexcombe",
		"case_number":"24-117","court":"Probate","recording_system":"registered","certificate_of_title":"9"}`)
	h.createInstrument(t, id, `{"type":"Quitclaim Deed","recorded":"2012-01-05","grantors":["Zed"],"grantees":["B"],"county":"Wexcombe"}`)
	// onPage removes the fields that the page of the runsheet doesn't show. Files have all of them.
	onPage := func(i *model.Instrument) {
		i.Expires, i.Legal, i.Parcels, i.OtherParties, i.Exception, i.Requirement, i.Cleared, i.County = "", "", nil, nil, "", "", "", ""
		i.CaseNumber, i.Court, i.RecordingSystem, i.CertificateOfTitle = "", "", "", ""
	}
	stored := func(abstract uint64, edit func(*model.Instrument)) (list []string) {
		sheet, err := h.vault.Instruments.Runsheet(t.Context(), abstract)
		if err != nil {
			t.Fatalf("Instruments.Runsheet: %v", err)
		}
		for _, i := range sheet.Instruments {
			for n, r := range i.Relations {
				if r.InstrumentID != 0 {
					i.Relations[n] = model.Relation{Kind: r.Kind, Text: "row 2"}
				}
			}
			slices.SortFunc(i.Relations, func(a, b model.Relation) int { return strings.Compare(a.Text, b.Text) })
			i.StatusSetBy = nil // a pointer
			i.Instrument.ID, i.Instrument.AbstractID, i.Version, i.CreatedAt, i.UpdatedAt = 0, 0, 0, time.Time{}, time.Time{}
			edit(&i.Instrument)
			list = append(list, fmt.Sprintf("%+v %s", i.Instrument, i.Status))
		}
		return list
	}
	compare := func(t *testing.T, abstract uint64, edit func(*model.Instrument)) {
		t.Helper()
		got, want := stored(abstract, edit), stored(id, edit)
		for n := range want {
			if n >= len(got) || got[n] != want[n] {
				t.Errorf("row %d = %s\nwant %s", n+1, got[min(n, len(got)-1)], want[n])
			}
		}
	}
	t.Run("copied from the page", func(t *testing.T) {
		to, pasted := h.createAbstract(t, staff.actor, nil, model.Property{})
		copied := copiedRunsheet(staff.get(t, 200, from))
		shown := staff.post(t, 200, to+"/instruments/paste", url.Values{"text": {copied}})
		shown.has(t, "Add 5 instruments?")
		shown.lacks(t, "Unknown</span>")
		form := submittedForm(t, shown)
		form.Set("confirm", "yes")
		staff.post(t, 303, to+"/instruments/paste", form)
		compare(t, pasted.Abstract.ID, onPage)
	})
	for _, extension := range []string{".csv", ".xlsx"} {
		t.Run(extension, func(t *testing.T) {
			to, imported := h.createAbstract(t, staff.actor, nil, model.Property{})
			file := staff.get(t, 200, from+"/runsheet"+extension)
			lee := h.newUser(t, "lee"+extension[1:], model.RoleStaff)
			body, kind := fileForm(string(file.body))
			shown := h.sendBody(t, 200, "POST", to+"/runsheet/upload", body, lee.cookie, kind)
			shown.has(t, "5 instruments in the file")
			shown.lacks(t, "Unknown</span>", "rejected")
			form := submittedForm(t, shown)
			form["row"] = nil
			for _, m := range regexp.MustCompile(`name="row" value="([0-9]+)"`).FindAllSubmatch(shown.body, -1) {
				form.Add("row", string(m[1]))
			}
			form.Del("check")
			lee.post(t, 303, to+"/runsheet/accept", form)
			compare(t, imported.Abstract.ID, func(*model.Instrument) {})
		})
	}
}

// Pasted rows are shown first, with the reasons why some can't be added. Sending the confirmation
// twice adds them once.
func TestPasteRows(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	staff := h.openBrowser(t, model.RoleStaff)
	path, created := h.createAbstract(t, staff.actor, nil, model.Property{})
	address := path + "/instruments/paste"
	staff.get(t, 200, address).has(t, `name="text"`, "Check rows")
	count := func() int {
		sheet, err := h.vault.Instruments.Runsheet(t.Context(), created.Abstract.ID)
		if err != nil {
			t.Fatalf("Instruments.Runsheet: %v", err)
		}
		return len(sheet.Instruments)
	}
	text := "No.\tType\tRecorded\tBook/Page\tGrantor\tGrantee\tAmount\tRelations\r\n1\tmtg\t5/2/2001\tBk 1022 Pg 314\tBea Cole; Ned <Cole>\tFirst Bank\t$96,000.00\t\r\n" +
		"2\tLien\t\t\t\t\t\t\r\n3\tsat\t1/5/2010\t\t\t\t\treleases 1\r\n4\tPlat\t2/30/2010\t\t\t\tlots\t\r\n"
	shown := staff.post(t, 200, address, url.Values{"text": {text}})
	shown.has(t, "Add 2 instruments?", "2 rows can't be added yet", `name="cell.3.1" value="Lien"`, "“Lien” isn&#39;t a document type.",
		`name="cell.5.2" value="2/30/2010"`, "“2/30/2010” isn&#39;t a date", "$96,000.00",
		"1022/314", "Ned &lt;Cole&gt;", "Release or Satisfaction", "Add 2 instruments, leave out 2 rows")
	part := staff.post(t, 200, address, url.Values{"text": {text}}, scriptHeader...)
	part.has(t, "Add 2 instruments?")
	part.lacks(t, "<html", "textarea")
	if n := count(); n != 0 {
		t.Fatalf("%d instruments after the preview, want none", n)
	}
	confirmed := url.Values{"text": {text}, "confirm": {"yes"}, "once": {"x"}}
	for range 2 {
		staff.post(t, 303, address, confirmed).checkHeaders(t, map[string]string{"Location": path})
	}
	sheet, err := h.vault.Instruments.Runsheet(t.Context(), created.Abstract.ID)
	if err != nil || len(sheet.Instruments) != 2 {
		t.Fatalf("runsheet = %+v, %v, want 2 instruments", sheet, err)
	}
	if got := fmt.Sprint(sheet.Instruments[0].Status, sheet.Instruments[0].Grantors, sheet.Instruments[0].Page,
		sheet.Instruments[1].Type.Name); got !=
		"released[Bea Cole Ned <Cole>]314Release or Satisfaction" {
		t.Errorf("runsheet = %s", got)
	}
	// Without a No., relations refer to the runsheet.
	more := url.Values{"text": {"Type\tRelations\nsat\treleases 1; releases 9"}, "confirm": {"yes"}, "once": {"y"}}
	staff.post(t, 303, address, more)
	if sheet, err = h.vault.Instruments.Runsheet(t.Context(), created.Abstract.ID); err != nil || len(sheet.Instruments) != 3 ||
		fmt.Sprint(sheet.Instruments[2].Relations) != fmt.Sprintf("[{releases %d } {releases 0 No. 9}]", sheet.Instruments[0].ID) {
		t.Errorf("runsheet = %+v, %v, want a release of the first instrument", sheet.Instruments, err)
	}
	circle := "No.\tType\tRelations\n1\tsat\treleases 2\n2\tsat\treleases 1\n3\tsat\treleases 3\n4\tPlat\t"
	staff.post(t, 200, address, url.Values{"text": {circle}}).has(t, "Add 1 instrument?", "3 rows can't be added yet")
	for _, c := range []struct{ name, text, column, want string }{
		{"without a header", "Plat\t\t5/2/2001\tPlat Cabinet A, Slide 35", "", "Plat Cabinet A/35"},
		{"from a column", "Ann Poe\nBea Cole", "grantees", "Add 2 instruments?"},
		{"from the status", "Open\t\tcall back", "status", "Add 1 instrument?"},
		{"line break in a cell", "Plat\t\t\t\t\t\"Ann Poe\nBea Cole\"\nxx", "type", "Ann Poe; Bea Cole"},
	} {
		t.Run(c.name, func(t *testing.T) {
			staff.post(t, 200, address, url.Values{"text": {c.text}, "column": {c.column}}).has(t, c.want)
		})
	}
	staff.post(t, 200, address, url.Values{"text": {"Nothing\nat all"}, "column": {"type"}, "confirm": {"yes"}}).has(t, "No rows can be added")
	for _, text := range []string{" \n", `"`, "\"\"\n\" \""} {
		staff.post(t, 422, address, url.Values{"text": {text}}).has(t, "Paste at least one row.")
	}
	staff.post(t, 422, address, url.Values{"text": {strings.Repeat("Plat\n", 501)}}).has(t, "Paste at most 500 rows at a time")
}

// The history of an abstract shows its instruments, those in the trash, too.
func TestInstrumentHistory(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	staff := h.openBrowser(t, model.RoleStaff)
	path, created := h.createAbstract(t, staff.actor, nil, model.Property{})
	vaulttest.CreateInstrument(t, h.vault, created.Abstract.ID, `{"type":"Mortgage","book":"7","page":"8","grantors":["Bea <Cole>"]}`)
	last := vaulttest.CreateInstrument(t, h.vault, created.Abstract.ID, `{"type":"Judgment"}`)
	if err := h.vault.Instruments.Trash(t.Context(), staff.actor, last.ID, vault.Match{}); err != nil {
		t.Fatalf("Instruments.Trash: %v", err)
	}
	for _, page := range []reply{staff.get(t, 200, path), staff.get(t, 200, path+"/history")} {
		page.has(t, "added Judgment, Mortgage · Book 7, Page 8 · Bea &lt;Cole&gt;", "deleted Judgment")
		page.lacks(t, "Show all")
	}

	// A line has three names at first, and all of them on demand, also the same ones.
	h.clock.Advance(time.Hour)
	for _, fields := range []string{`{"book":"1"}`, `{"book":"2"}`, `{}`, `{}`, `{"type":"Plat"}`, `{"type":"Release or Satisfaction"}`} {
		vaulttest.CreateInstrument(t, h.vault, created.Abstract.ID, fields)
	}
	for _, page := range []reply{staff.get(t, 200, path), staff.get(t, 200, path+"/history")} {
		page.has(t, "added Release or Satisfaction, Plat, Instrument, and 3 more", "<details><summary>Show all 6</summary><ul>"+
			"<li>Release or Satisfaction</li><li>Plat</li><li>Instrument</li><li>Instrument</li><li>Instrument · Book 2</li>"+
			"<li>Instrument · Book 1</li></ul></details>")
	}
}

// The form and the cells of the runsheet ask before an instrument is stored twice.
func TestRunsheetAsksAboutDuplicate(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	staff := h.openBrowser(t, model.RoleStaff)
	created := vaulttest.CreateAbstract(t, h.vault, vaulttest.PDFDoc("a.pdf", "1"))
	path := "/abstracts/" + h.vault.Secrets.IDs("abstracts").Encode(created.Abstract.ID)
	count := func(want int) {
		t.Helper()
		sheet, err := h.vault.Instruments.Runsheet(t.Context(), created.Abstract.ID)
		if err != nil || len(sheet.Instruments) != want {
			t.Errorf("runsheet = %+v, %v, want %d instruments", sheet.Instruments, err, want)
		}
	}
	staff.post(t, 303, path+"/instruments", url.Values{"type_id": {"1"}, "instrument_number": {"117"}})
	form := url.Values{"instrument_number": {"00117"}, "remarks": {"Faint."}, "then": {"new"}}
	staff.post(t, 422, path+"/instruments", form).has(t, "Already on the runsheet as No. 1: Warranty Deed, Inst. 117",
		"Fill blank fields of No. 1", `value="00117"`, "Faint.", `name="asked_then" value="new"`)
	form.Set("documents.0.file_id", "1")
	staff.post(t, 422, path+"/instruments", form).has(t, "Add document to No. 1")
	// Another type can be another instrument, so the question has the focus on keeping both.
	other := url.Values{"type_id": {"10"}, "instrument_number": {"117"}, "documents.0.file_id": {"1"}}
	staff.post(t, 422, path+"/instruments", other).has(t, "May already be on the runsheet as No. 1",
		`<button class="primary" name="duplicate" value="keep" autofocus>`, `<button name="duplicate" value="add">`)
	form.Set("duplicate", "add")
	form.Set("duplicate_of", "1")
	done := staff.post(t, 303, path+"/instruments", form)
	if to := done.Header.Get("Location"); to != path+"/instruments/new" {
		t.Errorf("Location = %q, want the form for another instrument", to)
	}
	count(1)

	cell := func(status int, address string, values url.Values) map[string]any {
		t.Helper()
		var state map[string]any
		if err := json.Unmarshal(staff.post(t, status, address, values, sheetScript...).body, &state); err != nil {
			t.Fatalf("decode the response of %s: %v", address, err)
		}
		return state
	}
	typed := url.Values{"field": {"instrument_number"}, "value": {"117"}}
	state := cell(422, path+"/instruments/row", typed)
	if fmt.Sprint(state["question"], state["duplicate"], state["position"]) != "Already on the runsheet as No. 1: Warranty Deed, Inst. 117.1 1" {
		t.Errorf("response = %v, want a question about No. 1", state)
	}
	count(1)
	typed.Set("both", "117")
	cell(200, path+"/instruments/row", typed)
	count(2)
	cell(200, "/instruments/2/cell", url.Values{"field": {"remarks"}, "value": {"Faint."}})
	changed := cell(200, "/instruments/2/cell", url.Values{"field": {"instrument_number"}, "value": {"118"}, "was": {"117"}})
	token := changed["undo"].(map[string]any)["token"].(string)
	cell(422, "/instruments/2/cell", url.Values{"field": {"instrument_number"}, "value": {"117"}, "was": {"118"}})
	cell(200, "/instruments/2/cell", url.Values{"field": {"instrument_number"}, "change": {token}, "was": {"118"}})
}

// The runsheet is sorted by recording date with one button, which Undo reverses. A row whose date fits in no
// single place of the chosen sequence is marked.
func TestSortRunsheet(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	staff, viewer := h.openBrowser(t, model.RoleStaff), h.openBrowser(t, model.RoleViewer)
	path, created := h.createAbstract(t, staff.actor, nil, model.Property{})
	for _, text := range []string{`{"book":"8111","recorded":"2022-01-02"}`, `{"book":"8222","recorded":"1990-01-02"}`} {
		h.createInstrument(t, created.Abstract.ID, text)
	}
	sequence := func(want string, page reply) {
		t.Helper()
		list := strings.Fields(want)
		slices.SortFunc(list, func(a, b string) int {
			return strings.Index(string(page.body), a) - strings.Index(string(page.body), b)
		})
		if got := strings.Join(list, " "); got != want {
			t.Errorf("runsheet = %q, want %s", got, want)
		}
	}
	const button = `action="%s/instruments/sort"%s>`
	staff.get(t, 200, path).has(t, fmt.Sprintf(button, path, " hidden"))
	state := staff.script(t, 200, "/instruments/2/move", url.Values{"position": {"2"}})
	if !state.Chosen {
		t.Errorf("state after a move = %+v, want a chosen sequence", state)
	}
	h.createInstrument(t, created.Abstract.ID, `{"book":"8333","recorded":"2000-01-02"}`)
	chosen := staff.get(t, 200, path)
	chosen.has(t, fmt.Sprintf(button, path, ""), "Check position")
	for _, page := range []string{path, path + "/print", path + "/runsheet.csv"} {
		sequence("8111 8222 8333", staff.get(t, 200, page))
	}
	viewer.get(t, 200, path).lacks(t, "instruments/sort")
	viewer.post(t, 403, path+"/instruments/sort", nil)
	notice, undo, fields := h.undoOf(t, staff.post(t, 303, path+"/instruments/sort", nil))
	if notice != "Runsheet sorted by recording date." {
		t.Errorf("notice = %q", notice)
	}
	sorted := staff.get(t, 200, path)
	sorted.has(t, fmt.Sprintf(button, path, " hidden"))
	sorted.lacks(t, "Check position")
	for _, page := range []string{path, path + "/print", path + "/runsheet.csv"} {
		sequence("8222 8333 8111", staff.get(t, 200, page))
	}
	if notice := h.noticeOf(t, staff.post(t, 303, undo, fields)); notice != "Sequence restored." {
		t.Errorf("notice = %q", notice)
	}
	sequence("8111 8222 8333", staff.get(t, 200, path))
	staff.post(t, 409, undo, fields)
}

// The button of pasted rows counts only those that are added, by the choices for rows that are on the runsheet.
func TestPasteCountsChosenRows(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	staff := h.openBrowser(t, model.RoleStaff)
	path, created := h.createAbstract(t, staff.actor, nil, model.Property{})
	h.createInstrument(t, created.Abstract.ID, `{"type":"Mortgage","book":"5","page":"6"}`)
	const header, known = "Doc Type\tBook\tPage\tConsid.\n", "Mortgage\t5\t6\t$1.00 ovc\n"
	form := url.Values{"text": {header + known + "Warranty Deed\t5\t7\t$2\n"}}
	shown := staff.post(t, 200, path+"/instruments/paste", form)
	shown.has(t, "Add 1 instrument?", "Add 1 instrument, skip 1 row</button>", "Already on the runsheet as No. 1")
	shown.lacks(t, "Unknown</span>")
	all := submittedForm(t, shown)
	all.Set(shown.matches(t, `<select name="([^"]+)" aria-label="What to do`)[0], "add")
	staff.post(t, 200, path+"/instruments/paste", all).has(t, "Add 2 instruments?", ">Add 2 instruments</button>")
	none := staff.post(t, 200, path+"/instruments/paste", url.Values{"text": {header + known}})
	none.has(t, "All rows are on the runsheet already")
	none.lacks(t, `name="confirm"`)
}

// An instrument that reaches the runsheet after the preview of pasted rows is shown before anything is added. The
// same form sent twice is still answered like the first one.
func TestPasteChecksAgain(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	staff := h.openBrowser(t, model.RoleStaff)
	path, created := h.createAbstract(t, staff.actor, nil, model.Property{})
	address := path + "/instruments/paste"
	shown := staff.post(t, 200, address, url.Values{"text": {"Doc Type\tBook\tPage\nMortgage\t5\t6\nPlat\t9\t1\n"}})
	form := submittedForm(t, shown)
	form.Set("confirm", "yes")
	h.createInstrument(t, created.Abstract.ID, `{"type":"Mortgage","book":"5","page":"6"}`)
	again := staff.post(t, 200, address, form)
	again.has(t, "Already on the runsheet as No. 1", "Add 1 instrument, skip 1 row</button>")
	form = submittedForm(t, again)
	form.Set("confirm", "yes")
	for range 2 {
		staff.post(t, 303, address, form)
	}
	sheet, err := h.vault.Instruments.Runsheet(t.Context(), created.Abstract.ID)
	if err != nil || len(sheet.Instruments) != 2 {
		t.Errorf("runsheet = %+v, %v, want 2 instruments", sheet, err)
	}
}

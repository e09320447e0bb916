package ui_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"deedkeep/app/model"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

// addInstrument records an instrument. fields is a JSON object of the API.
func (ts *testServer) addInstrument(t *testing.T, abstract uint64, fields string) model.Instrument {
	t.Helper()
	var in model.Inputs
	if err := json.Unmarshal([]byte(fields), &in); err != nil {
		t.Fatalf("decode %s: %v", fields, err)
	}
	created, err := ts.vault.Instruments.Create(t.Context(), vaulttest.Operator, abstract, vault.InstrumentPatch{Input: in},
		vault.Idempotency[vault.InstrumentView]{})
	if err != nil {
		t.Fatalf("Instruments.Create: %v", err)
	}
	return created.Instrument
}

// location returns the address that a response redirects to, without its fragment.
func (r reply) location() string {
	to, _, _ := strings.Cut(r.Header.Get("Location"), "#")
	return to
}

// The form of a new abstract for an order shows what it carries over. Saving it links the abstract and
// sets its due date. The order lists the abstract, which can be unlinked and linked again.
func TestAbstractOfOrder(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	kim := h.openBrowser(t, model.RoleStaff)
	order := kim.post(t, 303, "/orders", url.Values{"order_number": {"2026-9001"}, "due_date": {"2026-12-01"}, "county": {"Wexcombe"},
		"address": {"9 Elm St"}, "custom_fields.product": {"Two Owner"}, "custom_fields.client": {"Acme Bank"}, "custom_fields.client_file_number": {"A-77"},
		"custom_fields.buyer_borrower": {"Ann Lee"}}).location()
	kim.get(t, 200, order).has(t, "No abstract is linked to this order yet", "Prior searches", `<h2 id="notes-heading">Team notes</h2>`)
	form := kim.get(t, 200, kim.get(t, 200, order).matches(t, `href="(/abstracts/new\?order=[^"]+)"`)[0])
	form.has(t, "Filled in from order", "Acme Bank", "A-77", `value="2026-9001"`, `value="Ann Lee"`,
		`name="due_date" type="date" max="9999-12-31" value="2026-12-01"`,
		"From the order", `<option value="Two Owner" selected>`)
	opaque := form.matches(t, `name="order" value="([^"]+)"`)[0]
	sent := url.Values{"order": {opaque}, "template": {"1"}, "custom_fields.file_number": {"2026-9001"}, "due_date": {"11/30/2026"},
		"address": {"9 Elm St"}, "county": {"Wexcombe"}, "once": {"x"}}
	kim.post(t, 422, "/abstracts", url.Values{"order": {opaque}, "county": {"Wexcombe"}, "due_date": {"soon"}}).has(t, "isn&#39;t a date",
		`value="soon"`)
	abstract := kim.post(t, 303, "/abstracts", sent).location()
	if again := kim.post(t, 303, "/abstracts", sent).location(); again != abstract {
		t.Errorf("the same form again: got %s, want %s", again, abstract)
	}
	page := kim.get(t, 200, abstract)
	page.has(t, `<a href="`+order+`">2026-9001</a>`, "Acme Bank", "A-77", `<time datetime="2026-11-30">`, "<dt>Order due</dt>")
	page.lacks(t, "Other orders")
	for _, once := range []string{`<a href="` + order + `">2026-9001</a>`, "<dt>Due</dt>", "<dt>Client</dt>"} {
		if n := strings.Count(string(page.body), once); n != 1 {
			t.Errorf("the page shows %s %d times, want 1", once, n)
		}
	}
	kim.post(t, 303, abstract+"/people", url.Values{"due_date": {"2026-12-01"}, "version": {"1"}})
	kim.get(t, 200, abstract).lacks(t, "<dt>Order due</dt>")
	kim.post(t, 303, abstract+"/people", url.Values{"due_date": {"2026-11-30"}, "version": {"2"}})
	linked := kim.get(t, 200, order)
	linked.has(t, `<a class="name" href="`+abstract+`">`, `<time datetime="2026-11-30">`, "Unlink")
	linked.lacks(t, "No abstract is linked")

	unlinked := kim.post(t, 303, abstract+"/order-link", url.Values{"order": {""}, "back": {order}})
	if unlinked.location() != order {
		t.Errorf("Location = %q, want the order", unlinked.location())
	}
	kim.get(t, 200, order).has(t, "No abstract is linked")
	kim.undo(t, unlinked)
	kim.get(t, 200, order).has(t, `<a class="name" href="`+abstract+`">`)

	kim.post(t, 303, abstract+"/order-link", url.Values{"order": {""}})
	kim.get(t, 200, abstract).has(t, `<h2 id="ordered">Orders</h2>`, order)
	part := kim.get(t, 200, order+"/abstract-link?q=2026-90", "HX-Request", "true")
	part.lacks(t, "<html")
	value := part.matches(t, `name="abstract" value="([^"]+)"`)[0]
	kim.get(t, 200, abstract+"/order-link?q=9001").has(t, "No matches") // a number is found by its beginning
	kim.get(t, 200, abstract+"/order-link?q=2026-9").has(t, `name="order" value="`+opaque+`"`)
	kim.post(t, 303, order+"/abstract-link", url.Values{"abstract": {value}})
	kim.get(t, 200, order+"/abstract-link?q=2026-90").has(t, "Currently linked")
	kim.post(t, 422, order+"/abstract-link", url.Values{"abstract": {"x"}})
	kim.post(t, 422, abstract+"/order-link", url.Values{"order": {"x"}})

	kim.post(t, 303, order+"/trash", nil)
	kim.get(t, 200, abstract).has(t, "In the trash")
	kim.post(t, 422, "/abstracts", url.Values{"order": {opaque}, "county": {"Wexcombe"}}).has(t, "The order was deleted.", `value="Wexcombe"`)
	viewer := h.openBrowser(t, model.RoleViewer)
	viewer.get(t, 403, abstract+"/order-link")
	viewer.get(t, 200, abstract).lacks(t, "/people?edit", "Certify search", "Create bring-down", "Add note")
}

// The template is that of the order's product. A product that no template has leaves the search type
// blank, and the form says so.
func TestTemplateOfProduct(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	kim := h.openBrowser(t, model.RoleStaff)
	fields, err := h.vault.Orders.Fields(t.Context())
	if err != nil {
		t.Fatalf("Orders.Fields: %v", err)
	}
	for i := range fields {
		if fields[i].Key == "product" {
			fields[i].Options = append(fields[i].Options, "Flood")
		}
	}
	if _, err := h.vault.Orders.EditFields(t.Context(), vaulttest.Operator, fields, "", false); err != nil {
		t.Fatalf("Orders.EditFields: %v", err)
	}
	for product, template := range map[string]string{"30 Year": "Residential Abstract", "Update": "Residential Abstract",
		"O&E": "Ownership and Encumbrance Report", "Commercial Abstract": "Commercial Abstract", "Bring-Down": "Update / Bring-Down",
		"Flood": "Residential Abstract"} {
		t.Run(product, func(t *testing.T) {
			order := kim.post(t, 303, "/orders", url.Values{"order_number": {product}, "custom_fields.product": {product}}).location()
			form := kim.get(t, 200, kim.get(t, 200, order).matches(t, `href="(/abstracts/new\?order=[^"]+)"`)[0])
			if got := form.matches(t, `<option value="[0-9]+" selected>([^<]+)`)[0]; !strings.HasPrefix(got, template) {
				t.Errorf("template = %q, want %s", got, template)
			}
			if product == "Flood" {
				form.has(t, "The order's product “Flood” has no matching search type")
			} else {
				form.lacks(t, "no matching search type")
			}
		})
	}
}

// The assignment is edited on the abstract. A change of another user in the meantime is shown.
func TestPeople(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	kim := h.openBrowser(t, model.RoleStaff)
	h.createUser(t, "Vera Viewer", model.RoleViewer)
	path, _ := h.createAbstract(t, vaulttest.Operator, map[string]string{"file_number": "26-17"}, model.Property{County: "Albany"})
	form := kim.get(t, 200, path+"/people?edit=1")
	form.has(t, "Kim of staff", "Owner", `name="version" value="0"`)
	form.lacks(t, "Vera Viewer")
	me := fmt.Sprint(kim.actor.ID)
	kim.post(t, 422, path+"/people", url.Values{"searcher": {me}, "due_date": {"soon"}}).has(t, "isn&#39;t a date", `value="soon"`,
		`<option value="`+me+`" selected>`)
	saved := kim.post(t, 200, path+"/people", url.Values{"searcher": {me}, "due_date": {"12/1/2026"}, "version": {"0"}}, "HX-Request", "true")
	saved.has(t, "Kim of staff", `<time datetime="2026-12-01">`, "autofocus")
	saved.lacks(t, "<html", "<select")
	clash := kim.post(t, 412, path+"/people", url.Values{"examiner": {me}, "version": {"0"}})
	clash.has(t, "Someone else changed the searcher, examiner, or due date", "Searcher: Kim of staff. Examiner: none. Due: Dec 1, 2026.",
		`name="version" value="1"`)
	if got := kim.post(t, 303, path+"/people", url.Values{"examiner": {me}, "searcher": {me}, "version": {"1"}}); got.location() != path {
		t.Errorf("Location = %q, want the abstract", got.location())
	}
	kim.get(t, 200, "/").has(t, `<h2 id="my-work"><a href="/work">My work</a></h2>`, "26-17", "Searcher and examiner")
	kim.get(t, 200, "/work").has(t, `href="`+path+`"`)
	kim.post(t, 303, path+"/status", url.Values{"status": {"Complete"}})
	kim.get(t, 200, "/").lacks(t, "My work")
	kim.get(t, 200, "/work").has(t, "No open work")
	viewer := h.openBrowser(t, model.RoleViewer)
	viewer.get(t, 200, path+"/people?edit=1").lacks(t, "<select")
	viewer.post(t, 403, path+"/people", url.Values{"searcher": {me}})
}

// Names run, exceptions, and indices searched are in one place of an abstract's page: the section shows the rows and what
// the template's field holds, and edits both. Their text stays text.
func TestSectionsHoldTheirFields(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	kim := h.openBrowser(t, model.RoleStaff)
	path, a := h.createAbstract(t, vaulttest.Operator, map[string]string{"names_run": "See <paper>", "exceptions": "Taxes of 2026",
		"indices_searched": "UCC", "legal_description": "Lot 4"}, model.Property{County: "Albany"})
	kim.post(t, 303, path+"/names-run", url.Values{"name": {"Lee, Ann"}})
	page := kim.get(t, 200, path)
	labels := regexp.MustCompile(`(?s)<(?:h2|h3|dt|th)\b[^>]*>(.*?)</`).FindAllStringSubmatch(string(page.body), -1)
	for want, count := range map[string]int{"names run": 1, "exceptions": 0, "exceptions, as text": 2, "indices searched": 2,
		"legal description": 1} { // a heading and its hidden term
		got := 0
		for _, label := range labels {
			if strings.EqualFold(strings.TrimSpace(label[1]), want) {
				got++
			}
		}
		if got != count {
			t.Errorf("%q labels %d times, want %d", want, got, count)
		}
	}
	page.has(t, "See &lt;paper&gt;", "Taxes of 2026", "Lee, Ann")
	for group, field := range map[string]string{"notes": "names_run", "details": "indices_searched"} {
		kim.get(t, 200, path+"?edit="+group).lacks(t, `name="custom_fields.`+field+`"`)
	}
	for field, value := range map[string]string{"names_run": "Roe, Bo", "exceptions": "Easement", "indices_searched": "Plats"} {
		form := hiddenFields(kim.get(t, 200, path+"?edit="+field))
		form.Set("group", field)
		form.Set("custom_fields."+field, value)
		kim.post(t, 303, path, form)
		kim.get(t, 200, path+"?group="+field, "HX-Request", "true").has(t, value, `id="group-`+field+`"`)
	}
	stored := h.getAbstract(t, a.Abstract.ID).Abstract.Custom
	if got := stored.Text("names_run") + ", " + stored.Text("exceptions"); got != "Roe, Bo, Easement" {
		t.Errorf("fields = %q, want the texts", got)
	}
	kim.get(t, 200, path+"/history").has(t, "Names Run", "Roe, Bo")
}

// The names run is a table that is edited as a whole. Rows are added and removed without scripts, and
// rejected rows keep what was typed.
func TestNamesRun(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	kim := h.openBrowser(t, model.RoleStaff)
	path, _ := h.createAbstract(t, vaulttest.Operator, map[string]string{"names_run": "See <paper>"}, model.Property{County: "Albany"})
	section := path + "/names-run"
	kim.get(t, 200, path).has(t, "No names run yet", "See &lt;paper&gt;")
	kim.get(t, 200, section+"?edit=1").has(t, `aria-label="Name, row 1"`, `<input type="hidden" name="base" value="">`)
	rows := url.Values{"name": {"Lee, Ann", ""}, "from": {"1/1/1990", ""}, "to": {"", ""}, "indexes": {"Deeds; Judgments", ""},
		"result":  {"1 judgment", ""},
		"version": {"0"}, "do": {"add"}}
	added := kim.post(t, 200, section, rows)
	added.has(t, `value="Lee, Ann"`, `value="Jan 1, 1990"`, `aria-label="Name, row 3"`)
	rows.Set("do", "remove-1")
	kim.post(t, 200, section, rows).lacks(t, "Lee, Ann")
	rows.Set("do", "save")
	if got := kim.post(t, 303, section, rows); got.Header.Get("Location") != path+"#names-run" {
		t.Errorf("Location = %q, want the names run", got.Header.Get("Location"))
	}
	kim.get(t, 200, path).has(t, "Lee, Ann", "Deeds, Judgments", "From Jan 1, 1990", "1 judgment", "Kim of staff")

	bad := url.Values{"name": {"", "Roe, Bo"}, "from": {"", "2026-02-30"}, "to": {"", ""}, "indexes": {"Deeds", ""}, "result": {"", ""},
		"version": {"1"}}
	wrong := kim.post(t, 422, section, bad, "HX-Request", "true")
	wrong.has(t, "The name field is required.", "isn&#39;t a date", `value="2026-02-30"`, `value="Roe, Bo"`, `id="name-1-problem"`,
		`id="from-2-problem"`)
	wrong.lacks(t, "<html")
	saved := kim.post(t, 200, section, url.Values{"name": {"Roe, Bo"}}, "HX-Request", "true")
	saved.has(t, "Roe, Bo", "autofocus")
	saved.lacks(t, "Lee, Ann", `<input name=`)
	if got := saved.Header.Get("HX-Trigger"); got != "deedkeep:changed" {
		t.Errorf("HX-Trigger = %q, want deedkeep:changed", got)
	}
}

// Requirements and exceptions of the abstract are rows; those of instruments are shown with them.
func TestRequirements(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	kim := h.openBrowser(t, model.RoleStaff)
	path, a := h.createAbstract(t, vaulttest.Operator, map[string]string{"exceptions": "Taxes"}, model.Property{County: "Albany"})
	deed := h.addInstrument(t, a.Abstract.ID,
		`{"type":"Mortgage","book":"900","page":"12","grantors":["Lee"],"requirement":"Pay off <the> mortgage","cleared":"2026-11-02"}`)
	section := path + "/requirements"
	kim.get(t, 200, path).has(t, "Requirements (Schedule B-I)", "Pay off &lt;the&gt; mortgage", "Cleared Nov 2, 2026",
		fmt.Sprintf(`href="%s#instrument-%d"`, path, deed.ID), "Taxes")
	kim.get(t, 200, section+"?edit=1").has(t, "edit the instrument", "Mortgage · Book 900, Page 12 · Lee")
	kim.post(t, 422, section, url.Values{"kind": {"exception"}, "text": {""}, "cleared": {"1/1/2026"}, "instrument_id": {""}}).has(t,
		"The text field is required.", `value="Jan 1, 2026"`)
	// The size of the form is limited, whatever instruments its rows name.
	many := url.Values{"do": {"add"}}
	for n := range 800 {
		many.Add("text", "")
		many.Add("instrument_id", fmt.Sprint(1_000_000+n))
	}
	big := kim.post(t, 200, section, many)
	rows, options := strings.Count(string(big.body), `name="instrument_id"`), strings.Count(string(big.body), "<option")
	if rows > 502 || options > 502*25 {
		t.Errorf("form with 800 rows: got %d rows with %d options, want at most 502 with 25 each", rows, options)
	}
	kim.post(t, 303, section, url.Values{"kind": {"exception", "requirement"}, "text": {"Easement of record", ""}, "cleared": {"", ""},
		"instrument_id": {fmt.Sprint(deed.ID), ""}, "version": {"0"}})
	kim.get(t, 200, path).has(t, "Exceptions (Schedule B-II)", "Easement of record")
	kim.post(t, 412, section, url.Values{"kind": {"exception"}, "text": {"Mine"}, "base": {"", "older"}, "was": {"older"}}).has(t, "Mine",
		"Someone else changed or removed this row", "Easement of record")
	kim.post(t, 422, section, url.Values{"kind": {"exception"}, "text": {"Mine"}, "instrument_id": {"99"}}).has(t, "invalid", "Instrument 99")
}

// Notes are added, changed, and deleted on abstracts, orders, and documents.
func TestNotes(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	kim := h.openBrowser(t, model.RoleStaff)
	lee, admin := h.openBrowserAs(t, "lee", model.RoleStaff), h.openBrowser(t, model.RoleAdmin)
	abstract, id := h.createAbstractWithDocument(t)
	document := fmt.Sprintf("/documents/%d", id)
	for _, path := range []string{"/abstracts/" + abstract, "/orders/" + h.createNumberedOrder(t), document} {
		t.Run(path, func(t *testing.T) {
			kim.get(t, 200, path+"/notes").has(t, "No notes yet", "Add note")
			kim.post(t, 422, path+"/notes", url.Values{"text": {" "}}).has(t, "The text field is required.")
			kim.post(t, 303, path+"/notes", url.Values{"text": {"Call <Ann>\r\ntomorrow"}})
			shown := kim.get(t, 200, path+"/notes")
			shown.has(t, "Call &lt;Ann&gt;\ntomorrow", "Kim of staff")
			note := shown.matches(t, `action="(/notes/[0-9]+)/delete"`)[0]
			record := shown.matches(t, `name="record" value="([^"]+)"`)[0]
			kim.get(t, 200, path+"/notes?edit="+strings.TrimPrefix(note, "/notes/")).has(t, `action="`+note+`"`, `name="version" value="1"`)
			kim.post(t, 200, note, url.Values{"record": {record}, "text": {"Called"}, "version": {"1"}}, "HX-Request", "true").has(t, "Called",
				"edited")
			// Someone else has no button and can't change it; an administrator can.
			others := lee.get(t, 200, path+"/notes")
			others.has(t, "Called", "edited by Kim of staff")
			others.lacks(t, note)
			lee.get(t, 200, path+"/notes?edit="+strings.TrimPrefix(note, "/notes/")).lacks(t, `name="version" value="2"`)
			lee.post(t, 403, note, url.Values{"record": {record}, "text": {"Forged"}, "version": {"2"}})
			lee.post(t, 403, note+"/delete", url.Values{"record": {record}, "version": {"2"}})
			admin.get(t, 200, path+"/notes").has(t, note+"/delete")
			kim.post(t, 412, note, url.Values{"record": {record}, "text": {"Mine"}, "version": {"1"}}).has(t,
				"Someone else changed this note to “Called”", "Mine")
			kim.post(t, 412, note+"/delete", url.Values{"record": {record}, "version": {"1"}}).has(t, "It was not deleted")
			kim.post(t, 303, note+"/delete", url.Values{"record": {record}, "version": {"2"}})
			kim.get(t, 200, path+"/notes").has(t, "No notes yet")
			kim.get(t, 200, "/trash?type=note").has(t, "Called")
			kim.post(t, 404, note+"/delete", url.Values{"record": {record}})
			kim.post(t, 404, note, url.Values{"record": {"x"}})
		})
	}
	kim.post(t, 422, document+"/notes", url.Values{"text": {"x"}, "page": {"9"}}).has(t, "from 1 to 1")
	kim.post(t, 303, document+"/notes", url.Values{"text": {"x"}, "page": {"1"}})
	kim.get(t, 200, document+"/notes").has(t, ", page 1")
	viewer := h.openBrowser(t, model.RoleViewer)
	viewer.get(t, 200, document+"/notes").lacks(t, "Add note", "Delete")
	viewer.post(t, 403, document+"/notes", url.Values{"text": {"x"}})
}

// The viewer shows the note of a highlighted area alone, and where it is.
func TestHighlights(t *testing.T) {
	t.Parallel()
	h, abstract, files := newServerWithDocuments(t)
	deed := files[1]
	kim, viewer := h.openBrowser(t, model.RoleStaff), h.openBrowser(t, model.RoleViewer)
	document := fmt.Sprintf("/documents/%d", deed.ID)
	notes, part := document+"/notes", []string{"HX-Request", "true"}
	kim.get(t, 200, document).has(t, `data-do="highlight"`, `data-follows="file:`+fmt.Sprint(deed.ID)+`"`)
	viewer.get(t, 200, document).lacks(t, `data-do="highlight"`)
	kim.get(t, 200, document+"/areas").has(t, `{"areas":[]}`)
	kim.get(t, 200, notes+"?only=new&page=2&area=72,144,180,36", part...).has(t, "New note on page 2", `name="area" value="72,144,180,36"`)
	form := url.Values{"only": {"new"}, "page": {"2"}, "area": {"72,144,180,36"}, "text": {"Vesting of <Ann>"}}
	kim.post(t, 422, notes, url.Values{"only": {"new"}, "page": {"2"}, "area": {"600,144,180,36"}, "text": {"x"}}, part...).has(t,
		"The area field must be inside the page", `name="area" value="600,144,180,36"`)
	kim.post(t, 422, notes, url.Values{"only": {"new"}, "page": {"2"}, "area": {"a,1,2,3"}, "text": {"x"}}, part...).has(t, "number")
	kim.post(t, 200, notes, form, part...).has(t, `id="shown-notes"`, `data-shown-note="1"`, "Note on page 2", "Note added.",
		"Vesting of &lt;Ann&gt;", "/notes?edit=1&amp;only=1")
	kim.post(t, 303, notes, url.Values{"text": {"No area"}, "page": {"2"}})
	viewer.get(t, 200, document+"/areas").has(t,
		`{"areas":[{"id":1,"page":2,"x":72,"y":144,"width":180,"height":36,"text":"Vesting of \u003cAnn\u003e"}]}`)
	all := viewer.get(t, 200, notes)
	all.has(t, `<a href="`+document+`?page=2&amp;note=1">page 2, highlighted</a>`, "No area")
	viewer.get(t, 200, notes+"?only=1", part...).lacks(t, "No area", "Delete", "<form")
	viewer.get(t, 200, document+"?page=2&note=1").has(t, `data-page="2"`, `data-note-shown="1"`)
	viewer.get(t, 404, "/documents/99/areas")

	// The instrument of these pages lists the note.
	id, _ := h.vault.Secrets.IDs("abstracts").Decode(abstract)
	one := vaulttest.CreateInstrument(t, h.vault, id, fmt.Sprintf(`{"documents":[{"file_id":%d,"pages":"2"}]}`, deed.ID)).ID
	other := vaulttest.CreateInstrument(t, h.vault, id, fmt.Sprintf(`{"documents":[{"file_id":%d,"pages":"1"}]}`, deed.ID)).ID
	for _, reader := range []*browser{kim, viewer} {
		reader.get(t, 200, fmt.Sprintf("%s/instruments?instrument=%d", document, one), part...).has(t, `data-show-note="1"`,
			"page 2, highlighted", `/notes#note-2`)
		reader.get(t, 200, fmt.Sprintf("%s/instruments?instrument=%d", document, other), part...).lacks(t, `data-show-note`)
	}
	kim.get(t, 200, fmt.Sprintf("/instruments/%d/edit", one)).has(t, "Notes on the pages of this instrument", "Vesting of &lt;Ann&gt;",
		document+"?page=2&amp;note=1", deed.Filename+", page 2, highlighted")
	kim.get(t, 200, fmt.Sprintf("/instruments/%d/edit", other)).lacks(t, "Notes on the pages")

	// The text changes alone. A new page removes the area.
	file := "file:" + fmt.Sprint(deed.ID)
	kim.get(t, 200, notes+"?only=1&edit=1", part...).lacks(t, `name="page"`)
	change := url.Values{"record": {file}, "only": {"1"}, "text": {"Changed"}, "version": {"1"}}
	kim.post(t, 200, "/notes/1", change, part...).has(t, "Changed", "Note saved.",
		`name="back" value="`+document+`?page=2&amp;note=1"`)
	kim.get(t, 200, document+"/areas").has(t, `"text":"Changed"`)
	kim.get(t, 200, notes+"?edit=1").has(t, "Changing the page number removes the highlight.")
	kim.post(t, 303, "/notes/1", url.Values{"record": {file}, "text": {"Changed"}, "page": {"3"}, "version": {"2"}})
	kim.get(t, 200, document+"/areas").has(t, `{"areas":[]}`)
	deleted := kim.post(t, 200, "/notes/1/delete", url.Values{"record": {file}, "only": {"1"}}, part...)
	deleted.has(t, "Note deleted.")
	deleted.lacks(t, "data-shown-note")
}

// Documents move between abstracts and folders with their instruments, and an undo restores them and
// their places.
func TestMoveDocumentsBetweenAbstracts(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	kim := h.openBrowser(t, model.RoleStaff)
	from := vaulttest.CreateAbstract(t, h.vault, vaulttest.PDFDoc("1.pdf", "1"), vaulttest.PDFDoc("2.pdf", "2"), vaulttest.PDFDoc("3.pdf",
		"3"))
	path, to := h.createAbstract(t, vaulttest.Operator, map[string]string{"file_number": "26-99"}, model.Property{County: "Albany"})
	second := from.Files[1].ID
	deed := h.addInstrument(t, from.Abstract.ID, fmt.Sprintf(`{"type":"Warranty Deed","documents":[{"file_id":%d}]}`, second))
	shared := h.addInstrument(t, from.Abstract.ID, fmt.Sprintf(`{"type":"Plat","documents":[{"file_id":%d},{"file_id":%d}]}`, second,
		from.Files[0].ID))
	picker := kim.get(t, 200, fmt.Sprintf("/documents/%d/move?q=26-9", second))
	picker.has(t, "<h1>Move documents</h1>", "1.pdf", "3.pdf", fmt.Sprintf(`name="file" value="%d" checked`, second),
		fmt.Sprintf(`name="instrument" value="%d" checked`, deed.ID))
	picker.has(t, fmt.Sprintf(`name="instrument" value="%d"> No. 2 in Abstract `, shared.ID), "No. 1 in Abstract ")
	picker.lacks(t, fmt.Sprintf(`name="instrument" value="%d" checked`, shared.ID))
	target := picker.matches(t, `name="to" value="(abstract:[^"]+)"`)[0]
	kim.get(t, 200, fmt.Sprintf("/documents/move?asked=1&file=%d&file=%d", second, from.Files[0].ID), "HX-Request", "true", "HX-Target",
		"move-instruments").has(t,
		fmt.Sprintf(`name="instrument" value="%d" checked`, shared.ID))
	// A choice stays when the selected documents change.
	kim.get(t, 200, fmt.Sprintf("/documents/move?asked=1&file=%d&file=%d&listed=%d", second, from.Files[0].ID, shared.ID),
		"HX-Request", "true", "HX-Target", "move-instruments").lacks(t, fmt.Sprintf(`name="instrument" value="%d" checked`, shared.ID))

	moved := kim.post(t, 303, "/documents/move", url.Values{"file": {fmt.Sprint(second)}, "instrument": {fmt.Sprint(deed.ID)},
		"to": {target}})
	if notice := h.noticeOf(t, moved); notice != "1 document was moved to “26-99”. 1 instrument moved too." {
		t.Errorf("notice = %q", notice)
	}
	kim.get(t, 200, path).has(t, "2.pdf")
	for id, want := range map[uint64]uint64{deed.ID: to.Abstract.ID, shared.ID: from.Abstract.ID} {
		if got, err := h.vault.Instruments.Get(t.Context(), id); err != nil || got.AbstractID != want {
			t.Errorf("instrument %d: got abstract %d, %v, want %d", id, got.AbstractID, err, want)
		}
	}
	if notice := h.noticeOf(t, kim.undo(t, moved)); !strings.HasPrefix(notice, "1 document was moved back.") {
		t.Errorf("notice = %q, want one document moved back", notice)
	}
	back := h.getAbstract(t, from.Abstract.ID)
	if got, err := h.vault.Instruments.Get(t.Context(), deed.ID); err != nil || got.AbstractID != from.Abstract.ID ||
		back.Files[1].ID != second {
		t.Errorf("after the undo: got instrument %+v, %v, and files %v, want both in the first abstract at their places", got.Instrument, err,
			back.Abstract.Files)
	}

	all := kim.post(t, 303, "/documents/move", url.Values{"files": {fmt.Sprintf("%d-%d", from.Files[0].ID, from.Files[2].ID)},
		"to": {"folder:1"}})
	kim.get(t, 200, "/vault/1").has(t, "1.pdf", "2.pdf", "3.pdf")
	kim.undo(t, all)
	if got := h.getAbstract(t, from.Abstract.ID); len(got.Files) != 3 || got.Files[0].Filename != "1.pdf" || got.Files[2].Filename != "3.pdf" {
		t.Errorf("after the undo: got files %v, want three in sequence", got.Abstract.Files)
	}
	picked := kim.post(t, 303, "/documents/move", url.Values{"file": {fmt.Sprint(second)}, "to": {"pick"}, "back": {"/vault"}})
	kim.get(t, 200, picked.location()).has(t, "2.pdf", "Inbox")
	kim.get(t, 404, "/documents/999/move")
	kim.get(t, 422, "/documents/move?file=x")
	kim.post(t, 422, "/documents/move", url.Values{"file": {fmt.Sprint(second)}, "to": {"abstract:x"}})
	viewer := h.openBrowser(t, model.RoleViewer)
	viewer.get(t, 403, fmt.Sprintf("/documents/%d/move", second))
}

// The printed abstract has what clients may see, without notes, history, or users.
func TestPrintForClient(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	kim := h.openBrowser(t, model.RoleStaff)
	path, a := h.createAbstract(t, vaulttest.Operator, map[string]string{"file_number": "26-17", "exceptions": "Taxes of 2026"},
		model.Property{County: "Albany", Address: "12 Elm St"})
	mortgage := h.addInstrument(t, a.Abstract.ID,
		`{"type":"Mortgage","recorded":"2001-02-03","book":"900","page":"12","grantors":["Lee"],"remarks":"Ask the heirs",
		"consideration":"125000","consideration_text":"$125,000.00 & OVC","exception":"Mortgage of record"}`)
	h.addInstrument(t, a.Abstract.ID,
		fmt.Sprintf(`{"type":"Release or Satisfaction","recorded":"2010-02-03","relations":[{"kind":"releases","instrument_id":%d}]}`,
			mortgage.ID))
	h.addInstrument(t, a.Abstract.ID, `{"type":"Easement or Right of Way","recorded":"1979-06-01","recorded_time":"14:05","county":"ALBANY"}`)
	kim.post(t, 303, path+"/names-run", url.Values{"name": {"Lee, Ann"}})
	kim.post(t, 303, path+"/notes", url.Values{"text": {"Client pays late"}})
	printed := kim.get(t, 200, path+"/print")
	// An easement isn't open, times have 12 hours, and neither an empty column nor the abstract's own county takes up space.
	printed.has(t, "In effect", "2:05 PM")
	printed.lacks(t, ">Legal<", "14:05", "ALBANY")
	h.addInstrument(t, a.Abstract.ID, `{"type":"Plat","legal":"Lot 4","county":"Rensselaer"}`)
	printed = kim.get(t, 200, path+"/print")
	printed.has(t, ">Legal<", "Lot 4", "Rensselaer")
	printed.has(t, "26-17", "12 Elm St", "Mortgage", "Book 900, Page 12", "$125,000.00 &amp; OVC", "Released", "Releases No. 2",
		"Lee, Ann",
		"Mortgage of record", "Taxes of 2026", "DRAFT: search not certified", "Certify the search before you send this.")
	printed.lacks(t, "Search certificate")
	findings := kim.get(t, 200, path+"/certificates?edit=1")
	findings.has(t, "The certificate names you as Kim of staff.", "ask an administrator", "Indices searched", "an opinion of title")
	certify := func(date string) {
		t.Helper()
		form := kim.get(t, 200, path+"/certificates?edit=1").accept("Seen")
		kim.post(t, 303, path+"/certificates", with(form, "effective_date", date, "effective_time", "8:00 am", "search_from", "1966-01-01",
			"indices_searched", "UCC"))
	}
	certify("2026-05-20")
	printed = kim.get(t, 200, path+"/print")
	printed.has(t, "Certified by", "Kim of staff", "May 20, 2026, 8:00 AM", "It is not an opinion of title or a commitment to insure title.")
	printed.lacks(t, "DRAFT", "before you send this", ">Effective Date<", ">Search From<")
	name, title := "Mary Jones", "Senior Examiner"
	_, err := h.vault.Users.SetProfile(t.Context(), vaulttest.Operator, kim.actor.ID, model.ProfilePatch{FullName: &name, Title: &title})
	vaulttest.NoError(t, err)
	kim.get(t, 200, path+"/print").has(t, "Kim of staff") // as it was certified
	certify("2026-05-21")
	for _, page := range []string{path, path + "/print"} {
		kim.get(t, 200, page).has(t, "Mary Jones, Senior Examiner", "May 21, 2026, 8:00 AM")
	}
	// Within the firm, the certificate also names the account, because a full name can be anyone's.
	kim.get(t, 200, path).has(t, "Mary Jones, Senior Examiner (Kim of staff)")
	kim.get(t, 200, path+"/print").lacks(t, "(Kim of staff)")
	h.addInstrument(t, a.Abstract.ID, `{"type":"Survey"}`)
	changed := kim.get(t, 200, path+"/print")
	changed.has(t, "DRAFT: search not certified", `screen-only" role="status"`, "Certify again before you send this.")
	changed.lacks(t, "Search certificate", "Mary Jones")
	for _, secret := range []string{"Client pays late", "History", "created this abstract", "Run by", "Ask the heirs"} {
		if strings.Contains(printed.main(), secret) {
			t.Errorf("the printed abstract has %q", secret)
		}
	}
	printed.has(t, "Include remarks")
	kim.get(t, 200, path+"/print?remarks=1").has(t, "Ask the heirs", "Leave out remarks")
}

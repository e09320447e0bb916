package ui_test

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"deedkeep/app/model"
	"deedkeep/app/vault"
)

func textInputs(values map[string]string) model.Inputs {
	inputs := model.Inputs{}
	for key, text := range values {
		inputs[key] = model.StringInput(text)
	}
	return inputs
}

// hiddenFields returns the hidden fields of a field group's form.
func hiddenFields(r reply) url.Values {
	form := url.Values{}
	pattern := regexp.MustCompile(`<input type="hidden" name="((?:was\.|version|group)[^"]*)" value="([^"]*)">`)
	for _, m := range pattern.FindAllSubmatch(r.body, -1) {
		form.Set(string(m[1]), string(m[2]))
	}
	return form
}

// Fields are edited in groups. If two users edit the same group, neither user's changes are
// silently lost.
func TestEditAbstract(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	cookie, actor := h.newUserCookie(t, "kim", model.RoleStaff)
	_, other := h.newUserCookie(t, "Lee", model.RoleStaff)
	path, created := h.createAbstract(t, actor, map[string]string{"file_number": "2026-1", "legal_description": "one\ntwo"},
		model.Property{Address: "9 Elm St", City: "Troy", County: "Albany", State: "NY"})
	id := created.Abstract.ID
	page := h.request(t, 200, "GET", path, cookie)
	page.has(t, "<h1>2026-1</h1>", "9 Elm St, Troy, Albany County, NY", "Edit Property", "Required fields missing:", `field=custom_fields.search_type`)
	page.lacks(t, `name="group"`)
	h.request(t, 200, "GET", path+"?edit=property", cookie).has(t, `name="city"`, "autofocus", `action="`+path+`"`)
	part := h.request(t, 200, "GET", path+"?group=property&edit=1&field=city", cookie, "HX-Request: true")
	part.lacks(t, "<html")
	part.has(t, `id="city" name="city" autocomplete="off" value="Troy" autofocus`)

	form := hiddenFields(part)
	change := func(want int, values map[string]string, header ...string) reply {
		t.Helper()
		sent := url.Values{}
		for name := range form {
			sent[name] = form[name]
		}
		for name, v := range values {
			sent.Set(name, v)
		}
		return h.submit(t, want, cookie, path, sent, header...)
	}
	change(303, map[string]string{"address": "9 Elm St", "city": "Cohoes", "county": "Albany", "state": "NY"}).checkHeaders(t,
		map[string]string{"Location": path + "#group-property"})
	if a := h.getAbstract(t, id).Abstract; a.City != "Cohoes" || a.County != "Albany" {
		t.Errorf("unexpected city or county: %+v", a)
	}

	// While the form is open, another user changes the county.
	form = hiddenFields(h.request(t, 200, "GET", path+"?edit=property", cookie))
	patch := model.AbstractPatch{Fields: model.Inputs{"county": model.StringInput("Greene")}}
	if _, err := h.vault.Abstracts.Patch(t.Context(), other, id, patch, vault.Match{}); err != nil {
		t.Fatalf("Abstracts.Patch: %v", err)
	}
	change(303, map[string]string{"city": "Catskill", "county": "Albany"}) // the other user's county is kept
	if a := h.getAbstract(t, id).Abstract; a.City != "Catskill" || a.County != "Greene" {
		t.Errorf("unexpected city or county: %+v", a)
	}
	stale := change(412, map[string]string{"city": "Hudson", "county": "Ulster"})
	stale.has(t, "Someone else saved changes while you were editing", `value="Ulster"`, "Lee changed this to “Greene” on ",
		"kim changed this to “Catskill” on ", `name="pick.county" value="theirs"> Keep “Greene”`)
	change(412, map[string]string{"county": "Ulster"}, "HX-Request: true").lacks(t, "<html")
	form = hiddenFields(stale)
	change(303, map[string]string{"city": "Hudson", "county": "Ulster", "pick.city": "theirs", "pick.county": "mine"})
	if a := h.getAbstract(t, id).Abstract; a.City != "Catskill" || a.County != "Ulster" {
		t.Errorf("unexpected city or county: %+v", a)
	}
	form = url.Values{"group": {"property"}, "version": {"1"}} // without fingerprints, conflicts are detected by the version
	change(412, map[string]string{"city": "Troy"})

	// Browsers submit paragraphs with CRLF line endings. This must not count as a change.
	form = hiddenFields(h.request(t, 200, "GET", path+"?edit=notes", cookie))
	version := h.getAbstract(t, id).Abstract.Version
	change(303, map[string]string{"custom_fields.legal_description": "one\r\ntwo", "custom_fields.names_run": ""})
	if got := h.getAbstract(t, id).Abstract.Version; got != version {
		t.Errorf("version = %d, want %d", got, version)
	}
	form = hiddenFields(h.request(t, 200, "GET", path+"?edit=details", cookie))
	rejected := change(422, map[string]string{"custom_fields.effective_date": "2026-13-01",
		"custom_fields.vesting": strings.Repeat("x", 2001)}, "HX-Request: true")
	rejected.has(t, "isn&#39;t a date", `value="2026-13-01"`, "The vesting can have at most 2000 characters.", `aria-invalid="true"`)
	saved := change(200, map[string]string{"custom_fields.file_number": "2026-2", "custom_fields.search_type": "Update"}, "HX-Request: true")
	saved.has(t, `id="group-details"`, `id="abstract-top" class="stack" hx-swap-oob="true"`, "<h1>2026-2</h1>", "autofocus")
	saved.lacks(t, "Still missing", "<html")
	saved.checkHeaders(t, map[string]string{"HX-Trigger": "deedkeep:changed"})
	h.submit(t, 404, cookie, path, url.Values{"group": {"nothing"}})
}

// If another user fills in a field that was blank in this user's form, saving the form keeps the
// other user's value, and the page says so.
func TestBlankFieldFilledByAnotherUser(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	cookie, actor := h.newUserCookie(t, "kim", model.RoleStaff)
	lee, _ := h.newUserCookie(t, "Lee", model.RoleStaff)
	path, abstract := h.createAbstract(t, actor, nil, model.Property{})
	order := h.createOrder(t, "26-1", 2, model.Inputs{})
	stored := func() [2]string {
		o, err := h.vault.Orders.Get(t.Context(), order.ID)
		if err != nil {
			t.Fatalf("Orders.Get: %v", err)
		}
		return [2]string{string(h.getAbstract(t, abstract.Abstract.ID).Abstract.Custom["deed_book_page"]), string(o.Custom["client"])}
	}
	for _, row := range []struct{ path, otherField, ownField, label string }{
		{path, "custom_fields.deed_book_page", "custom_fields.borrower", "Vesting Deed Book/Page"},
		{h.orderPath(order), "custom_fields.client", "custom_fields.underwriter", "Client"},
	} {
		t.Run(row.path, func(t *testing.T) {
			unchanged := hiddenFields(h.request(t, 200, "GET", row.path+"?edit=details", cookie))
			edit := func(cookie, field, text string, header ...string) reply {
				form := url.Values{row.otherField: {""}, row.ownField: {""}}
				for name := range unchanged {
					form[name] = unchanged[name]
				}
				form.Set(field, text)
				return h.submit(t, map[bool]int{true: 200, false: 303}[len(header) > 0], cookie, row.path, form, header...)
			}
			edit(lee, row.otherField, "2417/0883")
			edit(cookie, row.ownField, "Ann Poe", "HX-Request: true").has(t,
				"Also changed while you were editing: "+row.label+" (by Lee).", "2417/0883", "Ann Poe")
		})
	}
	if got, want := stored(), [2]string{`"2417/0883"`, `"2417/0883"`}; got != want {
		t.Errorf("stored %q, want %q", got, want)
	}
}

// The history of an abstract shows its status changes, deletion, and restoration.
func TestAbstractStatusAndTrash(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	cookie, actor := h.newUserCookie(t, "kim", model.RoleStaff)
	path, created := h.createAbstract(t, actor, map[string]string{"file_number": "2026-1"}, model.Property{Address: "9 Elm St"},
		"a.pdf", "b.pdf")
	id := created.Abstract.ID
	h.submit(t, 303, cookie, path+"/status", url.Values{"status": {"In Exam"}})
	h.submit(t, 200, cookie, path+"/status", url.Values{"status": {"Complete"}}, "HX-Request: true").has(t,
		`value="Complete" aria-pressed="true"`)
	h.submit(t, 422, cookie, path+"/status", url.Values{"status": {"Sold"}})
	if a := h.getAbstract(t, id).Abstract; a.Status != "Complete" {
		t.Errorf("status = %q, want Complete", a.Status)
	}
	deleted := h.submit(t, 303, cookie, path+"/trash", nil)
	deleted.checkHeaders(t, map[string]string{"Location": "/abstracts"})
	notice := "Cookie: " + strings.TrimPrefix(cookie, "Cookie: ") + "; " + strings.Split(deleted.Header.Get("Set-Cookie"), ";")[0]
	h.request(t, 200, "GET", "/abstracts", notice).has(t, "“2026-1” is in the trash, with its 2 documents.",
		`action="`+path+`/restore"`, "Undo")
	h.request(t, 404, "GET", path, cookie)
	h.submit(t, 303, cookie, path+"/restore", nil).checkHeaders(t, map[string]string{"Location": path})
	h.request(t, 200, "GET", path, cookie).has(t, "a.pdf", "b.pdf")
	history := h.request(t, 200, "GET", path+"/history", cookie)
	history.has(t, "<b>kim</b> created this abstract", "Status: In Exam → Complete", "deleted this abstract",
		"restored this abstract", "b.pdf, a.pdf")
	for i := range 60 {
		h.submit(t, 303, cookie, path+"/status", url.Values{"status": {[]string{"New", "In Exam"}[i%2]}})
	}
	first := h.request(t, 200, "GET", path+"/history", cookie)
	first.lacks(t, "created this abstract")
	next := regexp.MustCompile(`href="([^"]*)" rel="next"`).FindSubmatch(first.body)
	if next == nil {
		t.Fatal("the history has one page, want a second one")
	}
	h.request(t, 200, "GET", string(next[1]), cookie).has(t, "created this abstract")
	h.request(t, 200, "GET", path+"/history", cookie, "HX-Request: true").lacks(t, "<html")
}

// The history of an abstract says from where to where a document was moved, by name. Views and
// downloads don't crowd out changes: administrators ask for them.
func TestHistoryOfMovedAndOpenedDocuments(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	cookie, actor := h.newUserCookie(t, "kim", model.RoleAdmin)
	from, first := h.createAbstract(t, actor, map[string]string{"file_number": "2026-1"}, model.Property{}, "a.pdf", "b.pdf")
	to, second := h.createAbstract(t, actor, map[string]string{"file_number": "2026-2"}, model.Property{})
	a, b := first.Files[0].ID, first.Files[1].ID
	h.submit(t, 303, cookie, "/documents/move", url.Values{"file": {fmt.Sprint(a)}, "to": {"abstract:" + strings.TrimPrefix(to, "/abstracts/")}})
	if got := h.getAbstract(t, second.Abstract.ID).Abstract.Files; !slices.Equal(got, []uint64{a}) {
		t.Fatalf("files of the target = %v, want %d", got, a)
	}
	for _, abstract := range []string{to, to + "/history", from + "/history"} {
		got := h.request(t, 200, "GET", abstract, cookie)
		got.has(t, "moved a.pdf from abstract 2026-1 to abstract 2026-2")
		got.lacks(t, "renamed")
	}
	for range 10 {
		h.request(t, 200, "GET", fmt.Sprintf("/documents/%d", b), cookie)
	}
	for _, abstract := range []string{from, from + "/history"} {
		got := h.request(t, 200, "GET", abstract, cookie)
		got.has(t, "created this abstract")
		got.lacks(t, "opened b.pdf")
	}
	h.request(t, 200, "GET", from+"/history", cookie).has(t, `href="`+from+`/history?views=1"`)
	h.request(t, 200, "GET", from+"/history?views=1", cookie).has(t, "opened b.pdf", `href="`+from+`/history"`)
	staff, _ := h.newUserCookie(t, "lee", model.RoleStaff)
	h.request(t, 200, "GET", from+"/history?views=1", staff).lacks(t, "opened b.pdf", "views=1")
}

// Documents of an abstract can be sorted, renamed, deleted, and restored, with and without scripts.
func TestAbstractDocuments(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	cookie, actor := h.newUserCookie(t, "kim", model.RoleStaff)
	path, created := h.createAbstract(t, actor, nil, model.Property{}, "a.pdf", "b.pdf", "c.pdf")
	a, b, c := created.Files[0].ID, created.Files[1].ID, created.Files[2].ID
	page := h.request(t, 200, "GET", path, cookie)
	page.has(t, "3 documents", "PDF", "2 pages", "by kim", `data-to="abstract:`+strings.TrimPrefix(path, "/abstracts/")+`"`,
		`enctype="multipart/form-data"`, "Processing", "every 2s",
		fmt.Sprintf(`href="/documents/%d?in=abstract:`, a))
	checkOrder := func(want ...uint64) {
		t.Helper()
		if got := h.getAbstract(t, created.Abstract.ID).Abstract.Files; !slices.Equal(got, want) {
			t.Errorf("files = %v, want %v", got, want)
		}
	}
	form := func(name string, id uint64, more ...string) url.Values {
		values := url.Values{name: {fmt.Sprint(id)}}
		for i := 0; i < len(more); i += 2 {
			values.Set(more[i], more[i+1])
		}
		return values
	}
	h.submit(t, 303, cookie, path+"/documents/sort", form("up", c)).checkHeaders(t,
		map[string]string{"Location": fmt.Sprintf("%s#document-%d", path, c)})
	checkOrder(a, c, b)
	h.submit(t, 303, cookie, path+"/documents/sort", form("down", a))
	checkOrder(c, a, b)
	h.submit(t, 303, cookie, path+"/documents/sort", form("up", c)) // the first document can't move up
	checkOrder(c, a, b)
	h.submit(t, 303, cookie, path+"/documents/sort", form("move", c, "to", "3"))
	checkOrder(a, b, c)
	h.submit(t, 303, cookie, path+"/documents/sort", form("up", 999))
	checkOrder(a, b, c)
	h.submit(t, 200, cookie, path+"/documents/sort", url.Values{"files": {fmt.Sprintf("%d,%d,x,77", c, a)}}, "HX-Request: true").has(t,
		`id="documents-state"`)
	checkOrder(c, b, a) // only the listed documents swap positions; b stays in place

	at := func(id uint64, verb string) string { return fmt.Sprintf("/documents/%d/%s", id, verb) }
	h.submit(t, 303, cookie, at(a, "rename"), url.Values{"name": {"Deed 1022-311"}})
	h.submit(t, 422, cookie, at(b, "rename"), url.Values{"name": {" "}}, "HX-Request: true").has(t, `aria-invalid="true"`, "required")
	h.submit(t, 200, cookie, at(b, "rename"), url.Values{"name": {`<img src=x>.pdf`}}, "HX-Request: true").has(t, "&lt;img src=x&gt;.pdf")
	h.request(t, 200, "GET", path, cookie).has(t, "Deed 1022-311.pdf", "&lt;img src=x&gt;.pdf")
	h.request(t, 200, "GET", path+"/history", cookie).has(t, "renamed a.pdf: Name: a.pdf → Deed 1022-311.pdf")
	h.request(t, 200, "GET", at(a, "row?rename=1"), cookie, "HX-Request: true").has(t, "data-stem", `value="Deed 1022-311.pdf"`)

	h.submit(t, 303, cookie, at(a, "rename"), url.Values{"name": {"Deed 1022-311.pdf"}, "to": {"1"}})
	checkOrder(a, c, b)
	h.submit(t, 204, cookie, at(a, "rename"), url.Values{"name": {"Deed 1022-311.pdf"}, "to": {"3"}},
		"HX-Request: true").checkHeaders(t, map[string]string{"HX-Refresh": "true"})
	checkOrder(c, b, a)

	deleted := h.submit(t, 200, cookie, at(c, "trash"), nil, "HX-Request: true")
	deleted.has(t, "“c.pdf” is in the trash.", "Undo", `id="documents-state" hx-swap-oob="true"`, "2 documents")
	h.request(t, 200, "GET", path+"/history", cookie).has(t, "deleted c.pdf")
	h.submit(t, 200, cookie, at(c, "restore"), nil, "HX-Request: true").has(t, "c.pdf", "3 documents")
	checkOrder(c, b, a)
	plain := h.submit(t, 303, cookie, at(c, "trash"), nil)
	notice := cookie + "; " + strings.Split(plain.Header.Get("Set-Cookie"), ";")[0]
	h.request(t, 200, "GET", path, notice).has(t, `action="`+at(c, "restore")+`"`)
	h.submit(t, 303, cookie, at(c, "restore"), nil)
	h.submit(t, 409, cookie, at(c, "retry"), nil)
	h.submit(t, 404, cookie, at(999, "trash"), nil)
	h.request(t, 303, "GET", at(b, "row"), cookie).checkHeaders(t, map[string]string{"Location": fmt.Sprintf("%s#document-%d", path, b)})
	h.request(t, 303, "GET", at(b, "row?rename=1"), cookie).checkHeaders(t,
		map[string]string{"Location": fmt.Sprintf("%s?rename=%d#document-%d", path, b, b)})
	blank := h.submit(t, 422, cookie, at(b, "rename"), url.Values{"name": {"  "}, "to": {"1"}, "back": {path}})
	blank.has(t, "<h1>", "3 documents", `value="  "`, `aria-invalid="true"`, "The name field is required.")
	checkOrder(c, b, a)
}

// A request for updates returns only the changes.
func TestDocumentsState(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	cookie, actor := h.newUserCookie(t, "kim", model.RoleStaff)
	path, created := h.createAbstract(t, actor, nil, model.Property{}, "a.pdf", "b.pdf")
	state := func(r reply) string {
		t.Helper()
		m := regexp.MustCompile(`id="documents-state"[^>]* hx-get="([^"]*)"`).FindSubmatch(r.body)
		if m == nil {
			t.Fatalf("no documents-state element in %s", r.body)
		}
		return strings.ReplaceAll(string(m[1]), "&amp;", "&")
	}
	at := state(h.request(t, 200, "GET", path, cookie))
	empty, _ := h.createAbstract(t, actor, nil, model.Property{})
	hidden := h.request(t, 200, "GET", empty, cookie)
	hidden.has(t, `id="download-all" href="`+empty+`/zip" hidden>`)
	h.request(t, 200, "GET", at, cookie, "HX-Request: true").lacks(t, "<li")
	staged := h.newStagedUpload(t)
	if err := staged.Add("c.pdf", strings.NewReader("%PDF-1.7\n%toy pages=1 c\n%%EOF\n")); err != nil {
		t.Fatalf("stage file: %v", err)
	}
	_, err := h.vault.Abstracts.Attach(t.Context(), actor, created.Abstract.ID, model.UploadDraft{}, staged,
		vault.Idempotency[vault.AbstractWithFiles]{})
	if err != nil {
		t.Fatalf("Abstracts.Attach: %v", err)
	}
	updated := h.request(t, 200, "GET", at, cookie, "HX-Request: true")
	updated.has(t, `id="download-all" href="`+path+`/zip" hx-swap-oob="true">`, `hx-swap-oob="beforeend:#document-list"`, "c.pdf",
		"3 documents")
	updated.lacks(t, "a.pdf", "b.pdf")
	h.vault.Start(time.Hour)
	at = state(updated)
	h.waitFor(t, "end of processing", func() bool {
		return !slices.ContainsFunc(h.getAbstract(t, created.Abstract.ID).Files, func(f model.File) bool { return f.Processing })
	})
	done := h.request(t, 200, "GET", at, cookie, "HX-Request: true")
	done.lacks(t, "every 2s", "Processing")
	for _, f := range created.Files {
		done.has(t, fmt.Sprintf(`id="document-%d" hx-swap-oob="true"`, f.ID))
	}
	at = state(done)
	if err := h.vault.Abstracts.Detach(t.Context(), actor, created.Abstract.ID, created.Files[0].ID, vault.Match{}); err != nil {
		t.Fatalf("Abstracts.Detach: %v", err)
	}
	h.request(t, 200, "GET", at, cookie, "HX-Request: true").has(t, `id="document-list" hx-swap-oob="true"`, "b.pdf", "c.pdf")
	h.request(t, 303, "GET", at, cookie)
}

// Viewers don't see any forms and can't submit them.
func TestAbstractForViewers(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	_, actor := h.newUserCookie(t, "kim", model.RoleStaff)
	cookie, _ := h.newUserCookie(t, "vera", model.RoleViewer)
	hostile := `</dd><script>alert(1)</script>` + strings.Repeat("Wwwwwwwwww", 190)
	path, created := h.createAbstract(t, actor,
		map[string]string{"file_number": hostile, "vesting": `"><img src=x onerror=alert(1)>`, "names_run": hostile},
		model.Property{Address: hostile}, `"><script>.pdf`)
	for _, at := range []string{"/abstracts", path, path + "?edit=property", path + "/history"} {
		page := h.request(t, 200, "GET", at, cookie)
		page.lacks(t, "<script>", "<img src=x", "data-editing", "data-upload", `action="/abstracts/`, "/trash", `class="handle`)
		page.has(t, "Wwwwwwwwww")
	}
	h.request(t, 403, "GET", "/abstracts/new", cookie)
	for _, at := range []string{"/abstracts", path, path + "/status", path + "/documents/sort", path + "/trash", path + "/restore",
		fmt.Sprintf("/documents/%d/trash", created.Files[0].ID)} {
		h.submit(t, 403, cookie, at, url.Values{"status": {"Complete"}})
	}
	for _, at := range []string{path, path + "/history", "/abstracts"} {
		if to := h.request(t, 303, "GET", at).Header.Get("Location"); !strings.HasPrefix(to, "/sign-in") {
			t.Errorf("%s without a session redirects to %q, want the sign-in page", at, to)
		}
	}
	h.request(t, 404, "GET", "/abstracts/nothing", cookie)
}

// An abstract's page links to other abstracts with the same parcel ID or address.
func TestPriorSearches(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	cookie, actor := h.newUserCookie(t, "kim", model.RoleStaff)
	property := model.Property{Address: "9 Elm St", City: "Troy", State: "NY"}
	h.createAbstract(t, actor, map[string]string{"file_number": "1999-7"}, property)
	h.createAbstract(t, actor, map[string]string{"file_number": "1999-8"}, model.Property{Address: "9 Elm Street Rear"})
	h.createAbstract(t, actor, map[string]string{"file_number": "1999-9"}, model.Property{Address: "9 Elm St", City: "Utica"}) // other city

	path, _ := h.createAbstract(t, actor, map[string]string{"file_number": "2026-1"}, property)
	page := h.request(t, 200, "GET", path, cookie)
	page.has(t, `<h2 id="prior-heading">Prior searches</h2>`, "Matched by Parcel ID and address, best match first.", "1999-7")
	page.lacks(t, "1999-8", "1999-9", "more may exist")

	page = h.request(t, 200, "GET", path+"/prior-searches", cookie)
	page.has(t, `<h1 id="prior-heading">Prior searches for 2026-1</h1>`, "Matched by Parcel ID, address, lot, and names, best match first.", "1999-7")
	page.lacks(t, "<h2", "more may exist")

	for n := range 10 { // with 1999-7, one more than the page lists
		h.createAbstract(t, actor, map[string]string{"file_number": fmt.Sprintf("1998-%d", n)}, property)
	}
	h.request(t, 200, "GET", path, cookie).has(t, "Showing 10 prior searches; more may exist.")

	// The search index isn't ready yet.
	path, _ = h.createAbstract(t, actor, map[string]string{"current_owner": "Ada Quill"}, model.Property{County: "Wexcombe"})
	h.request(t, 200, "GET", path+"/prior-searches", cookie).has(t, "No prior searches found so far.",
		"Not all instruments and documents could be searched.")
}

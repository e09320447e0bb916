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
	"deedkeep/app/vaulttest"
)

const formContentType = "Content-Type: application/x-www-form-urlencoded"

// submit submits a form and checks the status of the response.
func (ts *testServer) submit(t *testing.T, want int, cookie, path string, form url.Values, header ...string) reply {
	t.Helper()
	return ts.sendBody(t, want, "POST", path, form.Encode(), append([]string{cookie, formContentType}, header...)...)
}

// createAbstract creates an abstract with the named documents. It also returns the path of the
// abstract's page.
func (ts *testServer) createAbstract(t *testing.T, actor model.Actor, custom map[string]string, property model.Property,
	documents ...string) (path string, created vault.AbstractWithFiles) {
	t.Helper()
	staged := ts.newStagedUpload(t)
	for _, name := range documents {
		if err := staged.Add(name, strings.NewReader(string(vaulttest.PDF(2, name)))); err != nil {
			t.Fatalf("stage file: %v", err)
		}
	}
	draft := model.AbstractDraft{Fields: model.Inputs{"address": model.StringInput(property.Address),
		"city": model.StringInput(property.City), "county": model.StringInput(property.County),
		"state": model.StringInput(property.State)}}
	draft.Custom.Values = textInputs(custom)
	created, err := ts.vault.Abstracts.Create(t.Context(), actor, draft, staged, vault.Idempotency[vault.AbstractWithFiles]{})
	if err != nil {
		t.Fatalf("Abstracts.Create: %v", err)
	}
	return "/abstracts/" + ts.vault.Secrets.IDs("abstracts").Encode(created.Abstract.ID), created
}

func (ts *testServer) getAbstract(t *testing.T, id uint64) vault.AbstractWithFiles {
	t.Helper()
	abstract, err := ts.vault.Abstracts.Get(t.Context(), id)
	if err != nil {
		t.Fatalf("Abstracts.Get: %v", err)
	}
	return abstract
}

// main returns the main element of the page.
func (r reply) main() string {
	_, main, found := strings.Cut(string(r.body), "<main")
	if !found {
		return string(r.body)
	}
	return main
}

var rowHeading = regexp.MustCompile(`<a class="name" href="[^"]*">([^<]*)</a>`)

func (r reply) rowNames() (list []string) {
	for _, m := range rowHeading.FindAllStringSubmatch(string(r.body), -1) {
		list = append(list, m[1])
	}
	return list
}

// The list's address contains its filters, sort order, and page.
func TestAbstractList(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	actor := model.Actor{Kind: "operator"}
	cookie, _ := h.newUserCookie(t, "kim", model.RoleStaff)
	h.request(t, 200, "GET", "/abstracts", cookie).has(t, "No abstracts yet", `href="/abstracts/new"`)
	for i, a := range []struct{ number, address, county, state string }{
		{"2026-3", "9 Elm St", "Albany", "NY"}, {"2026-1", "12 Oak Ave", "Rensselaer", "NY"}, {"2026-2", "1 Ash Rd", "Albany", "VT"},
	} {
		h.clock.Advance(24 * time.Hour)
		_, created := h.createAbstract(t, actor, map[string]string{"file_number": a.number},
			model.Property{Address: a.address, County: a.county, State: a.state})
		if i == 0 {
			patch := model.AbstractPatch{Fields: model.Inputs{"status": model.StringInput("In Exam")}}
			if _, err := h.vault.Abstracts.Patch(t.Context(), actor, created.Abstract.ID, patch, vault.Match{}); err != nil {
				t.Fatalf("Abstracts.Patch: %v", err)
			}
		}
	}
	cookie, _ = h.newUserCookie(t, "lee", model.RoleStaff) // the previous session has expired
	day := func(n int) string { return h.clock.Now().Local().AddDate(0, 0, n).Format(time.DateOnly) }
	for _, c := range []struct{ name, query, want string }{
		{"newest first", "", "2026-2 2026-1 2026-3"},
		{"by creation", "?sort=created_at", "2026-3 2026-1 2026-2"},
		{"by file number", "?sort=file_number", "2026-1 2026-2 2026-3"},
		{"by file number, descending", "?sort=-file_number", "2026-3 2026-2 2026-1"},
		{"by address", "?sort=address", "2026-2 2026-1 2026-3"},
		{"unknown sort", "?sort=magic", "2026-2 2026-1 2026-3"},
		{"status", "?status=in+exam", "2026-3"},
		{"county", "?county=albany", "2026-2 2026-3"},
		{"county and state", "?county=Albany&state=NY", "2026-3"},
		{"template", "?template=1", "2026-2 2026-1 2026-3"},
		{"another template", "?template=2", ""},
		{"invalid template", "?template=x", "2026-2 2026-1 2026-3"},
		{"from", "?from=" + day(0), "2026-2"},
		{"to", "?to=" + day(-1), "2026-1 2026-3"},
		{"from and to", "?from=" + day(-1) + "&to=" + day(-1), "2026-1"},
		{"file number", "?q=2026-1", "2026-1"},
		{"prefix of a file number", "?q=20261", "2026-1"},
		{"prefix of an address", "?q=12+oak", "2026-1"},
		{"prefix and filter", "?q=2026&county=albany", "2026-3 2026-2"},
		{"no results", "?county=Suffolk", ""},
		{"cursor of another list", "?county=albany&at=xyz", "2026-2 2026-3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := h.request(t, 200, "GET", "/abstracts"+c.query, cookie)
			list := got.rowNames()
			if strings.Contains(c.query, "q=2026&") {
				slices.Sort(list)
				slices.Reverse(list)
			}
			if text := strings.Join(list, " "); text != c.want {
				t.Errorf("abstracts = %q, want %q", text, c.want)
			}
			if c.want == "" {
				got.has(t, "No matching abstracts", `href="/abstracts"`)
			}
		})
	}
	h.request(t, 200, "GET", "/abstracts?status=in+exam", cookie).has(t, `<option value="In Exam" selected>`)
	first := h.clock.Now().Local()
	h.request(t, 303, "GET", "/abstracts?go=1&from="+first.Format("1/2/2006"), cookie).checkHeaders(t,
		map[string]string{"Location": "/abstracts?from=" + day(0)})
	h.request(t, 200, "GET", "/abstracts?from=soon", cookie).has(t, "isn&#39;t a date", `id="from-problem"`)
	h.request(t, 200, "GET", "/abstracts?sort=file_number", cookie).has(t, `aria-sort="ascending"`, `href="/abstracts?sort=-file_number"`)
	// Submitting the filter form redirects to an address without empty parameters, or to the only
	// match.
	h.request(t, 303, "GET", "/abstracts?go=1&q=&county=albany&state=", cookie).checkHeaders(t,
		map[string]string{"Location": "/abstracts?county=albany"})
	if to := h.request(t, 303, "GET", "/abstracts?go=1&q=2026-1", cookie).Header.Get("Location"); !strings.HasPrefix(to, "/abstracts/") {
		t.Errorf("search with one match redirects to %q, want an abstract", to)
	}
	// A script gets only the table and the address to show in the browser.
	part := h.request(t, 200, "GET", "/abstracts?go=1&q=&county=albany", cookie, "HX-Request: true")
	part.lacks(t, "<html")
	part.checkHeaders(t, map[string]string{"HX-Push-Url": "/abstracts?county=albany"})
	part.has(t, `<p id="results-said" hx-swap-oob="innerHTML">2 abstracts</p>`)
	part.lacks(t, "aria-live")
	h.request(t, 200, "GET", "/abstracts?county=nowhere", cookie, "HX-Request: true").has(t, ">No matching abstracts</p>")
	h.request(t, 200, "GET", "/abstracts", cookie, "HX-Request: true", "HX-History-Restore-Request: true").has(t, "<html")
}

// Paging through the list shows every abstract exactly once, in every sort order.
func TestAbstractPages(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	cookie, actor := h.newUserCookie(t, "kim", model.RoleStaff)
	for i := range 120 {
		h.createAbstract(t, actor, map[string]string{"file_number": fmt.Sprintf("F-%03d", i)}, model.Property{County: "Albany"})
	}
	link := func(r reply, rel string) string {
		m := regexp.MustCompile(`href="([^"]*)" rel="` + rel + `"`).FindSubmatch(r.body)
		if m == nil {
			return ""
		}
		return strings.ReplaceAll(string(m[1]), "&amp;", "&")
	}
	for _, sort := range []string{"-created_at", "file_number"} {
		var all []string
		path, last := "/abstracts?county=albany&sort="+sort, reply{}
		for range 5 {
			last = h.request(t, 200, "GET", path, cookie)
			all = append(all, last.rowNames()...)
			if path = link(last, "next"); path == "" {
				break
			}
		}
		if len(all) != 120 || len(slices.Compact(slices.Sorted(slices.Values(all)))) != 120 {
			t.Errorf("sort by %s: %d records, want 120 different ones", sort, len(all))
		}
		back := h.request(t, 200, "GET", link(last, "prev"), cookie)
		if got := back.rowNames(); len(got) != 50 || !slices.Equal(got, all[50:100]) {
			t.Errorf("sort by %s: previous page = %v, want %v", sort, got, all[50:100])
		}
	}
}

// Fields of every type can be filled in and are stored.
func TestNewAbstract(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	cookie, _ := h.newUserCookie(t, "kim", model.RoleStaff)
	fields := []model.Field{
		{Key: "line", Label: "Line", Type: model.Text, Required: true}, {Key: "long", Label: "Long", Type: model.Paragraph},
		{Key: "day", Label: "Day", Type: model.Date},
		{Key: "few", Label: "Few", Type: model.Dropdown, Options: []string{"A", "B"}},
		{Key: "several", Label: "Several", Type: model.Multiselect, Options: []string{"X", "Y"}},
		{Key: "amount", Label: "Amount", Type: model.Number}, {Key: "yes", Label: "Yes", Type: model.Checkbox},
	}
	imported, err := h.vault.Templates.Import(t.Context(), model.Actor{Kind: "operator"},
		[]model.TemplateDraft{{Name: "Everything", Fields: &fields}}, false)
	if err != nil {
		t.Fatalf("Templates.Import: %v", err)
	}
	number := fmt.Sprint(imported.Changed[0].Template.ID)
	h.request(t, 200, "GET", "/abstracts/new", cookie).has(t, "Residential Abstract", `name="custom_fields.search_type"`, `class="required"`)
	page := h.request(t, 200, "GET", "/abstracts/new?template="+number, cookie)
	page.has(t, `type="date"`, "<textarea", `type="radio"`, `type="checkbox"`, `inputmode="decimal"`, `name="county"`)
	page.lacks(t, "search_type")
	once := regexp.MustCompile(`name="once" value="([^"]+)"`).FindSubmatch(page.body)
	if once == nil {
		t.Fatal("the form has no token")
	}
	form := url.Values{
		"template": {number}, "once": {string(once[1])}, "county": {"Albany"}, "tax_map": {"1-2-3"}, "custom_fields.line": {"<b>x</b>"},
		"custom_fields.long": {"one\r\ntwo"},
		"custom_fields.day":  {"2026-02-30"}, "custom_fields.few": {"C"}, "custom_fields.several": {"", "X", "Y"},
		"custom_fields.amount": {"many"}, "custom_fields.yes": {"", "true"},
	}
	rejected := h.submit(t, 422, cookie, "/abstracts", form)
	rejected.has(t, "Fix 3 fields to continue.", `value="2026-02-30"`, "isn&#39;t a date", "must be a number", `value="many"`, "one\ntwo",
		"&lt;b&gt;x", `value="X" checked`, `aria-invalid="true"`)
	otherTemplate := url.Values{"template": {"1"}, "once": {"t"}, "county": {"Albany"}}
	h.submit(t, 200, cookie, "/abstracts/new", otherTemplate).has(t, `value="Albany"`, "search_type", `name="once" value="t"`)
	form.Set("custom_fields.day", "2026-02-28")
	form.Set("custom_fields.few", "B")
	form.Set("custom_fields.amount", "1,200.50")
	to := h.submit(t, 303, cookie, "/abstracts", form).Header.Get("Location")
	if twice := h.submit(t, 303, cookie, "/abstracts", form).Header.Get("Location"); twice != to {
		t.Errorf("same form submitted again: Location = %q, want %q", twice, to)
	}
	list, err := h.vault.Abstracts.List(t.Context(), vault.Query{Limit: 10})
	if err != nil || len(list.Items) != 1 {
		t.Fatalf("Abstracts.List = %d abstracts, %v, want 1", len(list.Items), err)
	}
	a := list.Items[0].Abstract
	const want = `map[amount:1200.50 day:"2026-02-28" few:"B" line:"<b>x</b>" long:"one\ntwo" several:["X","Y"] yes:true]`
	if got := fmt.Sprintf("%s", a.Custom); got != want || a.County != "Albany" || a.TaxMap != "1-2-3" {
		t.Errorf("custom fields = %s, want %s; abstract: %+v", got, want, a)
	}
	form.Set("county", "Greene")
	if other := h.submit(t, 303, cookie, "/abstracts", form).Header.Get("Location"); other == to {
		t.Errorf("form with another county: Location = %q, want another abstract", other)
	}
	// Required fields may be blank. They are then marked as missing.
	h.submit(t, 422, cookie, "/abstracts", url.Values{"once": {"z"}, "custom_fields.line": {" "}}).has(t, "Create an empty abstract anyway?",
		`name="bare" value="yes"`)
	bare := h.submit(t, 303, cookie, "/abstracts", url.Values{"once": {"z"}, "bare": {"yes"}}).Header.Get("Location")
	h.request(t, 200, "GET", bare, cookie).has(t, "<h1>Abstract "+strings.TrimPrefix(bare, "/abstracts/")+"</h1>", "Required fields missing:",
		`<span class="missing">Missing</span>`)
}

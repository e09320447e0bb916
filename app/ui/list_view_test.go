package ui_test

import (
	"fmt"
	"html"
	"net/url"
	"slices"
	"strings"
	"testing"

	"deedkeep/app/model"
)

// headings returns the column headings of a list.
func (b *browser) headings(t *testing.T, path string) string {
	t.Helper()
	return strings.Join(b.screenTable(t, path)[0], ", ")
}

// Each user chooses and moves the columns of a list.
func TestChooseColumns(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	h.createOrder(t, "A", 3, model.Inputs{"city": model.StringInput("Troy")})
	viewer, other := h.openBrowser(t, model.RoleViewer), h.openBrowser(t, model.RoleStaff)
	const initial = "Order number, Address, County, state, Parcel ID, Status, Assignee, Due date, Created"
	if got := viewer.headings(t, "/orders"); got != initial {
		t.Fatalf("headings = %s, want %s", got, initial)
	}
	choose := func(back, want string, form url.Values) {
		t.Helper()
		form.Set("record", "orders")
		form.Set("back", "/orders?county=x&columns=status")
		viewer.post(t, 303, "/columns", form).checkHeaders(t, map[string]string{"Location": back})
		if got := viewer.headings(t, "/orders"); got != want {
			t.Errorf("headings after %v = %s, want %s", form, got, want)
		}
	}
	columns := []string{"city", "custom_fields.client", "nonsense", "due_date"}
	choose("/orders?county=x", "Order number, City, Client, Due date", url.Values{"column": columns})
	viewer.get(t, 200, "/orders").has(t, `<td data-label="City">Troy</td>`)
	choose("/orders?county=x&open=columns", "Order number, Client, City, Due date",
		url.Values{"column": {"city", "custom_fields.client", "due_date"}, "down": {"city"}})
	choose("/orders?county=x&open=columns", "Order number, Client, Due date, City",
		url.Values{"column": {"custom_fields.client", "city", "due_date"}, "up": {"due_date"}})
	choose("/orders?county=x&open=columns", "Order number, City", url.Values{"column": {"city"}, "up": {"city"}})
	viewer.get(t, 200, "/orders.csv").has(t, "\ufeffOrder number,City\nA,Troy\n")
	viewer.get(t, 200, "/orders?columns=status,due_date&open=columns").has(t, `id="columns" open`, `name="down" value="status"`,
		`value="due_date" checked`, `<input type="checkbox" name="column" value="city"> City`)
	if got := other.headings(t, "/orders"); got != initial {
		t.Errorf("headings of another user = %s, want %s", got, initial)
	}
	choose("/orders?county=x", initial, url.Values{"reset": {"1"}})
	viewer.post(t, 404, "/columns", url.Values{"record": {"files"}, "column": {"x"}})
}

// Each user chooses how wide columns are, with the mouse or in the menu.
func TestColumnWidths(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	h.createOrder(t, "A", 3, nil)
	viewer, other := h.openBrowser(t, model.RoleViewer), h.openBrowser(t, model.RoleStaff)
	page := viewer.get(t, 200, "/orders")
	page.has(t, `<table class="list stack whole" data-list="orders">`)
	page.lacks(t, `<col width`)
	drag := func(status int, name, width string) {
		t.Helper()
		viewer.post(t, status, "/columns/widths", url.Values{"record": {"orders"}, "width." + name: {width}})
	}
	drag(204, "order_number", "120")
	drag(204, "status", "90")
	drag(422, "status", "39")
	drag(422, "status", "2001")
	drag(204, "nonsense", "90")
	drag(404, "status", "wide")
	viewer.post(t, 404, "/columns/widths", url.Values{"record": {"files"}, "width.status": {"90"}})
	viewer.get(t, 200, "/orders").has(t, `stack whole sized"`, `<col width="120">`, `<col width="90">`,
		`name="width.status" min="40" max="2000" value="90"`, `name="width.due_date" min="40" max="2000" value=""`)
	if got, want := len(viewer.screenTable(t, "/orders")[0]), 8; got != want {
		t.Errorf("%d columns after the widths, want %d", got, want)
	}
	other.get(t, 200, "/orders").lacks(t, `<col width`, "sized")
	// The menu replaces all widths.
	save := func(column, width string) {
		t.Helper()
		viewer.post(t, 303, "/columns", url.Values{"record": {"orders"}, "column": {"status", "city"}, "width." + column: {width}})
	}
	save("city", "5")
	viewer.get(t, 200, "/orders").has(t, `<col width="90">`)
	save("city", "200")
	viewer.get(t, 200, "/orders").has(t, `<colgroup><col><col><col width="200"></colgroup>`)
	viewer.post(t, 303, "/columns", url.Values{"record": {"orders"}, "reset": {"1"}, "width.city": {"200"}})
	viewer.get(t, 200, "/orders").lacks(t, `<col width`, "sized")
}

// A user can start with a view instead of the desk.
func TestStartView(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	staff, admin := h.openBrowser(t, model.RoleStaff), h.openBrowser(t, model.RoleAdmin)
	view := staff.post(t, 303, "/views", url.Values{"record": {"orders"}, "name": {"Late"}, "back": {"/orders?show=overdue"},
		"shared": {"1"}}).Header.Get("Location")
	staff.get(t, 200, "/orders").lacks(t, "start page")
	staff.get(t, 200, view).has(t, `action="/views/1/start"`, `aria-pressed="false">Use as start page`)
	staff.get(t, 200, "/?start=1").has(t, "<title>Desk")
	for _, b := range []*browser{staff, admin} {
		b.post(t, 303, "/views/1/start", url.Values{"back": {view}}).checkHeaders(t, map[string]string{"Location": view})
		b.get(t, 200, view).has(t, `aria-pressed="true"`)
		b.get(t, 200, "/", "Sec-Fetch-Site", "same-origin").has(t, "<title>Desk")
		b.get(t, 303, "/", "Sec-Fetch-Site", "none").checkHeaders(t, map[string]string{"Location": view})
		b.get(t, 303, "/?start=1").checkHeaders(t, map[string]string{"Location": view})
	}
	staff.post(t, 303, "/views/1/start", url.Values{"desk": {"1"}})
	staff.get(t, 200, "/", "Sec-Fetch-Site", "none").has(t, "<title>Desk")
	// A view that someone deleted or no longer shares isn't opened.
	staff.post(t, 303, "/views/1", url.Values{"name": {"Late"}})
	admin.get(t, 200, "/", "Sec-Fetch-Site", "none").has(t, "<title>Desk")
	staff.post(t, 303, "/views/1/delete", url.Values{})
	admin.get(t, 200, "/", "Sec-Fetch-Site", "none").has(t, "<title>Desk")
	admin.post(t, 404, "/views/1/start", url.Values{})
}

// Users save what a list shows as a view, and share it.
func TestSaveView(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	for n := range 120 {
		h.createOrder(t, fmt.Sprintf("N%03d", n), n-1, model.Inputs{"county": model.StringInput([]string{"Kent", "Essex", "Kent"}[n%3])})
	}
	staff, viewer, admin := h.openBrowser(t, model.RoleStaff), h.openBrowser(t, model.RoleViewer), h.openBrowser(t, model.RoleAdmin)
	save := func(b *browser, name, back string, more url.Values) string {
		t.Helper()
		form := url.Values{"record": {"orders"}, "name": {name}, "back": {back}}
		for name, v := range more {
			form[name] = v
		}
		return b.post(t, 303, "/views", form).Header.Get("Location")
	}
	address := save(staff, "Essex by number", "/orders?county=Essex&sort=order_number", url.Values{"shared": {"1"},
		"columns": {"county,status"}})
	if want := "/orders?columns=county%2Cstatus&county=Essex&sort=order_number&view=1"; address != want {
		t.Errorf("the view is at %s, want %s", address, want)
	}
	tab := `href="` + html.EscapeString(address) + `" title="Shared by ` + staff.actor.Name + `">Essex by number <span class="muted">40</span>`
	viewer.get(t, 200, "/orders").has(t, tab)
	rows := viewer.screenTable(t, address)
	if len(rows) != 41 || !slices.Equal(rows[0], []string{"Order number", "County",
		"Status"}) || rows[1][0] != "N001" || rows[40][0] != "N118" {
		t.Errorf("the view shows %d rows, %q, %q, want 40 of Essex by number", len(rows)-1, rows[0], rows[1])
	}
	viewer.get(t, 200, address).lacks(t, "Edit view", "Share with everyone")
	// A viewer's view is private.
	if to := save(viewer, "Mine", "/orders?show=open", url.Values{"shared": {"1"}}); to != "/orders?show=open" {
		t.Errorf("a viewer shared a view: redirected to %s", to)
	}
	own := save(viewer, "Mine", "/orders?show=open", nil)
	viewer.get(t, 200, "/orders").has(t, `>Mine <span class="muted">100&#43;</span>`)
	viewer.get(t, 200, own).has(t, "Edit view", `aria-current="true">Mine`)
	staff.get(t, 200, "/orders").lacks(t, ">Mine")
	staff.post(t, 404, "/views/2", url.Values{"name": {"x"}})
	viewer.post(t, 303, "/views/1", url.Values{"name": {"x"}})
	viewer.post(t, 403, "/views/1/delete", url.Values{})
	staff.get(t, 200, "/orders").has(t, ">Essex by number ")
	// The owner changes what the view shows. An administrator deletes it.
	changed := staff.post(t, 303, "/views/1", url.Values{"name": {"Kent"}, "shared": {"1"}, "replace": {"1"},
		"back":    {"/orders?county=Kent&view=1"},
		"columns": {""}}).Header.Get("Location")
	if want := "/orders?county=Kent&view=1"; changed != want {
		t.Errorf("the changed view is at %s, want %s", changed, want)
	}
	admin.get(t, 200, changed).has(t, "Edit view", `data-confirm="Delete the view “Kent”? Everyone loses it."`)
	admin.post(t, 303, "/views/1/delete", url.Values{}).checkHeaders(t, map[string]string{"Location": "/orders"})
	staff.get(t, 200, "/orders").lacks(t, ">Kent <")
	// A list of abstracts has its own views, with its own names of filters.
	abstracts := staff.post(t, 303, "/views", url.Values{"record": {"abstracts"}, "name": {"New"},
		"back": {"/abstracts?template=1&from=2026-01-02&sort=file_number"}}).Header.Get("Location")
	if want := "/abstracts?from=2026-01-02&sort=file_number&template=1&view=3"; abstracts != want {
		t.Errorf("the view of abstracts is at %s, want %s", abstracts, want)
	}
	staff.get(t, 200, abstracts).has(t, `<li><a href="/abstracts">All</a></li>`, `aria-current="true">New <span class="muted">0</span>`)
	if v, err := h.vault.Lists.View(t.Context(), staff.actor,
		3); err != nil || v.Filters["template_id"] != "1" || v.Filters["created_from"] != "2026-01-02" {
		t.Errorf("View = %+v, %v, want filters as in the API", v, err)
	}
}

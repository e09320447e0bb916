package ui_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"deedkeep/app/model"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

// assigneeOf returns who works on an order.
func (ts *testServer) assigneeOf(t *testing.T, o model.Order) uint64 {
	t.Helper()
	now, err := ts.vault.Orders.Get(t.Context(), o.ID)
	if err != nil {
		t.Fatalf("Orders.Get: %v", err)
	}
	return now.AssigneeID
}

// Users take an order or assign it on its page, and can undo that. An abstract made from the order takes over the assignee.
func TestAssignOrder(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	kim, viewer := h.openBrowser(t, model.RoleStaff), h.openBrowser(t, model.RoleViewer)
	order := h.createOrder(t, "26-1", 5, elmStreet())
	path := h.orderPath(order)
	want := func(what string, id uint64) {
		t.Helper()
		if got := h.assigneeOf(t, order); got != id {
			t.Errorf("%s: got assignee %d, want %d", what, got, id)
		}
	}
	notice := func(r reply, text string) reply {
		t.Helper()
		if got := h.noticeOf(t, r); got != text {
			t.Errorf("notice = %q, want %q", got, text)
		}
		return r
	}
	kim.get(t, 200, path).has(t, "Take it", `<option value="">None</option>`, "Kim of staff")
	viewer.get(t, 200, path).has(t, "Not assigned")
	viewer.get(t, 200, path).lacks(t, "Take it")
	viewer.post(t, 403, path+"/assignment", url.Values{"do": {"take"}})
	taken := notice(kim.post(t, 303, path+"/assignment", url.Values{"do": {"take"}, "assignee": {""}}),
		"Order “26-1” assigned to Kim of staff.")
	want("taken", kim.actor.ID)
	kim.get(t, 200, path).has(t, fmt.Sprintf(`<option value="%d" selected>Kim of staff</option>`, kim.actor.ID), "Assignee: (blank) → Kim of staff")
	kim.get(t, 200, path).lacks(t, "Take it")
	viewer.get(t, 200, path).has(t, "Assigned to Kim of staff")
	notice(kim.undo(t, taken), "Change undone.")
	want("undone", 0)
	notice(kim.post(t, 303, path+"/assignment", url.Values{"assignee": {fmt.Sprint(viewer.actor.ID)}}),
		"The order was not assigned. The selected assignee is invalid.")
	kim.post(t, 303, path+"/assignment", url.Values{"assignee": {fmt.Sprint(kim.actor.ID)}})
	want("assigned", kim.actor.ID)

	form := kim.get(t, 200, kim.get(t, 200, path).matches(t, `href="(/abstracts/new\?order=[^"]+)"`)[0])
	form.has(t, fmt.Sprintf(`<option value="%d" selected>Kim of staff</option>`, kim.actor.ID), "The order's assignee")
	opaque := form.matches(t, `name="order" value="([^"]+)"`)[0]
	sent := url.Values{"order": {opaque}, "county": {"Kent"}, "searcher": {"99"}}
	kim.post(t, 422, "/abstracts", sent).has(t, "The selected searcher is invalid.")
	sent.Set("searcher", fmt.Sprint(kim.actor.ID))
	kim.get(t, 200, kim.post(t, 303, "/abstracts", sent).location()).has(t, "<dt>Searcher</dt><dd>Kim of staff</dd>")

	notice(kim.post(t, 303, path+"/assignment", url.Values{"assignee": {""}, "back": {"/orders"}}),
		"Order “26-1” is assigned to no one.")
	want("assigned to no one", 0)
}

// The order list shows assignees, is filtered by them, and assigns many orders at once.
func TestAssigneesInOrderList(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	kim := h.openBrowser(t, model.RoleStaff)
	orders := []model.Order{h.createOrder(t, "A-1", 5, elmStreet()), h.createOrder(t, "B-2", 5, elmStreet()),
		h.createOrder(t, "C-3", 5, elmStreet())}
	ids := []string{h.orderPath(orders[0]), h.orderPath(orders[1])}
	taken := kim.post(t, 303, "/orders/bulk", url.Values{"do": {"take"}, "id": ids, "due_date": {"2031-01-01"}, "status": {"completed"}})
	if got := h.noticeOf(t, taken); got != "2 orders assigned to you." {
		t.Errorf("notice = %q", got)
	}
	if o, err := h.vault.Orders.Get(t.Context(), 1); err != nil || o.Status != "active" || o.DueDate == "2031-01-01" ||
		o.AssigneeID != kim.actor.ID {
		t.Errorf("order 1 = %+v, %v; want only its assignee changed", o, err)
	}
	lists := func(query string, has []string, lacks ...string) {
		t.Helper()
		page := kim.get(t, 200, "/orders?"+query)
		for _, number := range has {
			page.has(t, ">"+number+"</a>")
		}
		for _, number := range lacks {
			page.lacks(t, ">"+number+"</a>")
		}
	}
	me := fmt.Sprint("assignee=", kim.actor.ID)
	lists("", []string{"A-1", "B-2", "C-3"})
	lists("assignee=me", []string{"A-1", "B-2"}, "C-3")
	lists("assignee=me&show=open&county=nowhere", nil, "A-1", "B-2", "C-3")
	lists(me, []string{"A-1", "B-2"}, "C-3")
	lists("assignee=none", []string{"C-3"}, "A-1", "B-2")
	lists("assignee=none&q=A-1", nil, "A-1", "C-3")
	lists("assignee=me&q=A-1", []string{"A-1"}, "B-2")
	lists("assignee=nonsense", []string{"A-1", "B-2", "C-3"})
	kim.get(t, 200, "/orders?assignee=me").has(t, `<td data-label="Assignee">Kim of staff</td>`, `<option value="me" selected>Me</option>`)
	if _, err := h.vault.Orders.Patch(t.Context(), kim.actor, 3,
		model.OrderPatch{Fields: model.Inputs{"assignee": model.NumberInput(kim.actor.ID)}}, vault.Match{}); err != nil {
		t.Fatalf("Orders.Patch: %v", err)
	}
	kim.post(t, 303, "/orders/bulk", url.Values{"do": {"set"}, "matching": {"1"}, "back": {"/orders?assignee=me"}, "assignee": {"none"}})
	lists("assignee=none", []string{"A-1", "B-2", "C-3"})
	kim.undo(t, taken)
	viewer := h.openBrowser(t, model.RoleViewer)
	viewer.get(t, 200, "/orders?assignee=me").has(t, "No matching orders")
}

// People are shown by their full names. A person who is away can be assigned, with a warning.
func TestAway(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	kim, admin := h.openBrowser(t, model.RoleStaff), h.openBrowser(t, model.RoleAdmin)
	order := h.createOrder(t, "26-1", 5, elmStreet())
	path := h.orderPath(order)
	today := h.clock.Now().In(time.Local)
	until := today.AddDate(0, 0, 3)
	me := fmt.Sprint(kim.actor.ID)
	admin.post(t, 303, "/admin/users/"+me+"/profile", url.Values{"full_name": {"Kim Lee"}})
	kim.post(t, 422, "/me/away", url.Values{"away_until": {today.Format("1/2/2006")}}).has(t,
		"must be a day after today", `id="away_until-problem"`)
	kim.post(t, 422, "/me/away", url.Values{"away_until": {"soon"}}).has(t, `value="soon"`, "isn&#39;t a date")
	away := kim.post(t, 303, "/me/away", url.Values{"away_until": {until.Format("1/2/2006")}})
	if got, want := h.noticeOf(t, away), "You're away until "+until.Format("Jan 2, 2006")+"."; got != want {
		t.Errorf("notice = %q, want %q", got, want)
	}
	kim.get(t, 200, "/me").has(t, `value="`+until.Format(time.DateOnly)+`"`, "Clear the date to end the absence.")
	admin.get(t, 200, "/admin/users").has(t, "Away until "+until.Format("Jan 2, 2006"))
	label := ">Kim Lee (away until " + until.Format("1/2") + ")</option>"
	admin.get(t, 200, path).has(t, label)
	admin.get(t, 200, "/orders").has(t, label)
	assigned := admin.post(t, 303, path+"/assignment", url.Values{"assignee": {me}})
	warning := " Kim Lee is away until " + until.Format("Jan 2, 2006") + "."
	if got, want := h.noticeOf(t, assigned), "Order “26-1” assigned to Kim Lee."+warning; got != want {
		t.Errorf("notice = %q, want %q", got, want)
	}
	many := admin.post(t, 303, "/orders/bulk", url.Values{"do": {"set"}, "id": {path}, "assignee": {me}, "status": {"on_hold"}})
	if got, want := h.noticeOf(t, many), "1 order changed."+warning; got != want {
		t.Errorf("notice = %q, want %q", got, want)
	}
	abstract, _ := h.createAbstract(t, vaulttest.Operator, map[string]string{"file_number": "26-17"}, model.Property{County: "Albany"})
	admin.post(t, 200, abstract+"/people", url.Values{"searcher": {me}}, scriptHeader...).has(t, "saved."+warning)
	admin.post(t, 200, abstract+"/people", url.Values{"searcher": {me}, "due_date": {"12/1/2026"}, "version": {"1"}},
		scriptHeader...).lacks(t, warning)
	admin.get(t, 200, "/orders").has(t, `<td data-label="Assignee">Kim Lee</td>`)
	if file := string(admin.get(t, 200, "/orders.csv").body); !strings.Contains(file, "Assignee") || !strings.Contains(file, "Kim Lee") {
		t.Errorf("file of orders = %s, want the assignee", file)
	}
	kim.post(t, 303, path+"/notes", url.Values{"text": {"Call the county"}})
	page := admin.get(t, 200, path)
	page.has(t, "<b>Kim Lee</b> added a note", `<span class="muted">Kim Lee, `)
	page.has(t, "Assignee: (blank) → Kim Lee (Kim of staff)")
	page.lacks(t, "<b>Kim of staff</b>")
	admin.post(t, 303, "/admin/users/"+me+"/away", url.Values{"away_until": {""}})
	admin.get(t, 200, path).lacks(t, "away until")
}

// The desk shows the orders of the user, those without an assignee, and those that are new since the user looked. Each
// block leads to the list of the same orders.
func TestDeskBlocks(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	kim, viewer := h.openBrowser(t, model.RoleStaff), h.openBrowser(t, model.RoleViewer)
	mine, free := h.createOrder(t, "M-1", -3, elmStreet()), h.createOrder(t, "U-1", 40, elmStreet())
	if _, err := h.vault.Orders.Patch(t.Context(), kim.actor, mine.ID, model.OrderPatch{
		Fields: model.Inputs{"assignee": model.NumberInput(kim.actor.ID)},
		Custom: model.Some(model.Custom{Values: model.Inputs{"client": model.StringInput("First <Bank>"),
			"product": model.StringInput("60 Year"), "rush": model.StringInput("Rush")}})},
		vault.Match{}); err != nil {
		t.Fatalf("Orders.Patch: %v", err)
	}
	block := func(b *browser, id string) string {
		t.Helper()
		_, text, _ := strings.Cut(string(b.get(t, 200, "/").body), `aria-labelledby="`+id+`"`)
		text, _, _ = strings.Cut(text, "</section>")
		return text
	}
	has := func(what, text string, want ...string) {
		t.Helper()
		for _, part := range want {
			if !strings.Contains(text, part) {
				t.Errorf("%s: %q isn't in %s", what, part, text)
			}
		}
	}
	has("mine", block(kim, "mine"), `<a href="/orders?show=open&amp;assignee=me">My orders</a>`, ">M-1</a>",
		"First &lt;Bank&gt;", "60 Year",
		`<span class="badge warn">Rush</span>`)
	has("overdue", block(kim, "overdue"), `<a href="/orders?show=overdue">Overdue</a>`, ">M-1</a>",
		`<td data-label="Assignee">Kim of staff</td>`)
	has("unassigned", block(kim, "unassigned"), `<a href="/orders?show=open&amp;assignee=none">`, ">U-1</a>", `aria-label="Take it: U-1"`)
	if text := block(viewer, "unassigned"); strings.Contains(text, "Take") || !strings.Contains(text, ">U-1</a>") {
		t.Errorf("unassigned orders of a viewer: %s", text)
	}
	if text := block(viewer, "mine"); text != "" {
		t.Errorf("orders of a viewer: %s", text)
	}
	has("new", block(kim, "new"), `<a href="/orders?show=new">`, ">M-1</a>", ">U-1</a>")
	seen := kim.get(t, 200, "/").matches(t, `name="at" value="([^"]+)"`)[0]
	h.clock.Advance(time.Second)
	h.createOrder(t, "N-1", 40, elmStreet())
	kim.post(t, 303, "/me/orders-seen", url.Values{"at": {seen}})
	if text := block(kim, "new"); strings.Contains(text, "U-1") || !strings.Contains(text, ">N-1</a>") {
		t.Errorf("new orders after the others were seen: %s", text)
	}
	list := kim.get(t, 200, "/orders?show=new")
	list.has(t, ">N-1</a>")
	list.lacks(t, ">U-1</a>")
	has("new for a viewer", block(viewer, "new"), ">U-1</a>")
	viewer.post(t, 303, "/me/orders-seen", url.Values{"at": {"nonsense"}})
	if text := block(viewer, "new"); text != "" {
		t.Errorf("new orders of a viewer who has seen all: %s", text)
	}
	kim.post(t, 303, h.orderPath(free)+"/assignment", url.Values{"do": {"take"}, "back": {"/"}}).checkHeaders(t,
		map[string]string{"Location": "/"})
	has("mine", block(kim, "mine"), ">U-1</a>")
	kim.get(t, 200, "/documents/failed").has(t, "No failed documents")
}

package ui_test

import (
	"fmt"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"deedkeep/app/model"
	"deedkeep/app/vault"
)

// scriptHeader is the header that htmx sends when it requests a part of a page.
var scriptHeader = []string{"HX-Request", "true"}

func TestOrderPages(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	staff, viewer := h.openBrowser(t, model.RoleStaff), h.openBrowser(t, model.RoleViewer)
	viewer.get(t, 200, "/orders").has(t, "No orders yet")
	viewer.get(t, 200, "/orders").lacks(t, "/orders/new")
	viewer.get(t, 403, "/orders/new")
	form := staff.get(t, 200, "/orders/new")
	form.has(t, `name="order_number"`, `type="date"`, `name="custom_fields.rush"`, `<textarea id="custom_fields-notes"`,
		`<select id="custom_fields-product"`)
	once := regexp.MustCompile(`name="once" value="([^"]+)"`).FindStringSubmatch(string(form.body))
	if once == nil {
		t.Fatal("the form has no token")
	}
	wrong := staff.post(t, 422, "/orders",
		url.Values{"order_number": {""}, "due_date": {"3/14"}, "address": {"1 <Elm>"}, "custom_fields.product": {"Lunch"}})
	wrong.has(t, "Fix 3 fields to continue.", `href="#order_number"`, "isn&#39;t a date", `value="3/14"`, "1 &lt;Elm&gt;",
		"The selected product is invalid.")
	filled := url.Values{"once": {once[1]}, "order_number": {"26-<1>"}, "due_date": {"6/2/2026"}, "address": {"12 Elm St"}, "city": {"Troy"},
		"custom_fields.rush": {"Rush"}, "custom_fields.notes": {"one\r\ntwo"}, "custom_fields.parcel_id": {"12.-3"}}
	created := staff.post(t, 303, "/orders", filled).Header.Get("Location")
	if again := staff.post(t, 303, "/orders", filled).Header.Get("Location"); again != created {
		t.Errorf("same form submitted again: Location = %q, want %q", again, created)
	}
	page := viewer.get(t, 200, created)
	page.has(t, "<h1>26-&lt;1&gt;</h1>", "12 Elm St, Troy", "Jun 2, 2026", "Due in 4 days", "Rush", "created this order")
	page.lacks(t, created+"/trash", "Edit", "other order", "<form method=\"post\" action=\""+created)
	staff.get(t, 200, created).has(t, "Edit", created+"/trash", `aria-pressed="true"`)
	viewer.post(t, 403, created, url.Values{"group": {"property"}, "city": {"Albany"}})
	viewer.get(t, 404, "/orders/AAAAAAAAAAA")
	viewer.get(t, 200, "/orders").has(t, created, "26-&lt;1&gt;", "Due in 4 days", "12.-3")
}

// groupForm returns the form data that a browser would submit for a field group.
func groupForm(t *testing.T, page reply) url.Values {
	t.Helper()
	form := url.Values{}
	for _, m := range regexp.MustCompile(`<input type="hidden" name="([^"]+)" value="([^"]*)"`).FindAllStringSubmatch(string(page.body), -1) {
		form.Set(m[1], m[2])
	}
	return form
}

func TestEditOrder(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	staff := h.openBrowser(t, model.RoleStaff)
	o := h.createOrder(t, "26-1", 5, elmStreet())
	path := h.orderPath(o)
	staff.get(t, 200, path+"?edit=property").has(t, `name="version" value="1"`, `value="12 Elm &lt;St&gt;"`, `name="was.city"`)
	part := staff.get(t, 200, path+"?group=property&edit=1", scriptHeader...)
	part.lacks(t, "<html")
	first, second := groupForm(t, part), groupForm(t, part)
	for _, form := range []url.Values{first, second} {
		form.Set("order_number", "26-1")
		form.Set("address", "12 Elm <St>")
		form.Set("city", "Troy")
		form.Set("state", "NY")
	}
	first.Set("city", "Albany")
	saved := staff.post(t, 200, path, first, scriptHeader...)
	saved.has(t, `id="group-property"`, "Albany", `id="order-top" class="stack" hx-swap-oob="true"`, "City: Troy → Albany")
	saved.lacks(t, "<html", `name="city"`)
	// If another user changes a different field, that change is kept.
	second.Set("state", "VT")
	staff.post(t, 303, path, second)
	// If another user changes the same field, there is a conflict, and both values are shown.
	second.Set("city", "Utica")
	for _, header := range [][]string{nil, scriptHeader} {
		conflict := staff.post(t, 412, path, second, header...)
		conflict.has(t, "Someone else saved changes while you were editing", "Kim of staff changed this to “Albany” on ", `value="Utica"`)
	}
	now, err := h.vault.Orders.Get(t.Context(), o.ID)
	if err != nil || now.City != "Albany" || now.State != "VT" || now.Version != 3 {
		t.Errorf("Orders.Get = %+v, %v, want Albany, VT, version 3", now, err)
	}
	first.Set("order_number", "")
	staff.post(t, 422, path, first, scriptHeader...).has(t, "The order number field is required.", `aria-invalid="true"`)
	staff.post(t, 422, path, first).has(t, "<html", "The order number field is required.")
	staff.post(t, 404, path, url.Values{"group": {"nothing"}})
	staff.get(t, 404, path+"?group=nothing", scriptHeader...)
	staff.get(t, 200, path+"/history").has(t, "created this order", "State: NY → VT")
}

func TestOrderStatus(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	staff := h.openBrowser(t, model.RoleStaff)
	path := h.orderPath(h.createOrder(t, "26-1", -2, elmStreet()))
	staff.get(t, 200, path).has(t, "2 days overdue")
	changed := staff.post(t, 200, path+"/status", url.Values{"status": {"on_hold"}}, scriptHeader...)
	changed.has(t, `value="on_hold" aria-pressed="true"`, "Status: Active → On hold", "2 days overdue")
	staff.post(t, 303, path+"/status", url.Values{"status": {"completed"}}).checkHeaders(t, map[string]string{"Location": path})
	staff.get(t, 200, path).lacks(t, "overdue")
	staff.post(t, 422, path+"/status", url.Values{"status": {"lost"}})
}

func TestOrderTrashAndUndo(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	staff := h.openBrowser(t, model.RoleStaff)
	path := h.orderPath(h.createOrder(t, "26-1", 2, elmStreet()))
	staff.post(t, 303, path+"/trash", nil).checkHeaders(t, map[string]string{"Location": "/orders"})
	staff.get(t, 404, path)
	staff.get(t, 200, "/orders").has(t, "No orders yet")
	staff.post(t, 303, path+"/restore", nil).checkHeaders(t, map[string]string{"Location": path})
	staff.get(t, 200, path).has(t, "restored this order")
}

func TestRelatedOrders(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	one, two := h.createOrder(t, "26-1", 2, elmStreet()), h.createOrder(t, "26-1", 3, model.Inputs{})
	three := h.createOrder(t, "26-3", 3, elmStreet())
	viewer := h.openBrowser(t, model.RoleViewer)
	page := viewer.get(t, 200, h.orderPath(one))
	page.has(t, "Another order has the number 26-1", h.orderPath(two), "Other orders for this property", h.orderPath(three),
		"Prior searches", h.orderPath(one)+"/prior-searches")
	page.lacks(t, "New abstract")
	viewer.get(t, 200, h.orderPath(two)).lacks(t, h.orderPath(three))
	staged, err := h.vault.Files.Stage(t.Context())
	if err != nil {
		t.Fatalf("Files.Stage: %v", err)
	}
	defer staged.Discard()
	created, err := h.vault.Abstracts.Create(t.Context(), model.Actor{Kind: "operator"},
		model.AbstractDraft{Fields: elmStreet()}, staged, vault.Idempotency[vault.AbstractWithFiles]{})
	if err != nil {
		t.Fatalf("Abstracts.Create: %v", err)
	}
	abstract := "/abstracts/" + h.vault.Secrets.IDs("abstracts").Encode(created.Abstract.ID)
	viewer.get(t, 200, abstract).has(t, h.orderPath(one), h.orderPath(three))
	viewer.get(t, 200, h.orderPath(one)).has(t, abstract)
	viewer.get(t, 200, h.orderPath(two)+"/prior-searches").has(t, "No prior searches found.")
	staff := h.openBrowser(t, model.RoleStaff)
	next := `href="/abstracts/new?order=` + strings.TrimPrefix(h.orderPath(two), "/orders/") + `"`
	staff.get(t, 200, h.orderPath(two)).has(t, `<a class="button primary" `+next, `<a class="button" `+next)
}

// orderNumbers returns the order numbers on the page, from top to bottom.
func orderNumbers(page reply) string {
	var list []string
	for _, m := range regexp.MustCompile(`<a class="name" href="[^"]+">([^<]+)</a>`).FindAllStringSubmatch(string(page.body), -1) {
		list = append(list, m[1])
	}
	return strings.Join(list, " ")
}

func TestOrderList(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	at := func(address, county string) model.Inputs {
		return model.Inputs{"address": model.StringInput(address), "county": model.StringInput(county),
			"state": model.StringInput("NY")}
	}
	for i, o := range []struct {
		number string
		days   int
		at     model.Inputs
		status string
	}{
		{"C", -3, at("3 Oak", "Albany"), ""}, {"B", -5, at("1 Oak", "Troy"), "completed"}, {"A", 2, at("2 Oak", "Albany"), "on_hold"},
		{"D", 40, at("", ""), ""},
	} {
		h.clock.Advance(time.Second)
		created := h.createOrder(t, o.number, o.days, o.at)
		if created.ID != uint64(i+1) {
			t.Fatalf("ID of order %s = %d, want %d", o.number, created.ID, i+1)
		}
		if o.status != "" {
			patch := model.OrderPatch{Fields: model.Inputs{"status": model.StringInput(o.status)}}
			if _, err := h.vault.Orders.Patch(t.Context(), model.Actor{Kind: "operator"}, created.ID, patch, vault.Match{}); err != nil {
				t.Fatalf("Orders.Patch: %v", err)
			}
		}
	}
	day := func(days int) string {
		return h.clock.Now().In(time.Local).AddDate(0, 0, days).Format(time.DateOnly)
	}
	us := func(days int) string {
		return h.clock.Now().In(time.Local).AddDate(0, 0, days).Format("01/02/2006")
	}
	viewer := h.openBrowser(t, model.RoleViewer)
	for query, want := range map[string]string{
		"":                             "D A B C",
		"?sort=created_at":             "C B A D",
		"?sort=order_number":           "A B C D",
		"?sort=-order_number":          "D C B A",
		"?sort=address":                "B A C D",
		"?sort=due_date":               "B C A D",
		"?sort=nonsense&show=nonsense": "D A B C",
		"?show=open":                   "C A D",
		"?show=open&sort=-created_at":  "D A C",
		"?show=open&sort=nonsense":     "C A D",
		"?show=open&sort=due_date":     "C A D",
		"?show=overdue":                "C",
		"?status=ON_HOLD":              "A",
		"?county=albany&state=ny":      "A C",
		"?due_from=" + day(-5) + "&due_to=" + day(2): "A B C",
		"?due_from=3/14": "",
		"?due_from=" + url.QueryEscape(us(-5)) + "&due_to=" + url.QueryEscape(us(2)): "A B C",
		"?q=1+oak":           "B",
		"?q=oak":             "",
		"?q=1+oak&show=open": "",
		"?q=a&county=Albany": "A",
		"?q=a&county=Troy":   "",
		"?county=nowhere":    "",
	} {
		t.Run(query, func(t *testing.T) {
			if got := orderNumbers(viewer.get(t, 200, "/orders"+query)); got != want {
				t.Errorf("orders = %q, want %q", got, want)
			}
		})
	}
	viewer.get(t, 200, "/orders?due_from=3/14").has(t, "isn&#39;t a date")
	viewer.get(t, 200, "/orders?county=nowhere").has(t, "No matching orders")
	viewer.get(t, 200, "/orders?sort=due_date").has(t, `aria-sort="ascending"><a href="/orders?sort=-due_date">Due`)
	part := viewer.get(t, 200, "/orders?show=open", scriptHeader...)
	part.lacks(t, "<html")
	part.checkHeaders(t, map[string]string{"HX-Push-Url": "/orders?show=open"})
	part.has(t, `<p id="results-said" hx-swap-oob="innerHTML">3 orders</p>`)
	part.lacks(t, "aria-live")
	viewer.get(t, 303, "/orders?go=1&q=3+oak&status=").checkHeaders(t, map[string]string{"Location": h.orderPath(model.Order{ID: 1})})
	viewer.get(t, 303, "/orders?go=1&q=&status=on_hold").checkHeaders(t, map[string]string{"Location": "/orders?status=on_hold"})
}

func TestOrderListPages(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	var want []string
	for n := range 120 {
		h.createOrder(t, fmt.Sprintf("N%03d", n), 3, model.Inputs{})
		want = append(want, fmt.Sprintf("N%03d", n))
	}
	viewer := h.openBrowser(t, model.RoleViewer)
	var seen []string
	pages := []string{}
	for path := "/orders?sort=order_number"; path != ""; {
		page := viewer.get(t, 200, path)
		seen = append(seen, orderNumbers(page))
		pages = append(pages, path)
		next := regexp.MustCompile(`href="([^"]+)" rel="next"`).FindStringSubmatch(string(page.body))
		if path = ""; next != nil {
			path = strings.ReplaceAll(next[1], "&amp;", "&")
		}
	}
	if got := strings.Join(seen, " "); got != strings.Join(want, " ") || len(pages) != 3 {
		t.Errorf("%d pages with %s, want 3 with %s", len(pages), got, strings.Join(want, " "))
	}
	last := viewer.get(t, 200, pages[2])
	prev := regexp.MustCompile(`href="([^"]+)" rel="prev"`).FindStringSubmatch(string(last.body))
	if prev == nil || orderNumbers(viewer.get(t, 200, strings.ReplaceAll(prev[1], "&amp;", "&"))) != seen[1] {
		t.Errorf("previous link of the last page = %q, want the second page", prev)
	}
	// A cursor is valid only for its own list.
	other := strings.Replace(pages[1], "sort=order_number", "sort=-order_number", 1)
	if got := orderNumbers(viewer.get(t, 200, other)); !strings.HasPrefix(got, "N119") {
		t.Errorf("page with the cursor of another list = %s, want its first page", got)
	}
}

// Before an order is saved, the form warns if other orders have the same number. The order itself
// doesn't count.
func TestOrderNumberLookup(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	one := h.createOrder(t, "26-1", 2, elmStreet())
	h.createOrder(t, "26-2", 2, elmStreet())
	staff, viewer := h.openBrowser(t, model.RoleStaff), h.openBrowser(t, model.RoleViewer)
	staff.get(t, 200, "/orders/new").has(t, `hx-get="/orders/number"`, `id="order_number-lookup" role="status"`)
	own := strings.TrimPrefix(h.orderPath(one), "/orders/")
	staff.get(t, 200, h.orderPath(one)+"?edit=property").has(t, `hx-get="/orders/number?not=`+own+`"`)
	for _, row := range []struct {
		name, query string
		want        []string
		lacks       string
	}{
		{"number of another order", "?order_number=26-1",
			[]string{"Another order has the number 26-1", h.orderPath(one), "12 Elm &lt;St&gt;"}, "26-2"},
		{"with spaces", "?order_number=+26-1+", []string{"Another order has the number 26-1"}, "26-2"},
		{"number of this order", "?order_number=26-1&not=" + own, nil, "warning"},
		{"number of another order, in the form of an existing one", "?order_number=26-2&not=" + own,
			[]string{"Another order has the number 26-2"}, "26-1"},
		{"free", "?order_number=26-3", nil, "warning"},
		{"blank", "?order_number=", nil, "warning"},
		{"too long", "?order_number=" + strings.Repeat("x", 300), nil, "warning"},
	} {
		t.Run(row.name, func(t *testing.T) {
			got := staff.get(t, 200, "/orders/number"+row.query, scriptHeader...)
			got.has(t, row.want...)
			if got.lacks(t, row.lacks, "<html"); t.Failed() {
				t.FailNow()
			}
		})
	}
	staff.get(t, 303, "/orders/number?order_number=26-1").checkHeaders(t, map[string]string{"Location": "/orders"})
	viewer.get(t, 200, "/orders/number?order_number=26-1", scriptHeader...).has(t, "Another order") // viewers can read all orders
	if err := h.vault.Orders.Trash(t.Context(), staff.actor, one.ID, vault.Match{}); err != nil {
		t.Fatalf("Orders.Trash: %v", err)
	}
	staff.get(t, 200, "/orders/number?order_number=26-1", scriptHeader...).lacks(t, "warning")
}

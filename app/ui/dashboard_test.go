package ui_test

import (
	"fmt"
	"html"
	"net/url"
	"strings"
	"testing"
	"time"

	"deedkeep/app/model"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

// createOrder creates an order that is due the given number of days after the current date of the
// test clock.
func (ts *testServer) createOrder(t *testing.T, number string, days int, at model.Inputs) model.Order {
	t.Helper()
	due := ts.clock.Now().In(time.Local).AddDate(0, 0, days).Format(time.DateOnly)
	created, err := ts.vault.Orders.Create(t.Context(), model.Actor{Kind: "operator"},
		model.OrderDraft{Fields: vaulttest.MergeInputs(at, model.Inputs{"order_number": model.StringInput(number),
			"due_date": model.StringInput(due)})}, vault.Idempotency[model.Order]{})
	if err != nil {
		t.Fatalf("Orders.Create: %v", err)
	}
	return created
}

func (ts *testServer) orderPath(o model.Order) string {
	return "/orders/" + ts.vault.Secrets.IDs("orders").Encode(o.ID)
}

func elmStreet() model.Inputs {
	return model.Inputs{"address": model.StringInput("12 Elm <St>"), "city": model.StringInput("Troy"),
		"state": model.StringInput("NY")}
}

func TestDashboardOfEmptyVault(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	h.openBrowser(t, model.RoleAdmin).get(t, 200, "/").has(t, "Create your first abstract", "/admin/keys/new", "/admin/backups",
		"/admin/users/new")
	staff := h.openBrowser(t, model.RoleStaff).get(t, 200, "/")
	staff.has(t, "Create your first abstract", "/orders/new")
	staff.lacks(t, `href="/admin/keys/new"`)
	viewer := h.openBrowser(t, model.RoleViewer).get(t, 200, "/")
	viewer.has(t, "Nothing here yet")
	viewer.lacks(t, "/abstracts/new", "/orders/new")
}

func TestDashboard(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	overdue, dueTomorrow := h.createOrder(t, "L-1", -3, elmStreet()), h.createOrder(t, "S-1", 1, elmStreet())
	h.createOrder(t, "F-1", 40, elmStreet())
	for n := range 10 { // more than the dashboard shows
		h.createOrder(t, fmt.Sprintf("M-%d", n), 7, elmStreet())
	}
	h.upload(t, "deed <1>.txt", []byte("words"))
	staff := h.openBrowser(t, model.RoleStaff)
	page := staff.get(t, 200, "/")
	page.has(t, h.orderPath(overdue), "3 days overdue", h.orderPath(dueTomorrow), "Due tomorrow", "12 Elm &lt;St&gt;, Troy, NY",
		"deed &lt;1&gt;.txt", `href="/documents/1"`, "Processing", `hx-trigger="every 3s"`, `/orders?status=active`,
		"/abstracts?status=In%20Search")
	page.has(t, "Due within 7 days")
	_, query, _ := strings.Cut(string(page.body), `<a href="/orders?show=open&amp;due_from=`)
	query, _, _ = strings.Cut(query, `"`)
	all := "/orders?show=open&due_from=" + html.UnescapeString(query)
	staff.get(t, 200, all).has(t, "S-1", "M-9")
	staff.get(t, 200, all).lacks(t, "F-1", "L-1")
	page.lacks(t, "F-1", "No backup exists", "Create your first abstract", "<St>", "The disk")
	h.openBrowser(t, model.RoleAdmin).get(t, 200, "/").has(t, "No backup exists")
	// A refresh replaces only the list and doesn't consume the notice.
	part := staff.get(t, 200, "/documents/latest", "HX-Request", "true", "Cookie", "deedkeep_notice=CldhaXQ")
	part.has(t, `<ul class="documents" hx-get="/documents/latest"`, "deed &lt;1&gt;.txt")
	part.lacks(t, "<h1", "L-1")
	if len(part.Cookies()) > 0 {
		t.Errorf("cookies of the refreshed list = %v, want none", part.Cookies())
	}
	staff.get(t, 303, "/documents/latest").checkHeaders(t, map[string]string{"Location": "/"})
}

func TestRetryAll(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	h.openBrowser(t, model.RoleViewer).post(t, 403, "/documents/retry", nil)
	staff := h.openBrowser(t, model.RoleStaff)
	if got := staff.post(t, 303, "/documents/retry", url.Values{"back": {"/vault"}}); got.Header.Get("Location") != "/vault" {
		t.Errorf("Location = %q, want /vault", got.Header.Get("Location"))
	}
	staff.post(t, 303, "/documents/retry", url.Values{"back": {"//elsewhere.example"}}).checkHeaders(t, map[string]string{"Location": "/"})
}

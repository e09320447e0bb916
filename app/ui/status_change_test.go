package ui_test

import (
	"net/url"
	"testing"

	"deedkeep/app/model"
	"deedkeep/app/ui/page"
)

// If a page is outdated, setting a status on it changes nothing, and the page says who changed the
// status.
func TestStatusOfStalePage(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	dana, kim := h.openBrowser(t, model.RoleAdmin), h.openBrowser(t, model.RoleStaff)
	for _, row := range []struct{ path, second, third string }{
		{dana.post(t, 303, "/abstracts", url.Values{"county": {"Albany"}}).Header.Get("Location"), "In Exam", "Complete"},
		{dana.post(t, 303, "/orders", url.Values{"order_number": {"1"}}).Header.Get("Location"), "on_hold", "completed"},
	} {
		t.Run(row.path, func(t *testing.T) {
			before := kim.get(t, 200, row.path).matches(t, `name="was" value="([^"]*)"`)[0]
			dana.post(t, 303, row.path+"/status", url.Values{"was": {before}, "status": {row.second}})
			set := url.Values{"was": {before}, "status": {row.third}}
			conflict := kim.post(t, 200, row.path+"/status", set, "HX-Request", "true")
			conflict.has(t, "Kim of admin changed the status to “"+page.FormatStatus(row.second)+"” on ", "Your change wasn&#39;t saved.", `name="was" value="`+row.second+`"`)
			kim.post(t, 303, row.path+"/status", set)
			kim.get(t, 200, row.path).has(t, `name="was" value="`+row.second+`"`)
			kim.post(t, 303, row.path+"/status", url.Values{"was": {before}, "status": {row.second}}) // both users set the same status
			set.Set("was", row.second)
			kim.post(t, 200, row.path+"/status", set, "HX-Request", "true").lacks(t, "Your change wasn&#39;t saved.")
			kim.get(t, 200, row.path).has(t, `name="was" value="`+row.third+`"`)
		})
	}
}

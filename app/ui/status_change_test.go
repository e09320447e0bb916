package ui_test

import (
	"net/url"
	"testing"

	"deedkeep/app/model"
)

// Setting a status on an outdated page changes nothing and says who changed it.
func TestStatusOfStalePage(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	dana, kim := h.openBrowser(t, model.RoleAdmin), h.openBrowser(t, model.RoleStaff)
	for _, row := range []struct{ made, second, third string }{
		{dana.post(t, 303, "/abstracts", url.Values{"county": {"Albany"}}).Header.Get("Location"), "In Exam", "Complete"},
		{dana.post(t, 303, "/orders", url.Values{"order_number": {"1"}}).Header.Get("Location"), "on_hold", "completed"},
	} {
		was := kim.get(t, 200, row.made).matches(t, `name="was" value="([^"]*)"`)[0]
		dana.post(t, 303, row.made+"/status", url.Values{"was": {was}, "status": {row.second}})
		set := url.Values{"was": {was}, "status": {row.third}}
		clash := kim.post(t, 200, row.made+"/status", set, "HX-Request", "true")
		clash.has(t, "meanwhile (Kim of admin, ", "Nothing was changed", `name="was" value="`+row.second+`"`)
		kim.post(t, 303, row.made+"/status", set)
		kim.get(t, 200, row.made).has(t, `name="was" value="`+row.second+`"`)
		kim.post(t, 303, row.made+"/status", url.Values{"was": {was}, "status": {row.second}}) // both set the same status
		set.Set("was", row.second)
		kim.post(t, 200, row.made+"/status", set, "HX-Request", "true").lacks(t, "meanwhile")
		kim.get(t, 200, row.made).has(t, `name="was" value="`+row.third+`"`)
	}
}

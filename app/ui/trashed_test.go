package ui_test

import (
	"net/url"
	"testing"

	"deedkeep/app/model"
)

// If another user moves a record to the trash, its page says who did so, and the user can restore
// the record.
func TestTrashedByAnotherUser(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	dana, kim, viewer := h.openBrowser(t, model.RoleAdmin), h.openBrowser(t, model.RoleStaff), h.openBrowser(t, model.RoleViewer)
	for _, path := range []string{
		dana.post(t, 303, "/abstracts", url.Values{"county": {"Albany"}}).Header.Get("Location"),
		dana.post(t, 303, "/orders", url.Values{"order_number": {"26-<1>"}}).Header.Get("Location"),
	} {
		kim.post(t, 404, path+"A", nil).lacks(t, "Kim of admin")
		dana.post(t, 303, path+"/trash", nil)
		part := kim.get(t, 404, path+"?group=property&edit=1", "HX-Request", "true")
		part.has(t, "Kim of admin deleted the ", `href="`+path+`"`, "Restore it")
		form := url.Values{"group": {"property"}, "city": {"Troy"}, "status": {"x"}}
		kim.post(t, 404, path, form).has(t, "Kim of admin deleted the ", `action="`+path+`/restore"`)
		kim.post(t, 404, path+"/status", form, "HX-Request", "true").has(t, "Your changes weren't saved")
		read := viewer.get(t, 404, path)
		read.has(t, "Kim of admin deleted the ")
		read.lacks(t, path+"/restore")
		h.post(t, 303, path, form) // visitors who aren't signed in don't see the name
		kim.post(t, 303, path+"/restore", nil)
		kim.post(t, 303, path, form)
	}
}

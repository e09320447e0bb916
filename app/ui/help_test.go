package ui_test

import (
	"strings"
	"testing"

	"deedkeep/app/guides"
	"deedkeep/app/model"
)

// Everyone who is signed in can read and search the guides.
func TestGuides(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	token, _ := h.createSession(t, "ann", model.RoleViewer)
	cookie := "Cookie: deedkeep=" + token
	list := h.request(t, 200, "GET", "/help", cookie)
	list.has(t, `<a href="/help/working">Working with deedkeep</a>`, "For everyone", "For the owner",
		"For administrators", "For developers")
	for _, g := range guides.List() {
		list.has(t, `href="`+g.Path()+`"`)
		h.request(t, 200, "GET", g.Path(), cookie).has(t, "<h1>"+g.Title+"</h1>", `aria-label="On this page"`, `<li><a href="#`)
	}
	h.request(t, 200, "GET", "/help?q=restore+test", cookie).has(t, `href="/help/backups#test-your-backups"`, "<mark>restore</mark>", "results for “restore test”")
	h.request(t, 200, "GET", "/help?q=%3Cscript%3E", cookie).has(t, "No results for “&lt;script&gt;”")
	h.request(t, 404, "GET", "/help/none", cookie)
	h.request(t, 404, "GET", "/help/screenshots/none.png", cookie)
	if got := h.request(t, 303, "GET", "/help/installing", cookie).Header.Get("Location"); got != "/help/install" {
		t.Errorf("/help/installing redirects to %q, want /help/install", got)
	}
	shot := h.request(t, 200, "GET", "/help/screenshots/desk.png", cookie)
	if !strings.HasPrefix(string(shot.body), "\x89PNG") {
		t.Error("desk.png is not a PNG file")
	}
	shot.checkHeaders(t, map[string]string{"Content-Type": "image/png", "X-Content-Type-Options": "nosniff"})
	h.request(t, 303, "GET", "/help")
}

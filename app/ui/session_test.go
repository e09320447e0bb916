package ui_test

import (
	"net/http"
	"testing"
	"time"

	"deedkeep/app/model"
)

// User actions extend a session, but polling doesn't.
func TestPollingDoesNotExtendSession(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		header   []string
		signedIn bool
	}{
		"polling":      {[]string{"HX-Request: true"}, false},
		"user actions": {nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			h := newTestServer(t)
			cookie := h.cookieFor(t, "Owner")
			var got reply
			for range 30 {
				h.clock.Advance(30 * time.Minute)
				got = h.send(t, "GET", "/", append(row.header, cookie)...)
			}
			if signedIn := got.StatusCode == http.StatusOK; signedIn != row.signedIn {
				t.Errorf("status after 15 hours = %d, want signed in %t", got.StatusCode, row.signedIn)
			}
		})
	}
}

// Signing out deletes the data that the browser stores for the site. When a session expires,
// unfinished uploads are kept.
func TestSignOutClearsBrowserData(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	h.post(t, 303, "/sign-out", nil, h.cookieFor(t, "Owner")).checkHeaders(t, map[string]string{"Clear-Site-Data": `"cache", "storage"`})
	h.post(t, 303, "/me/sessions/end-all", nil, h.cookieFor(t, "Owner")).checkHeaders(t,
		map[string]string{"Clear-Site-Data": `"cache", "storage"`})
	h.request(t, 303, "GET", "/", "Cookie: deedkeep=x").checkHeaders(t, map[string]string{"Clear-Site-Data": `"cache"`})
	h.request(t, 303, "GET", "/").checkHeaders(t, map[string]string{"Clear-Site-Data": ""})
}

// Responses to scripts have the same security headers as pages.
func TestScriptResponseHeaders(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	h.request(t, 401, "GET", "/", "HX-Request: true").checkHeaders(t, map[string]string{
		"Cache-Control": "no-store", "Vary": "HX-Request", "X-Content-Type-Options": "nosniff",
		"Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
	})
	lib, _, files := newServerWithDocuments(t)
	g := lib.openBrowser(t, model.RoleStaff)
	for _, address := range []string{documentPath(files[1], "/find?q=a"), documentPath(files[1], "/pages/1/marks?q=a")} {
		g.get(t, 200, address).checkHeaders(t,
			map[string]string{"Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'", "X-Content-Type-Options": "nosniff"})
	}
	h.request(t, 401, "GET", "/uploads/x").checkHeaders(t,
		map[string]string{"Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'", "X-Content-Type-Options": "nosniff"})
}

package ui_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"deedkeep/app/model"
)

// Polling must not extend a session; user actions do.
func TestPollingDoesNotExtendSession(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		header []string
		stays  bool
	}{
		"polls": {[]string{"HX-Request: true"}, false},
		"works": {nil, true},
	} {
		h := open(t)
		cookie := h.as(t, "Owner")
		var got reply
		for range 30 {
			h.clock.Advance(30 * time.Minute)
			got = h.ask(t, "GET", "/", append(row.header, cookie)...)
		}
		if stays := got.StatusCode == http.StatusOK; stays != row.stays {
			t.Errorf("%s: %d", name, got.StatusCode)
		}
	}
}

// Signing out clears what the browser stores. After an expiration, unfinished uploads are kept.
func TestSigningOutForgets(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.post(t, 303, "/sign-out", nil, h.as(t, "Owner")).same(t, map[string]string{"Clear-Site-Data": `"cache", "storage"`})
	h.post(t, 303, "/me/sessions/end-all", nil, h.as(t, "Owner")).same(t, map[string]string{"Clear-Site-Data": `"cache", "storage"`})
	h.status(t, 303, "GET", "/", "Cookie: deedkeep=x").same(t, map[string]string{"Clear-Site-Data": `"cache"`})
	h.status(t, 303, "GET", "/").same(t, map[string]string{"Clear-Site-Data": ""})
}

// Responses to scripts have the same security headers as pages.
func TestAnswersToScriptsSayWhatTheyAre(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.status(t, 401, "GET", "/", "HX-Request: true").same(t, map[string]string{
		"Cache-Control": "no-store", "Vary": "HX-Request", "X-Content-Type-Options": "nosniff",
		"Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
	})
	lib, _, files := library(t)
	g := lib.visit(t, model.RoleStaff)
	for _, address := range []string{path(files[1], "/find?q=a"), path(files[1], "/pages/1/marks?q=a")} {
		g.get(t, 200, address).same(t, map[string]string{"Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'", "X-Content-Type-Options": "nosniff"})
	}
	h.status(t, 401, "GET", "/uploads/x").same(t, map[string]string{"Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'", "X-Content-Type-Options": "nosniff"})
}

// slow counts the extensions of the write deadline.
type slow struct {
	*httptest.ResponseRecorder
	moved int
}

func (s *slow) SetWriteDeadline(time.Time) error {
	s.moved++
	return nil
}

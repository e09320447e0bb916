package ui

import (
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

func noticePages(t *testing.T, scheme string) *pages {
	t.Helper()
	v, err := vault.Open(t.Context(), vaulttest.Options(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := v.Close(); err != nil {
			t.Error(err)
		}
	})
	return &pages{Options: Options{Vault: v, Origin: func(r *http.Request) (string, error) { return scheme + r.Host, nil }}}
}

// A notice is undone by what takes something out of the trash, and by no other form.
func TestNoticeUndoesNothingElse(t *testing.T) {
	t.Parallel()
	p := noticePages(t, "https://")
	for undo, good := range map[string]bool{
		"/abstracts/Ab3dEf9hJkL/restore":             true,
		"/abstracts/Ab3dEf9hJkL/documents/7/restore": true,
		"/orders/Ab3dEf9hJkL/restore":                true,
		"/documents/7/restore":                       true,
		"":                                           false,
		"/abstracts/Ab3dEf9hJkL/trash?/restore":      false,
		"/documents/7/trash#/restore":                false,
		"/admin/users/1/disable?x=/restore":          false,
		"/documents/7/../8/restore":                  false,
		"//elsewhere/restore":                        false,
		"/documents/7/restore\r":                     false,
	} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest("GET", "/", nil)
		p.leaveUndo(w, r, "It is in the trash.", undo)
		cookie := w.Result().Cookies()[0]
		if cookie.Name != "__Host-deedkeep_notice" || !cookie.Secure || !cookie.HttpOnly || cookie.Path != "/" {
			t.Errorf("%+v", cookie)
		}
		r.AddCookie(cookie)
		notice, got := p.notice(httptest.NewRecorder(), r)
		if notice != "It is in the trash." || (got == undo && undo != "") != good || got != "" && !good {
			t.Errorf("%q: %q, undone by %q", undo, notice, got)
		}
	}
}

// A cookie that the service did not seal says nothing.
func TestNoticeOfSomebodyElse(t *testing.T) {
	t.Parallel()
	p := noticePages(t, "http://")
	text := base64.RawURLEncoding.EncodeToString([]byte("/documents/7/restore\nCall 555-0100."))
	good := p.sealNotice("/documents/7/restore\nGood.")
	_, mark, _ := strings.Cut(good, ".")
	for value, says := range map[string]string{good: "Good.", text: "", text + ".": "", text + "." + mark: "", good + "x": "", "." + mark: ""} {
		r := httptest.NewRequest("GET", "/", nil)
		r.AddCookie(&http.Cookie{Name: noticeCookie, Value: value})
		if notice, undo := p.notice(httptest.NewRecorder(), r); notice != says || (undo != "") != (says != "") {
			t.Errorf("%s: %q, %q", value, notice, undo)
		}
	}
}

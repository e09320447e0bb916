package ui_test

import (
	"archive/zip"
	"bytes"
	"net/http"
	"net/http/httptest"
	"testing"

	"deedkeep/app/model"
	"deedkeep/app/vaulttest"
)

// slowReader records a response. It calls a function after a given number of bytes.
type slowReader struct {
	*httptest.ResponseRecorder
	callAfter int
	callback  func()
}

func (s *slowReader) Write(b []byte) (int, error) {
	n, err := s.ResponseRecorder.Write(b)
	if s.callback != nil && s.Body.Len() >= s.callAfter {
		s.callback()
		s.callback = nil
	}
	return n, err
}

// When the user signs out, sending a ZIP file is aborted, either within a document or before the
// next one.
func TestZipStopsWithSession(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	staff := h.openBrowser(t, model.RoleStaff)
	body := append(vaulttest.PDF(1, "big"), make([]byte, 2<<20)...)
	for n, name := range []string{"a.pdf", "b.pdf"} {
		form, kind := multipartForm(name, string(append(body, byte(n))))
		h.sendBody(t, 303, "POST", "/vault/1/documents", form, "Cookie: deedkeep="+staff.token, kind)
	}
	for _, row := range []struct {
		name string
		at   int
	}{{"within a document", 300 << 10}, {"before the next", 2 << 20}, {"never", 0}} {
		t.Run(row.name, func(t *testing.T) {
			token := h.signIn(t, "Owner", "")
			w := &slowReader{ResponseRecorder: httptest.NewRecorder(), callAfter: row.at}
			if row.at > 0 {
				w.callback = func() {
					if err := h.vault.Sessions.SignOut(t.Context(), token, "192.0.2.1"); err != nil {
						t.Errorf("Sessions.SignOut: %v", err)
					}
				}
			}
			aborted := h.downloadZip(t, w, token)
			if row.at == 0 {
				got, err := zip.NewReader(bytes.NewReader(w.Body.Bytes()), int64(w.Body.Len()))
				if aborted || err != nil || len(got.File) != 2 {
					t.Errorf("aborted %t, zip.NewReader: %v, want a complete zip of 2 documents", aborted, err)
				}
				return
			}
			if maxBytes := row.at + 600<<10; !aborted || w.Body.Len() > maxBytes {
				t.Errorf("aborted %t after %d bytes, want true after at most %d", aborted, w.Body.Len(), maxBytes)
			}
		})
	}
}

// downloadZip downloads a folder and reports whether the server aborted the response.
func (ts *testServer) downloadZip(t *testing.T, w http.ResponseWriter, token string) (aborted bool) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), "GET", "http://vault.test/vault/1/zip", nil)
	r.AddCookie(&http.Cookie{Name: "deedkeep", Value: token})
	defer func() { aborted = recover() == http.ErrAbortHandler }() //nolint:errorlint // net/http compares it this way
	ts.server.Config.Handler.ServeHTTP(w, r)
	return false
}

package ui_test

import (
	"archive/zip"
	"bytes"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"deedkeep/app/model"
	"deedkeep/app/vaulttest"
)

// slowReader reads a response, calls a function after a number of bytes, and remembers the last
// deadline.
type slowReader struct {
	*httptest.ResponseRecorder
	deadline  time.Time
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

func (s *slowReader) SetWriteDeadline(at time.Time) error {
	s.deadline = at
	return nil
}

// A zip is aborted when its reader loses permission: within a document, and before the next.
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
			reader := h.signIn(t, "Owner", "")
			taker := &slowReader{ResponseRecorder: httptest.NewRecorder(), callAfter: row.at}
			if row.at > 0 {
				taker.callback = func() {
					if err := h.vault.Sessions.SignOut(t.Context(), reader, "192.0.2.1"); err != nil {
						t.Errorf("Sessions.SignOut: %v", err)
					}
				}
			}
			cut := h.downloadZip(t, taker, reader)
			if row.at == 0 {
				got, err := zip.NewReader(bytes.NewReader(taker.Body.Bytes()), int64(taker.Body.Len()))
				if cut || err != nil || len(got.File) != 2 {
					t.Errorf("cut %v, %v", cut, err)
				}
				return
			}
			if maxBytes := row.at + 600<<10; !cut || taker.Body.Len() > maxBytes {
				t.Errorf("cut %v; %d bytes went out, at most %d may", cut, taker.Body.Len(), maxBytes)
			}
			if left := time.Until(taker.deadline); left > 10*time.Minute {
				t.Errorf("it may take %s more", left)
			}
		})
	}
}

// downloadZip downloads a folder and reports whether the response was aborted.
func (h *testServer) downloadZip(t *testing.T, taker http.ResponseWriter, token string) (cut bool) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), "GET", "http://vault.test/vault/1/zip", nil)
	r.AddCookie(&http.Cookie{Name: "deedkeep", Value: token})
	defer func() { cut = recover() == http.ErrAbortHandler }() //nolint:errorlint // it is compared as net/http does
	h.server.Config.Handler.ServeHTTP(taker, r)
	return false
}

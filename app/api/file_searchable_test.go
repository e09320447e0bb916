package api_test

import (
	"net/http"
	"strings"
	"testing"

	"deedkeep/app/vaulttest"
)

// A file can be downloaded as a searchable PDF after OCR has read its pages. The audit log says so.
func TestSearchableFile(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t, func(cfg *testConfig) { cfg.vault.OCRReader = new(vaulttest.FakeOCR) })
	srv.do(t, uploadCall("full", 201, filePart("files", "Canary deed.pdf", pdf(1)), filePart("files", "note.txt", "plain words\n")))
	const path = "/v1/file-vault/files/1/searchable.pdf"
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		srv.do(t, call{as: "read", method: method, path: path, status: 409})
		srv.do(t, call{as: "read", method: method, path: "/v1/file-vault/files/2/searchable.pdf", status: 404})
		srv.do(t, call{as: "read", method: method, path: "/v1/file-vault/files/99/searchable.pdf", status: 404})
	}
	vaulttest.ReadPages(t, srv.vault, 1)
	head := srv.do(t, call{as: "read", method: http.MethodHead, path: path, status: 200, media: "application/pdf"})
	got := srv.do(t, call{as: "read", method: http.MethodGet, path: path, status: 200, media: "application/pdf"})
	if body := string(got.body); !strings.HasPrefix(body, "%PDF-") || !strings.Contains(body, "Willoughby") {
		t.Errorf("body = %q, want a PDF with the words", body)
	}
	for name, want := range map[string]string{
		"Content-Disposition": `attachment; filename="Canary deed-searchable.pdf"`, "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff",
		"Referrer-Policy": "no-referrer",
	} {
		if h, g := head.Header.Get(name), got.Header.Get(name); h != want || g != want {
			t.Errorf("%s = %q for HEAD and %q for GET, want %q", name, h, g, want)
		}
	}
	events := string(srv.do(t, call{as: "events", method: http.MethodGet, path: "/v1/events?kind=file.downloaded", status: 200}).body)
	if n := strings.Count(events, `"as":"searchable"`); n != 1 {
		t.Errorf("downloads in the audit log = %d, want 1: %s", n, events)
	}
}

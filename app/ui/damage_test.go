package ui_test

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

// corrupt overwrites a stored document. It also changes the modification time, so that the change
// is detected regardless of the clock resolution.
func (ts *testServer) corrupt(t *testing.T, file model.File, content []byte) {
	t.Helper()
	path := filepath.Join(ts.dir, "blobs", file.Digest[:2], file.Digest)
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatalf("os.Chmod: %v", err)
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatalf("os.WriteFile: %v", err)
	}
	old := time.Date(2020, 1, 2, 3, 4, 5, 6, time.UTC)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatalf("os.Chtimes: %v", err)
	}
}

// fetch sends a request and returns the response and its body. It returns an error if the server
// aborts the connection.
func fetch(t *testing.T, client *http.Client, method, target string, header ...string) (*http.Response, []byte, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, target, nil)
	if err != nil {
		t.Fatalf("new request: %v", err)
	}
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		r.Header.Set(name, value)
	}
	response, err := client.Do(r)
	if err != nil {
		t.Fatalf("send request: %v", err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return response, body, err
}

// serversByProtocol returns servers that serve the same pages over HTTP/1.1 and HTTP/2.
func (ts *testServer) serversByProtocol(t *testing.T) map[string]*httptest.Server {
	t.Helper()
	second := httptest.NewUnstartedServer(ts.server.Config.Handler)
	second.EnableHTTP2 = true
	second.TLS = &tls.Config{NextProtos: []string{"h2"}, MinVersion: tls.VersionTLS12}
	second.StartTLS()
	t.Cleanup(second.Close)
	return map[string]*httptest.Server{"HTTP/1.1": ts.server, "HTTP/2.0": second}
}

func verifyLargeDocuments(o *instance.Options) { o.Settings.Scrub.VerifyFirst = 64 << 10 }

// TestNoDamagedDocumentIsServedComplete flips bits in 65 documents and damages others in different
// ways. Some documents are small; others are so large that they are verified while they are sent.
func TestNoDamagedDocumentIsServedComplete(t *testing.T) {
	t.Parallel()
	h := newEmptyTestServer(t, verifyLargeDocuments)
	h.createUser(t, "Owner", model.RoleAdmin)
	token := h.signIn(t, "Owner", "")
	cookie := "Cookie: deedkeep=" + token + "; __Host-deedkeep=" + token // the second one for the server with TLS
	servers := h.serversByProtocol(t)
	type damaged struct {
		file    model.File
		content []byte
	}
	var all []damaged
	for i := range 65 {
		content := fmt.Appendf(nil, "deed %d ", i)
		content = bytes.Repeat(content, 1+(i%2*200<<10)/len(content))
		file := h.upload(t, fmt.Sprintf("Deed %d.txt", i), content)
		bad := bytes.Clone(content)
		bad[i*7919%len(bad)] ^= 1 << (i % 8)
		switch i {
		case 60, 61:
			bad = content[:len(content)-1]
		case 62, 63:
			bad = nil
		case 64:
			bad = append(bad, 'x')
		}
		h.corrupt(t, file, bad)
		all = append(all, damaged{file, content})
	}
	for i, d := range all {
		for protocol, server := range servers {
			// By the second request, the damage is known, so the response is an error page.
			target := []string{h.signedLink(d.file), fmt.Sprintf("/documents/%d/original", d.file.ID),
				fmt.Sprintf("/documents/%d/download", d.file.ID)}[i%3]
			for _, header := range []string{"Accept: */*", "Range: bytes=0-"} {
				response, body, err := fetch(t, server.Client(), "GET", server.URL+target, header, cookie)
				if response.Proto != protocol {
					t.Fatalf("got %s, want %s", response.Proto, protocol)
				}
				if err == nil && response.StatusCode != http.StatusInternalServerError || len(body) >= len(d.content) && response.StatusCode < 300 {
					t.Errorf("document %d, %s, %s: status %d, %d bytes of %d, %v, want an error or fewer bytes", i, protocol, target,
						response.StatusCode, len(body), len(d.content), err)
				}
				if response.StatusCode == http.StatusInternalServerError &&
					(response.Header.Get("Etag") != "" || !bytes.Contains(body, []byte(d.file.Filename))) {
					t.Errorf("document %d, %s, %s: ETag %q, want none and a page with the filename:\n%s", i, protocol, target,
						response.Header.Get("Etag"), body)
				}
			}
		}
	}
	for _, d := range all {
		h.upload(t, d.file.Filename, d.content)
		if got := h.request(t, 200, "GET", h.signedLink(d.file)); !bytes.Equal(got.body, d.content) {
			t.Errorf("document after a new upload has %d bytes, want %d", len(got.body), len(d.content))
		}
	}
}

// TestConditionsOfUnverifiedDocuments checks conditional and range requests for large documents
// that have not been verified recently.
func TestConditionsOfUnverifiedDocuments(t *testing.T) {
	t.Parallel()
	h := newEmptyTestServer(t, verifyLargeDocuments)
	content := bytes.Repeat([]byte("0123456789"), 30<<10)
	file := h.upload(t, "a.txt", content)
	tag := `"` + file.Digest + `"`
	size := len(content)
	for protocol, server := range h.serversByProtocol(t) {
		for _, row := range []struct {
			name, method string
			header       string
			status       int
			body         []byte
		}{
			{"head", "HEAD", "Accept: */*", 200, nil},
			{"ETag matches", "GET", "If-None-Match: " + tag, 304, nil},
			{"first bytes", "GET", "Range: bytes=0-3", 206, content[:4]},
			{"bytes in the middle", "GET", "Range: bytes=100000-100009", 206, content[100000:100010]},
			{"last bytes", "GET", fmt.Sprintf("Range: bytes=%d-", size-10), 206, content[size-10:]},
			{"range after the end", "GET", fmt.Sprintf("Range: bytes=%d-", size), 416, nil},
			{"complete range", "GET", "Range: bytes=0-", 206, content},
			{"If-Range with another ETag", "GET", `If-Range: "x"`, 200, content},
			{"complete document", "GET", "Accept: */*", 200, content},
		} {
			t.Run(row.name, func(t *testing.T) {
				h.clock.Advance(25 * time.Hour) // all verifications have expired
				response, body, err := fetch(t, server.Client(), row.method, server.URL+h.signedLink(file), row.header)
				if err != nil || response.StatusCode != row.status || row.status < 300 && !bytes.Equal(body, row.body) {
					t.Errorf("%s, %s: got %d with %d bytes, %v; want %d with %d", protocol, row.name, response.StatusCode, len(body), err,
						row.status, len(row.body))
				}
				if row.status < 400 && response.Header.Get("Etag") != tag {
					t.Errorf("%s, %s: ETag %q, want %q", protocol, row.name, response.Header.Get("Etag"), tag)
				}
			})
		}
	}
}

// TestDamagedDocumentsInZips checks that downloading a ZIP file is aborted if it contains a damaged
// document. Documents known to be damaged are reported by name.
func TestDamagedDocumentsInZips(t *testing.T) {
	t.Parallel()
	h := newEmptyTestServer(t, verifyLargeDocuments)
	h.createUser(t, "Owner", model.RoleAdmin)
	cookie := h.cookieFor(t, "Owner")
	folder, err := h.vault.Folders.Create(t.Context(), model.Actor{Kind: "operator"},
		model.FolderDraft{Name: model.StringInput("Deeds")}, vault.Idempotency[model.Folder]{})
	if err != nil {
		t.Fatalf("Folders.Create: %v", err)
	}
	contents := [][]byte{vaulttest.PDF(1, "a"), bytes.Repeat([]byte("large "), 40<<10), vaulttest.PDF(1, "c")}
	var files []model.File
	for i, content := range contents {
		file := h.upload(t, fmt.Sprintf("%d.%s", i, []string{"pdf", "txt", "pdf"}[i]), content)
		patch := model.FilePatch{FolderID: model.Some(model.IDInput{Present: true, Valid: true, Value: int64(folder.ID)})}
		if file, err = h.vault.Files.Patch(t.Context(), model.Actor{Kind: "operator"}, file.ID, patch, vault.Match{}); err != nil {
			t.Fatalf("Files.Patch: %v", err)
		}
		files = append(files, file)
	}
	target := fmt.Sprintf("%s/vault/%d/zip", h.server.URL, folder.ID)
	if response, _, err := fetch(t, h.server.Client(), "GET", target, cookie); err != nil || response.StatusCode != 200 {
		t.Fatalf("zip of intact documents: status %d, %v, want 200", response.StatusCode, err)
	}
	for i, content := range contents {
		bad := bytes.Clone(content)
		bad[len(bad)/3] ^= 1
		h.corrupt(t, files[i], bad)
		response, _, err := fetch(t, h.server.Client(), "GET", target, cookie)
		if err == nil && response.StatusCode != http.StatusInternalServerError {
			t.Errorf("zip with damaged document %d: status %d and a complete body, want an error", i, response.StatusCode)
		}
		response, body, err := fetch(t, h.server.Client(), "GET", target, cookie)
		if err != nil || response.StatusCode != http.StatusInternalServerError || !bytes.Contains(body, []byte(files[i].Filename)) {
			t.Errorf("zip with known damage of document %d: status %d, %v, want 500 and the filename\n%s", i,
				response.StatusCode, err, body)
		}
		h.upload(t, "again "+files[i].Filename, content)
	}
}

// TestDamageIsShownToAdministrators checks that every page shows a warning and that the linked page
// names the damaged document.
func TestDamageIsShownToAdministrators(t *testing.T) {
	t.Parallel()
	h := newEmptyTestServer(t, func(o *instance.Options) { o.Settings.Scrub.Every = 30 * 24 * time.Hour })
	admin := h.newUser(t, "ada", model.RoleAdmin)
	content := vaulttest.PDF(1, "a")
	file := h.upload(t, "a.pdf", content)
	admin.get(t, 200, "/admin/backups", "No damaged documents found", "Not started").lacks(t, "Damaged")
	h.corrupt(t, file, content[1:])
	admin.get(t, 500, fmt.Sprintf("/documents/%d/original", file.ID), "Document damaged", "“a.pdf” (document 1)")
	h.clock.Advance(time.Minute)
	admin.get(t, 200, "/vault", "1 stored document is damaged")
	admin.get(t, 200, "/admin/backups", `<a href="/documents/1">Document 1</a>`)
	admin.get(t, 200, "/admin/activity", "found damage in")
	h.upload(t, "again.pdf", content)
	h.clock.Advance(time.Minute)
	admin.get(t, 200, "/vault").lacks(t, "damaged")
	admin.get(t, 200, "/admin/backups", "No damaged documents found")
}

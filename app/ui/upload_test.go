package ui_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"deedkeep/app/document"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/sandbox"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

// newUserCookie creates a user, signs in, and returns the Cookie header.
func (ts *testServer) newUserCookie(t *testing.T, name string, role model.Role) (cookie string, actor model.Actor) {
	t.Helper()
	token, actor := ts.createSession(t, name, role)
	return "Cookie: deedkeep=" + token, actor
}

// sendBody sends a request with a body and checks the response status.
func (ts *testServer) sendBody(t *testing.T, want int, method, target, body string, header ...string) reply {
	t.Helper()
	conn := ts.dial(t)
	defer conn.Close()
	lines := append([]string{"Host: vault.test", "Connection: close", "Content-Length: " + strconv.Itoa(len(body))}, header...)
	if _, err := fmt.Fprintf(conn, "%s %s HTTP/1.1\r\n%s\r\n\r\n%s", method, target, strings.Join(lines, "\r\n"), body); err != nil {
		t.Fatalf("write request: %v", err)
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		t.Fatalf("read response: %v", err)
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatalf("read response body: %v", err)
	}
	if response.StatusCode != want {
		t.Errorf("%s %s: status %d, want %d\n%s", method, target, response.StatusCode, want, newReply(response, content).main())
	}
	return newReply(response, content)
}

const tus = "Tus-Resumable: 1.0.0"

// uploadMetadata returns the Upload-Metadata header with the file name and destination of a
// document.
func uploadMetadata(filename, to string) string {
	code := base64.StdEncoding.EncodeToString
	return "Upload-Metadata: filename " + code([]byte(filename)) + ",to " + code([]byte(to)) + ",empty"
}

func uploadOffset(n int) string { return "Upload-Offset: " + strconv.Itoa(n) }

const chunk = "Content-Type: application/offset+octet-stream"

// uploadState returns the status of an upload.
func (ts *testServer) uploadState(t *testing.T, cookie, path string) (state struct {
	State, Name, Path, Note, Advice string
	Offset, Size                    int64
	Number                          uint64
	NotePath                        string `json:"note_path"`
	Rejection                       string `json:"refusal"`
}) {
	t.Helper()
	got := ts.request(t, 200, "GET", path, cookie)
	if err := json.Unmarshal(got.body, &state); err != nil {
		t.Fatalf("decode %s: %v", got.body, err)
	}
	return state
}

func TestTus(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	cookie, actor := h.newUserCookie(t, "kim", model.RoleAdmin)
	created, err := h.vault.Abstracts.Create(t.Context(), actor,
		model.AbstractDraft{Fields: model.Inputs{"address": model.StringInput("12 Oak St")}}, h.newStagedUpload(t),
		vault.Idempotency[vault.AbstractWithFiles]{})
	if err != nil {
		t.Fatalf("Abstracts.Create: %v", err)
	}
	abstract := h.vault.Secrets.IDs("abstracts").Encode(created.Abstract.ID)
	body := string(vaulttest.PDF(2, strings.Repeat("deed ", 1000)))
	length := "Upload-Length: " + strconv.Itoa(len(body))
	for i, row := range []struct{ to, in, note, other string }{
		{"abstract:" + abstract, "abstract:" + abstract, "", ""},
		{"folder:1", "folder:1", "Duplicate: this document is also in 12 Oak St as “Déed.pdf”.", "/documents/1?in=abstract:" + abstract},
		{"folder:1", "folder:1", "Duplicate: this document is already here as “Déed.pdf”.", "/documents/2?in=folder:1"},
		{"none", "none", "Duplicate: this document is also in 12 Oak St as “Déed.pdf”.", "/documents/1?in=abstract:" + abstract},
	} {
		t.Run(row.to, func(t *testing.T) {
			started := h.sendBody(t, 201, "POST", "/uploads", "", cookie, tus, length, uploadMetadata("C:\\scans\\Déed.pdf", row.to))
			started.checkHeaders(t, map[string]string{"Tus-Resumable": "1.0.0", "Upload-Offset": "0", "Cache-Control": "no-store",
				"Upload-Expires": "Sat, 30 May 2026 04:00:00 GMT"})
			path := started.Header.Get("Location")
			h.sendBody(t, 204, "PATCH", path, body[:100], cookie, tus, uploadOffset(0), chunk).checkHeaders(t,
				map[string]string{"Upload-Offset": "100", "Tus-Resumable": "1.0.0"})
			h.sendBody(t, 200, "HEAD", path, "", cookie, tus).checkHeaders(t,
				map[string]string{"Upload-Offset": "100", "Upload-Length": strconv.Itoa(len(body)), "Cache-Control": "no-store"})
			if got := h.uploadState(t, cookie, path); got.State != "arriving" || got.Offset != 100 {
				t.Errorf("unexpected state of the upload: %+v", got)
			}
			h.sendBody(t, 409, "PATCH", path, body[:100], cookie, tus, uploadOffset(0), chunk)
			h.sendBody(t, 204, "PATCH", path, body[100:], cookie, tus, uploadOffset(100), chunk).checkHeaders(t,
				map[string]string{"Upload-Offset": strconv.Itoa(len(body))})
			for range 2 {
				got := h.uploadState(t, cookie, path)
				want := fmt.Sprintf("/documents/%d?in=%s", i+1, row.in)
				if got.State != "filed" || got.Number != uint64(i+1) || got.Name != "Déed.pdf" || got.Path != want || got.Note != row.note ||
					got.NotePath != row.other {
					t.Errorf("unexpected state of the upload: %+v", got)
				}
				// Simulate that the response to the last part was lost.
				h.sendBody(t, 200, "HEAD", path, "", cookie, tus).checkHeaders(t, map[string]string{"Upload-Offset": strconv.Itoa(len(body))})
				h.sendBody(t, 204, "PATCH", path, body[100:], cookie, tus, uploadOffset(100), chunk)
			}
		})
	}
	page, err := h.vault.Files.List(t.Context(), vault.Query{Limit: 10})
	if err != nil || len(page.Items) != 4 {
		t.Errorf("Files.List = %d documents, %v, want 4", len(page.Items), err)
	}
}

func (ts *testServer) newStagedUpload(t *testing.T) *vault.StagedUpload {
	t.Helper()
	staged, err := ts.vault.Files.Stage(t.Context())
	if err != nil {
		t.Fatalf("Files.Stage: %v", err)
	}
	t.Cleanup(staged.Discard)
	return staged
}

func TestTusRejects(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	admin, _ := h.newUserCookie(t, "kim", model.RoleAdmin)
	viewer, _ := h.newUserCookie(t, "vera", model.RoleViewer)
	other, _ := h.newUserCookie(t, "olga", model.RoleStaff)
	ten := "Upload-Length: 10"
	path := h.sendBody(t, 201, "POST", "/uploads", "", admin, tus, ten, uploadMetadata("a.pdf", "none")).Header.Get("Location")
	for _, row := range []struct {
		name   string
		status int
		method string
		path   string
		header []string
		want   string
	}{
		{"signed out", 401, "POST", "/uploads", []string{tus, ten, uploadMetadata("a.pdf", "none")}, "Your session has expired."},
		{"next chunk after signing out", 401, "PATCH", path, []string{tus, uploadOffset(0), chunk}, "Sign in again"},
		{"viewer", 403, "POST", "/uploads", []string{viewer, tus, ten, uploadMetadata("a.pdf", "none")}, "role"},
		{"HEAD of another user", 404, "HEAD", path, []string{other, tus}, ""},
		{"GET of another user", 404, "GET", path, []string{other}, ""},
		{"DELETE of another user", 404, "DELETE", path, []string{other, tus}, ""},
		{"another site", 403, "PATCH", path, []string{admin, tus, uploadOffset(0), chunk, "Sec-Fetch-Site: cross-site"}, ""},
		{"another version", 412, "POST", "/uploads", []string{admin, ten}, "Tus-Resumable header must be 1.0.0"},
		{"no length", 400, "POST", "/uploads", []string{admin, tus, uploadMetadata("a.pdf", "none")}, "Upload-Length"},
		{"invalid metadata", 400, "POST", "/uploads", []string{admin, tus, ten, "Upload-Metadata: filename %"}, "Upload-Metadata"},
		{"unsupported type", 422, "POST", "/uploads", []string{admin, tus, ten, uploadMetadata("a.exe", "none")}, "Accepted types"},
		{"empty file", 422, "POST", "/uploads", []string{admin, tus, "Upload-Length: 0", uploadMetadata("a.pdf", "none")}, document.ReasonEmpty},
		{"too large", 413, "POST", "/uploads", []string{admin, tus, "Upload-Length: 104857601", uploadMetadata("a.pdf", "none")},
			document.ReasonTooLarge(100 << 20)},
		{"missing abstract", 422, "POST", "/uploads", []string{admin, tus, ten, uploadMetadata("a.pdf", "abstract:00000000000")},
			"no longer exists"},
		{"invalid abstract ID", 422, "POST", "/uploads", []string{admin, tus, ten, uploadMetadata("a.pdf", "abstract:1")}, "no longer exists"},
		{"missing folder", 422, "POST", "/uploads", []string{admin, tus, ten, uploadMetadata("a.pdf", "folder:99")}, "no longer exists"},
		{"another Content-Type", 415, "PATCH", path, []string{admin, tus, uploadOffset(0)}, "offset+octet-stream"},
		{"no offset", 400, "PATCH", path, []string{admin, tus, chunk}, "Upload-Offset"},
		{"another offset", 409, "PATCH", path, []string{admin, tus, chunk, uploadOffset(5)}, "byte 0"},
		{"missing upload", 404, "PATCH", "/uploads/x", []string{admin, tus, chunk, uploadOffset(5)}, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			got := h.sendBody(t, row.status, row.method, row.path, "", row.header...)
			if row.want != "" && !strings.Contains(string(got.body), row.want) {
				t.Errorf("body = %s, want it to contain %q", got.body, row.want)
			}
			if row.name == "another site" {
				return
			}
			got.checkHeaders(t, map[string]string{"Tus-Resumable": "1.0.0", "X-Content-Type-Options": "nosniff"})
		})
	}
	h.sendBody(t, 422, "PATCH", path, "more than ten", admin, tus, uploadOffset(0), chunk)
	h.sendBody(t, 204, "PATCH", path, "ten bytes.", admin, tus, uploadOffset(0), chunk)
	if got := h.uploadState(t, admin, path); got.State != "refused" || got.Rejection != document.ReasonMismatch("pdf") || got.Size != 10 {
		t.Errorf("unexpected state of the upload: %+v", got)
	}
	encrypted := "%PDF-1.7 /Encrypt\n"
	path = h.sendBody(t, 201, "POST", "/uploads", "", admin, tus, "Upload-Length: "+strconv.Itoa(len(encrypted)),
		uploadMetadata("Payoff.pdf", "")).Header.Get("Location")
	h.sendBody(t, 204, "PATCH", path, encrypted, admin, tus, uploadOffset(0), chunk)
	if got := h.uploadState(t, admin, path); got.Rejection != "PDF is password-protected" ||
		!strings.Contains(got.Advice, "print it to a new PDF or save a copy without the password") {
		t.Errorf("state of a PDF with a password = %+v, want it rejected with advice", got)
	}
	path = h.sendBody(t, 201, "POST", "/uploads", "", admin, tus, ten, uploadMetadata("a.pdf", "")).Header.Get("Location")
	h.sendBody(t, 204, "DELETE", path, "", admin, tus)
	h.sendBody(t, 404, "HEAD", path, "", admin, tus)
	h.sendBody(t, 204, "OPTIONS", "/uploads", "").checkHeaders(t,
		map[string]string{"Tus-Version": "1.0.0", "Tus-Extension": "creation,termination,expiration", "Tus-Max-Size": "104857600"})
}

// If the connection is lost, the received bytes are kept. A second request for the same upload is
// rejected while the first one is running.
func TestTusConnectionLost(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	cookie, _ := h.newUserCookie(t, "kim", model.RoleAdmin)
	body := string(vaulttest.PDF(1, "x"))
	path := h.sendBody(t, 201, "POST", "/uploads", "", cookie, tus, "Upload-Length: "+strconv.Itoa(len(body)),
		uploadMetadata("a.pdf", "none")).Header.Get("Location")
	conn := h.dial(t)
	_, err := fmt.Fprintf(conn, "PATCH %s HTTP/1.1\r\nHost: vault.test\r\n%s\r\n%s\r\n%s\r\n%s\r\nContent-Length: %d\r\n\r\n%s",
		path, cookie, tus, uploadOffset(0), chunk, len(body), body[:10])
	if err != nil {
		t.Fatalf("write request: %v", err)
	}
	// A request that tries the lock could get it before this one does, so wait for the write itself.
	h.waitFor(t, "a locked upload", func() bool { return h.vault.Activity.IdleDelay(time.Now().Add(time.Hour)) > 0 })
	if status := h.send(t, "PATCH", path, cookie, tus, uploadOffset(0), chunk, "Content-Length: 0").StatusCode; status != 423 {
		t.Errorf("status of a second write = %d, want 423", status)
	}
	if err := conn.Close(); err != nil {
		t.Fatalf("close connection: %v", err)
	}
	h.waitFor(t, "10 received bytes", func() bool {
		return h.send(t, "HEAD", path, cookie, tus).Header.Get("Upload-Offset") == "10"
	})
	h.sendBody(t, 204, "PATCH", path, body[10:], cookie, tus, uploadOffset(10), chunk)
	if got := h.uploadState(t, cookie, path); got.State != "filed" {
		t.Errorf("unexpected state of the upload: %+v", got)
	}
	_, file, err := h.vault.Files.Open(t.Context(), 1)
	if err != nil {
		t.Fatalf("Files.Open: %v", err)
	}
	defer file.Close() //nolint:errcheck // read-only
	if got, err := io.ReadAll(file); err != nil || string(got) != body {
		t.Errorf("stored document = %q, %v, want the uploaded one", got, err)
	}
}

// When the server stops, uploads end immediately and without damage.
func TestTusServerStops(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	cookie, _ := h.newUserCookie(t, "kim", model.RoleAdmin)
	path := h.sendBody(t, 201, "POST", "/uploads", "", cookie, tus, "Upload-Length: 100",
		uploadMetadata("a.pdf", "none")).Header.Get("Location")
	conn := h.dial(t)
	defer conn.Close()
	_, err := fmt.Fprintf(conn, "PATCH %s HTTP/1.1\r\nHost: vault.test\r\n%s\r\n%s\r\n%s\r\n%s\r\nContent-Length: 100\r\n\r\nten bytes.",
		path, cookie, tus, uploadOffset(0), chunk)
	if err != nil {
		t.Fatalf("write request: %v", err)
	}
	// A request that tries the lock could get it before this one does, so wait for the write itself.
	h.waitFor(t, "a locked upload", func() bool { return h.vault.Activity.IdleDelay(time.Now().Add(time.Hour)) > 0 })
	if status := h.send(t, "PATCH", path, cookie, tus, uploadOffset(0), chunk, "Content-Length: 0").StatusCode; status != 423 {
		t.Errorf("status of a second write = %d, want 423", status)
	}
	time.Sleep(300 * time.Millisecond) // the first write has the lock, but may not have read its bytes yet
	began := time.Now()
	h.vault.Uploads.Pause()
	response, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: "PATCH"})
	if err != nil {
		t.Fatalf("read response: %v", err)
	}
	defer response.Body.Close()
	if response.StatusCode != 503 || response.Header.Get("Retry-After") == "" || time.Since(began) > 5*time.Second {
		t.Errorf("status %d after %s, want 503 with Retry-After within 5 seconds", response.StatusCode, time.Since(began))
	}
	h.sendBody(t, 200, "HEAD", path, "", cookie, tus).checkHeaders(t, map[string]string{"Upload-Offset": "10"})
}

// waitFor waits until the condition is true.
func (ts *testServer) waitFor(t *testing.T, description string, condition func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(30 * time.Second); !condition(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("wait for %s: not after 30 seconds", description)
		}
	}
}

// multipartForm returns a form with documents in the format that browsers without scripts send.
func multipartForm(parts ...string) (body, kind string) {
	var b bytes.Buffer
	for i := 0; i < len(parts); i += 2 {
		fmt.Fprintf(&b, "--XX\r\nContent-Disposition: form-data; name=\"files\"; filename=%q\r\nContent-Type: application/pdf\r\n\r\n%s\r\n",
			parts[i], parts[i+1])
	}
	return b.String() + "--XX--\r\n", "Content-Type: multipart/form-data; boundary=XX"
}

func TestPlainUpload(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	cookie, actor := h.newUserCookie(t, "kim", model.RoleAdmin)
	viewer, _ := h.newUserCookie(t, "vera", model.RoleViewer)
	created, err := h.vault.Abstracts.Create(t.Context(), actor, model.AbstractDraft{}, h.newStagedUpload(t),
		vault.Idempotency[vault.AbstractWithFiles]{})
	if err != nil {
		t.Fatalf("Abstracts.Create: %v", err)
	}
	abstract := "/abstracts/" + h.vault.Secrets.IDs("abstracts").Encode(created.Abstract.ID)
	one, two := string(vaulttest.PDF(1, "1")), string(vaulttest.PDF(1, "2"))
	form, kind := multipartForm("one.pdf", one, "two.pdf", two, "x.exe", "MZ")
	badForm, _ := multipartForm("x.exe", "MZ")
	emptyForm, _ := multipartForm("", "")
	for _, row := range []struct{ path, to, body, notice string }{
		{abstract + "/documents", abstract, form,
			"1 document was rejected: x.exe (" + document.ReasonUnsupportedType + "). 2 documents uploaded: one.pdf, two.pdf."},
		{abstract + "/documents", abstract, form, "2 documents uploaded: one.pdf, two.pdf."},
		{"/vault/1/documents", "/vault/1", form, "2 documents uploaded: one.pdf, two.pdf."},
		{"/vault/documents", "/vault", form, "2 documents uploaded: one.pdf, two.pdf."},
		{"/vault/documents", "/vault", badForm, "1 document was rejected: x.exe"},
		{"/vault/documents", "/vault", emptyForm, "No files were selected."},
	} {
		t.Run(row.path, func(t *testing.T) {
			got := h.sendBody(t, 303, "POST", row.path, row.body, cookie, kind)
			if got.Header.Get("Location") != row.to {
				t.Errorf("Location of %s = %q, want %q", row.path, got.Header.Get("Location"), row.to)
			}
			if notice := h.noticeOf(t, got); !strings.Contains(notice, row.notice) {
				t.Errorf("notice = %q, want %q", notice, row.notice)
			}
		})
	}
	h.sendBody(t, 403, "POST", "/vault/documents", form, viewer, kind)
	h.sendBody(t, 404, "POST", "/abstracts/x/documents", form, cookie, kind)
	h.sendBody(t, 422, "POST", "/vault/99/documents", form, cookie, kind)
	h.sendBody(t, 400, "POST", "/vault/documents", form[:200], cookie, kind)
	h.sendBody(t, 415, "POST", "/vault/documents", "a=b", cookie, "Content-Type: application/x-www-form-urlencoded")
	h.sendBody(t, 403, "POST", "/vault/documents", form, cookie, kind, "Sec-Fetch-Site: cross-site")
	if got, err := h.vault.Abstracts.Get(t.Context(), created.Abstract.ID); err != nil || len(got.Files) != 4 {
		t.Errorf("Abstracts.Get = %d documents, %v, want 4", len(got.Files), err)
	}
}

// killableReader is a worker pool. While killed is set, its worker processes are killed.
type killableReader struct {
	vaulttest.Reader
	killed *atomic.Bool
}

func (k killableReader) Inspect(ctx context.Context, doc io.ReaderAt, size int64, ext string,
	lim document.InspectLimits) (document.Report, error) {
	if k.killed.Load() {
		return document.Report{}, sandbox.ErrKilled
	}
	return k.Reader.Inspect(ctx, doc, size, ext, lim)
}

// If worker processes are killed, no document is rejected. The user has to submit forms again.
// Resumable uploads wait until the document can be checked.
func TestUploadWhileWorkersAreKilled(t *testing.T) {
	t.Parallel()
	var killed atomic.Bool
	killed.Store(true)
	h := newEmptyTestServer(t, func(o *instance.Options) { o.Reader = killableReader{killed: &killed} })
	cookie, _ := h.newUserCookie(t, "kim", model.RoleAdmin)
	body := string(vaulttest.PDF(1, "1"))
	form, kind := multipartForm("one.pdf", body)
	h.sendBody(t, 503, "POST", "/vault/documents", form, cookie, kind).checkHeaders(t, map[string]string{"Retry-After": "10"})
	path := h.sendBody(t, 201, "POST", "/uploads", "", cookie, tus, "Upload-Length: "+strconv.Itoa(len(body)),
		uploadMetadata("a.pdf", "none")).Header.Get("Location")
	h.sendBody(t, 204, "PATCH", path, body, cookie, tus, uploadOffset(0), chunk)
	h.sendBody(t, 503, "GET", path, "", cookie).checkHeaders(t, map[string]string{"Retry-After": "10"})
	killed.Store(false)
	if got := h.uploadState(t, cookie, path); got.State != "filed" {
		t.Errorf("upload = %+v, want state filed", got)
	}
}

// noticeOf returns the notice that the response sets for the next page.
func (ts *testServer) noticeOf(t *testing.T, r reply) string {
	t.Helper()
	notice, _, _ := ts.undoOf(t, r)
	return notice
}

// undoOf returns the notice that a response sets, and the address and the form of its Undo button.
func (ts *testServer) undoOf(t *testing.T, r reply) (notice, path string, fields url.Values) {
	t.Helper()
	for _, c := range r.Cookies() {
		if c.Name == "deedkeep_notice" {
			text, ok := ts.vault.Secrets.Cursors().Decode("notice", c.Value)
			if !ok {
				t.Fatalf("notice %q can't be decrypted", c.Value)
			}
			undo, notice, _ := strings.Cut(string(text), "\n")
			to, err := url.Parse(undo)
			vaulttest.NoError(t, err)
			return notice, to.Path, to.Query()
		}
	}
	return "", "", nil
}

package api_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deedkeep/app/document"
	"deedkeep/app/sandbox"
	"deedkeep/app/vault/storage"
	"deedkeep/app/vaulttest"
)

// uploadCall returns a call of POST /file-vault/upload. list contains the parts of the
// body.
func uploadCall(as string, status int, list ...string) call {
	return call{as: as, method: "POST", path: "/v1/file-vault/upload", header: []string{asForm}, body: formBody(list...), status: status}
}

// storedPDF returns the expected JSON of an uploaded PDF that is still being processed.
func storedPDF(id int, name, folder string, pages int) string {
	size := len(pdf(pages))
	return fmt.Sprintf(
		`{"id":%d,"filename":%q,"file_type":"pdf","mime_type":"application/pdf","page_count":%d,"file_size":%d,`+
			`"file_size_human":"%d B","folder_id":%s,`+
			`"is_processing":true,"download_url":"http://vault.test/v1/file-vault/files/%d/download","created_at":"2026-05-29T04:00:00.000000Z"}`,
		id, name, pages, size, size, folder, id)
}

func TestUpload(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	r := uploadCall("full", 201, fieldPart("folder_id", " 2 "), filePart("files", "Canary deed.pdf", pdf(3)),
		filePart("files[]", "b.PDF", pdf(3)))
	r.want = `{"success":true,"message":"Files uploaded successfully","files":[` + storedPDF(1, "Canary deed.pdf", "2", 3) + `,` +
		storedPDF(2, "b.PDF", "2", 3) + `],"errors":[]}`
	srv.do(t, r)
	if n := srv.countFiles("blobs"); n != 1 {
		t.Errorf("blobs = %d, want 1 for files with the same bytes", n)
	}
	r = uploadCall("full", 201, filePart("files[7]", "c.pdf", pdf(3)), filePart("files", "empty.pdf", ""), filePart("files", "x.exe", "MZ"),
		fieldPart("folder_id", ""))
	r.want = `{"success":true,"message":"Some files uploaded successfully, but 2 file(s) failed validation","files":[` +
		storedPDF(3, "c.pdf", "null", 3) + `],"errors":[` +
		`{"filename":"empty.pdf","error":"File is empty"},{"filename":"x.exe","error":"` + notSupported + `"}]}`
	srv.do(t, r)
	r = uploadCall("full", 200, filePart("files", "empty.pdf", ""))
	r.want = `{"success":false,"message":"No files were uploaded: 1 file(s) failed validation","files":[],` +
		`"errors":[{"filename":"empty.pdf","error":"File is empty"}]}`
	srv.do(t, r)
	srv.do(t, call{as: "read", method: "GET", path: "/v1/file-vault/files/1", status: 200,
		want: `{"data":` + storedPDF(1, "Canary deed.pdf", "2", 3) + `}`})
}

const notSupported = "File type not supported. Accepted types: PDF, DOCX, DOC, PPTX, PPT, TXT, XLSX, XLS, PNG, JPG, JPEG, TIFF, " +
	"GIF, BMP, WEBP"

func TestUploadRejected(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	good := filePart("files", "a.pdf", pdf(1))
	wrong := invalidField("folder_id", "The selected folder id is invalid.")
	notInteger := invalidField("folder_id", "The folder id field must be an integer.")
	required := invalidField("files", "The files field is required.")
	for _, c := range []struct {
		name, want string
		list       []string
	}{
		{"no files", required, []string{fieldPart("folder_id", "1")}},
		{"the empty file input of a browser", required, []string{filePart("files", "", "")}},
		{"a file without a filename", invalidField("files", "The files field must be a file."), []string{fieldPart("files", "text"), good}},
		{"unknown folder", wrong, []string{good, fieldPart("folder_id", "99")}},
		{"folder 0", wrong, []string{fieldPart("folder_id", "0"), good}},
		{"folder -1", wrong, []string{fieldPart("folder_id", "-1"), good}},
		{"folder x", notInteger, []string{fieldPart("folder_id", "x"), good}},
		{"folder null", notInteger, []string{fieldPart("folder_id", "null"), good}},
		{"folder 1.0", notInteger, []string{fieldPart("folder_id", "1.0"), good}},
		{"the last of a field counts", wrong, []string{fieldPart("folder_id", "1"), fieldPart("folder_id", "99"), good}},
		{"two errors",
			`{"message":"The files field is required. (and 1 more error)","errors":{"files":["The files field is required."],` +
				`"folder_id":["The selected folder id is invalid."]}}`,
			[]string{fieldPart("folder_id", "99")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := uploadCall("full", 422, c.list...)
			r.want = c.want
			srv.do(t, r)
		})
	}
	srv.checkNothingStored(t)
}

func (srv *testServer) checkNothingStored(t testing.TB) {
	t.Helper()
	if a, b := srv.countFiles("tmp"), srv.countFiles("blobs"); a != 0 || b != 0 {
		t.Errorf("files in tmp = %d, in blobs = %d, want 0 and 0", a, b)
	}
}

func TestFileUnknown(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	srv.do(t, uploadCall("full", 201, filePart("files", "a.pdf", pdf(1))))
	for _, n := range []string{"2", "0", "-1", "01", "+1", "1.0", "x", "9999999999999999999999", "1%20", "%31x", "１"} {
		for _, path := range []string{"/v1/file-vault/files/" + n, "/v1/file-vault/files/" + n + "/download"} {
			srv.do(t, call{as: "full", method: "GET", path: path, status: 404, want: messageBody("Not found.")})
		}
	}
}

func TestDownloadRedirects(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	srv.do(t, uploadCall("full", 201, filePart("files", "Deed & plat ü.pdf", pdf(1))))
	for _, method := range []string{"GET", "HEAD"} {
		got := srv.do(t, call{as: "read", method: method, path: "/v1/file-vault/files/1/download", status: 302,
			headers: map[string]string{"Cache-Control": "no-store"}})
		path, ok := strings.CutPrefix(got.Header.Get("Location"), "http://vault.test")
		link, err := srv.vault.Secrets.Links().Parse(path, "", srv.clock.Now())
		if !ok || err != nil || link.File != 1 || link.Filename != "Deed & plat ü.pdf" {
			t.Errorf("Location %s = %+v, %v, want a link to file 1", got.Header.Get("Location"), link, err)
		}
		if live := link.Expires.Sub(srv.clock.Now()); live != 5*time.Minute {
			t.Errorf("lifetime of the link = %v, want 5m", live)
		}
		if len(got.body) != 0 {
			t.Errorf("body = %s, want none", got.body)
		}
	}
}

// A file that is known to be damaged gets no link, and no download in the audit log, until it is intact again. The
// server learns of the damage when it reads the file, as the scrub also does.
func TestDownloadOfDamagedFile(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	srv.do(t, uploadCall("full", 201, filePart("files", "a.pdf", pdf(1))))
	file, err := srv.vault.Files.Get(t.Context(), 1)
	srv.must(err)
	path := filepath.Join(srv.dir, "blobs", file.Digest[:2], file.Digest)
	srv.must(os.Remove(path))
	if _, _, err := srv.vault.Files.Open(t.Context(), 1); !storage.IsDamageError(err) {
		t.Fatalf("Open() = %v, want a damaged file", err)
	}
	for _, method := range []string{"GET", "HEAD"} {
		got := srv.do(t, call{as: "read", method: method, path: "/v1/file-vault/files/1/download", status: 500,
			headers: map[string]string{"X-Error-Code": "file_damaged"}})
		if got.Header.Get("Location") != "" {
			t.Errorf("Location = %q, want none", got.Header.Get("Location"))
		}
		if body := string(got.body); method == "GET" && strings.TrimSpace(body) != messageBody("Server error.") {
			t.Errorf("body = %s, want the message of all server errors", body)
		}
	}
	srv.do(t, call{as: "events", method: "GET", path: "/v1/events?kind=file.downloaded", status: 200, has: []string{`"data":[]`}})
	srv.do(t, uploadCall("full", 201, filePart("files", "b.pdf", pdf(1)))) // the same bytes
	srv.do(t, call{as: "read", method: "GET", path: "/v1/file-vault/files/1/download", status: 302})
}

// Uploads are checked for file size, type, content, and number of pages. For each limit,
// the test uses a file at the limit and a file just above it.
func TestUploadValidatesFiles(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t, func(cfg *testConfig) { cfg.vault.Settings.FileSize = 1 << 20 })
	big := func(n int) string { return "%PDF-1.7\n%toy pages=1\n" + strings.Repeat("x", n-22) }
	for _, c := range []struct{ name, filename, content, rejection string }{
		{"empty", "a.pdf", "", "File is empty"},
		{"empty, unsupported type", "a.exe", "", "File is empty"},
		{"at the limit", "a.pdf", big(1 << 20), ""},
		{"over the limit", "a.pdf", big(1<<20 + 1), "File exceeds 1 MB limit"},
		{"over the limit, unsupported type", "a.exe", big(1<<20 + 1), "File exceeds 1 MB limit"},
		{"no extension", "pdf", pdf(1), notSupported},
		{"dot at the end", "a.pdf.", pdf(1), notSupported},
		{"content of another type", "a.PNG", pdf(1), "File content does not match its .png extension"},
		{"password-protected", "a.pdf", "%PDF-1.7\n/Encrypt", "PDF is password-protected"},
		{"unreadable", "a.pdf", "%PDF-1.7\nnothing", "PDF could not be read"},
		{"500 pages", "a.pdf", pdf(500), ""},
		{"501 pages", "a.pdf", pdf(501), "PDF exceeds 500 page limit"},
		{"text", "a.TXT", "Know all men by these presents", ""},
		{"binary as text", "a.txt", "a\x00b", "File content does not match its .txt extension"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := uploadCall("full", 201, filePart("files", c.filename, c.content))
			if c.rejection != "" {
				r.status, r.has = 200, []string{fmt.Sprintf(`"errors":[{"filename":%q,"error":%q}]`, c.filename, c.rejection)}
			}
			srv.do(t, r)
		})
	}
	if n := srv.countFiles("tmp"); n != 0 {
		t.Errorf("files in tmp = %d, want 0", n)
	}
}

func TestUploadTooMany(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	var list []string
	for i := range 102 {
		content := pdf(1)
		if i < 2 {
			content = "" // rejected files count toward the limit too
		}
		list = append(list, filePart("files[]", fmt.Sprintf("%d.pdf", i), content))
	}
	r := uploadCall("full", 201, list...)
	r.has = []string{
		`"message":"Some files uploaded successfully, but 4 file(s) failed validation"`,
		`"errors":[{"filename":"0.pdf","error":"File is empty"},{"filename":"1.pdf","error":"File is empty"},` +
			`{"filename":"100.pdf","error":"Too many files in one request"},{"filename":"101.pdf","error":"Too many files in one request"}]`,
	}
	got := decodeBody[struct{ Files []struct{ Filename string } }](t, srv.do(t, r))
	for i, f := range got.Files {
		if f.Filename != fmt.Sprintf("%d.pdf", i+2) {
			t.Fatalf("filename %d = %s, want %d.pdf", i, f.Filename, i+2)
		}
	}
	if len(got.Files) != 98 {
		t.Errorf("files = %d, want 98", len(got.Files))
	}
}

// killedReader simulates sandbox processes that are killed by the operating system.
type killedReader struct{ vaulttest.Reader }

func (killedReader) Inspect(context.Context, io.ReaderAt, int64, string, document.InspectLimits) (document.Report, error) {
	return document.Report{}, fmt.Errorf("read frame: %w", sandbox.ErrKilled)
}

// If the sandbox process that checks a file is killed, the request fails with a 503 and
// stores nothing. The client can then retry.
func TestUploadWhenSandboxIsKilled(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t, func(cfg *testConfig) { cfg.vault.Reader = killedReader{} })
	for _, path := range []string{"/v1/file-vault/upload", "/v1/abstracts"} {
		r := uploadCall("full", 503, filePart("files", "a.txt", "a"), filePart("files", "b.pdf", pdf(1)))
		r.path, r.headers = path, map[string]string{"Retry-After": "10"}
		r.want = messageBody("The server couldn't check a document, so nothing was saved. Try again in a moment.")
		srv.do(t, r)
		srv.checkNothingStored(t)
	}
	srv.do(t, call{as: "full", method: "GET", path: "/v1/abstracts", status: 200, has: []string{`"data":[]`}})
}

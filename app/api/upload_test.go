package api_test

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"deedkeep/app/document"
)

const (
	tus     = "Tus-Resumable: 1.0.0"
	asChunk = "Content-Type: application/offset+octet-stream"
)

// uploadMetadata returns an Upload-Metadata header. pairs alternates names and values.
func uploadMetadata(pairs ...string) string {
	var list []string
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, pairs[i]+" "+base64.StdEncoding.EncodeToString([]byte(pairs[i+1])))
	}
	return "Upload-Metadata: " + strings.Join(list, ",")
}

func uploadLength(n int) string { return "Upload-Length: " + strconv.Itoa(n) }
func uploadOffset(n int) string { return "Upload-Offset: " + strconv.Itoa(n) }

// beginUpload starts a resumable upload and returns its path.
func (srv *testServer) beginUpload(t *testing.T, as string, size int, metadata string) string {
	t.Helper()
	got := srv.do(t, call{as: as, method: "POST", path: "/v1/uploads", header: []string{tus, uploadLength(size), metadata}, status: 201})
	path, ok := strings.CutPrefix(got.Header.Get("Location"), "http://vault.test")
	if !ok {
		t.Fatalf("Location = %q, want origin http://vault.test", got.Header.Get("Location"))
	}
	return path
}

// writeChunk returns a call that writes bytes to the upload at path, starting at an offset.
func writeChunk(path string, at int, bytes string, status int) call {
	return call{as: "full", method: "PATCH", path: path,
		header: []string{tus, asChunk, uploadOffset(at), "Content-Length: " + strconv.Itoa(len(bytes))}, body: bytes, status: status}
}

// uploaded is the JSON of a resumable upload.
type uploaded struct {
	Data struct {
		Offset, Length int64
		File           *struct {
			ID       int64
			Filename string
			Folder   *int64 `json:"folder_id"`
		}
		Error *string
	}
}

// A file is uploaded in two requests: to an abstract, to a folder, and to neither.
func TestResumableUpload(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	id := srv.createID(t, abstractCall(201, ""))
	body := pdf(2) + strings.Repeat("deed ", 1000)
	for _, c := range []struct {
		name   string
		meta   string
		folder string
	}{
		{"with an abstract", uploadMetadata("filename", `C:\scans\Déed.pdf`, "abstract_id", id), "null"},
		{"in a folder", uploadMetadata("filename", "Déed.pdf", "folder_id", "1"), "1"},
		{"without either", uploadMetadata("filename", "Déed.pdf"), "null"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := srv.beginUpload(t, "full", len(body), c.meta)
			headers := map[string]string{"Tus-Resumable": "1.0.0", "Upload-Offset": "100", "Upload-Expires": "Sat, 30 May 2026 04:00:00 GMT"}
			srv.do(t, writeChunk(path, 0, body[:100], 204)).checkHeaders(t, headers)
			headers["Upload-Length"], headers["Cache-Control"], headers["Upload-Metadata"] = strconv.Itoa(len(body)), "no-store",
				strings.TrimPrefix(c.meta, "Upload-Metadata: ")
			srv.do(t, call{as: "full", method: "HEAD", path: path, header: []string{tus}, status: 200}).checkHeaders(t, headers)
			srv.do(t, call{as: "full", method: "GET", path: "/api" + path, route: path, status: 200,
				want: fmt.Sprintf(`{"data":{"offset":100,"length":%d,"file":null,"error":null}}`, len(body))})
			srv.do(t, writeChunk(path, 0, body[:100], 409))
			srv.do(t, writeChunk(path, 100, body[100:], 204)).checkHeaders(t, map[string]string{"Upload-Offset": strconv.Itoa(len(body))})
			got := decodeBody[uploaded](t, srv.do(t,
				call{as: "full", method: "GET", path: path, status: 200,
					has: []string{`"filename":"Déed.pdf"`, `"is_processing":true`, `"page_count":2`, `"folder_id":` + c.folder, `"error":null`}}))
			if got.Data.Offset != int64(len(body)) || got.Data.File == nil {
				t.Fatalf("upload = %+v, want it complete with a file", got.Data)
			}
			_, file, err := srv.vault.Files.Open(t.Context(), uint64(got.Data.File.ID))
			srv.must(err)
			defer file.Close() //nolint:errcheck // the file is only read
			stored := make([]byte, len(body)+1)
			if n, _ := file.Read(stored); string(stored[:n]) != body {
				t.Errorf("stored file = %q, want %q", stored[:n], body)
			}
		})
	}
	srv.do(t, call{as: "full", method: "GET", path: "/v1/abstracts/" + id, status: 200, has: []string{`"filename":"Déed.pdf"`}})
}

// checkHeaders compares headers of the response with the expected ones.
func (r reply) checkHeaders(t *testing.T, want map[string]string) {
	t.Helper()
	for name, value := range want {
		if got := r.Header.Get(name); got != value {
			t.Errorf("%s = %q, want %q", name, got, value)
		}
	}
}

const noConcat = "The server doesn't support the concatenation extension of tus. Send the document as one upload, without Upload-Concat."

// Invalid requests for uploads get the same statuses and messages as other requests under
// /v1.
func TestResumableUploadRejected(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	trashed := srv.createID(t, abstractCall(201, ""))
	srv.do(t, call{as: "full", method: "DELETE", path: "/v1/abstracts/" + trashed, status: 204})
	good := uploadMetadata("filename", "a.pdf")
	path := srv.beginUpload(t, "full", 10, good)
	begin := func(name string, status int, want string, header ...string) call {
		return call{name: name, as: "full", method: "POST", path: "/v1/uploads", header: header, status: status, want: want}
	}
	file := func(sentence string) string { return invalidField("file", sentence) }
	patch := func(name string, status int, want string, header ...string) call {
		return call{name: name, as: "full", method: "PATCH", path: path, header: header, status: status, want: want}
	}
	other := func(method string) call {
		return call{name: method + " of another key", as: "other", method: method, path: path,
			header: []string{tus, asChunk, uploadOffset(0)}, status: 404}
	}
	srv.runCalls(t, []call{
		begin("no version", 412, "", uploadLength(10), good),
		begin("another version", 412, "", "Tus-Resumable: 0.2.2", uploadLength(10), good),
		begin("no length", 400, "", tus, good),
		begin("negative length", 400, "", tus, "Upload-Length: -1", good),
		begin("deferred length", 400, "", tus, "Upload-Defer-Length: 1", good),
		begin("part of a concatenation", 400, messageBody(noConcat), tus, uploadLength(10), good, "Upload-Concat: partial"),
		begin("concatenation", 400, messageBody(noConcat), tus, good, "Upload-Concat: final;/v1/uploads/a /v1/uploads/b"),
		begin("malformed metadata", 400, "", tus, uploadLength(10), "Upload-Metadata: filename %"),
		begin("too large", 413, messageBody(document.ReasonTooLarge(100<<20)), tus, uploadLength(100<<20+1), good),
		begin("no metadata", 422, invalidField("filename", "The filename field is required."), tus, uploadLength(10)),
		begin("no filename", 422, invalidField("filename", "The filename field is required."), tus, uploadLength(10),
			uploadMetadata("filename", " ")),
		begin("unsupported type", 422, file(document.ReasonUnsupportedType), tus, uploadLength(10), uploadMetadata("filename", "a.exe")),
		begin("empty file", 422, file(document.ReasonEmpty), tus, uploadLength(0), good),
		begin("missing folder", 422, invalidField("folder_id", "The selected folder id is invalid."), tus, uploadLength(10),
			uploadMetadata("filename", "a.pdf", "folder_id", "99")),
		begin("folder ID that is not a number", 422, invalidField("folder_id", "The folder id field must be an integer."), tus,
			uploadLength(10), uploadMetadata("filename", "a.pdf", "folder_id", "x")),
		begin("missing abstract", 422, invalidField("abstract_id", "The selected abstract id is invalid."), tus, uploadLength(10),
			uploadMetadata("filename", "a.pdf", "abstract_id", "00000000000")),
		begin("an abstract in the trash", 422, invalidField("abstract_id", "The selected abstract id is invalid."), tus,
			uploadLength(10), uploadMetadata("filename", "a.pdf", "abstract_id", trashed)),
		begin("abstract and folder", 422, "", tus, uploadLength(10),
			uploadMetadata("filename", "a.pdf", "abstract_id", trashed, "folder_id", "1")),
		patch("no version", 412, "", asChunk, uploadOffset(0)),
		patch("another type", 415, "", tus, uploadOffset(0), asJSON),
		patch("no type", 415, "", tus, uploadOffset(0)),
		patch("no offset", 400, "", tus, asChunk),
		patch("another offset", 409, messageBody("The upload resumes at byte 0."), tus, asChunk, uploadOffset(5)),
		{name: "missing upload", as: "full", method: "PATCH", path: "/v1/uploads/x", header: []string{tus}, status: 404},
		{name: "POST to an upload", as: "full", method: "POST", path: path, header: []string{tus}, status: 405},
		{name: "GET of the collection", as: "full", method: "GET", path: "/v1/uploads", status: 405},
		other("GET"), other("HEAD"), other("PATCH"), other("DELETE"),
		{name: "HEAD of another version", as: "full", method: "HEAD", path: path, header: []string{"Tus-Resumable: 2.0.0"}, status: 412,
			headers: map[string]string{"Tus-Version": "1.0.0"}},
		{name: "HEAD without a version", as: "full", method: "HEAD", path: path, status: 200},
		{name: "no key", method: "POST", path: "/v1/uploads", header: []string{tus, uploadLength(10), good}, status: 401,
			headers: map[string]string{"Tus-Resumable": "1.0.0"}},
		{name: "read-only key", as: "read", method: "POST", path: "/v1/uploads", header: []string{tus, uploadLength(10), good}, status: 403},
		{name: "supported features", method: "OPTIONS", path: "/v1/uploads", status: 204,
			headers: map[string]string{"Tus-Version": "1.0.0", "Tus-Extension": "creation,termination,expiration",
				"Tus-Max-Size": "104857600", "Allow": "POST, OPTIONS"}},
		{name: "unknown metadata", as: "full", method: "POST", path: "/v1/uploads",
			header: []string{tus, uploadLength(10), uploadMetadata("filename", "b.pdf", "filetype", "application/pdf")}, status: 201,
			headers: map[string]string{"X-Ignored-Fields": "filetype"}},
	})
	srv.do(t, writeChunk(path, 0, "more than ten", 413))
	srv.do(t, writeChunk(path, 0, "ten bytes.", 204))
	srv.do(t, call{as: "full", method: "GET", path: path, status: 200,
		want: fmt.Sprintf(`{"data":{"offset":10,"length":10,"file":null,"error":%q}}`, document.ReasonMismatch("pdf"))})
}

// A canceled or expired upload no longer exists. POST with an override header works like
// PATCH.
func TestResumableUploadEnds(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	body := pdf(1)
	path := srv.beginUpload(t, "full", len(body), uploadMetadata("filename", "a.pdf"))
	override := call{as: "full", method: "POST", path: path, body: body[:10],
		header: []string{tus, "X-HTTP-Method-Override: PATCH", asChunk, uploadOffset(0)}}
	if got := srv.status(t, override); got != http.StatusNoContent {
		t.Errorf("POST with the override PATCH: status %d, want 204", got)
	}
	srv.do(t, call{as: "full", method: "DELETE", path: path, header: []string{tus}, status: 204})
	srv.do(t, call{as: "full", method: "HEAD", path: path, header: []string{tus}, status: 404})
	if n := srv.countFiles("uploads"); n != 0 {
		t.Errorf("files after canceling an upload = %d, want 0", n)
	}

	path = srv.beginUpload(t, "full", len(body), uploadMetadata("filename", "a.pdf"))
	srv.do(t, writeChunk(path, 0, body, 204))
	srv.do(t, writeChunk(path, 0, body, 204)) // the client sends the chunk again, as if the response had been lost
	file := decodeBody[uploaded](t, srv.do(t, call{as: "full", method: "GET", path: path, status: 200})).Data.File
	srv.do(t, call{as: "full", method: "DELETE", path: path, header: []string{tus}, status: 204})
	srv.do(t, call{as: "full", method: "DELETE", path: fmt.Sprintf("/v1/file-vault/files/%d", file.ID), status: 204})
	srv.do(t, call{as: "full", method: "GET", path: path, status: 200, has: []string{`"file":null,"error":"The document was deleted."`}})
	srv.clock.Advance(24*time.Hour - time.Second)
	srv.do(t, call{as: "full", method: "GET", path: path, status: 200})
	srv.clock.Advance(2 * time.Second)
	srv.do(t, call{as: "full", method: "GET", path: path, status: 404})
}

// The number and total size of the open uploads of one key are limited. Uploads of other
// keys don't count.
func TestResumableUploadsOfAKeyAreLimited(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t, func(cfg *testConfig) {
		cfg.vault.Settings.Uploads.PerUser, cfg.vault.Settings.Uploads.BytesPerUser = 3, 1000
	})
	begin := func(as string, size, status int) call {
		return call{as: as, method: "POST", path: "/v1/uploads",
			header: []string{tus, uploadLength(size), uploadMetadata("filename", "a.pdf")}, status: status}
	}
	srv.runCalls(t, []call{
		begin("full", 600, 201), begin("full", 600, 409), begin("full", 200, 201), begin("full", 200, 201), begin("full", 1, 409),
		begin("other", 600, 201),
	})
	srv.clock.Advance(10 * time.Minute) // after this time, stalled uploads no longer count
	srv.runCalls(t, []call{begin("full", 900, 201), begin("full", 200, 409)})
	if n := srv.countFiles("uploads"); n != 2 {
		t.Errorf("files in uploads = %d, want one for each of two uploads without bytes", n)
	}
}

// If a body stalls, the client gets a 408. The bytes that arrived before are kept.
func TestResumableUploadStalls(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t, withShortStall)
	body := pdf(1)
	path := srv.beginUpload(t, "full", len(body), uploadMetadata("filename", "a.pdf"))
	conn := srv.dial(t)
	defer conn.Close()
	r := call{as: "full", method: "PATCH", path: path,
		header: []string{tus, asChunk, uploadOffset(0), "Content-Length: " + strconv.Itoa(len(body))}, status: 408, want: tooSlow}
	writeText(t, conn, srv.requestText(r)+body[:10])
	srv.readReply(t, r, bufio.NewReader(conn))
	srv.do(t, call{as: "full", method: "HEAD", path: path, header: []string{tus}, status: 200,
		headers: map[string]string{"Upload-Offset": "10"}})
	srv.do(t, writeChunk(path, 10, body[10:], 204))
	srv.do(t, call{as: "full", method: "GET", path: path, status: 200, has: []string{`"filename":"a.pdf"`}})
}

// A second request for the same upload gets a 423 while the first one is running. Pausing
// uploads interrupts the first request.
func TestResumableUploadIsBusy(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	path := srv.beginUpload(t, "full", 100, uploadMetadata("filename", "a.pdf"))
	conn := srv.dial(t)
	defer conn.Close()
	r := call{as: "full", method: "PATCH", path: path, header: []string{tus, asChunk, uploadOffset(0), "Content-Length: 100"}, status: 503}
	writeText(t, conn, srv.requestText(r)+"ten bytes.")
	// Nothing shows that the request has read its first bytes. Another request before that could be the
	// one that makes the upload busy.
	time.Sleep(250 * time.Millisecond)
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if got := srv.status(t, writeChunk(path, 7, "", 0)); got == http.StatusLocked {
			break
		} else if got != http.StatusConflict || time.Now().After(end) {
			t.Fatalf("status during another request = %d, want 423", got)
		}
	}
	srv.vault.Uploads.Pause()
	srv.readReply(t, r, bufio.NewReader(conn))
	srv.do(t, call{as: "full", method: "HEAD", path: path, header: []string{tus}, status: 200,
		headers: map[string]string{"Upload-Offset": "10"}})
}

// status sends a call and returns the status of the response.
func (srv *testServer) status(t *testing.T, r call) int {
	t.Helper()
	conn := srv.dial(t)
	defer conn.Close()
	writeText(t, conn, srv.requestText(r))
	response, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: r.method})
	if err != nil {
		t.Fatalf("read response: %v", err)
	}
	defer response.Body.Close()
	return response.StatusCode
}

// A confirmed offset survives a crash. The test starts another server on a copy of the data
// directory.
func TestResumableUploadAfterARestart(t *testing.T) {
	t.Parallel()
	first := newTestServer(t)
	body := pdf(2)
	path := first.beginUpload(t, "full", len(body), uploadMetadata("filename", "a.pdf"))
	first.do(t, writeChunk(path, 0, body[:30], 204))
	second := newTestServer(t, func(cfg *testConfig) {
		first.must(os.CopyFS(cfg.vault.Dir, os.DirFS(first.dir)))
		cfg.keys = first.keys
	})
	second.do(t, call{as: "full", method: "HEAD", path: path, header: []string{tus}, status: 200,
		headers: map[string]string{"Upload-Offset": "30"}})
	second.do(t, writeChunk(path, 30, body[30:], 204))
	second.do(t, call{as: "full", method: "GET", path: path, status: 200, has: []string{`"filename":"a.pdf"`}})
}

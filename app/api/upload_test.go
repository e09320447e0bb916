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

// meta is Upload-Metadata of names and values.
func meta(pairs ...string) string {
	var list []string
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, pairs[i]+" "+base64.StdEncoding.EncodeToString([]byte(pairs[i+1])))
	}
	return "Upload-Metadata: " + strings.Join(list, ",")
}

func length(n int) string { return "Upload-Length: " + strconv.Itoa(n) }
func offset(n int) string { return "Upload-Offset: " + strconv.Itoa(n) }

// begun begins an upload and gives the path of it.
func (h *house) begun(t *testing.T, as string, size int, metadata string) string {
	t.Helper()
	got := h.ask(t, row{as: as, method: "POST", path: "/v1/uploads", header: []string{tus, length(size), metadata}, status: 201})
	path, ok := strings.CutPrefix(got.Header.Get("Location"), "http://vault.test")
	if !ok {
		t.Fatalf("Location is %q", got.Header.Get("Location"))
	}
	return path
}

// chunk is a PATCH of the bytes from at on.
func chunk(path string, at int, bytes string, status int) row {
	return row{as: "full", method: "PATCH", path: path, header: []string{tus, asChunk, offset(at), "Content-Length: " + strconv.Itoa(len(bytes))}, body: bytes, status: status}
}

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

// A document arrives in two requests, with an abstract, in a folder, and in none.
func TestResumableUpload(t *testing.T) {
	t.Parallel()
	h := open(t)
	id := h.id(t, abstract(201, ""))
	body := pdf(2) + strings.Repeat("deed ", 1000)
	for _, c := range []struct {
		name   string
		meta   string
		folder string
	}{
		{"with an abstract", meta("filename", `C:\scans\Déed.pdf`, "abstract_id", id), "null"},
		{"in a folder", meta("filename", "Déed.pdf", "folder_id", "1"), "1"},
		{"in none", meta("filename", "Déed.pdf"), "null"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := h.begun(t, "full", len(body), c.meta)
			told := map[string]string{"Tus-Resumable": "1.0.0", "Upload-Offset": "100", "Upload-Expires": "Sat, 30 May 2026 04:00:00 GMT"}
			h.ask(t, chunk(path, 0, body[:100], 204)).same(t, told)
			told["Upload-Length"], told["Cache-Control"], told["Upload-Metadata"] = strconv.Itoa(len(body)), "no-store", strings.TrimPrefix(c.meta, "Upload-Metadata: ")
			h.ask(t, row{as: "full", method: "HEAD", path: path, header: []string{tus}, status: 200}).same(t, told)
			h.ask(t, row{as: "full", method: "GET", path: "/api" + path, route: path, status: 200, want: fmt.Sprintf(`{"data":{"offset":100,"length":%d,"file":null,"error":null}}`, len(body))})
			h.ask(t, chunk(path, 0, body[:100], 409))
			h.ask(t, chunk(path, 100, body[100:], 204)).same(t, map[string]string{"Upload-Offset": strconv.Itoa(len(body))})
			got := decode[uploaded](t, h.ask(t, row{as: "full", method: "GET", path: path, status: 200, has: []string{`"filename":"Déed.pdf"`, `"is_processing":true`, `"page_count":2`, `"folder_id":` + c.folder, `"error":null`}}))
			if got.Data.Offset != int64(len(body)) || got.Data.File == nil {
				t.Fatalf("got %+v", got.Data)
			}
			_, file, err := h.vault.Files.Open(t.Context(), uint64(got.Data.File.ID))
			h.must(err)
			defer file.Close() //nolint:errcheck // only read from
			stored := make([]byte, len(body)+1)
			if n, _ := file.Read(stored); string(stored[:n]) != body {
				t.Errorf("got %q, want %q", stored[:n], body)
			}
		})
	}
	h.ask(t, row{as: "full", method: "GET", path: "/v1/abstracts/" + id, status: 200, has: []string{`"filename":"Déed.pdf"`}})
}

func (r reply) same(t *testing.T, want map[string]string) {
	t.Helper()
	for name, value := range want {
		if got := r.Header.Get(name); got != value {
			t.Errorf("%s is %q, want %q", name, got, value)
		}
	}
}

// What is refused, with its sentence, in the order of checks that all of /v1 has.
func TestResumableUploadRefuses(t *testing.T) {
	t.Parallel()
	h := open(t)
	trashed := h.id(t, abstract(201, ""))
	h.ask(t, row{as: "full", method: "DELETE", path: "/v1/abstracts/" + trashed, status: 204})
	good := meta("filename", "a.pdf")
	path := h.begun(t, "full", 10, good)
	begin := func(name string, status int, want string, header ...string) row {
		return row{name: name, as: "full", method: "POST", path: "/v1/uploads", header: header, status: status, want: want}
	}
	file := func(sentence string) string { return invalid("file", sentence) }
	patch := func(name string, status int, want string, header ...string) row {
		return row{name: name, as: "full", method: "PATCH", path: path, header: header, status: status, want: want}
	}
	other := func(method string) row {
		return row{name: method + " of another key", as: "other", method: method, path: path, header: []string{tus, asChunk, offset(0)}, status: 404}
	}
	h.run(t, []row{
		begin("no version", 412, "", length(10), good),
		begin("another version", 412, "", "Tus-Resumable: 0.2.2", length(10), good),
		begin("no length", 400, "", tus, good),
		begin("a length below zero", 400, "", tus, "Upload-Length: -1", good),
		begin("a length to come", 400, "", tus, "Upload-Defer-Length: 1", good),
		begin("metadata that are none", 400, "", tus, length(10), "Upload-Metadata: filename %"),
		begin("too large", 413, says(document.ReasonTooLarge(100<<20)), tus, length(100<<20+1), good),
		begin("no metadata", 422, invalid("filename", "The filename field is required."), tus, length(10)),
		begin("no filename", 422, invalid("filename", "The filename field is required."), tus, length(10), meta("filename", " ")),
		begin("another kind", 422, file(document.ReasonUnsupportedType), tus, length(10), meta("filename", "a.exe")),
		begin("nothing", 422, file(document.ReasonEmpty), tus, length(0), good),
		begin("no such folder", 422, invalid("folder_id", "The selected folder id is invalid."), tus, length(10), meta("filename", "a.pdf", "folder_id", "99")),
		begin("a folder that is no number", 422, invalid("folder_id", "The folder id field must be an integer."), tus, length(10), meta("filename", "a.pdf", "folder_id", "x")),
		begin("no such abstract", 422, invalid("abstract_id", "The selected abstract id is invalid."), tus, length(10), meta("filename", "a.pdf", "abstract_id", "00000000000")),
		begin("an abstract in the trash", 422, invalid("abstract_id", "The selected abstract id is invalid."), tus, length(10), meta("filename", "a.pdf", "abstract_id", trashed)),
		begin("both", 422, "", tus, length(10), meta("filename", "a.pdf", "abstract_id", trashed, "folder_id", "1")),
		patch("no version", 412, "", asChunk, offset(0)),
		patch("another type", 415, "", tus, offset(0), asJSON),
		patch("no type", 415, "", tus, offset(0)),
		patch("no offset", 400, "", tus, asChunk),
		patch("another offset", 409, says("The upload resumes at byte 0."), tus, asChunk, offset(5)),
		{name: "no upload", as: "full", method: "PATCH", path: "/v1/uploads/x", header: []string{tus}, status: 404},
		{name: "POST to an upload", as: "full", method: "POST", path: path, header: []string{tus}, status: 405},
		{name: "GET of all", as: "full", method: "GET", path: "/v1/uploads", status: 405},
		other("GET"), other("HEAD"), other("PATCH"), other("DELETE"),
		{name: "HEAD of another version", as: "full", method: "HEAD", path: path, header: []string{"Tus-Resumable: 2.0.0"}, status: 412, headers: map[string]string{"Tus-Version": "1.0.0"}},
		{name: "HEAD without a version", as: "full", method: "HEAD", path: path, status: 200},
		{name: "no key", method: "POST", path: "/v1/uploads", header: []string{tus, length(10), good}, status: 401, headers: map[string]string{"Tus-Resumable": "1.0.0"}},
		{name: "a key that reads", as: "read", method: "POST", path: "/v1/uploads", header: []string{tus, length(10), good}, status: 403},
		{name: "what the server supports", method: "OPTIONS", path: "/v1/uploads", status: 204, headers: map[string]string{"Tus-Version": "1.0.0", "Tus-Extension": "creation,termination,expiration", "Tus-Max-Size": "104857600", "Allow": "POST, OPTIONS"}},
		{name: "names without a meaning", as: "full", method: "POST", path: "/v1/uploads", header: []string{tus, length(10), meta("filename", "b.pdf", "filetype", "application/pdf")}, status: 201, headers: map[string]string{"X-Ignored-Fields": "filetype"}},
	})
	h.ask(t, chunk(path, 0, "more than ten", 413))
	h.ask(t, chunk(path, 0, "ten bytes.", 204))
	h.ask(t, row{as: "full", method: "GET", path: path, status: 200, want: fmt.Sprintf(`{"data":{"offset":10,"length":10,"file":null,"error":%q}}`, document.ReasonMismatch("pdf"))})
}

// What was canceled is gone; a client that can send neither PATCH nor DELETE sends POST.
func TestResumableUploadEnds(t *testing.T) {
	t.Parallel()
	h := open(t)
	body := pdf(1)
	path := h.begun(t, "full", len(body), meta("filename", "a.pdf"))
	if got := h.probe(t, row{as: "full", method: "POST", path: path, header: []string{tus, "X-HTTP-Method-Override: PATCH", asChunk, offset(0)}, body: body[:10]}); got != http.StatusNoContent {
		t.Errorf("POST in the place of PATCH: status %d, want 204", got)
	}
	h.ask(t, row{as: "full", method: "DELETE", path: path, header: []string{tus}, status: 204})
	h.ask(t, row{as: "full", method: "HEAD", path: path, header: []string{tus}, status: 404})
	if n := h.count("uploads"); n != 0 {
		t.Errorf("%d files are left of a cancelled upload", n)
	}

	path = h.begun(t, "full", len(body), meta("filename", "a.pdf"))
	h.ask(t, chunk(path, 0, body, 204))
	h.ask(t, chunk(path, 0, body, 204)) // the answer was lost
	file := decode[uploaded](t, h.ask(t, row{as: "full", method: "GET", path: path, status: 200})).Data.File
	h.ask(t, row{as: "full", method: "DELETE", path: path, header: []string{tus}, status: 204})
	h.ask(t, row{as: "full", method: "DELETE", path: fmt.Sprintf("/v1/file-vault/files/%d", file.ID), status: 204})
	h.ask(t, row{as: "full", method: "GET", path: path, status: 200, has: []string{`"file":null,"error":"The document was deleted."`}})
	h.clock.Advance(24*time.Hour - time.Second)
	h.ask(t, row{as: "full", method: "GET", path: path, status: 200})
	h.clock.Advance(2 * time.Second)
	h.ask(t, row{as: "full", method: "GET", path: path, status: 404})
}

// A key's open uploads are limited in number and in bytes. Those of other keys don't
// count.
func TestResumableUploadsOfAKeyAreLimited(t *testing.T) {
	t.Parallel()
	h := open(t, func(s *setup) { s.vault.Settings.Uploads.PerUser, s.vault.Settings.Uploads.BytesPerUser = 3, 1000 })
	begin := func(as string, size, status int) row {
		return row{as: as, method: "POST", path: "/v1/uploads", header: []string{tus, length(size), meta("filename", "a.pdf")}, status: status}
	}
	h.run(t, []row{
		begin("full", 600, 201), begin("full", 600, 409), begin("full", 200, 201), begin("full", 200, 201), begin("full", 1, 409), begin("other", 600, 201),
	})
	h.clock.Advance(10 * time.Minute) // those that stood still make room
	h.run(t, []row{begin("full", 900, 201), begin("full", 200, 409)})
	if n := h.count("uploads"); n != 2*2 {
		t.Errorf("%d files lie in uploads, want two for each of two", n)
	}
}

// A body that stalls, or trickles, is a 408, and what arrived is kept.
func TestResumableUploadStalls(t *testing.T) {
	t.Parallel()
	h := open(t, impatient)
	body := pdf(1)
	path := h.begun(t, "full", len(body), meta("filename", "a.pdf"))
	conn := h.dial(t)
	defer conn.Close()
	r := row{as: "full", method: "PATCH", path: path, header: []string{tus, asChunk, offset(0), "Content-Length: " + strconv.Itoa(len(body))}, status: 408, want: tooSlow}
	say(t, conn, h.text(r)+body[:10])
	h.hear(t, r, bufio.NewReader(conn))
	h.ask(t, row{as: "full", method: "HEAD", path: path, header: []string{tus}, status: 200, headers: map[string]string{"Upload-Offset": "10"}})
	h.ask(t, chunk(path, 10, body[10:], 204))
	h.ask(t, row{as: "full", method: "GET", path: path, status: 200, has: []string{`"filename":"a.pdf"`}})
}

// Two requests at the same time: the second one gets a 423. A server that stops
// ends what arrives.
func TestResumableUploadIsBusy(t *testing.T) {
	t.Parallel()
	h := open(t)
	path := h.begun(t, "full", 100, meta("filename", "a.pdf"))
	conn := h.dial(t)
	defer conn.Close()
	r := row{as: "full", method: "PATCH", path: path, header: []string{tus, asChunk, offset(0), "Content-Length: 100"}, status: 503}
	say(t, conn, h.text(r)+"ten bytes.")
	for end := time.Now().Add(20 * time.Second); ; {
		if got := h.probe(t, chunk(path, 7, "", 0)); got == http.StatusLocked {
			break
		} else if got != http.StatusConflict || time.Now().After(end) {
			t.Fatalf("status %d while another request sends", got)
		}
	}
	h.vault.Uploads.Pause()
	h.hear(t, r, bufio.NewReader(conn))
	h.ask(t, row{as: "full", method: "HEAD", path: path, header: []string{tus}, status: 200, headers: map[string]string{"Upload-Offset": "10"}})
}

// probe gives the status of a row, whatever it is.
func (h *house) probe(t *testing.T, r row) int {
	t.Helper()
	conn := h.dial(t)
	defer conn.Close()
	say(t, conn, h.text(r))
	response, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: r.method})
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	return response.StatusCode
}

// An acknowledged offset outlives the process, however it ended: another process
// opens the directory as it is.
func TestResumableUploadAfterARestart(t *testing.T) {
	t.Parallel()
	first := open(t)
	body := pdf(2)
	path := first.begun(t, "full", len(body), meta("filename", "a.pdf"))
	first.ask(t, chunk(path, 0, body[:30], 204))
	second := open(t, func(s *setup) {
		first.must(os.CopyFS(s.vault.Dir, os.DirFS(first.dir)))
		s.keys = first.keys
	})
	second.ask(t, row{as: "full", method: "HEAD", path: path, header: []string{tus}, status: 200, headers: map[string]string{"Upload-Offset": "30"}})
	second.ask(t, chunk(path, 30, body[30:], 204))
	second.ask(t, row{as: "full", method: "GET", path: path, status: 200, has: []string{`"filename":"a.pdf"`}})
}

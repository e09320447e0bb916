//go:build harness

package cmd_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"testing"
	"time"

	"deedkeep/app/apitypes"
)

// If the server is killed during a resumable upload, the acknowledged bytes are still stored after
// a restart, and the upload can resume. The stored document is the same as the uploaded one. The
// test kills the server twice.
func TestKillDuringResumableUpload(t *testing.T) {
	const first = 200_000 // number of bytes acknowledged before the first kill
	h := newHarness(t)
	h.newVault()
	s := h.start()
	body := makePDF(7, 1<<20)
	name := "filename " + base64.StdEncoding.EncodeToString([]byte("Deed.pdf"))
	resp := h.tus(s, http.MethodPost, "/uploads", nil, "Upload-Length", strconv.Itoa(len(body)), "Upload-Metadata", name)
	path := "/uploads/" + resp.Header.Get("Location")[len(s.baseURL+"/v1/uploads/"):]
	offset := h.patchUpload(s, path, 0, bytes.NewReader(body[:first]))
	if offset != first {
		t.Fatalf("Upload-Offset: got %d, want %d", offset, first)
	}
	for range 2 {
		// When Write returns, the server has read part of the body. The rest is never sent.
		pr, pw := io.Pipe()
		failed := make(chan error, 1)
		go func() {
			_, err := h.request(s, http.MethodPatch, path, pr, "Upload-Offset", strconv.Itoa(offset), "Content-Type",
				"application/offset+octet-stream")
			failed <- err
		}()
		if _, err := pw.Write(body[offset : offset+200_000]); err != nil {
			t.Fatalf("write body: %v", err)
		}
		s.kill()
		_ = pw.CloseWithError(io.ErrUnexpectedEOF)
		if err := <-failed; err == nil {
			t.Fatal("request to the killed server succeeded")
		}
		s = h.start()
		resp := h.tus(s, http.MethodHead, path, nil)
		next, err := strconv.Atoi(resp.Header.Get("Upload-Offset"))
		if err != nil || next < offset || next > offset+200_000 {
			t.Fatalf("Upload-Offset after the kill: got %d, %v, want at least the %d acknowledged bytes", next, err, offset)
		}
		t.Logf("killed after %d bytes, resumes at %d", offset+200_000, next)
		offset = h.patchUpload(s, path, next, bytes.NewReader(body[next:next+50_000]))
	}
	h.patchUpload(s, path, offset, bytes.NewReader(body[offset:]))
	raw, err := io.ReadAll(h.tus(s, http.MethodGet, path, nil).Body)
	if err != nil {
		t.Fatalf("read body: %v", err)
	}
	var uploaded apitypes.UploadBody
	if err := json.Unmarshal(raw, &uploaded); err != nil || uploaded.Data.File == nil {
		t.Fatalf("decode upload: got %s, %v, want a file", raw, err)
	}
	resp, err = h.request(s, http.MethodGet, fmt.Sprintf("/file-vault/files/%d/download", uploaded.Data.File.ID), nil)
	if err != nil {
		t.Fatalf("request: %v", err)
	}
	defer resp.Body.Close() //nolint:errcheck // only read
	if got, err := io.ReadAll(resp.Body); err != nil || !bytes.Equal(got, body) {
		t.Errorf("download: got %d bytes, %v, want the %d bytes of the upload", len(got), err, len(body))
	}
	if report := h.verify(); len(report.Findings) > 0 || report.Leftovers > 0 {
		t.Errorf("verify: got %+v, want no findings or leftovers", report)
	}
	s.kill()
}

// request sends a request to /v1 with the harness's API key.
func (h *harness) request(s *serverProcess, method, path string, body io.Reader, header ...string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(h.t.Context(), method, s.baseURL+"/v1"+path, body)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+h.key)
	r.Header.Set("Tus-Resumable", "1.0.0")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	return (&http.Client{Transport: s.transport, Timeout: time.Minute}).Do(r)
}

// tus sends a request of the tus protocol and returns the response. The test fails unless the
// status is below 300.
func (h *harness) tus(s *serverProcess, method, path string, body io.Reader, header ...string) *http.Response {
	h.t.Helper()
	resp, err := h.request(s, method, path, body, header...)
	if err != nil {
		h.t.Fatalf("request: %v", err)
	}
	h.t.Cleanup(func() { _ = resp.Body.Close() })
	if resp.StatusCode >= http.StatusMultipleChoices {
		content, err := io.ReadAll(resp.Body)
		h.t.Fatalf("%s %s: %s %s %v", method, path, resp.Status, content, err)
	}
	return resp
}

// patchUpload sends bytes starting at an offset and returns the offset that the server
// acknowledged.
func (h *harness) patchUpload(s *serverProcess, path string, offset int, body io.Reader) int {
	h.t.Helper()
	resp := h.tus(s, http.MethodPatch, path, body, "Upload-Offset", strconv.Itoa(offset), "Content-Type", "application/offset+octet-stream")
	next, err := strconv.Atoi(resp.Header.Get("Upload-Offset"))
	if err != nil {
		h.t.Fatalf("parse Upload-Offset: %v", err)
	}
	return next
}

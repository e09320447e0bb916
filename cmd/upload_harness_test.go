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

// A server is killed while a document arrives by /v1/uploads, twice: what it acknowledged
// is there after each start, the upload resumes, and the document that is stored in the
// end has the bytes that were sent.
func TestKillDuringAResumableUpload(t *testing.T) {
	const first = 200_000 // bytes that are acknowledged before the first kill
	h := newHarness(t, "")
	h.newVault()
	s := h.start()
	body := makePDF(7, 1<<20)
	name := "filename " + base64.StdEncoding.EncodeToString([]byte("Deed.pdf"))
	resp := h.tus(s, http.MethodPost, "/uploads", nil, "Upload-Length", strconv.Itoa(len(body)), "Upload-Metadata", name)
	path := "/uploads/" + resp.Header.Get("Location")[len(s.baseURL+"/v1/uploads/"):]
	at := h.patchUpload(s, path, 0, bytes.NewReader(body[:first]))
	if at != first {
		t.Fatalf("Upload-Offset is %d, want %d", at, first)
	}
	for range 2 {
		// The server has read some of it when the writes return, and never gets the rest.
		from, to := io.Pipe()
		broke := make(chan error, 1)
		go func() {
			_, err := h.request(s, http.MethodPatch, path, from, "Upload-Offset", strconv.Itoa(at), "Content-Type",
				"application/offset+octet-stream")
			broke <- err
		}()
		if _, err := to.Write(body[at : at+200_000]); err != nil {
			t.Fatalf("write to to: %v", err)
		}
		s.kill()
		_ = to.CloseWithError(io.ErrUnexpectedEOF)
		if err := <-broke; err == nil {
			t.Fatal("a killed server answered")
		}
		s = h.start()
		resp := h.tus(s, http.MethodHead, path, nil)
		now, err := strconv.Atoi(resp.Header.Get("Upload-Offset"))
		if err != nil || now < at || now > at+200_000 {
			t.Fatalf("after the kill Upload-Offset is %d, %v; %d were acknowledged", now, err, at)
		}
		t.Logf("killed after %d bytes, resumes at %d", at+200_000, now)
		at = h.patchUpload(s, path, now, bytes.NewReader(body[now:now+50_000]))
	}
	h.patchUpload(s, path, at, bytes.NewReader(body[at:]))
	raw, err := io.ReadAll(h.tus(s, http.MethodGet, path, nil).Body)
	if err != nil {
		t.Fatalf("read body: %v", err)
	}
	var end apitypes.UploadBody
	if err := json.Unmarshal(raw, &end); err != nil || end.Data.File == nil {
		t.Fatalf("%s, %v", raw, err)
	}
	resp, err = h.request(s, http.MethodGet, fmt.Sprintf("/file-vault/files/%d/download", end.Data.File.ID), nil)
	if err != nil {
		t.Fatalf("request: %v", err)
	}
	defer resp.Body.Close() //nolint:errcheck // it was read
	if got, err := io.ReadAll(resp.Body); err != nil || !bytes.Equal(got, body) {
		t.Errorf("%d bytes came back, want the %d that were sent; %v", len(got), len(body), err)
	}
	if report := h.verify(); len(report.Findings) > 0 || report.Leftovers > 0 {
		t.Errorf("verify: %+v", report)
	}
	s.kill()
}

// request sends one to /v1 with the harness's key.
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

// tus is a request that succeeds.
func (h *harness) tus(s *serverProcess, method, path string, body io.Reader, header ...string) *http.Response {
	h.t.Helper()
	resp, err := h.request(s, method, path, body, header...)
	if err != nil {
		h.t.Fatalf("request: %v", err)
	}
	h.t.Cleanup(func() { _ = resp.Body.Close() })
	if resp.StatusCode >= http.StatusMultipleChoices {
		said, err := io.ReadAll(resp.Body)
		h.t.Fatalf("%s %s: %s %s %v", method, path, resp.Status, said, err)
	}
	return resp
}

// patchUpload sends bytes from an offset on, and gives the one that was acknowledged.
func (h *harness) patchUpload(s *serverProcess, path string, at int, body io.Reader) int {
	h.t.Helper()
	resp := h.tus(s, http.MethodPatch, path, body, "Upload-Offset", strconv.Itoa(at), "Content-Type", "application/offset+octet-stream")
	now, err := strconv.Atoi(resp.Header.Get("Upload-Offset"))
	if err != nil {
		h.t.Fatalf("parse number: %v", err)
	}
	return now
}

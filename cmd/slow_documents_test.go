package cmd

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"deedkeep/app/apitypes"
	"deedkeep/app/vaulttest/client"
)

// slowPDFs returns 78 KB PDFs on which PDFium works until the deadline. The content of their page
// saves and restores the graphics state 20 million times.
func slowPDFs(t testing.TB, count int) (list []client.Upload) {
	t.Helper()
	var compressed bytes.Buffer
	z := zlib.NewWriter(&compressed)
	states := bytes.Repeat([]byte("q Q "), 1<<18)
	for n := 20_000_000 * len("q Q "); n > 0; n -= len(states) {
		if _, err := z.Write(states[:min(n, len(states))]); err != nil {
			t.Fatalf("compress: %v", err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatalf("compress: %v", err)
	}
	for n := range count {
		var b bytes.Buffer
		var offsets []int
		b.WriteString("%PDF-1.5\n")
		for i, object := range []string{
			"<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
			"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R >>",
			fmt.Sprintf("<< /Filter /FlateDecode /Length %d >>\nstream\n%s\nendstream", compressed.Len(), compressed.Bytes()),
		} {
			offsets = append(offsets, b.Len())
			fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, object)
		}
		table := b.Len()
		fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(offsets)+1)
		for _, offset := range offsets {
			fmt.Fprintf(&b, "%010d 00000 n \n", offset)
		}
		fmt.Fprintf(&b, "trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n%% %d\n", len(offsets)+1, table, n)
		list = append(list, client.Upload{Filename: fmt.Sprintf("slow-%d.pdf", n), Reader: &b})
	}
	return list
}

// Slow documents don't delay documents of other keys. While ten documents of one key are processed
// until their deadlines, another key's text file is processed before the first of them reaches its
// deadline.
func TestSlowDocumentsDontDelayOtherKeys(t *testing.T) {
	p := startServer(t, shortDataDir(t))
	slow, fast := client.New(p.url, p.createKey(t, "slow"), nil), client.New(p.url, p.createKey(t, "fast"), nil)
	uploaded, err := slow.Upload(t.Context(), nil, slowPDFs(t, 10))
	if err != nil || len(uploaded.Files) != 10 {
		t.Fatalf("upload: got %d files, %v", len(uploaded.Files), err)
	}
	waitUntil := func(event string, condition func() bool) {
		t.Helper()
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for deadline := time.Now().Add(time.Minute); !condition(); <-tick.C {
			if time.Now().After(deadline) {
				t.Fatalf("no %s after a minute", event)
			}
		}
	}
	processing := func(c *client.Client, f apitypes.File) bool {
		t.Helper()
		file, err := c.File(t.Context(), f.ID)
		if err != nil {
			t.Fatalf("get file: %v", err)
		}
		return file.IsProcessing
	}
	// One document is being processed. The key's other dispatched documents are waiting for it.
	waitUntil("work on a slow document", func() bool { return strings.Contains(readMetrics(t, p), "\ndeedkeep_reader_tasks_waiting 7\n") })
	start := time.Now()
	got, err := fast.Upload(t.Context(), nil, []client.Upload{{Filename: "fast.txt", Reader: strings.NewReader("Lot 7, Block B")}})
	if err != nil || len(got.Files) != 1 {
		t.Fatalf("upload: got %d files, %v", len(got.Files), err)
	}
	waitUntil("end of the fast document's processing", func() bool { return !processing(fast, got.Files[0]) })
	t.Logf("processed after %v", time.Since(start).Round(time.Millisecond))
	for _, f := range uploaded.Files {
		if !processing(slow, f) {
			t.Errorf("%s was processed before the document of the other key", f.Filename)
		}
	}
}

// readMetrics returns the body of /metrics.
func readMetrics(t *testing.T, p *serverProcess) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.url+"/metrics", http.NoBody)
	if err != nil {
		t.Fatalf("create request: %v", err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatalf("send request: %v", err)
	}
	text, err := io.ReadAll(resp.Body)
	if err = errors.Join(err, resp.Body.Close()); err != nil {
		t.Fatalf("read metrics: %v", err)
	}
	return string(text)
}

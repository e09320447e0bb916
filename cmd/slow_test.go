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
	"deedkeep/app/client"
)

// slowPDFs are documents of 78 KB over which an engine is at work until its deadline:
// the content of their page saves and restores the state 20 million times.
func slowPDFs(t testing.TB, many int) (list []client.Upload) {
	t.Helper()
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	states := bytes.Repeat([]byte("q Q "), 1<<18)
	for n := 20_000_000 * len("q Q "); n > 0; n -= len(states) {
		if _, err := z.Write(states[:min(n, len(states))]); err != nil {
			t.Fatalf("write to z: %v", err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatalf("close: %v", err)
	}
	for n := range many {
		var b bytes.Buffer
		var at []int
		b.WriteString("%PDF-1.5\n")
		for i, object := range []string{
			"<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
			"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R >>",
			fmt.Sprintf("<< /Filter /FlateDecode /Length %d >>\nstream\n%s\nendstream", packed.Len(), packed.Bytes()),
		} {
			at = append(at, b.Len())
			fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, object)
		}
		table := b.Len()
		fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(at)+1)
		for _, offset := range at {
			fmt.Fprintf(&b, "%010d 00000 n \n", offset)
		}
		fmt.Fprintf(&b, "trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n%% %d\n", len(at)+1, table, n)
		list = append(list, client.Upload{Filename: fmt.Sprintf("slow-%d.pdf", n), Reader: &b})
	}
	return list
}

// With ten documents of one key that take until their deadlines, another key's text file
// is processed before the first of them has come to its deadline.
func TestProcessingBesideSlowDocumentsOfAnotherKey(t *testing.T) {
	p := startServer(t, shortDataDir(t))
	slow, quick := client.New(p.url, p.createKey(t, "slow"), nil), client.New(p.url, p.createKey(t, "quick"), nil)
	up, err := slow.Upload(t.Context(), nil, slowPDFs(t, 10))
	if err != nil || len(up.Files) != 10 {
		t.Fatalf("%d files, %v", len(up.Files), err)
	}
	await := func(what string, holds func() bool) {
		t.Helper()
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for end := time.Now().Add(time.Minute); !holds(); <-tick.C {
			if time.Now().After(end) {
				t.Fatalf("never came: %s", what)
			}
		}
	}
	processing := func(c *client.Client, f apitypes.File) bool {
		t.Helper()
		file, err := c.File(t.Context(), f.ID)
		if err != nil {
			t.Fatalf("File: %v", err)
		}
		return file.IsProcessing
	}
	// One is in work, and the others of the key that may be in hand wait for it.
	await("work on a slow document", func() bool { return strings.Contains(readMetrics(t, p), "\ndeedkeep_reader_tasks_waiting 7\n") })
	begun := time.Now()
	got, err := quick.Upload(t.Context(), nil, []client.Upload{{Filename: "quick.txt", Reader: strings.NewReader("Lot 7, Block B")}})
	if err != nil || len(got.Files) != 1 {
		t.Fatalf("%d files, %v", len(got.Files), err)
	}
	await("end of the quick document's processing", func() bool { return !processing(quick, got.Files[0]) })
	t.Logf("processed after %v", time.Since(begun).Round(time.Millisecond))
	for _, f := range up.Files {
		if !processing(slow, f) {
			t.Errorf("%s came to its end before another key's document", f.Filename)
		}
	}
}

func readMetrics(t *testing.T, p *serverProcess) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, p.url+"/metrics", http.NoBody)
	if err != nil {
		t.Fatalf("create request: %v", err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatalf("send request: %v", err)
	}
	text, err := io.ReadAll(answer.Body)
	if err = errors.Join(err, answer.Body.Close()); err != nil {
		t.Fatalf("close body: %v", err)
	}
	return string(text)
}

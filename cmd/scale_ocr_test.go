//go:build scale && linux

package cmd

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"deedkeep/app/vaulttest"
	"deedkeep/app/vaulttest/client"
)

// TestScaleOCR measures how long requests take while the server reads scans on all cores, beside the same requests to a
// server that reads none:
//
//	DEEDKEEP_TEST_SCALE=5000 go test -tags scale -run ScaleOCR -timeout 30m -v ./cmd
func TestScaleOCR(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "full")
	fillVault(t, dir, scaleSize(t))
	startServer(t, dir).stop(t) // compiles the engines if necessary
	idle := startServer(t, dir)
	without := idle.measureWork(t)
	idle.stop(t)

	p := startServer(t, dir, "DEEDKEEP_OCR_ENABLED=true", fmt.Sprintf("DEEDKEEP_OCR_WORKERS=%d", runtime.NumCPU()))
	scan, err := os.ReadFile(sampleOf(t, "title/warranty-deed-g4-300dpi.tiff"))
	if err != nil {
		t.Fatalf("read sample: %v", err)
	}
	c := client.New(p.url, p.createKey(t, "scans"), nil)
	for n := range 60 {
		// Bytes after the end of a TIFF make it another document.
		scan := io.MultiReader(strings.NewReader(string(scan)), strings.NewReader(fmt.Sprint(n)))
		if _, err := c.Upload(t.Context(), nil, []client.Upload{{Filename: fmt.Sprintf("scan %d.tiff", n), Reader: scan}}); err != nil {
			t.Fatalf("upload scan: %v", err)
		}
	}
	time.Sleep(15 * time.Second) // until previews are made and only OCR is left
	before := p.pagesWaiting(t)
	with := p.measureWork(t)
	after := p.pagesWaiting(t)
	if after == 0 || after >= before {
		t.Errorf("%d pages waited for OCR before the measurement and %d after it, want fewer but not 0", before, after)
	}
	fmt.Printf("\n%d pages were read during the measurement\n\n| request | times | p50 ms | p99 ms | max ms | with OCR: times | p50 ms | p99 ms | max ms |\n"+
		"| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n", before-after)
	for i, name := range workRequests {
		fmt.Printf("| %s | %s %s\n", name, without[i], with[i])
	}
	p.stop(t)
}

// workRequests names what measureWork measures.
var workRequests = []string{"list of abstracts", "upload of 50 KB", "page of an abstract", "page image"}

// measureWork sends the requests in turn for a minute.
func (p *serverProcess) measureWork(t *testing.T) (all [4]*latencies) {
	t.Helper()
	key := p.createKey(t, fmt.Sprintf("work %d", time.Now().UnixNano()))
	c, staff := client.New(p.url, key, nil), p.signIn(t)
	var abstracts struct{ Data []struct{ ID string } }
	getList(t, p, key, "/abstracts?per_page=100", &abstracts)
	sample, err := os.Open(sampleOf(t, "title/warranty-deed-g4-ocr-layer.pdf"))
	if err != nil {
		t.Fatalf("open sample: %v", err)
	}
	uploaded, err := c.Upload(t.Context(), nil, []client.Upload{{Filename: "deed.pdf", Reader: sample}})
	if closeErr := sample.Close(); err != nil || closeErr != nil {
		t.Fatalf("upload: %v, %v", err, closeErr)
	}
	rng := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 1)) // not negative
	text := make([]byte, 50_000)
	for i := range all {
		all[i] = &latencies{}
	}
	timed := func(i int, work func()) {
		start := time.Now()
		work()
		all[i].add(time.Since(start))
	}
	for n, start := 0, time.Now(); time.Since(start) < time.Minute; n++ {
		timed(0, func() { getList(t, p, key, "/abstracts", &abstracts) })
		for i := range text {
			text[i] = byte('a' + rng.IntN(26))
		}
		timed(1, func() {
			if _, err := c.Upload(t.Context(), nil, []client.Upload{{Filename: "note.txt", Reader: strings.NewReader(string(text))}}); err != nil {
				t.Fatalf("upload: %v", err)
			}
		})
		timed(2, func() { staff.get(t, p.url+"/abstracts/"+abstracts.Data[n%len(abstracts.Data)].ID) })
		timed(3, func() {
			staff.get(t, fmt.Sprintf("%s/documents/%d/pages/%d?w=1275", p.url, uploaded.Files[0].ID, 1+n%4))
		})
	}
	return all
}

// sampleOf returns the path of a sample document.
func sampleOf(t *testing.T, path string) string {
	t.Helper()
	for _, s := range vaulttest.Samples(t) {
		if s.Path == path {
			return s.File
		}
	}
	t.Fatalf("no sample %s", path)
	return ""
}

// pagesWaiting returns the number of pages that wait for OCR.
func (p *serverProcess) pagesWaiting(t *testing.T) (n int) {
	t.Helper()
	resp, err := scaleClient.Get(p.url + "/metrics")
	if err != nil {
		t.Fatalf("get metrics: %v", err)
	}
	text, err := io.ReadAll(resp.Body)
	if closeErr := resp.Body.Close(); err != nil || closeErr != nil {
		t.Fatalf("read metrics: %v, %v", err, closeErr)
	}
	_, value, found := strings.Cut(string(text), "\ndeedkeep_ocr_waiting_pages ")
	if _, err := fmt.Sscan(value, &n); err != nil || !found {
		t.Fatalf("read deedkeep_ocr_waiting_pages of\n%s", text)
	}
	return n
}

//go:build scale && linux

// TestScaleSearch measures how long searches take in the vault defined by scaleMix (README.md, "Scale"):
//
//	go test -tags scale -run ScaleSearch -timeout 120m -v ./cmd
//
//	DEEDKEEP_TEST_SCALE   number of abstracts and of orders; there are twice as many files, and a
//	                      tenth as many documents of 1,000 words. Default 1,000,000
//	DEEDKEEP_TEST_VAULT   directory in which the vault is kept for the next run
//	DEEDKEEP_TEST_INDEX   "kept" to use the search index of the vault instead of building one
//
// The test compares every response with the content of the vault and prints how long the response took.
package cmd

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"deedkeep/app/vaulttest"
	"deedkeep/app/vaulttest/client"
)

const day = 24 * time.Hour

// searchesPerClass is the number of searches per class without filters, and also the number with filters.
const searchesPerClass = 30

func TestScaleSearch(t *testing.T) {
	m := scaleMix(scaleSize(t))
	dir := fillMix(t, m, "")
	o := newOracle(t, m, dir)
	searches := o.makeSearches(searchesPerClass)
	o.expect(searches)
	fmt.Printf("%d abstracts, %d orders, %d files, %d of them with %d words each\n", m.Orders, m.Orders,
		m.Orders*vaulttest.FilesPerOrder, m.Texts, vaulttest.TextWords)
	startServer(t, dir).stop(t) // compiles PDFium and migrates the schema if necessary
	if os.Getenv("DEEDKEEP_TEST_INDEX") != "kept" {
		buildIndex(t, dir, m)
	}
	p := startServer(t, dir)
	key := p.createKey(t, "scale")
	p.waitSearchable(t, key)
	fmt.Printf("started after %d ms and searchable; memory %s\n", p.startup.Milliseconds(), p.memory(t))
	p.measureSearches(t, o, key, searches)
	p.checkCompleteness(t, o, key, searches)
	p.measureVisibility(t, key)
	p.stop(t)
}

// buildIndex makes a server rebuild the search index. It prints how long that took and how much memory and disk space
// the index needed.
func buildIndex(t *testing.T, dir string, m vaulttest.Mix) {
	t.Helper()
	index := filepath.Join(dir, "search")
	if err := os.RemoveAll(index); err != nil {
		t.Fatalf("remove index: %v", err)
	}
	start := time.Now()
	p := startServer(t, dir)
	memory := p.watchMemory(t)
	key := p.createKey(t, "scale")
	p.waitSearchable(t, key)
	took := time.Since(start)
	words, size := float64(m.Texts*vaulttest.TextWords), float64(dirSize(t, index))
	p.waitMerged(t, index)
	fmt.Printf("indexed in %.0f s: %.0f words of text per second, with %.0f records per second; at most %d MB of anonymous memory; "+
		"%.0f MB, %.1f bytes per word of text; %.0f MB after merges\n",
		took.Seconds(), words/took.Seconds(), float64(m.Orders*(2+vaulttest.FilesPerOrder))/took.Seconds(), memory.peakMB(), size/1e6,
		size/words, float64(dirSize(t, index))/1e6)
	p.stop(t)
}

// waitSearchable waits until the index is complete. In the meantime, it prints the size of the index and the memory use
// of the server.
func (p *serverProcess) waitSearchable(t *testing.T, key string) {
	t.Helper()
	start, lastReport := time.Now(), time.Now()
	for {
		status, resp := send(t, p, key, "GET", "/search?q=grantor", nil)
		switch {
		case status == http.StatusOK:
			return
		case status != http.StatusServiceUnavailable:
			t.Fatalf("search: got %d %s, want 200 or 503", status, resp)
		case time.Since(start) > 2*time.Hour:
			t.Fatal("index is not complete after two hours")
		case time.Since(lastReport) > 10*time.Second:
			lastReport = time.Now()
			fmt.Printf("%6.0f s: index of %d MB, %s\n",
				time.Since(start).Seconds(), dirSize(t, filepath.Join(p.data, "search"))>>20, p.memory(t))
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// waitMerged waits until the server has merged the segments of the index.
func (*serverProcess) waitMerged(t *testing.T, index string) {
	t.Helper()
	for last := int64(-1); ; time.Sleep(3 * time.Second) {
		size := dirSize(t, index)
		if size == last {
			return
		}
		last = size
	}
}

// dirSize returns the total size of all files in a directory, in bytes.
func dirSize(t *testing.T, dir string) (size int64) {
	t.Helper()
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil //nolint:nilerr // a merge may have deleted it
		}
		if info, err := d.Info(); err == nil {
			size += info.Size()
		}
		return nil
	})
	return size
}

// searchResponse is the body of a response from /v1/search.
type searchResponse struct {
	Data []struct {
		Kind    string
		ID      json.RawMessage
		Heading string
		Snippet *string
		Page    *int
	}
}

// path returns the path of the search request, without /v1.
func (sc *searchCase) path(perPage int) string {
	q := url.Values{"q": {sc.text}, "per_page": {strconv.Itoa(perPage)}}
	if sc.county != "" {
		q.Set("county", sc.county)
		q.Set("created_from", sc.from.Format(time.DateOnly))
		q.Set("created_to", sc.to.Format(time.DateOnly))
	}
	return "/search?" + q.Encode()
}

// search sends a search request and returns the response and how long it took.
func (p *serverProcess) search(t *testing.T, key string, a *searchCase, perPage int) (got searchResponse, took time.Duration) {
	t.Helper()
	start := time.Now()
	getList(t, p, key, a.path(perPage), &got)
	return got, time.Since(start)
}

// measureSearches sends each search once, checks the response, and prints how long the searches of each class took.
func (p *serverProcess) measureSearches(t *testing.T, o *oracle, key string, searches []*searchCase) {
	t.Helper()
	fmt.Printf("\n| %d searches each | p50 ms | p95 ms | max ms | filtered: p50 | p95 | max | memory MB |\n"+
		"| --- | --- | --- | --- | --- | --- | --- | --- |\n",
		searchesPerClass)
	memory := p.watchMemory(t)
	for class := range slices.Chunk(searches, 2*searchesPerClass) {
		watches := [2]latencies{}
		memory.peak.Store(0)
		for i, a := range class {
			got, took := p.search(t, key, a, 25)
			watches[i/searchesPerClass].add(took)
			if err := o.checkResponse(a, got); err != nil {
				t.Errorf("%s %s: %v", a.class, a.path(25), err)
			}
		}
		fmt.Printf("| %s | %s | %s | %d |\n", class[0].class, watches[0].percentiles(), watches[1].percentiles(), memory.peakMB())
	}
}

// checkResponse checks the hits of a search and their sequence.
func (o *oracle) checkResponse(a *searchCase, got searchResponse) error {
	if len(got.Data) == 0 {
		return errors.New("got no hits")
	}
	var firstInexact error // the reason an earlier hit is not an exact match; nil if all were exact
	for i, hit := range got.Data {
		r, err := o.record(hit.Kind, hit.ID)
		if err != nil {
			return err
		}
		page := 0
		if hit.Page != nil {
			page = *hit.Page
		}
		if err := o.checkHit(a, r, page, prefixMatch); err != nil {
			if firstInexact = err; o.checkHit(a, r, page, typoMatch) != nil {
				return fmt.Errorf("hit %d, %s: %w", i+1, hit.Heading, err)
			}
		} else if firstInexact != nil && o.checkHit(a, r, page, exactMatch) == nil {
			return fmt.Errorf("hit %d, %s, is an exact match after an inexact one: %w", i+1, hit.Heading, firstInexact)
		}
		if s := o.mixRecord(r); i == 0 && a.first != "" && s.Number != a.first && s.Parcel != a.first {
			return fmt.Errorf("first hit: got %+v, want number %s", s, a.first)
		}
		if a.phrase && hit.Kind == "file" && (hit.Snippet == nil || !strings.Contains(*hit.Snippet, "<mark>") || page == 0) {
			return fmt.Errorf("hit %d, %s: got snippet %v and page %v, want a mark and a page", i+1, hit.Heading, hit.Snippet, hit.Page)
		}
	}
	if want := min(a.count, 25); len(got.Data) < want {
		return fmt.Errorf("got %d hits, want %d", len(got.Data), want)
	}
	return nil
}

// checkCompleteness checks that searches find all expected records if those fit on one page.
func (p *serverProcess) checkCompleteness(t *testing.T, o *oracle, key string, searches []*searchCase) {
	t.Helper()
	checked := 0
	for _, a := range searches {
		if a.count == 0 || len(a.want) > maxWanted || strings.HasPrefix(a.class, "number, ") {
			continue
		}
		got, _ := p.search(t, key, a, maxWanted)
		if err := o.checkComplete(a, got); err != nil {
			t.Errorf("%s %s: %v", a.class, a.path(maxWanted), err)
		}
		checked++
	}
	fmt.Printf("\n%d responses checked; %d of them had to be complete\n", len(searches), checked)
}

// checkComplete returns an error if an expected record is missing from a response.
func (o *oracle) checkComplete(a *searchCase, got searchResponse) error {
	if len(got.Data) == maxWanted {
		return nil // the page is full, because records with longer words also match
	}
	hits := map[record]bool{}
	for _, hit := range got.Data {
		r, err := o.record(hit.Kind, hit.ID)
		if err != nil {
			return err
		}
		hits[r] = true
	}
	for _, want := range a.want {
		if !hits[want] {
			return fmt.Errorf("%v %+v is not one of %d hits", want, o.mixRecord(want), len(got.Data))
		}
	}
	return nil
}

// measureVisibility measures how long it takes until a search finds a new abstract, and until it no longer finds a
// deleted one.
func (p *serverProcess) measureVisibility(t *testing.T, key string) {
	t.Helper()
	var created, deleted latencies
	c := client.New(p.url, key, nil)
	for n := range 20 {
		number := fmt.Sprintf("Follow %d-%d", time.Now().UnixNano(), n)
		abstract, err := c.CreateAbstract(t.Context(), client.AbstractDraft{CustomFields: map[string]any{"file_number": number}})
		if err != nil {
			t.Fatalf("create abstract: %v", err)
		}
		p.waitHits(t, key, number, 1, &created)
		if err := c.TrashAbstract(t.Context(), abstract.Data.ID); err != nil {
			t.Fatalf("trash abstract: %v", err)
		}
		p.waitHits(t, key, number, 0, &deleted)
	}
	fmt.Printf("new abstracts are found after (p50, p95, max) %s ms; deleted ones are no longer found after %s ms\n",
		created.percentiles(), deleted.percentiles())
}

// waitHits repeats a search until it returns the given number of hits. It adds the time that took to s.
func (p *serverProcess) waitHits(t *testing.T, key, text string, hits int, s *latencies) {
	t.Helper()
	for start := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		var got searchResponse
		if getList(t, p, key, "/search?q="+url.QueryEscape(text), &got); len(got.Data) == hits {
			s.add(time.Since(start))
			return
		}
		if time.Since(start) > time.Minute {
			t.Fatalf("search for %s: got %+v after a minute, want %d hits", text, got, hits)
		}
	}
}

// percentiles returns the 50th and 95th percentile and the maximum in milliseconds.
func (l *latencies) percentiles() string {
	slices.Sort(l.all)
	percentile := func(p float64) float64 {
		return float64(l.all[min(int(p*float64(len(l.all))), len(l.all)-1)].Microseconds()) / 1000
	}
	return fmt.Sprintf("%.1f | %.1f | %.1f", percentile(0.5), percentile(0.95), percentile(1))
}

// memoryWatcher records the peak anonymous memory of a process.
type memoryWatcher struct{ peak atomic.Int64 }

// peakMB returns the peak in MiB.
func (w *memoryWatcher) peakMB() int64 { return w.peak.Load() >> 20 }

// watchMemory samples the anonymous memory of the server until the test ends.
func (p *serverProcess) watchMemory(t *testing.T) *memoryWatcher {
	t.Helper()
	w, stop := new(memoryWatcher), make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
				w.peak.Store(max(w.peak.Load(), p.anonymousMemory()))
			}
		}
	})
	t.Cleanup(func() { close(stop); watching.Wait() })
	return w
}

// anonymousMemory returns the RssAnon value of the server in bytes, or 0 if the server has exited.
func (p *serverProcess) anonymousMemory() int64 {
	raw, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.process.Process.Pid)) // the server may have exited
	_, rest, _ := strings.Cut(string(raw), "RssAnon:")
	size, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	n, _ := strconv.ParseInt(size, 10, 64) // 0 if the value is missing
	return n << 10
}

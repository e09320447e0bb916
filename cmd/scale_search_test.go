//go:build scale && linux

// What searching costs in the vault of scale_mix_test.go (README.md, "Scale"):
//
//	go test -tags scale -run ScaleSearch -timeout 120m -v ./cmd
//
//	DEEDKEEP_TEST_SCALE   abstracts; as many orders, twice as many files, and a tenth as
//	                      many documents of 1,000 words. 1,000,000 when not set
//	DEEDKEEP_TEST_VAULT   a directory to keep the full vault in, and to find it in the next time
//	DEEDKEEP_TEST_INDEX   "kept": search in the index that the vault has, and build none
//
// Every answer is held against what the vault was made of; how long it took is printed.
package cmd

import (
	"encoding/json"
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

	"deedkeep/app/client"
	"deedkeep/app/vaulttest"
)

const day = 24 * time.Hour

// searchesPerClass is how many searches of a class are made, without filters and with them.
const searchesPerClass = 30

func TestScaleSearch(t *testing.T) {
	m := scaleMix(scaleSize(t))
	dir := fillMix(t, m, "")
	o := newOracle(t, m, dir)
	searches := o.makeSearches(searchesPerClass)
	o.expect(searches)
	fmt.Printf("%d abstracts, %d orders, %d files, %d of them with %d words each\n", m.Orders, m.Orders,
		m.Orders*vaulttest.FilesPerOrder, m.Texts, vaulttest.TextWords)
	startServer(t, dir).stop(t) // compiles the engine and changes the schema, if it must
	if os.Getenv("DEEDKEEP_TEST_INDEX") != "kept" {
		buildIndex(t, dir, m)
	}
	p := startServer(t, dir)
	key := p.createKey(t, "scale")
	p.waitSearchable(t, key)
	fmt.Printf("started and searched after %d ms; then %s\n", p.startup.Milliseconds(), p.memory(t))
	p.measureSearches(t, o, key, searches)
	p.checkCompleteness(t, o, key, searches)
	p.measureVisibility(t, key)
	p.stop(t)
}

// buildIndex has a server make the index anew and says what it cost.
func buildIndex(t *testing.T, dir string, m vaulttest.Mix) {
	t.Helper()
	index := filepath.Join(dir, "search")
	if err := os.RemoveAll(index); err != nil {
		t.Fatalf("remove directory: %v", err)
	}
	start := time.Now()
	p := startServer(t, dir)
	memory := p.watchMemory(t)
	key := p.createKey(t, "scale")
	p.waitSearchable(t, key)
	took := time.Since(start)
	words, size := float64(m.Texts*vaulttest.TextWords), float64(dirSize(t, index))
	p.waitMerged(t, index)
	fmt.Printf("indexed in %.0f s: %.0f words of text a second, with %.0f records a second; memory of its own at most %d MB; %.0f MB, %.1f bytes per word of text; %.0f MB when it had settled\n",
		took.Seconds(), words/took.Seconds(), float64(m.Orders*(2+vaulttest.FilesPerOrder))/took.Seconds(), memory.peakMB(), size/1e6,
		size/words, float64(dirSize(t, index))/1e6)
	p.stop(t)
}

// waitSearchable waits for a whole index and prints how far it came.
func (p *serverProcess) waitSearchable(t *testing.T, key string) {
	t.Helper()
	start, said := time.Now(), time.Now()
	for {
		status, resp := send(t, p, key, "GET", "/search?q=grantor", nil)
		switch {
		case status == http.StatusOK:
			return
		case status != http.StatusServiceUnavailable:
			t.Fatalf("%d %s", status, resp)
		case time.Since(start) > 2*time.Hour:
			t.Fatal("there is no index after two hours")
		case time.Since(said) > 10*time.Second:
			said = time.Now()
			fmt.Printf("%6.0f s: index of %d MB, %s\n", time.Since(start).Seconds(), dirSize(t, filepath.Join(p.data, "search"))>>20, p.memory(t))
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// waitMerged waits until nothing is merged any more.
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

func dirSize(t *testing.T, dir string) (size int64) {
	t.Helper()
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil //nolint:nilerr // what is merged meanwhile is not there any more
		}
		if info, err := d.Info(); err == nil {
			size += info.Size()
		}
		return nil
	})
	return size
}

// searchResponse is an answer of /v1/search.
type searchResponse struct {
	Data []struct {
		Kind    string
		ID      json.RawMessage
		Heading string
		Snippet *string
		Page    *int
	}
}

// path is where a search is asked for.
func (a *searchCase) path(most int) string {
	q := url.Values{"q": {a.text}, "per_page": {strconv.Itoa(most)}}
	if a.county != "" {
		q.Set("county", a.county)
		q.Set("created_from", a.from.Format(time.DateOnly))
		q.Set("created_to", a.to.Format(time.DateOnly))
	}
	return "/search?" + q.Encode()
}

func (p *serverProcess) search(t *testing.T, key string, a *searchCase, most int) (got searchResponse, took time.Duration) {
	t.Helper()
	start := time.Now()
	getList(t, p, key, a.path(most), &got)
	return got, time.Since(start)
}

// measureSearches asks every search once, prints how long each class took and judges every answer.
func (p *serverProcess) measureSearches(t *testing.T, o *oracle, key string, searches []*searchCase) {
	t.Helper()
	fmt.Printf("\n| %d searches each | p50 ms | p95 ms | max ms | filtered: p50 | p95 | max | memory MB |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n",
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

// checkResponse holds an answer against what there is.
func (o *oracle) checkResponse(a *searchCase, got searchResponse) error {
	if len(got.Data) == 0 {
		return fmt.Errorf("nothing was found")
	}
	var behind error // what an earlier hit has not
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
			if behind = err; o.checkHit(a, r, page, typoMatch) != nil {
				return fmt.Errorf("hit %d, %s: %w", i+1, hit.Heading, err)
			}
		} else if behind != nil && o.checkHit(a, r, page, exactMatch) == nil {
			return fmt.Errorf("hit %d, %s, has what was asked and stands behind one that has not: %w", i+1, hit.Heading, behind)
		}
		if s := o.mixRecord(r); i == 0 && a.first != "" && s.Number != a.first && s.Parcel != a.first {
			return fmt.Errorf("the first hit is %+v", s)
		}
		if a.phrase && hit.Kind == "file" && (hit.Snippet == nil || !strings.Contains(*hit.Snippet, "<mark>") || page == 0) {
			return fmt.Errorf("hit %d, %s: no mark, or no page: %v %v", i+1, hit.Heading, hit.Snippet, hit.Page)
		}
	}
	if want := min(a.count, 25); len(got.Data) < want {
		return fmt.Errorf("%d hits, not %d", len(got.Data), want)
	}
	return nil
}

// checkCompleteness asks for all that is to be found, where that fits on a page.
func (p *serverProcess) checkCompleteness(t *testing.T, o *oracle, key string, searches []*searchCase) {
	t.Helper()
	judged := 0
	for _, a := range searches {
		if a.count == 0 || len(a.want) > maxWanted || strings.HasPrefix(a.class, "number, ") {
			continue
		}
		got, _ := p.search(t, key, a, maxWanted)
		if err := o.checkComplete(a, got); err != nil {
			t.Errorf("%s %s: %v", a.class, a.path(maxWanted), err)
		}
		judged++
	}
	fmt.Printf("\n%d answers judged; of %d every record that is to be found was found\n", len(searches), judged)
}

func (o *oracle) checkComplete(a *searchCase, got searchResponse) error {
	if len(got.Data) == maxWanted {
		return nil // others fit as well, such as those that have a longer word
	}
	have := map[record]bool{}
	for _, hit := range got.Data {
		r, err := o.record(hit.Kind, hit.ID)
		if err != nil {
			return err
		}
		have[r] = true
	}
	for _, want := range a.want {
		if !have[want] {
			return fmt.Errorf("%v %+v is not among %d hits", want, o.mixRecord(want), len(got.Data))
		}
	}
	return nil
}

// measureVisibility says how long it is until an abstract that was made is found, and until one
// that was thrown away is not. What it made is thrown away.
func (p *serverProcess) measureVisibility(t *testing.T, key string) {
	t.Helper()
	var created, gone latencies
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
		p.waitHits(t, key, number, 0, &gone)
	}
	fmt.Printf("what was made is found after (p50, p95, max) %s ms; what was thrown away is not found any more after %s ms\n",
		created.percentiles(), gone.percentiles())
}

func (p *serverProcess) waitHits(t *testing.T, key, text string, hits int, s *latencies) {
	t.Helper()
	for start := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		var got searchResponse
		if getList(t, p, key, "/search?q="+url.QueryEscape(text), &got); len(got.Data) == hits {
			s.add(time.Since(start))
			return
		}
		if time.Since(start) > time.Minute {
			t.Fatalf("%s: %+v after a minute", text, got)
		}
	}
}

// percentiles are the half, 95 of a hundred, and all.
func (s *latencies) percentiles() string {
	slices.Sort(s.all)
	at := func(part float64) float64 {
		return float64(s.all[min(int(part*float64(len(s.all))), len(s.all)-1)].Microseconds()) / 1000
	}
	return fmt.Sprintf("%.1f | %.1f | %.1f", at(0.5), at(0.95), at(1))
}

// memoryWatcher looks at how much memory of its own a process has.
type memoryWatcher struct{ peak atomic.Int64 }

func (w *memoryWatcher) peakMB() int64 { return w.peak.Load() >> 20 }

// watchMemory looks until the test ends.
func (p *serverProcess) watchMemory(t *testing.T) *memoryWatcher {
	t.Helper()
	w, stop := new(memoryWatcher), make(chan struct{})
	var looking sync.WaitGroup
	looking.Go(func() {
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
	t.Cleanup(func() { close(stop); looking.Wait() })
	return w
}

// anonymousMemory is RssAnon in bytes; 0 of a process that has ended.
func (p *serverProcess) anonymousMemory() int64 {
	raw, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.process.Process.Pid)) // it may have ended
	_, rest, _ := strings.Cut(string(raw), "RssAnon:")
	size, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	n, _ := strconv.ParseInt(size, 10, 64) // none is 0
	return n << 10
}

//go:build scale && linux

// TestScaleLive measures what pages that follow changes cost: a refresh of each kind of page, and 200 open pages while others
// make 1,000 changes a minute:
//
//	go test -tags scale -run ScaleLive -timeout 30m -v ./cmd
package cmd

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"deedkeep/app/vaulttest/client"
)

const (
	livePages       = 200
	liveChangeEvery = time.Minute / 1000
	livePhase       = 20 * time.Second
)

func TestScaleLive(t *testing.T) {
	p := startServer(t, filepath.Join(t.TempDir(), "data"), "DEEDKEEP_LIMITS_CONNECTIONS_PER_ADDRESS=1000")
	c := client.New(p.url, p.createKey(t, "live"), nil)
	l := &liveFirm{serverProcess: p, client: c, staff: p.signIn(t)}
	l.fill(t)
	fmt.Printf("\n| refresh of | KB | KB compressed | times | p50 ms | p99 ms | max ms |\n| --- | --- | --- | --- | --- | --- | --- |\n")
	for _, path := range []string{l.abstract, l.abstract + "/runsheet", l.abstract + "/instruments/state", "/orders", "/", l.orders[0]} {
		l.measureRefresh(t, path)
	}
	l.measurePhase(t, livePages, &latencies{}) // until the memory of the server has its usual size
	var with, without latencies
	var grown []int64
	for range 3 {
		_, alone := l.measurePhase(t, 0, &without)
		pages, followed := l.measurePhase(t, livePages, &with)
		grown = append(grown, followed-alone)
		fmt.Printf("%d pages: %d changes received, %d refreshes; memory %d KB without and %d KB with them\n", livePages, pages.changes.Load(),
			pages.refreshes.Load(), alone>>10, followed>>10)
	}
	fmt.Printf("\n| GET /v1/orders | times | p50 ms | p99 ms | max ms |\n| --- | --- | --- | --- | --- |\n| alone | %s\n| %d pages | %s\n",
		&without, livePages, &with)
	slices.Sort(grown)
	if grown[1] > 20<<20 {
		t.Errorf("%d open pages need %d MB (median), want at most 20 MB", livePages, grown[1]>>20)
	}
}

// liveFirm is a server with a large abstract and some orders.
type liveFirm struct {
	*serverProcess
	client   *client.Client
	staff    signedInClient
	abstract string   // path of an abstract with 200 documents and 100 instruments
	others   []string // paths of other abstracts
	orders   []string // paths
}

func (l *liveFirm) fill(t *testing.T) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("fill: %v", err)
		}
	}
	for n := range 200 {
		o, err := l.client.CreateOrder(t.Context(), client.OrderDraft{OrderNumber: fmt.Sprintf("26-%03d", n), Address: "8 Ferry Street"})
		must(err)
		l.orders = append(l.orders, "/orders/"+o.ID)
	}
	for range 20 {
		a, err := l.client.CreateAbstract(t.Context(), client.AbstractDraft{})
		must(err)
		l.others = append(l.others, "/abstracts/"+a.Data.ID)
	}
	a, err := l.client.CreateAbstract(t.Context(), client.AbstractDraft{})
	must(err)
	l.abstract = "/abstracts/" + a.Data.ID
	for batch := range 10 {
		var files []client.Upload
		for n := range 20 {
			name := fmt.Sprintf("%03d Deed.txt", 20*batch+n)
			files = append(files, client.Upload{Filename: name, Reader: strings.NewReader(name)})
		}
		_, err := l.client.AddFiles(t.Context(), a.Data.ID, files)
		must(err)
	}
	for n := range 100 {
		must(l.client.Do(t.Context(), http.MethodPost, "/v1"+l.abstract+"/instruments", map[string]any{"type": "Warranty Deed",
			"recorded": fmt.Sprintf("%d-03-04", 1920+n), "book": fmt.Sprint(100 + n), "page": "7", "grantors": []string{"Diaz, Carl"},
			"grantees": []string{"Poe, Ann", "Poe, Bea"}, "documents": []map[string]any{{"file_id": n + 1}}}, &struct{}{}))
	}
}

// refresh requests a page as the script of an open page does.
func (l *liveFirm) refresh(ctx context.Context, path string) (body, sent int64, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, l.url+path, nil)
	if err != nil {
		return 0, 0, err
	}
	req.Header.Set("Deedkeep-Background", "refresh")
	req.Header.Set("Accept-Encoding", "gzip")
	if strings.HasSuffix(path, "/state") {
		req.Header.Set("HX-Request", "true")
	}
	resp, err := l.staff.Do(req)
	if err != nil {
		return 0, 0, err
	}
	defer resp.Body.Close()
	counted := &countedReader{r: resp.Body}
	var reader io.Reader = counted
	if resp.Header.Get("Content-Encoding") == "gzip" {
		if reader, err = gzip.NewReader(counted); err != nil {
			return 0, 0, err
		}
	}
	body, err = io.Copy(io.Discard, reader)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("GET %s: %s", path, resp.Status)
	}
	return body, counted.n, err
}

// countedReader counts the bytes that are read from r.
type countedReader struct {
	r io.Reader
	n int64
}

func (cr *countedReader) Read(p []byte) (int, error) {
	n, err := cr.r.Read(p)
	cr.n += int64(n)
	return n, err
}

func (l *liveFirm) measureRefresh(t *testing.T, path string) {
	t.Helper()
	took := &latencies{}
	var body, sent int64
	for range 30 {
		start := time.Now()
		var err error
		if body, sent, err = l.refresh(t.Context(), path); err != nil {
			t.Fatalf("refresh: %v", err)
		}
		took.add(time.Since(start))
	}
	fmt.Printf("| `%s` | %d | %d | %s\n", path, body>>10, sent>>10, took)
}

// openPages counts what open pages do.
type openPages struct{ changes, refreshes atomic.Int64 }

// measurePhase changes records for a while, with open pages, and returns the memory of the server at the end. It adds how long
// requests for the list of orders took.
func (l *liveFirm) measurePhase(t *testing.T, pages int, took *latencies) (open *openPages, memory int64) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	open = &openPages{}
	var wg sync.WaitGroup
	for n := range pages {
		path := "/orders" // half of them are lists
		if n%2 == 1 {
			path = slices.Concat(l.others, l.orders)[n]
		}
		wg.Go(func() { l.follow(ctx, t, path, open) })
	}
	time.Sleep(5 * time.Second) // until all have begun
	end := time.Now().Add(livePhase)
	wg.Go(func() { l.makeChanges(ctx, t, end) })
	key := l.createKey(t, fmt.Sprint("measure ", time.Now().UnixNano()))
	for time.Now().Before(end) {
		start := time.Now()
		if status, resp := send(t, l.serverProcess, key, http.MethodGet, "/orders", nil); status != http.StatusOK {
			t.Fatalf("get orders: %d %s", status, resp)
		}
		took.add(time.Since(start))
		time.Sleep(20 * time.Millisecond)
	}
	memory = l.anonymousMemory()
	cancel()
	wg.Wait()
	return open, memory
}

// makeChanges changes orders and abstracts one after another.
func (l *liveFirm) makeChanges(ctx context.Context, t *testing.T, end time.Time) {
	rng := rand.New(rand.NewPCG(1, 2))
	for n := 0; time.Now().Before(end); n++ {
		paths, change := l.orders, map[string]any{"city": fmt.Sprint("Harlow ", n)}
		if n%2 == 1 {
			paths, change = l.others, map[string]any{"county": fmt.Sprint("County ", n)}
		}
		err := l.client.Do(ctx, http.MethodPatch, "/v1"+paths[rng.IntN(len(paths))], change, &struct{}{})
		if err != nil && ctx.Err() == nil {
			t.Errorf("change: %v", err)
			return
		}
		time.Sleep(time.Until(time.Now().Add(liveChangeEvery)))
	}
}

// follow acts like an open page (live.js). It refreshes after a change to what it shows, and less often while changes keep
// coming.
func (l *liveFirm) follow(ctx context.Context, t *testing.T, path string, open *openPages) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, l.url+"/changes", nil)
	if err != nil {
		t.Errorf("create request: %v", err)
		return
	}
	resp, err := l.staff.Do(req)
	if err != nil {
		if ctx.Err() == nil {
			t.Errorf("open stream: %v", err)
		}
		return
	}
	defer resp.Body.Close()
	due := make(chan struct{}, 1)
	defer close(due)
	go func() {
		shortest, longest := time.Second, 30*time.Second
		if path != "/orders" {
			longest = 3 * time.Second
		}
		pause, latest := shortest, time.Time{}
		for range due {
			time.Sleep(150*time.Millisecond + rand.N(200*time.Millisecond))
			began := time.Now()
			if _, _, err := l.refresh(ctx, path); err != nil {
				if ctx.Err() == nil {
					t.Errorf("refresh: %v", err)
				}
				return
			}
			open.refreshes.Add(1)
			if began.Sub(latest) < 2*pause {
				pause = min(2*pause, longest)
			} else {
				pause = shortest
			}
			latest = began
			select {
			case <-time.After(max(pause, 5*time.Since(began))):
			case <-ctx.Done():
				return
			}
		}
	}()
	typ, id, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	record := strings.TrimSuffix(typ, "s") + ":" + id
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		var change struct{ Records []string }
		if !ok || json.Unmarshal([]byte(data), &change) != nil || len(change.Records) == 0 {
			continue
		}
		open.changes.Add(1)
		if id == "" && strings.HasPrefix(change.Records[0], record) || slices.Contains(change.Records, record) {
			select {
			case due <- struct{}{}:
			default:
			}
		}
	}
	if ctx.Err() == nil {
		t.Errorf("stream ended: %v", lines.Err())
	}
}

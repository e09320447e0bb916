//go:build scale && linux

// TestScale measures the performance of a vault with ten years of records from a busy firm (README.md, "Scale"):
//
//	go test -tags scale -run Scale -timeout 60m -v ./cmd
//
//	DEEDKEEP_TEST_SCALE   number of abstracts and of orders; there are twice as many files.
//	                      Default 1,000,000
//	DEEDKEEP_TEST_VAULT   directory in which the full vault is kept for the next run
package cmd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"deedkeep/app/vaulttest"
)

const scaleYears = 10

// scaleClient keeps enough idle connections for all concurrent callers.
var scaleClient = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}

func TestScale(t *testing.T) {
	size := scaleSize(t)
	full, empty := filepath.Join(t.TempDir(), "full"), filepath.Join(t.TempDir(), "empty")
	if dir := os.Getenv("DEEDKEEP_TEST_VAULT"); dir != "" {
		full = dir
	}
	fillVault(t, full, size)
	startServer(t, full).stop(t) // compiles PDFium if necessary
	big, small := startServer(t, full), startServer(t, empty)
	fmt.Printf("start: %d ms; idle: %s\n", big.startup.Milliseconds(), big.memory(t))
	fmt.Printf("\n| list | pages | p50 ms | p99 ms | max ms |\n| --- | --- | --- | --- | --- |\n")
	key := big.createKey(t, "scale")
	for _, list := range scaleLists {
		s := &latencies{}
		measurePages(t, big, key, list, s)
		fmt.Printf("| `%s` | %s\n", list, s)
	}
	fmt.Printf("| `/metrics` | %s\n", measureMetrics(t, big))
	fmt.Printf("\nafterward: %s\n", big.memory(t))
	compareCreation(t, big, small, key)
}

// measureMetrics scrapes the metrics repeatedly. It waits long enough between scrapes that the server collects the
// metrics again each time.
func measureMetrics(t *testing.T, p *serverProcess) *latencies {
	t.Helper()
	s := &latencies{}
	for range 12 {
		time.Sleep(1100 * time.Millisecond)
		start := time.Now()
		resp, err := scaleClient.Get(p.url + "/metrics")
		if err != nil {
			t.Fatalf("get metrics: %v", err)
		}
		text, err := io.ReadAll(resp.Body)
		closeErr := resp.Body.Close()
		if err != nil || closeErr != nil || resp.StatusCode != http.StatusOK || !bytes.Contains(text, []byte("\ndeedkeep_vault_up 1\n")) {
			t.Fatalf("get metrics: got %s, %v, %v, want 200 and a vault that is up", resp.Status, err, closeErr)
		}
		s.add(time.Since(start))
	}
	return s
}

// scaleSize returns the value of DEEDKEEP_TEST_SCALE or the default.
func scaleSize(t *testing.T) int {
	t.Helper()
	text := os.Getenv("DEEDKEEP_TEST_SCALE")
	if text == "" {
		return 1_000_000
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("DEEDKEEP_TEST_SCALE: got %q, want a number greater than 0", text)
	}
	return n
}

// fillVault creates a vault in dir if it doesn't exist.
func fillVault(t *testing.T, dir string, size int) {
	t.Helper()
	database, start := filepath.Join(dir, "vault.db"), time.Now()
	if _, err := os.Stat(database); errors.Is(err, fs.ErrNotExist) {
		firm := vaulttest.Firm{Abstracts: size, Orders: size, Files: 2 * size, Documents: 1000, Until: time.Now()}
		if err := firm.Fill(context.Background(), dir, func(int, int) {}); err != nil {
			t.Fatalf("fill vault: %v", err)
		}
		fmt.Printf("filled in %s: %d abstracts, %d orders, %d files\n", time.Since(start).Round(time.Second), size, size, 2*size)
	}
	info, err := os.Stat(database)
	if err != nil {
		t.Fatalf("stat file: %v", err)
	}
	fmt.Printf("vault.db: %d MB\n", info.Size()>>20)
}

// scaleLists contains list requests with every documented filter and sort order, and with combinations of them.
var scaleLists = []string{
	"/orders", "/orders?sort=created_at", "/orders?sort=due_date", "/orders?sort=-due_date", "/orders?sort=order_number",
	"/orders?sort=-order_number",
	"/orders?status=active", "/orders?status=active&sort=due_date", "/orders?status=completed&sort=-due_date",
	"/orders?county=County+0", "/orders?county=county+700",
	"/orders?county=County+999&sort=order_number", "/orders?county=County+40&sort=due_date", "/orders?state=GA&sort=order_number",
	"/orders?order_number=2024-000123",
	"/orders?status=active&county=County+0&state=GA", "/orders?status=on_hold&county=County+3", "/orders?county=County+0&state=FL",
	"/orders?status=nothing",
	"/orders?created_from=2022-03-01&created_to=2022-03-31", "/orders?created_from=2022-03-01&sort=order_number&state=TX",
	"/orders?per_page=100&status=active&sort=-due_date",
	"/abstracts", "/abstracts?sort=created_at", "/abstracts?status=complete", "/abstracts?status=In+Search",
	"/abstracts?template_id=1", "/abstracts?template_id=4&status=new",
	"/abstracts?county=County+1", "/abstracts?state=NY&template_id=2", "/abstracts?per_page=100",
	"/abstracts?created_to=2020-01-01&county=County+12",
	"/file-vault/files", "/file-vault/files?folder_id=2", "/file-vault/files?folder_id=null", "/file-vault/files?is_processing=true",
	"/file-vault/files?is_processing=false",
	"/file-vault/files?folder_id=3&created_from=2021-06-01", "/file-vault/files?per_page=100", "/trash",
}

// measurePages requests pages of a list and records how long they take: the first pages and, if the list can be
// filtered by time, pages starting at random times.
func measurePages(t *testing.T, p *serverProcess, key, list string, s *latencies) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	const starts, pages = 12, 10
	for n := range starts {
		path := list
		if n > 0 && !strings.Contains(list, "created_") && list != "/trash" {
			day := time.Now().Add(-time.Duration(rng.Int64N(int64(scaleYears * 365 * 24 * time.Hour)))).Format(time.DateOnly)
			bound := "created_to="
			if strings.Contains(list, "sort=created_at") {
				bound = "created_from="
			}
			path += map[bool]string{true: "&", false: "?"}[strings.Contains(list, "?")] + bound + day
		}
		for range pages {
			start := time.Now()
			var page struct {
				Data  []json.RawMessage
				Links struct{ Next *string }
			}
			getList(t, p, key, path, &page)
			s.add(time.Since(start))
			if page.Links.Next == nil {
				break
			}
			next, err := url.Parse(*page.Links.Next)
			if err != nil {
				t.Fatalf("parse next link: %v", err)
			}
			path = strings.TrimPrefix(next.RequestURI(), "/v1")
		}
	}
}

// getList sends a GET request that must succeed and decodes the response into the value that into points to.
func getList(t *testing.T, p *serverProcess, key, path string, into any) {
	t.Helper()
	status, resp := send(t, p, key, "GET", path, nil)
	if status != http.StatusOK {
		t.Fatalf("GET %s: got %d %s, want 200", path, status, resp)
	}
	if err := json.Unmarshal(resp, into); err != nil {
		t.Fatalf("decode response of GET %s: %v", path, err)
	}
}

// send sends a request to /v1 and returns the status and the body of the response.
func send(t *testing.T, p *serverProcess, key, method, path string, body []byte) (int, []byte) {
	t.Helper()
	req, err := http.NewRequest(method, p.url+"/v1"+path, bytes.NewReader(body))
	if err != nil {
		t.Fatalf("create request: %v", err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := scaleClient.Do(req)
	if err != nil {
		t.Fatalf("send request: %v", err)
	}
	raw, err := io.ReadAll(resp.Body)
	if closeErr := resp.Body.Close(); err != nil || closeErr != nil {
		t.Fatalf("read response: %v, %v", err, closeErr)
	}
	return resp.StatusCode, raw
}

// compareCreation alternately creates orders in the full vault and in an empty one, first with one caller and then with
// sixteen. It prints the rates.
func compareCreation(t *testing.T, big, small *serverProcess, key string) {
	t.Helper()
	keys := map[*serverProcess]string{big: key, small: small.createKey(t, "scale")}
	fmt.Printf("\n| orders created | empty, per second | full, per second | cost |\n| --- | --- | --- | --- |\n")
	for _, callers := range []int{1, 16} {
		took := map[*serverProcess]time.Duration{}
		const rounds, perCaller = 10, 200
		for round := range rounds {
			for _, p := range []*serverProcess{small, big} {
				took[p] += createOrders(t, p, keys[p], callers, perCaller, round)
			}
		}
		rate := func(p *serverProcess) float64 { return float64(callers*perCaller*rounds) / took[p].Seconds() }
		fmt.Printf("| %d at a time | %.0f | %.0f | %.2f |\n", callers, rate(small), rate(big), rate(small)/rate(big))
	}
}

// createOrders creates orders with concurrent callers and returns how long that took.
func createOrders(t *testing.T, p *serverProcess, key string, callers, perCaller, round int) time.Duration {
	start := time.Now()
	var wg sync.WaitGroup
	for caller := range callers {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(round), uint64(caller)))
			for n := range perCaller {
				body := fmt.Appendf(nil,
					`{"order_number":"S-%d-%d-%d","due_date":"2026-12-%02d","county":"County %d","state":"GA","address":"1 Main St"}`,
					round, caller, n, 1+n%28, rng.IntN(1000))
				if status, resp := send(t, p, key, "POST", "/orders", body); status != http.StatusCreated {
					t.Errorf("create order: got %d %s, want 201", status, resp)
					return
				}
			}
		})
	}
	wg.Wait()
	return time.Since(start)
}

// latencies collects request durations.
type latencies struct{ all []time.Duration }

func (l *latencies) add(d time.Duration) { l.all = append(l.all, d) }

// String returns the number of durations, and the 50th percentile, 99th percentile, and maximum in milliseconds.
func (l *latencies) String() string {
	slices.Sort(l.all)
	percentile := func(p float64) float64 {
		return float64(l.all[min(int(p*float64(len(l.all))), len(l.all)-1)].Microseconds()) / 1000
	}
	return fmt.Sprintf("%d | %.1f | %.1f | %.1f |", len(l.all), percentile(0.5), percentile(0.99), percentile(1))
}

// memory describes the resident and anonymous memory of the server as reported by Linux.
func (p *serverProcess) memory(t *testing.T) string {
	t.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.process.Process.Pid))
	if err != nil {
		t.Fatalf("read file: %v", err)
	}
	var fields []string
	for line := range strings.Lines(string(raw)) {
		name, value, _ := strings.Cut(line, ":")
		if name == "VmRSS" || name == "RssAnon" {
			fields = append(fields, name+" "+strings.Join(strings.Fields(value), " "))
		}
	}
	return strings.Join(fields, ", ")
}

// stop stops the server and checks that its exit code is 0.
func (p *serverProcess) stop(t *testing.T) {
	t.Helper()
	p.signal(t, os.Interrupt)
	if code := p.waitExit(t); code != 0 {
		t.Fatalf("serve: got exit code %d, want 0\n%s", code, p.messages)
	}
}

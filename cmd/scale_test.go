//go:build scale && linux

// What a vault costs that holds ten years of a busy firm (README.md, "Scale"):
//
//	go test -tags scale -run Scale -timeout 60m -v ./cmd
//
//	DEEDKEEP_TEST_SCALE   abstracts; as many orders, and twice as many files. 1,000,000 when not set
//	DEEDKEEP_TEST_VAULT   a directory to keep the full vault in, and to find it in the next time
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

// scaleClient keeps a connection for each caller.
var scaleClient = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}

func TestScale(t *testing.T) {
	size := scaleSize(t)
	full, empty := filepath.Join(t.TempDir(), "full"), filepath.Join(t.TempDir(), "empty")
	if kept := os.Getenv("DEEDKEEP_TEST_VAULT"); kept != "" {
		full = kept
	}
	fillVault(t, full, size)
	startServer(t, full).stop(t) // compiles the engine, if it must
	big, small := startServer(t, full), startServer(t, empty)
	fmt.Printf("start until it answers: %d ms; idle: %s\n", big.startup.Milliseconds(), big.memory(t))
	fmt.Printf("\n| list | pages | p50 ms | p99 ms | max ms |\n| --- | --- | --- | --- | --- |\n")
	key := big.createKey(t, "scale")
	for _, list := range scaleLists {
		s := &latencies{}
		measurePages(t, big, key, list, s)
		fmt.Printf("| `%s` | %s\n", list, s)
	}
	fmt.Printf("| `/metrics` | %s\n", measureMetrics(t, big))
	fmt.Printf("\nafter them: %s\n", big.memory(t))
	compareCreation(t, big, small, key)
}

// measureMetrics reads the metrics as often as each reading gathers them anew.
func measureMetrics(t *testing.T, p *serverProcess) *latencies {
	t.Helper()
	s := &latencies{}
	for range 12 {
		time.Sleep(1100 * time.Millisecond)
		start := time.Now()
		resp, err := scaleClient.Get(p.url + "/metrics")
		if err != nil {
			t.Fatalf("get scale client: %v", err)
		}
		text, err := io.ReadAll(resp.Body)
		if closed := resp.Body.Close(); err != nil || closed != nil || resp.StatusCode != http.StatusOK ||
			!bytes.Contains(text, []byte("\ndeedkeep_vault_up 1\n")) {
			t.Fatal(resp.Status, err, closed)
		}
		s.add(time.Since(start))
	}
	return s
}

func scaleSize(t *testing.T) int {
	t.Helper()
	text := os.Getenv("DEEDKEEP_TEST_SCALE")
	if text == "" {
		return 1_000_000
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("DEEDKEEP_TEST_SCALE is %q", text)
	}
	return n
}

func fillVault(t *testing.T, dir string, size int) {
	t.Helper()
	database, start := filepath.Join(dir, "vault.db"), time.Now()
	if _, err := os.Stat(database); errors.Is(err, fs.ErrNotExist) {
		firm := vaulttest.Firm{Abstracts: size, Orders: size, Files: 2 * size, Documents: 1000, Until: time.Now()}
		if err := firm.Fill(context.Background(), dir, func(int, int) {}); err != nil {
			t.Fatalf("firm.Fill: %v", err)
		}
		fmt.Printf("filled in %s: %d abstracts, %d orders, %d files\n", time.Since(start).Round(time.Second), size, size, 2*size)
	}
	info, err := os.Stat(database)
	if err != nil {
		t.Fatalf("stat file: %v", err)
	}
	fmt.Printf("vault.db has %d MB\n", info.Size()>>20)
}

// scaleLists are every documented filter and sort, and several at once.
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

// measurePages turns pages of a list: the first ones, and then, where the list can be
// entered by a time, some from anywhere in it.
func measurePages(t *testing.T, p *serverProcess, key, list string, s *latencies) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	const entries, pages = 12, 10
	for n := range entries {
		from := list
		if n > 0 && !strings.Contains(list, "created_") && list != "/trash" {
			day := time.Now().Add(-time.Duration(rng.Int64N(int64(scaleYears * 365 * 24 * time.Hour)))).Format(time.DateOnly)
			bound := "created_to="
			if strings.Contains(list, "sort=created_at") {
				bound = "created_from="
			}
			from += map[bool]string{true: "&", false: "?"}[strings.Contains(list, "?")] + bound + day
		}
		for range pages {
			start := time.Now()
			var page struct {
				Data  []json.RawMessage
				Links struct{ Next *string }
			}
			getList(t, p, key, from, &page)
			s.add(time.Since(start))
			if page.Links.Next == nil {
				break
			}
			next, err := url.Parse(*page.Links.Next)
			if err != nil {
				t.Fatalf("parse URL: %v", err)
			}
			from = strings.TrimPrefix(next.RequestURI(), "/v1")
		}
	}
}

func getList(t *testing.T, p *serverProcess, key, path string, into any) {
	t.Helper()
	status, resp := send(t, p, key, "GET", path, nil)
	if status != http.StatusOK {
		t.Fatalf("GET %s: %d %s", path, status, resp)
	}
	if err := json.Unmarshal(resp, into); err != nil {
		t.Fatalf("decode JSON: %v", err)
	}
}

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
	if closed := resp.Body.Close(); err != nil || closed != nil {
		t.Fatal(err, closed)
	}
	return resp.StatusCode, raw
}

// compareCreation makes orders in the full vault and in an empty one by turns, one
// caller and then sixteen.
func compareCreation(t *testing.T, big, small *serverProcess, key string) {
	t.Helper()
	keys := map[*serverProcess]string{big: key, small: small.createKey(t, "scale")}
	fmt.Printf("\n| orders created | empty, a second | full, a second | cost |\n| --- | --- | --- | --- |\n")
	for _, callers := range []int{1, 16} {
		took := map[*serverProcess]time.Duration{}
		const rounds, each = 10, 200
		for round := range rounds {
			for _, p := range []*serverProcess{small, big} {
				took[p] += createOrders(t, p, keys[p], callers, each, round)
			}
		}
		rate := func(p *serverProcess) float64 { return float64(callers*each*rounds) / took[p].Seconds() }
		fmt.Printf("| %d at a time | %.0f | %.0f | %.2f |\n", callers, rate(small), rate(big), rate(small)/rate(big))
	}
}

func createOrders(t *testing.T, p *serverProcess, key string, callers, each, round int) time.Duration {
	start := time.Now()
	var all sync.WaitGroup
	for caller := range callers {
		all.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(round), uint64(caller)))
			for n := range each {
				body := fmt.Appendf(nil,
					`{"order_number":"S-%d-%d-%d","due_date":"2026-12-%02d","county":"County %d","state":"GA","address":"1 Main St"}`,
					round, caller, n, 1+n%28, rng.IntN(1000))
				if status, resp := send(t, p, key, "POST", "/orders", body); status != http.StatusCreated {
					t.Errorf("%d %s", status, resp)
					return
				}
			}
		})
	}
	all.Wait()
	return time.Since(start)
}

type latencies struct{ all []time.Duration }

func (s *latencies) add(d time.Duration) { s.all = append(s.all, d) }

func (s *latencies) String() string {
	slices.Sort(s.all)
	at := func(part float64) float64 {
		return float64(s.all[min(int(part*float64(len(s.all))), len(s.all)-1)].Microseconds()) / 1000
	}
	return fmt.Sprintf("%d | %.1f | %.1f | %.1f |", len(s.all), at(0.5), at(0.99), at(1))
}

// memory is what the serving process holds, as Linux counts it.
func (p *serverProcess) memory(t *testing.T) string {
	t.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.process.Process.Pid))
	if err != nil {
		t.Fatalf("read file: %v", err)
	}
	var said []string
	for line := range strings.Lines(string(raw)) {
		name, value, _ := strings.Cut(line, ":")
		if name == "VmRSS" || name == "RssAnon" {
			said = append(said, name+" "+strings.Join(strings.Fields(value), " "))
		}
	}
	return strings.Join(said, ", ")
}

func (p *serverProcess) stop(t *testing.T) {
	t.Helper()
	p.signal(t, os.Interrupt)
	if code := p.waitExit(t); code != 0 {
		t.Fatalf("serve ended with %d\n%s", code, p.messages)
	}
}

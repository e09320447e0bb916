package api_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Any query string for a list gets a page, a 400, or a 422.
func FuzzListQuery(f *testing.F) {
	srv := newTestServer(f)
	srv.serve(f, "read", http.MethodGet, "/v1/orders", "")
	cursor := srv.vault.Secrets.Cursors().Encode("orders?sort=-created_at", []byte(">x"))
	for _, seed := range []string{"", "per_page=1&sort=-due_date", "cursor=" + cursor, "cursor=%00&cursor=",
		"folder_id=null&abstract_id=AAAAAAAAAAA", "created_from=2026-05-29T04:00:00+02:00&created_to=9999-12-31",
		"created_to=9999-12-31T23:59:59-23:59", "is_processing=1;x", "%=&&=&", "status=%ff&kind=order&record=abstract:7&actor=key:1",
		"template_id=-0&per_page=+1"} {
		for recordType := range uint8(5) {
			f.Add(recordType, seed)
		}
	}
	paths := []string{"orders", "abstracts", "file-vault/files", "trash", "events"}
	f.Fuzz(func(t *testing.T, recordType uint8, query string) {
		path := paths[int(recordType)%len(paths)]
		request := httptest.NewRequest(http.MethodGet, "http://vault.test/v1/"+path, http.NoBody)
		request.URL.RawQuery = query
		request.Header.Set("Authorization", "Bearer "+srv.keys[map[bool]string{true: "events", false: "read"}[path == "events"]])
		response := httptest.NewRecorder()
		srv.server.Config.Handler.ServeHTTP(response, request)
		if code := response.Code; code != 200 && code != 400 && code != 422 || !json.Valid(response.Body.Bytes()) {
			t.Fatalf("%s?%q: status %d, want 200, 400, or 422 with JSON: %s", path, query, code, response.Body)
		}
	})
}

// A client reads a list while about a thousand orders are created and deleted. Each order
// that exists the entire time is listed exactly once.
func TestListDuringChanges(t *testing.T) {
	t.Parallel()
	c := churn{testServer: newTestServer(t), rand: rand.New(rand.NewPCG(1, 2)), live: map[string]string{}}
	c.create(t, 300, "permanent", "c0")
	permanent := slices.Collect(maps.Keys(c.live))
	clear(c.live)
	for _, query := range []string{"sort=created_at", "sort=-created_at", "sort=order_number&per_page=20", "sort=-due_date",
		"county=c0&sort=created_at"} {
		seen := map[string]int{}
		path := "/v1/orders?" + query
		for path != "" {
			page := c.readPage(t, path, seen)
			c.create(t, 20, "temporary", fmt.Sprintf("c%d", c.rand.IntN(2)))
			c.remove(t, 15)
			if path = ""; page.Links.Next != nil {
				path = localPath(t, page.Links.Next)
			}
			for path != "" && strings.HasSuffix(query, "sort=created_at") && len(seen) > 600 {
				if path = ""; page.Links.Next != nil { // read the rest without creating records; otherwise, the list never ends
					path = localPath(t, page.Links.Next)
					page = c.readPage(t, path, seen)
				}
			}
		}
		for _, number := range permanent {
			if seen[number] != 1 {
				t.Errorf("%s: order %s is listed %d times, want once", query, number, seen[number])
			}
		}
	}
	if c.created < 1000 {
		t.Errorf("created orders = %d, want at least 1000", c.created)
	}
}

// churn creates and deletes orders while a list is being read.
type churn struct {
	*testServer
	rand    *rand.Rand
	created int
	mu      sync.Mutex
	live    map[string]string // IDs of the existing orders by order number
}

// create creates n orders concurrently. Some of them have the same timestamp.
func (c *churn) create(t *testing.T, n int, name, county string) {
	t.Helper()
	var wait sync.WaitGroup
	for range n {
		number := fmt.Sprintf("%c-%s-%d", 'a'+c.rand.IntN(26), name, c.created)
		elapsed := time.Duration(c.rand.IntN(2)) * time.Microsecond
		c.created++
		wait.Go(func() {
			c.clock.Advance(elapsed)
			got := c.serve(t, "full", http.MethodPost, "/v1/orders", fmt.Sprintf(`{"order_number":%q,"county":%q}`, number, county))
			var created struct{ Data struct{ ID string } }
			if err := json.Unmarshal(got.body, &created); err != nil {
				t.Errorf("json.Unmarshal: %v", err)
			}
			c.mu.Lock()
			defer c.mu.Unlock()
			c.live[number] = created.Data.ID
		})
	}
	wait.Wait()
}

func (c *churn) remove(t *testing.T, n int) {
	t.Helper()
	var wait sync.WaitGroup
	for _, number := range slices.Sorted(maps.Keys(c.live))[:min(len(c.live), n)] {
		id := c.live[number]
		delete(c.live, number)
		wait.Go(func() { c.serve(t, "full", http.MethodDelete, "/v1/orders/"+id, "") })
	}
	wait.Wait()
}

// readPage reads a page and adds its orders to the counts in seen.
func (c *churn) readPage(t *testing.T, path string, seen map[string]int) listPage {
	t.Helper()
	page := decodeBody[listPage](t, c.serve(t, "read", http.MethodGet, path, ""))
	for _, d := range page.Data {
		if seen[d.OrderNumber]++; seen[d.OrderNumber] > 1 {
			t.Fatalf("%s: order %s is listed twice, want once", path, d.OrderNumber)
		}
	}
	return page
}

// serve calls the handler directly, which is faster than over the network. It expects a 2xx
// status.
func (srv *testServer) serve(t testing.TB, as, method, path, body string) reply {
	t.Helper()
	request := httptest.NewRequest(method, "http://vault.test"+path, strings.NewReader(body))
	request.Header.Set("Authorization", "Bearer "+srv.keys[as])
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	response := httptest.NewRecorder()
	srv.server.Config.Handler.ServeHTTP(response, request)
	if response.Code/100 != 2 {
		t.Errorf("%s %s: status %d, want 2xx: %s", method, path, response.Code, response.Body)
	}
	return reply{response.Result(), response.Body.Bytes()}
}

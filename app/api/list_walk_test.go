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

// Whatever is asked of a list, the answer is a page or says what was wrong with it.
func FuzzListQuery(f *testing.F) {
	h := open(f)
	h.direct(f, "read", http.MethodGet, "/v1/orders", "")
	cursor := h.vault.Secrets.Cursors().Encode("orders?sort=-created_at", []byte(">x"))
	for _, seed := range []string{"", "per_page=1&sort=-due_date", "cursor=" + cursor, "cursor=%00&cursor=", "folder_id=null&abstract_id=AAAAAAAAAAA", "created_from=2026-05-29T04:00:00+02:00&created_to=9999-12-31",
		"created_to=9999-12-31T23:59:59-23:59", "is_processing=1;x", "%=&&=&", "status=%ff&kind=order&record=abstract:7&actor=key:1", "template_id=-0&per_page=+1"} {
		for noun := range uint8(5) {
			f.Add(noun, seed)
		}
	}
	paths := []string{"orders", "abstracts", "file-vault/files", "trash", "events"}
	f.Fuzz(func(t *testing.T, noun uint8, query string) {
		path := paths[int(noun)%len(paths)]
		request := httptest.NewRequest(http.MethodGet, "http://vault.test/v1/"+path, http.NoBody)
		request.URL.RawQuery = query
		request.Header.Set("Authorization", "Bearer "+h.keys[map[bool]string{true: "events", false: "read"}[path == "events"]])
		answer := httptest.NewRecorder()
		h.server.Config.Handler.ServeHTTP(answer, request)
		if code := answer.Code; code != 200 && code != 400 && code != 422 || !json.Valid(answer.Body.Bytes()) {
			t.Fatalf("%s?%q: %d %s", path, query, code, answer.Body)
		}
	})
}

// A list is complete and without doubles while a thousand records come and go
// between its pages: every order that was there all the while is seen once.
func TestListWhileRecordsComeAndGo(t *testing.T) {
	t.Parallel()
	c := crowd{house: open(t), chance: rand.New(rand.NewPCG(1, 2)), live: map[string]string{}}
	c.come(t, 300, "stay", "c0")
	stay := slices.Collect(maps.Keys(c.live))
	clear(c.live)
	for _, query := range []string{"sort=created_at", "sort=-created_at", "sort=order_number&per_page=20", "sort=-due_date", "county=c0&sort=created_at"} {
		seen := map[string]int{}
		path := "/v1/orders?" + query
		for path != "" {
			page := c.look(t, path, seen)
			c.come(t, 20, "come", fmt.Sprintf("c%d", c.chance.IntN(2)))
			c.leave(t, 15)
			if path = ""; page.Links.Next != nil {
				path = here(t, page.Links.Next)
			}
			for path != "" && strings.HasSuffix(query, "sort=created_at") && len(seen) > 600 {
				if path = ""; page.Links.Next != nil { // to the end; else new ones come there for ever
					path = here(t, page.Links.Next)
					page = c.look(t, path, seen)
				}
			}
		}
		for _, number := range stay {
			if seen[number] != 1 {
				t.Errorf("%s: %s is seen %d times", query, number, seen[number])
			}
		}
	}
	if c.came < 1000 {
		t.Errorf("only %d came", c.came)
	}
}

// crowd are orders that come and go.
type crowd struct {
	*house
	chance *rand.Rand
	came   int
	mu     sync.Mutex
	live   map[string]string // ids by number
}

// come makes so many at once, some at the same moment.
func (c *crowd) come(t *testing.T, n int, name, county string) {
	t.Helper()
	var wait sync.WaitGroup
	for range n {
		number := fmt.Sprintf("%c-%s-%d", 'a'+c.chance.IntN(26), name, c.came)
		moved := time.Duration(c.chance.IntN(2)) * time.Microsecond
		c.came++
		wait.Go(func() {
			c.clock.Advance(moved)
			got := c.direct(t, "full", http.MethodPost, "/v1/orders", fmt.Sprintf(`{"order_number":%q,"county":%q}`, number, county))
			var made struct{ Data struct{ ID string } }
			if err := json.Unmarshal(got.body, &made); err != nil {
				t.Error(err)
			}
			c.mu.Lock()
			defer c.mu.Unlock()
			c.live[number] = made.Data.ID
		})
	}
	wait.Wait()
}

func (c *crowd) leave(t *testing.T, n int) {
	t.Helper()
	var wait sync.WaitGroup
	for _, number := range slices.Sorted(maps.Keys(c.live))[:min(len(c.live), n)] {
		id := c.live[number]
		delete(c.live, number)
		wait.Go(func() { c.direct(t, "full", http.MethodDelete, "/v1/orders/"+id, "") })
	}
	wait.Wait()
}

// look reads a page and counts what is on it.
func (c *crowd) look(t *testing.T, path string, seen map[string]int) listPage {
	t.Helper()
	page := decode[listPage](t, c.direct(t, "read", http.MethodGet, path, ""))
	for _, d := range page.Data {
		if seen[d.OrderNumber]++; seen[d.OrderNumber] > 1 {
			t.Fatalf("%s: %s is seen twice", path, d.OrderNumber)
		}
	}
	return page
}

// direct asks without a network, for tests that ask much; the answer must be good.
func (h *house) direct(t testing.TB, as, method, path, body string) reply {
	t.Helper()
	request := httptest.NewRequest(method, "http://vault.test"+path, strings.NewReader(body))
	request.Header.Set("Authorization", "Bearer "+h.keys[as])
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	answer := httptest.NewRecorder()
	h.server.Config.Handler.ServeHTTP(answer, request)
	if answer.Code/100 != 2 {
		t.Errorf("%s %s: %d %s", method, path, answer.Code, answer.Body)
	}
	return reply{answer.Result(), answer.Body.Bytes()}
}

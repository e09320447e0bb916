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
	"testing"
	"time"
)

// Whatever is asked of a list, the answer is a page or says what was wrong with it.
func FuzzListQuery(f *testing.F) {
	h := open(f)
	h.direct(f, "read", http.MethodGet, "/v1/orders", "")
	cursor := h.vault.Secrets.Cursors().Seal("orders?sort=-created_at", []byte(">x"))
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
	h := open(t)
	chance := rand.New(rand.NewPCG(1, 2))
	stay, live := map[string]bool{}, map[string]string{} // numbers; ids of those that go
	add := func(number string) string {
		h.clock.Move(time.Duration(chance.IntN(2)) * time.Microsecond) // some at the same moment
		r := h.direct(t, "full", http.MethodPost, "/v1/orders", fmt.Sprintf(`{"order_number":%q,"county":"c%d"}`, number, len(live)%2))
		return decode[struct{ Data struct{ ID string } }](t, r).Data.ID
	}
	for i := range 300 {
		number := fmt.Sprintf("stay-%d", i)
		add(number) // all of county c0
		stay[number] = true
	}
	came := 0
	for _, query := range []string{"sort=created_at", "sort=-created_at", "sort=order_number&per_page=20", "sort=-due_date", "county=c0&sort=created_at"} {
		seen := map[string]int{}
		path := "/v1/orders?" + query
		for path != "" {
			page, names := h.pageDirect(t, path)
			for _, name := range names {
				if seen[name]++; seen[name] > 1 {
					t.Fatalf("%s: %s is seen twice", query, name)
				}
			}
			for range 20 {
				number := fmt.Sprintf("%c-come-%d", 'a'+chance.IntN(26), came)
				came++
				live[number] = add(number)
			}
			for _, number := range slices.Sorted(maps.Keys(live))[:min(len(live), 15)] {
				h.direct(t, "full", http.MethodDelete, "/v1/orders/"+live[number], "")
				delete(live, number)
			}
			if path = ""; page.Links.Next != nil {
				path = here(t, page.Links.Next)
			}
			if strings.HasSuffix(query, "sort=created_at") && len(seen) > 600 {
				path = h.rest(t, page, seen) // else new ones come at its end for ever
			}
		}
		for number := range stay {
			if seen[number] != 1 {
				t.Errorf("%s: %s is seen %d times", query, number, seen[number])
			}
		}
	}
	if came < 1000 {
		t.Errorf("only %d came", came)
	}
}

// rest reads a list to its end while nothing comes.
func (h *house) rest(t *testing.T, page listed, seen map[string]int) string {
	t.Helper()
	for page.Links.Next != nil {
		var names []string
		page, names = h.pageDirect(t, here(t, page.Links.Next))
		for _, name := range names {
			if seen[name]++; seen[name] > 1 {
				t.Fatalf("%s is seen twice", name)
			}
		}
	}
	return ""
}

func (h *house) pageDirect(t *testing.T, path string) (listed, []string) {
	t.Helper()
	got := decode[listed](t, h.direct(t, "read", http.MethodGet, path, ""))
	var names []string
	for _, d := range got.Data {
		names = append(names, d.OrderNumber)
	}
	return got, names
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
		t.Fatalf("%s %s: %d %s", method, path, answer.Code, answer.Body)
	}
	return reply{answer.Result(), answer.Body.Bytes()}
}

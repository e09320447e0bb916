package api_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"deedkeep/app/httpx"
	"deedkeep/app/model"
)

// heavyPages bounds pages to the records of three abstracts with a long field.
func heavyPages(s *setup) {
	s.api.Limits.Page = 400 << 10
	first := &s.workspace.Templates[0]
	for _, key := range []string{"one", "two", "three"} {
		first.Fields = append(first.Fields, model.Field{Key: key, Label: key, Type: model.Paragraph})
	}
}

// Pages are bounded in bytes, and answers that are large have memory for them or are
// told to come back.
func TestLargePages(t *testing.T) {
	t.Parallel()
	h := open(t, heavyPages)
	long := strings.Repeat("é", 60_000)
	var want []string
	for i := range 8 {
		want = append(want, fmt.Sprintf("T-%d", i))
		h.ask(t, abstract(201, "", field("city", want[i]), field("custom_fields", `{"one":"`+long+`"}`), file("files", "a.pdf", pdf(1))))
	}
	var seen []string
	for path, pages := "/v1/abstracts?sort=created_at&per_page=100", 1; path != ""; pages++ {
		page, names := h.page(t, path)
		seen, path = append(seen, names...), ""
		if len(names) > 3 || page.Links.Next != nil && len(names) != 3 {
			t.Errorf("%q on a page", names)
		}
		if page.Links.Next != nil {
			path = here(t, page.Links.Next)
		}
	}
	if !slices.Equal(seen, want) {
		t.Errorf("%q", seen)
	}
	heavy := decode[struct{ Data struct{ ID string } }](t, h.ask(t, abstract(201, "",
		field("custom_fields", `{"one":"`+long+`","two":"`+long+`","three":"`+long+`"}`)))).Data.ID
	h.refuseLarge(t, heavy)
}

// refuseLarge opens the same vault once more, so that no request before holds memory yet.
// A large body under way leaves its key none for the answers of large pages and of the abstract.
func (h *house) refuseLarge(t *testing.T, heavy string) {
	t.Helper()
	filled, keys := h.dir, h.keys
	var room *httpx.MemoryBudget
	h = open(t, heavyPages, tight(100*time.Millisecond), func(s *setup) {
		room = s.api.Memory
		h.must(os.CopyFS(s.vault.Dir, os.DirFS(filled)))
		s.keys = keys
	})
	conn, _, body := h.begin(t, large("T-1", 1<<20-100))
	say(t, conn, body[:len(body)-1])
	fills(t, room, 0, 1<<19)
	for _, path := range []string{"/v1/abstracts", "/v1/abstracts?per_page=1", "/v1/abstracts/" + heavy} {
		r := list(path)
		r.as, r.status, r.want, r.headers = "full", 503, tooBusy, map[string]string{"Retry-After": "10"}
		h.ask(t, r)
		h.ask(t, list(path)) // another key has its own half
	}
	h.ask(t, list("/v1/abstracts?per_page=1&sort=created_at"))
	h.must(conn.Close())
	// Its memory is given back once the server has seen that the client has gone.
	for end := time.Now().Add(10 * time.Second); ; {
		conn := h.dial(t)
		_, err := conn.Write([]byte(h.text(list("/v1/abstracts/" + heavy))))
		h.must(err)
		head := make([]byte, 12)
		_, err = conn.Read(head)
		h.must(err)
		h.must(conn.Close())
		if string(head) == "HTTP/1.1 200" {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("%s", head)
		}
	}
}

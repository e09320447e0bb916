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

// withSmallPages limits the size of a page to about three abstracts with a long field.
func withSmallPages(cfg *testConfig) {
	cfg.api.Limits.Page = 400 << 10
	first := &cfg.workspace.Templates[0]
	for _, key := range []string{"one", "two", "three"} {
		first.Fields = append(first.Fields, model.Field{Key: key, Label: key, Type: model.Paragraph})
	}
}

// The size of a page is limited in bytes. A large response gets a 503 if there isn't enough
// memory for it.
func TestLargePages(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t, withSmallPages)
	long := strings.Repeat("é", 60_000)
	var want []string
	for i := range 8 {
		want = append(want, fmt.Sprintf("T-%d", i))
		srv.do(t, abstractCall(201, "", fieldPart("city", want[i]), fieldPart("custom_fields", `{"one":"`+long+`"}`),
			filePart("files", "a.pdf", pdf(1))))
	}
	var seen []string
	for path, pages := "/v1/abstracts?sort=created_at&per_page=100", 1; path != ""; pages++ {
		page, names := srv.getPage(t, path)
		seen, path = append(seen, names...), ""
		if len(names) > 3 || page.Links.Next != nil && len(names) != 3 {
			t.Errorf("page = %q, want 3 abstracts, fewer on the last page", names)
		}
		if page.Links.Next != nil {
			path = localPath(t, page.Links.Next)
		}
	}
	if !slices.Equal(seen, want) {
		t.Errorf("abstracts of all pages = %q, want %q", seen, want)
	}
	heavy := decodeBody[struct{ Data struct{ ID string } }](t, srv.do(t, abstractCall(201, "",
		fieldPart("custom_fields", `{"one":"`+long+`","two":"`+long+`","three":"`+long+`"}`)))).Data.ID
	srv.checkLargeRejected(t, heavy)
}

// checkLargeRejected opens a copy of the data directory with a small memory budget. A large
// body uses up the memory share of its key. In the meantime, large pages and large records
// get a 503.
func (srv *testServer) checkLargeRejected(t *testing.T, heavy string) {
	t.Helper()
	filled, keys := srv.dir, srv.keys
	var budget *httpx.MemoryBudget
	srv = newTestServer(t, withSmallPages, smallBudget(100*time.Millisecond), func(cfg *testConfig) {
		budget = cfg.api.Memory
		srv.must(os.CopyFS(cfg.vault.Dir, os.DirFS(filled)))
		cfg.keys = keys
	})
	conn, _, body := srv.sendHead(t, largeOrder("T-1", 1<<20-100))
	writeText(t, conn, body[:len(body)-1])
	waitForMemory(t, budget, 0, 1<<19)
	for _, path := range []string{"/v1/abstracts", "/v1/abstracts?per_page=1", "/v1/abstracts/" + heavy} {
		r := getList(path)
		r.as, r.status, r.want, r.headers = "full", 503, tooBusy, map[string]string{"Retry-After": "10"}
		srv.do(t, r)
		srv.do(t, getList(path)) // another key has its own share of the memory
	}
	srv.do(t, getList("/v1/abstracts?per_page=1&sort=created_at"))
	srv.must(conn.Close())
	// The server releases the memory when it detects that the client has disconnected.
	for end := time.Now().Add(10 * time.Second); ; {
		conn := srv.dial(t)
		_, err := conn.Write([]byte(srv.requestText(getList("/v1/abstracts/" + heavy))))
		srv.must(err)
		head := make([]byte, 12)
		_, err = conn.Read(head)
		srv.must(err)
		srv.must(conn.Close())
		if string(head) == "HTTP/1.1 200" {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("status line = %s, want 200", head)
		}
	}
}

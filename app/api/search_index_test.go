package api_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"deedkeep/app/vaulttest"
)

// searchPaths are the paths that accept the parameter q.
var searchPaths = []string{"/v1/search", "/v1/orders", "/v1/abstracts", "/v1/file-vault/files"}

// checkIndexState checks the state of the search index that search responses contain.
func (srv *testServer) checkIndexState(t *testing.T, want string) {
	t.Helper()
	for _, path := range searchPaths {
		r := getList(path + "?q=elm")
		r.has = []string{`"prev_cursor":null,"index":` + want + `}}`}
		srv.do(t, r)
	}
}

const indexComplete = `{"complete":true,"behind":0,"texts":0,"scans":0}`

// A search response contains the state of the search index. List responses without q don't.
func TestSearchReportsIndexState(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	srv.do(t, orderCall(`{"order_number":"E-1"}`, 201, ""))
	srv.waitForIndex(t)
	srv.checkIndexState(t, indexComplete)
	srv.do(t, orderCall(`{"order_number":"E-2","address":"1 Elm St"}`, 201, ""))
	srv.checkIndexState(t, `{"complete":false,"behind":1,"texts":0,"scans":0}`)
	srv.checkSearch(t, "q=elm")
	srv.waitForIndex(t)
	srv.checkIndexState(t, indexComplete)
	srv.checkSearch(t, "q=elm", "order E-2")
	for _, path := range append(searchPaths[1:], "/v1/orders?q=", "/v1/orders?q=%20") {
		if got := srv.do(t, getList(path)); strings.Contains(string(got.body), `"index"`) {
			t.Errorf("%s without q = %s, want no state of the index", path, got.body)
		}
	}
}

// After a backup is restored, files can be found only by name until their text is extracted
// again.
func TestSearchReportsMissingTexts(t *testing.T) {
	t.Parallel()
	firstServer := newTestServer(t)
	firstServer.vault.Start(1 << 40)
	firstServer.do(t, uploadCall("full", 201, filePart("files", "a.txt", "elm"), filePart("files", "b.txt", "oak")))
	firstServer.waitForText(t)
	firstServer.checkIndexState(t, indexComplete)
	srv := newTestServer(t, func(cfg *testConfig) {
		firstServer.must(vaulttest.CopyRecords(cfg.vault.Dir, firstServer.dir))
		cfg.keys = firstServer.keys
	})
	srv.waitForIndex(t)
	srv.checkIndexState(t, `{"complete":false,"behind":0,"texts":2,"scans":0}`)
	srv.checkSearch(t, "q=elm")
	srv.vault.Start(1 << 40)
	seen := map[string]bool{}
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(2 * time.Millisecond) {
		got, names := srv.search(t, "q=elm")
		index := got.Meta.Index
		seen[fmt.Sprint(index.Complete, len(names))] = true
		if index.Complete && index.Texts == 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("state of the index after 20 seconds = %+v, want it complete", index)
		}
	}
	if seen["true 0"] || !seen["true 1"] {
		t.Errorf("pairs of complete and number of hits = %v, want true 1, not true 0", seen)
	}
}

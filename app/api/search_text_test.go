package api_test

import (
	"slices"
	"testing"
	"time"
)

// waitForText waits until the text of all files has been extracted and indexed.
func (srv *testServer) waitForText(t testing.TB) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); ; {
		if page, _ := srv.getPage(t, "/v1/file-vault/files?is_processing=true"); len(page.Data) == 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatal("files are still in processing after 20 seconds")
		}
	}
	srv.waitForIndex(t)
}

// Files can be found by words, phrases, and numbers in their text. Misspelled words match
// similar words if there are no other hits.
func TestSearchText(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	srv.vault.Start(1 << 40)
	id := srv.createID(t, abstractCall(201, "", fieldPart("county", "Essex"), fieldPart("custom_fields", `{"file_number":"A-2026-17"}`),
		filePart("files", "deed.txt",
			"Know all men by these presents that <script>alert(9)</script> Ebenezer Nightingale of Salem, recorded in Bk 1022 Pg 311")))
	srv.do(t, uploadCall("full", 201, filePart("files", "note.txt", "the presents by men are all known to Nightingales")))
	srv.waitForText(t)
	for query, want := range map[string][]string{
		"nightingale":                        {"file deed.txt", "file note.txt"},
		"NIGHTINGALE,+ebenezer":              {"file deed.txt"},
		"%22by+these+presents%22":            {"file deed.txt"},
		"Bk1022-Pg311":                       {"file deed.txt"},
		"nihgtingale+":                       {"file deed.txt"},
		"nightingale&kind=order":             {},
		"nightingale&county=essex":           {"file deed.txt"},
		"nightingale&county=essex&kind=file": {"file deed.txt"},
		"a202617":                            {"abstract A-2026-17"},
		"a-2026&template_id=1":               {"abstract A-2026-17"},
		"nightingale&status=new":             {},
		"ebenezer&created_from=2026-05-30":   {},
		"ebenezer&created_to=2026-05-29":     {"file deed.txt"},
		"%3Cscript%3Ealert(9)":               {"file deed.txt"},
		"ebenezer+essex&kind=abstract":       {},
	} {
		t.Run(query, func(t *testing.T) {
			_, got := srv.search(t, "q="+query)
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("search %s = %q, want %q", query, got, want)
			}
		})
	}
	r := getList("/v1/search?q=%22script+alert%22+nightingale+")
	r.has = []string{`"kind":"file","id":1,"heading":"deed.txt","snippet":"`,
		`&lt;<mark>script&gt;alert</mark>(9)&lt;/script&gt; Ebenezer <mark>Nightingale</mark> of`,
		`"page":1,"abstract":{"id":"ID","heading":"A-2026-17"},"match":"words",`}
	srv.do(t, r)
	r = getList("/v1/search?q=note.txt")
	r.has = []string{`"heading":"note.txt","snippet":"<mark>note.txt</mark>","page":null,"abstract":null,"match":"words"`}
	srv.do(t, r)
	r = getList("/v1/file-vault/files?q=nightingale&per_page=1")
	r.has = []string{`{"data":[{"id":`, `"cursor=`[1:]}
	srv.do(t, r)
	hit, _ := srv.search(t, "q=ebenezer")
	if got := hit.Data[0].Abstract; got == nil || got.ID != id {
		t.Errorf("abstract of the hit = %+v, want %s", got, id)
	}
	got, _ := srv.getPage(t, "/v1/file-vault/files?q=ebenezer")
	if len(got.Data) != 1 || got.Data[0].Filename != "deed.txt" {
		t.Errorf("page = %+v, want deed.txt", got)
	}
	// After an abstract is deleted, its files are not found, even if the search index has
	// not been updated yet.
	srv.do(t, call{as: "full", method: "DELETE", path: "/v1/abstracts/" + id, status: 204})
	srv.checkSearch(t, "q=ebenezer")
	srv.checkNames(t, "/v1/file-vault/files?q=ebenezer")
}

// Filters use the current state of a record, even if the search index has not been updated
// yet.
func TestSearchBeforeIndexUpdate(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	id := srv.createID(t, orderCall(`{"order_number":"L-100","county":"Essex"}`, 201, ""))
	srv.waitForIndex(t)
	srv.do(t, call{as: "full", method: "PATCH", path: "/v1/orders/" + id, header: []string{asJSON},
		body: `{"county":"Suffolk","status":"completed"}`, status: 200})
	srv.checkSearch(t, "q=L-100&county=essex")
	srv.checkSearch(t, "q=L-100&status=active")
	srv.checkNames(t, "/v1/orders?q=L-100&county=essex")
	srv.checkSearch(t, "q=L-100", "order L-100")
	srv.waitForIndex(t)
	srv.checkSearch(t, "q=L-100&county=suffolk&status=completed", "order L-100")
}

// A search gets a 503 if there is no search index or if the search takes too long.
func TestSearchUnavailable(t *testing.T) {
	t.Parallel()
	checkUnavailable := func(srv *testServer, message string) {
		t.Helper()
		for _, path := range []string{"/v1/search?q=elm", "/v1/orders?q=elm", "/v1/abstracts?q=elm", "/v1/file-vault/files?q=elm"} {
			r := getList(path)
			r.status, r.want, r.headers = 503, messageBody(message), map[string]string{"Retry-After": "10"}
			srv.do(t, r)
			r.method, r.want = "HEAD", ""
			srv.do(t, r)
		}
		srv.do(t, getList("/v1/orders"))
	}
	srv := newTestServer(t)
	checkUnavailable(srv, noIndex)
	slowServer := newTestServer(t, func(cfg *testConfig) { cfg.vault.Settings.Search.Deadline = 1 })
	slowServer.do(t, orderCall(`{"order_number":"elm"}`, 201, ""))
	slowServer.waitForIndex(t)
	checkUnavailable(slowServer, tooLong)
}

package ui_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/vaulttest"
)

// waitForIndex waits until all records have been indexed.
func (ts *testServer) waitForIndex(t *testing.T) {
	t.Helper()
	ts.waitFor(t, "complete search index", func() bool {
		// The returned state may not include changes made during the call.
		state, err := ts.vault.Search.Await(t.Context(), func(uint64, uint64) {})
		if err != nil || !state.Ready {
			t.Fatalf("Search.Await = %+v, %v, want a ready index", state, err)
		}
		return state.PendingChanges == 0
	})
}

// waitForProcessing waits until the text and images of all documents are available.
func (ts *testServer) waitForProcessing(t *testing.T) {
	t.Helper()
	ts.waitFor(t, "end of processing", func() bool {
		s, err := ts.vault.Status(t.Context())
		return err == nil && s.Queue == 0
	})
}

func TestFindPage(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	one := h.createOrder(t, "26-<1>", 5, elmStreet())
	other := h.createOrder(t, "26-2", 5, elmStreet())
	h.createOrder(t, "77", 5, model.Inputs{"address": model.StringInput("8 Mill Lane")})
	viewer := h.openBrowser(t, model.RoleViewer)
	for _, path := range []string{"/find?q=26-", "/find/box?q=26-"} { // the search index doesn't exist yet
		viewer.get(t, 200, path, "HX-Request", "true").has(t, "Results include only numbers, Parcel IDs, and addresses that start with your text.", h.orderPath(one),
			h.orderPath(other))
	}
	// While there is no search index, the page polls and doesn't say that there are no results.
	again := `hx-get="/find?kind=order&amp;q=johnson" hx-trigger="every 5s"`
	got := viewer.get(t, 200, "/find?q=johnson&kind=order")
	got.has(t, "<h2>Names and words aren&#39;t searchable yet</h2>", again)
	got.lacks(t, "Nothing has that number")
	viewer.get(t, 200, "/find?q=99-").has(t, "<h2>No matching number or address</h2>")
	h.waitForIndex(t)
	viewer.get(t, 200, "/find?q=johnson&kind=order", "HX-Request", "true").lacks(t, "every 5s", "yet")
	viewer.get(t, 200, "/find").has(t, "Search abstracts, orders, documents, and instruments")
	viewer.get(t, 200, "/find?q=nowhere").has(t, "No results", `value="nowhere"`)
	viewer.get(t, 200, "/find?q=%22%3E%3Cscript%3E").lacks(t, "<script>")
	viewer.get(t, 200, "/find?q=-").has(t, "at least two letters or digits")
	for _, q := range []string{"26-2", "%2026-2%20"} {
		viewer.get(t, 303, "/find?q="+q).checkHeaders(t, map[string]string{"Location": h.orderPath(other)})
		viewer.get(t, 200, "/find?all=1&q="+q).has(t, h.orderPath(other))
		viewer.get(t, 200, "/find?kind=order&q="+q).has(t, h.orderPath(other))
	}
	page := viewer.get(t, 200, "/find?q=26-")
	page.has(t, h.orderPath(one), "<bdi><mark>26</mark>-&lt;1&gt;</bdi>", h.orderPath(other),
		`aria-current="page">All <span class="found-tally">2</span>`, `href="/find?kind=order&amp;q=26-">Orders`)
	viewer.get(t, 200, "/find?q=8+mill+lane").has(t, "<mark>8 Mill Lane</mark>") // a match by address doesn't redirect
	viewer.get(t, 200, "/find?q=26-&kind=abstract").has(t, "Try removing a filter.", `href="/find?all=1&amp;q=26-"`)
	viewer.get(t, 200, "/find?q=26-&from=x").has(t, "Created from:")
	viewer.get(t, 200, "/find?q=26-", "HX-Request", "true").has(t, "<title>Search: “26-” · deedkeep</title>")
	viewer.get(t, 200, "/find?q=%22elm+street%22").has(t, "<h1>Search: “elm street”</h1>")
	viewer.get(t, 200, "/find?q=26-&kind=x&template=y&page=0").has(t, `href="/find?q=26-" aria-current="page"`)
}

// A page after the last one says so and links to the first page, even with filters. If the search
// has no results, the page doesn't show this message.
func TestFindPastTheEnd(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	h.createOrder(t, "26-1", 5, elmStreet())
	h.createOrder(t, "26-2", 5, elmStreet())
	viewer := h.openBrowser(t, model.RoleViewer)
	const ends, all = "No more results", "Try removing a filter."
	check := func() {
		t.Helper()
		for query, first := range map[string]string{"q=26-&page=9999": "/find?q=26-", "kind=order&page=2&q=26-": "/find?kind=order&amp;q=26-"} {
			t.Run(query, func(t *testing.T) {
				got := viewer.get(t, 200, "/find?"+query)
				got.has(t, "<h2>"+ends+"</h2>", `<a class="button" href="`+first+`">Go to the first page</a>`)
				got.lacks(t, all, "No results", "Previous", "No matching number")
				viewer.get(t, 200, "/find?"+query, "HX-Request", "true").has(t, `innerHTML">`+ends+"</p>")
			})
		}
	}
	check() // the search index doesn't exist yet
	h.waitForIndex(t)
	check()
	got := viewer.get(t, 200, "/find?q=nowhere&page=2")
	got.has(t, "<h2>No results</h2>")
	got.lacks(t, ends, all)
	viewer.get(t, 200, "/find?q=26-&kind=abstract&page=2").has(t, all)
	viewer.get(t, 200, "/find?page=2").has(t, "Search abstracts, orders, documents, and instruments")
}

// An instrument is shown with its type, recording reference, and parties, and with its abstract. It
// links to its place on the page of the abstract.
func TestFindInstrument(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	viewer := h.openBrowser(t, model.RoleViewer)
	path, created := h.createAbstract(t, vaulttest.Operator, map[string]string{"file_number": "26-17"}, model.Property{County: "Albany"})
	vaulttest.CreateInstrument(t, h.vault, created.Abstract.ID, `{"type":"Warranty Deed","book_type":"Deed Book","book":"2417","page":"0883","recorded":"2019-04-17",
		"grantors":["Elm <b>Holdings"],"grantees":["Quill, Ada"]}`)
	h.waitForIndex(t)
	for _, address := range []string{"/find?q=2417/0883", "/find/box?q=2417/0883"} {
		viewer.get(t, 200, address, "HX-Request", "true").has(t, `href="`+path+`#instrument-1"`,
			"Warranty Deed · Deed Book <mark>2417, Page 0883</mark> · Elm &lt;b&gt;Holdings to Quill, Ada", "<bdi>26-17</bdi>")
	}
	page := viewer.get(t, 200, "/find?q=holdings")
	page.has(t, `href="/find?kind=instrument&amp;q=holdings">Instruments <span class="found-tally">1</span>`,
		`<span class="visually-hidden">Instrument</span>`, `id="found-instrument-1"`, "Instrument, recorded Apr 17, 2019")
	viewer.get(t, 200, "/find?q=holdings&kind=instrument").has(t, `aria-current="page">Instruments`, path+"#instrument-1")
	viewer.get(t, 200, "/find?q=holdings&kind=file").lacks(t, "#instrument-1")
	viewer.get(t, 200, "/find/box?q=holdings", "HX-Request", "true").has(t, "All results: 1 instrument",
		`<span class="palette-kind">Instrument</span>`)
}

// If a symbol matches, the snippet highlights it unless the lines above it already do.
func TestFindBySymbol(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	clerk := h.openBrowser(t, model.RoleStaff)
	h.createAbstract(t, clerk.actor, map[string]string{"file_number": "26-1", "names_run": "Birch & Söhne"}, model.Property{County: "Albany"})
	h.waitForIndex(t)
	for _, path := range []string{"/find?q=and", "/find/box?q=and"} {
		clerk.get(t, 200, path, "HX-Request", "true").has(t, "Names Run: ", "<mark>&amp;</mark>")
	}
}

// While the search index is missing changes, result counts are approximate.
func TestFindApproximateCounts(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	viewer := h.openBrowser(t, model.RoleViewer)
	h.createOrder(t, "26-1", 5, elmStreet())
	h.waitForIndex(t)
	search := func() (page, box reply) {
		return viewer.get(t, 200, "/find?q=elm"), viewer.get(t, 200, "/find/box?q=elm", "HX-Request", "true")
	}
	page, box := search()
	page.has(t, `All <span class="found-tally">1</span>`)
	box.has(t, "All results: 1 order")
	h.createOrder(t, "26-2", 5, elmStreet())
	page, box = search()
	page.has(t, `All <span class="found-tally">about 1</span>`)
	box.has(t, "All results: about 1 order")
	h.waitForIndex(t)
	page, _ = search()
	page.has(t, `All <span class="found-tally">2</span>`)
}

// While the search index is being built for the first time, the search page shows the progress.
func TestFindWhileIndexIsBuilt(t *testing.T) {
	t.Parallel()
	h := newEmptyTestServer(t, func(o *instance.Options) { o.Settings.Search.BatchSize = 1 }) // index one record at a time
	h.createUser(t, "Owner", model.RoleAdmin)
	viewer := h.openBrowser(t, model.RoleViewer)
	for _, number := range []string{"26-1", "26-2", "26-3", "26-4"} {
		h.createOrder(t, number, 5, elmStreet())
	}
	reports := 0
	_, err := h.vault.Search.Await(t.Context(), func(done, total uint64) {
		if done == 0 || done == total {
			return
		}
		reports++
		want := fmt.Sprintf("The search index is being built: %d%% (%d of 4 records).", done*25, done)
		viewer.get(t, 200, "/find?q=26-").has(t, want, "Results include only numbers", "<mark>26</mark>-1", `aria-current="page">All</a>`)
		viewer.get(t, 200, "/find/box?q=elm", "HX-Request", "true").has(t, want, "Names and words aren&#39;t searchable yet.")
		viewer.get(t, 200, "/orders?q=elm").has(t, "/find?all=1")
	})
	if err != nil || reports == 0 {
		t.Errorf("Search.Await reported progress %d times, %v, want at least once", reports, err)
	}
}

// If results don't match the letter being typed, the page says so.
func TestFindPartialWord(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	h.createOrder(t, "77", 5, model.Inputs{"address": model.StringInput("8 Mill Lane")})
	h.waitForIndex(t)
	viewer := h.openBrowser(t, model.RoleViewer)
	ask := func(path string) reply { return viewer.get(t, 200, path, "HX-Request", "true") }
	for _, path := range []string{"/find?q=mill+", "/find/box?q=mill+"} {
		ask(path+"x").has(t, "Mill", "Includes results without “x”.")
		for rest, want := range map[string]string{"la": "Mill", "xy": "No results"} {
			t.Run(rest, func(t *testing.T) {
				got := ask(path + rest)
				got.has(t, want)
				got.lacks(t, "Includes results")
			})
		}
	}
}

// If there is no search text or there are no results, the page links to the help page and explains
// searches with several words.
func TestFindExplains(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	h.createOrder(t, "26-2", 5, elmStreet())
	h.waitForIndex(t)
	viewer := h.openBrowser(t, model.RoleViewer)
	const help, hint = `href="/help/search"`, "Abstracts and their documents are searched separately."
	viewer.get(t, 200, "/find").has(t, help)
	for _, path := range []string{"/find?q=", "/find/box?q="} {
		viewer.get(t, 200, path+"deed+26-2", "HX-Request", "true").has(t, help, hint)
		one := viewer.get(t, 200, path+"nowhere", "HX-Request", "true")
		one.has(t, help)
		one.lacks(t, hint)
		viewer.get(t, 200, path+"elm", "HX-Request", "true").lacks(t, help)
	}
	viewer.get(t, 303, "/find/how")
}

// Adjacent names in a list are separated.
func TestFindSeparatesNames(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	clerk := h.openBrowser(t, model.RoleStaff)
	h.createAbstract(t, clerk.actor, map[string]string{"file_number": "26-1", "names_run": "Hebert, Theodore\nO'Neal, Sean"},
		model.Property{County: "Albany"})
	h.waitForIndex(t)
	for _, path := range []string{"/find?q=hebert", "/find/box?q=hebert"} {
		clerk.get(t, 200, path, "HX-Request", "true").has(t, "Names Run: <mark>Hebert</mark>, Theodore / O&#39;Neal, Sean")
	}
}

// If there are filters but no search text, the page links to the lists that support the filters.
func TestFindByFiltersOnly(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	viewer := h.openBrowser(t, model.RoleViewer)
	const abstracts, orders = `href="/abstracts?`, `href="/orders?`
	for query, want := range map[string][]string{
		"county=St.+Tammany&state=LA": {`href="/abstracts?county=St.&#43;Tammany&amp;state=LA">All abstracts in St. Tammany, LA<`,
			`href="/orders?county=St.&#43;Tammany&amp;state=LA">All orders in St. Tammany, LA<`},
		"county=Dane&kind=order":              {"", `href="/orders?county=Dane">All orders in Dane<`},
		"county=Dane&kind=file":               {`href="/abstracts?county=Dane">All abstracts in Dane<`, ""},
		"template=7":                          {`href="/abstracts?template=7">All abstracts<`, ""},
		"created_from=2026-01-02&to=1/3/2026": {`href="/abstracts?from=2026-01-02&amp;to=2026-01-03">All abstracts<`, ""},
		"kind=order&from=2026-01-02":          {"", ""},
		"":                                    {"", ""},
	} {
		t.Run(query, func(t *testing.T) {
			page := viewer.get(t, 200, "/find?"+query)
			for at, list := range []string{abstracts, orders} {
				if want := want[at:][0]; want == "" {
					page.lacks(t, list)
				} else {
					page.has(t, want)
				}
			}
		})
	}
	for _, query := range []string{"q=elm&created_from=2026-13-45", "created_from=2026-13-45", "q=elm&created_to=x"} {
		viewer.get(t, 200, "/find?"+query).has(t, `class="problem"`, "Created ")
	}
}

// If a search is rejected, the page shows its own wording of the error, not the API's.
func TestFindRejects(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	h.createOrder(t, "26-2", 5, elmStreet())
	h.waitForIndex(t)
	viewer := h.openBrowser(t, model.RoleViewer)
	for _, row := range []struct{ name, q, want string }{
		{"too long", strings.Repeat("x", 501), "The search is too long. Use at most 500 characters."},
		{"too many words", strings.Repeat("a1 ", 150), "The search is too complex. Use fewer words."},
		{"invalid characters", "elm\x00", "The search contains characters that can&#39;t be searched."},
		{"too short", "-", "Type at least two letters or digits."},
	} {
		t.Run(row.name, func(t *testing.T) {
			for _, path := range []string{"/find?q=", "/find/box?q="} {
				got := viewer.get(t, 200, path+url.QueryEscape(row.q), "HX-Request", "true")
				got.has(t, row.want)
				got.lacks(t, "The q", "field")
			}
			got := viewer.get(t, 200, "/find?q="+url.QueryEscape(row.q))
			got.has(t, row.want)
			got.lacks(t, "The q", "field has", "field must")
			if row.name != "too short" {
				got.has(t, "<h1>Search</h1>")
			}
		})
	}
	viewer.get(t, 200, "/find?q="+strings.Repeat("y", 300)).has(t, "<h1>Search: “"+strings.Repeat("y", 77)+"…”</h1>")
}

// The page's address contains only the filters that are set.
func TestFindAddress(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	viewer := h.openBrowser(t, model.RoleViewer)
	viewer.get(t, 303, "/find?go=1&q=elm+tree&kind=file&template=&county=Dane&state=&from=&to=").
		checkHeaders(t, map[string]string{"Location": "/find?county=Dane&kind=file&q=elm+tree"})
	for _, row := range []struct{ name, before, after, header string }{
		{"more typed", "/find?q=el&county=Dane", "/find?q=elm&county=Dane&go=1", "HX-Replace-Url"},
		{"filter added", "/find?q=elm", "/find?q=elm&county=Dane&go=1", "HX-Push-Url"},
		{"first text typed", "/find", "/find?q=elm&go=1", "HX-Push-Url"},
	} {
		t.Run(row.name, func(t *testing.T) {
			got := viewer.get(t, 200, row.after, "HX-Request", "true", "HX-Current-URL", "http://vault.test"+row.before)
			want, _, _ := strings.Cut(row.after, "&go")
			if len(got.Header.Values("HX-Push-Url"))+len(got.Header.Values("HX-Replace-Url")) != 1 || len(got.Header.Get(row.header)) != len(want) {
				t.Errorf("headers = %v, want only %s with the filters that are set", got.Header, row.header)
			}
			got.has(t, `id="found"`, `id="found-said"`)
			got.lacks(t, "<html")
		})
	}
	// When the user goes back, the address in the history must not redirect to the record.
	h.createOrder(t, "26-2", 5, elmStreet())
	viewer.get(t, 200, "/find?q=26-2&go=1", "HX-Request", "true").checkHeaders(t, map[string]string{"HX-Push-Url": "/find?all=1&q=26-2"})
	viewer.get(t, 200, "/find?q=26-2&kind=order").has(t, `href="/find?all=1&amp;q=26-2">All`)
}

func TestSearchBox(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	one := h.createOrder(t, "26-<1>", 5, elmStreet())
	h.waitForIndex(t)
	viewer := h.openBrowser(t, model.RoleViewer)
	ask := func(q string) reply {
		return viewer.get(t, 200, "/find/box?q="+url.QueryEscape(q), "HX-Request", "true")
	}
	got := ask("26-")
	got.has(t, `role="listbox"`, `id="palette-1" href="`+h.orderPath(one)+`"`, "<bdi><mark>26</mark>-&lt;1&gt;</bdi>",
		`href="/find?all=1&amp;q=26-"`, "1 result")
	got.lacks(t, "<html")
	ask("nowhere").has(t, "No results for “nowhere”")
	ask("nowhere ").has(t, "No results for “nowhere”")
	ask(" - ").has(t, "at least two letters or digits")
	ask("<b>").lacks(t, "<b>")
	ask(strings.Repeat("ü", 600)).has(t, `class="problem"`)
	viewer.get(t, 303, "/find/box?q=a+b").checkHeaders(t, map[string]string{"Location": "/find?q=a+b"})
}

// A document opened from a search result highlights each word. For a phrase typed in the viewer,
// separate words are highlighted only if the phrase doesn't occur.
func TestWordsInDocument(t *testing.T) {
	t.Parallel()
	h, _, files := newServerWithDocuments(t)
	deed := files[1]
	g := h.openBrowser(t, model.RoleViewer)
	for _, row := range []struct {
		query string
		words bool
		hits  int
	}{
		{"q=warranty+deed", false, 3},
		{"q=deed+general&words=1", true, 6},
		{"q=deed+general", true, 6},
		{"q=lien+general", false, 0},
		{"q=lien+general&words=1", true, 3},
		{"q=lien", false, 0},
		{"q=page+2+deed&words=1", true, 2}, // only that page contains all of them
		{"q=page+2+deed&words=1&page=2", true, 2},
		{"q=page+2+deed&words=1&page=3", true, 6}, // without a page in the address, matches on all pages count
	} {
		t.Run(row.query, func(t *testing.T) {
			var found struct {
				Hits  []struct{ Page int }
				Words bool
			}
			response := g.get(t, 200, documentPath(deed, "/find?"+row.query))
			if err := json.Unmarshal(response.body, &found); err != nil || len(found.Hits) != row.hits || found.Words != row.words {
				t.Errorf("find = %s, %v, want %d hits and words %t", response.body, err, row.hits, row.words)
			}
		})
	}
	g.get(t, 200, documentPath(deed, "?page=2&words=1&find=deed+general")).has(t, `data-find="deed general" data-words`)
	text := g.get(t, 200, documentPath(deed, "/text?words=1&find=page+2+deed"))
	text.has(t, "Page 1: GENERAL", `<mark id="hit-1">Page 2</mark>: GENERAL`, "2 matches")
	g.get(t, 200, documentPath(files[0], "?find=smith+judgments")).has(t, `<mark id="hit-2">Smith</mark>`)
	g.get(t, 200, documentPath(files[0], "?find=smith+lien")).lacks(t, "<mark")
	g.get(t, 200, documentPath(files[0], "?words=1&find=smith+judgments")).has(t, `<mark id="hit-1">Judgments</mark>`,
		`<mark id="hit-2">Smith</mark>`)
}

// A document opens at its first match and highlights the text as spelled in the document.
func TestFindOpensMatchingPage(t *testing.T) {
	t.Parallel()
	h, _, files := newServerWithDocuments(t)
	deed := files[1]
	g := h.openBrowser(t, model.RoleViewer)
	h.vault.Start(1 << 40)
	h.waitForProcessing(t)
	h.waitForIndex(t)
	for _, row := range []struct{ q, mark, find, from string }{
		{"general warranty", "GENERAL WARRANTY", "find=general&#43;warranty", "%2Ffind%3Fkind%3Dfile%26q%3Dgeneral%2Bwarranty"},
		{"waranty", "WARRANTY", "find=WARRANTY", "%2Ffind%3Fkind%3Dfile%26q%3Dwaranty"},
	} {
		t.Run(row.q, func(t *testing.T) {
			list := "/find?kind=file&q=" + url.QueryEscape(row.q)
			shown := []string{"<b>Page 1</b>", "<mark>" + row.mark + "</mark>"}
			g.get(t, 200, list).has(t, append(shown, documentPath(deed, "?"+row.find)+"&amp;from="+row.from+"&amp;page=1&amp;words=1")...)
			g.get(t, 200, "/find/box?q="+url.QueryEscape(row.q), "HX-Request", "true").has(t,
				append(shown, documentPath(deed, "?"+row.find)+"&amp;page=1&amp;words=1")...)
		})
	}
	g.get(t, 200, "/find?q=waranty").has(t, "similar spelling")
	g.get(t, 200, "/find?q=warranty").lacks(t, "similar spelling")
	// The viewer links back to the search results but never to another site.
	back := "/find?kind=file&q=general+warranty"
	g.get(t, 200, documentPath(deed, "?from="+url.QueryEscape(back))).has(t,
		`data-back="`+strings.ReplaceAll(strings.ReplaceAll(back, "&", "&amp;"), "+", "&#43;")+"#read-", "Back to search results")
	for _, from := range []string{"https://elsewhere.example/find?q=a", "//elsewhere.example/find", "/me", "javascript:alert(1)", "%"} {
		g.get(t, 200, documentPath(deed, "?from="+url.QueryEscape(from))).lacks(t, "elsewhere", `data-back="/me`, "alert",
			"Back to search results")
	}
	// If only the document's name matches, the document opens at its first page.
	g.get(t, 200, "/find/box?q="+url.QueryEscape(deed.Filename), "HX-Request", "true").has(t, `href="`+documentPath(deed, "")+`"`)
}

// After a backup is restored, the search page says how many documents match by name only until
// their text has been regenerated.
func TestFindAfterRestore(t *testing.T) {
	t.Parallel()
	before, _, files := newServerWithDocuments(t)
	before.vault.Start(1 << 40)
	before.waitForProcessing(t)
	h := newEmptyTestServer(t, func(o *instance.Options) {
		if err := vaulttest.CopyRecords(o.Dir, before.dir); err != nil {
			t.Fatalf("vaulttest.CopyRecords: %v", err)
		}
	})
	h.waitForIndex(t)
	g := h.openBrowser(t, model.RoleViewer)
	want := fmt.Sprintf("%d documents can be found only by name for now.", len(files))
	for _, q := range []string{"warranty", "deed"} {
		g.get(t, 200, "/find?q="+q).has(t, want)
		g.get(t, 200, "/find/box?q="+q, "HX-Request", "true").has(t, want)
	}
}

// Administrators see the state of the search index and can rebuild it.
func TestSearchIndexCard(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	h.createOrder(t, "26-1", 5, elmStreet())
	admin := h.openBrowser(t, model.RoleAdmin)
	admin.get(t, 200, "/admin/settings").has(t, "The search index is missing", "Rebuild search index")
	h.waitForIndex(t)
	admin.get(t, 200, "/admin/settings").has(t, "1 record in the search index", "It is up to date")
	admin.get(t, 303, "/admin/search").checkHeaders(t, map[string]string{"Location": "/admin/settings#search-index"})
	h.createOrder(t, "26-2", 5, elmStreet())
	admin.get(t, 200, "/admin/search", "HX-Request", "true").has(t, "1 change is not searchable yet")
	h.vault.Start(1 << 40)
	admin.post(t, 200, "/admin/search", nil, "HX-Request", "true").has(t, `id="search-index"`)
	h.waitForIndex(t)
	admin.post(t, 303, "/admin/search", nil)
	h.waitForIndex(t)
	admin.get(t, 200, "/admin/search", "HX-Request", "true").has(t, "2 records in the search index")
	admin.get(t, 200, "/admin/activity").has(t, "rebuilt the search index")
}

// The search box starts with the records that the user opened last, newest first, without the one on the screen.
func TestRecentRecords(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	viewer, other := h.openBrowser(t, model.RoleViewer), h.openBrowser(t, model.RoleStaff)
	recent := func(b *browser, on string) (names []string) {
		t.Helper()
		text := string(b.get(t, 200, "/find/recent", "HX-Request", "true", "HX-Current-URL", h.server.URL+on).body)
		for _, part := range strings.Split(text, "<bdi>")[1:] {
			name, _, _ := strings.Cut(part, "<")
			names = append(names, name)
		}
		return names
	}
	if got := recent(viewer, "/"); len(got) != 0 {
		t.Errorf("recent records of a new user = %q, want none", got)
	}
	var paths []string
	for n := range 12 {
		h.createOrder(t, fmt.Sprintf("R%02d", n), 3, nil)
	}
	for n := range 12 {
		rows := string(viewer.get(t, 200, fmt.Sprintf("/orders?q=R%02d", n)).body)
		_, at, _ := strings.Cut(rows, `<a class="name" href="`)
		path, _, _ := strings.Cut(at, `"`)
		paths = append(paths, path)
		viewer.get(t, 200, path)
	}
	viewer.get(t, 200, paths[3])
	viewer.get(t, 404, "/orders/999")
	want := []string{"R03", "R11", "R10", "R09", "R08", "R07", "R06", "R05", "R04", "R02"}
	if got := recent(viewer, "/"); !slices.Equal(got, want) {
		t.Errorf("recent records = %q, want %q", got, want)
	}
	if got := recent(viewer, paths[3]); !slices.Equal(got, want[1:]) {
		t.Errorf("recent records on the page of the first = %q, want %q", got, want[1:])
	}
	if got := recent(other, "/"); len(got) != 0 {
		t.Errorf("recent records of another user = %q, want none", got)
	}
	other.post(t, 303, paths[3]+"/trash", url.Values{})
	if got := recent(viewer, "/"); !slices.Equal(got, want[1:]) {
		t.Errorf("recent records after the first was moved to the trash = %q, want %q", got, want[1:])
	}
	viewer.get(t, 200, paths[0], "Deedkeep-Background", "refresh")
	if got := recent(viewer, "/"); !slices.Equal(got, want[1:]) {
		t.Errorf("recent records after a refresh of an open page = %q, want %q", got, want[1:])
	}
	viewer.get(t, 303, "/find/recent").checkHeaders(t, map[string]string{"Location": "/find"})
}

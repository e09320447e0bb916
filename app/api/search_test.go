package api_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
)

// searchResponse is the JSON of a /search response.
type searchResponse struct {
	Data []struct {
		Kind, Heading string
		ID            json.RawMessage
		Snippet       *string
		Page          *int
		Abstract      *struct{ ID, Heading string }
		Match         string
		Score         float64
	}
	Links struct{ Next, Prev *string }
	Meta  struct {
		NextCursor *string `json:"next_cursor"`
		Index      struct {
			Complete      bool
			Behind, Texts uint64
		}
	}
}

// search sends a search request. It returns the response and the names of the hits, such as
// "order T-1".
func (srv *testServer) search(t testing.TB, query string) (got searchResponse, names []string) {
	t.Helper()
	got = decodeBody[searchResponse](t, srv.do(t, getList("/v1/search?"+query)))
	names = []string{}
	for _, hit := range got.Data {
		names = append(names, hit.Kind+" "+hit.Heading)
	}
	return got, names
}

// checkSearch checks the names of the hits for a query.
func (srv *testServer) checkSearch(t testing.TB, query string, want ...string) {
	t.Helper()
	if _, got := srv.search(t, query); !slices.Equal(got, want) {
		t.Errorf("search %s = %q, want %q", query, got, want)
	}
}

// createSearchRecords creates records that differ in the fields used by filters. It returns
// the ID of the abstract.
func (srv *testServer) createSearchRecords(t *testing.T) (abstractID string) {
	t.Helper()
	srv.do(t, orderCall(
		`{"order_number":"T-77","county":"Essex","state":"MA","custom_fields":{"notes":"Quitclaim <script>alert(1)</script>"}}`, 201, ""))
	srv.clock.Advance(time.Second)
	srv.do(t, orderCall(`{"order_number":"T-77-B","county":"Suffolk","state":"MA"}`, 201, ""))
	srv.clock.Advance(24 * time.Hour)
	abstractID = srv.createID(t, abstractCall(201, "", fieldPart("template_id", "2"), fieldPart("county", "Essex"), fieldPart("state", "NH"),
		fieldPart("tax_map", "T-77"),
		filePart("files", "T-77 deed.txt", "Know all men by these presents\nthat <b>Quitclaim</b> & covenants")))
	srv.waitForIndex(t)
	return abstractID
}

func TestSearchShape(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	srv.createSearchRecords(t) // one file is still being processed
	const empty = `{"data":[],"links":{"next":null,"prev":null},"meta":{"per_page":25,"next_cursor":null,"prev_cursor":null,` +
		`"index":{"complete":false,"behind":0,"texts":1,"scans":0}}}`
	r := getList("/v1/search?q=matchesnothing&unknown=1&sort=&cursor=&kind=&county=%20")
	r.want = empty
	srv.do(t, r)
	r.method, r.want = "HEAD", ""
	srv.do(t, r)
	r = getList("/v1/search?q=T-77&kind=order&county=essex")
	r.has = []string{`{"data":[{"kind":"order","id":"ID","heading":"T-77","snippet":"`,
		`,"page":null,"abstract":null,"match":"exact","score":`,
		`}],"links":{"next":null,"prev":null},"meta":{"per_page":25,"next_cursor":null,"prev_cursor":null,"index":{"complete":false,` +
			`"behind":0,"texts":1,"scans":0}}}`}
	srv.do(t, r)
	got, _ := srv.search(t, "q=T-77&kind=order&county=essex")
	var id string
	srv.must(json.Unmarshal(got.Data[0].ID, &id))
	srv.do(t, call{as: "read", method: "GET", path: "/v1/orders/" + id, status: 200, has: []string{`"order_number":"T-77"`}})
}

// Hits are marked as exact matches of names, matches of words, or matches of similar words.
func TestSearchMatch(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	srv.do(t, orderCall(`{"order_number":"12-3-045","address":"1 Sean Road","custom_fields":{"buyer_borrower":"Sean Quirk"}}`, 201, ""))
	srv.do(t, orderCall(
		`{"order_number":"12-3-0451","address":"2 Scan Road","custom_fields":{"buyer_borrower":"Scan Quirk 12 3 045"}}`, 201, ""))
	srv.do(t, uploadCall("full", 201, filePart("files", "Deed Bk 1022 Pg 311.txt", "a deed")))
	srv.waitForIndex(t)
	const first, second, deed = "12-3-045", "12-3-0451", "Deed Bk 1022 Pg 311.txt"
	for query, want := range map[string][]string{
		"12-3-045":                 {"exact " + first, "words " + second},
		"123045+":                  {"exact " + first, "words " + second},
		"12-3-45":                  {"words " + first, "words " + second},
		"sean":                     {"words " + first},
		"12-3-045+":                {"exact " + first, "words " + second},
		"qui":                      {"words " + second, "words " + first},
		"qui+":                     {},
		"12-3-04+":                 {},
		"sean+":                    {"words " + first, "similar " + second},
		"quirrk+sean+":             {"similar " + first, "similar " + second},
		"quirk":                    {"words " + second, "words " + first},
		"parcel+12-3-0451":         {"words " + second},
		"Liber+1022+f.+311":        {"exact " + deed},
		"1022%2F311":               {"exact " + deed},
		"deed+311":                 {"words " + deed},
		"book+1022+page+311+quirk": {},
		"book+0451+quirk+":         {"similar " + second},
	} {
		t.Run(query, func(t *testing.T) {
			got := []string{}
			for _, hit := range decodeBody[searchResponse](t, srv.do(t, getList("/v1/search?q="+query))).Data {
				got = append(got, hit.Match+" "+hit.Heading)
			}
			if !slices.Equal(got, want) {
				t.Errorf("hits = %q, want %q", got, want)
			}
		})
	}
}

// The API description documents the query language and the errors of searches.
func TestSearchIsDescribed(t *testing.T) {
	t.Parallel()
	doc := loadDescription(t)
	text := doc.Components.Parameters["Text"].Value.Description
	for _, term := range []string{"All words", "prefix", "quotation marks", "Case, accents, and punctuation", "Book and page",
		"typo", "1,000"} {
		if !strings.Contains(text, term) {
			t.Errorf("description of q lacks %q:\n%s", term, text)
		}
	}
	examples := doc.Components.Responses["SearchUnavailable"].Value.Content["application/json"].Examples
	for _, message := range []string{noIndex, tooLong} {
		if !slices.ContainsFunc(slices.Collect(maps.Values(examples)), func(e *openapi3.ExampleRef) bool {
			return reflect.DeepEqual(e.Value.Value, map[string]any{"message": message})
		}) {
			t.Errorf("examples of SearchUnavailable lack %q", message)
		}
	}
	for path, item := range doc.Paths.Map() {
		if get := item.Get; get != nil && get.Parameters.GetByInAndName("query", "q") != nil {
			if got := get.Responses.Value("503").Ref; got != "#/components/responses/SearchUnavailable" {
				t.Errorf("503 of %s = %q, want SearchUnavailable", path, got)
			}
		}
	}
}

// Error messages of searches that fail temporarily.
const (
	noIndex = "The search index is being rebuilt. Try again soon."
	tooLong = "The search took too long. Use more specific words, or add filters."
)

func TestSearchRejected(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	srv.waitForIndex(t)
	missing, short := invalidField("q", "The q field is required."), invalidField("q", "The q field must have at least two letters or digits.")
	for _, c := range []struct{ query, want string }{
		{"search", missing}, {"search?q=", missing}, {"search?q=%20%09", missing}, {"search?q=elm&q=", missing},
		{"search?q=a%00b", invalidField("q", "The q field contains invalid characters.")},
		{"search?q=%ff%fe", invalidField("q", "The q field contains invalid characters.")},
		{"search?q=" + strings.Repeat("%C3%BC", 501), invalidField("q", "The q field must not be greater than 500 characters.")},
		{"search?q=x", short}, {"orders?q=x", short}, {"search?q=%22-%22+.", short},
		{"search?q=" + strings.Repeat("a+", 40), invalidField("q", "The q field has too many words or alternatives. Use fewer words.")},
		{"search?q=elm&kind=folder", invalidField("kind", "The selected kind is invalid.")},
		{"search?q=elm&per_page=0", invalidField("per_page", "The per page field must be between 1 and 100.")},
		{"search?q=elm&per_page=101", invalidField("per_page", "The per page field must be between 1 and 100.")},
		{"search?q=elm&template_id=x", invalidField("template_id", "The template id field must be an integer.")},
		{"search?q=elm&template_id=0", invalidField("template_id", "The selected template id is invalid.")},
		{"search?q=elm&county=%00", invalidField("county", "The county field contains invalid characters.")},
		{"search?q=elm&state=" + strings.Repeat("x", 2001), invalidField("state", "The state field must not be greater than 2000 characters.")},
		{"search?q=elm&status=%00", invalidField("status", "The status field contains invalid characters.")},
		{"search?q=elm&created_from=1", invalidField("created_from", "The created from field must be a date or a date-time.")},
		{"search?q=elm&created_to=2026-02-30", invalidField("created_to", "The created to field must be a date or a date-time.")},
		{"search?q=elm&cursor=x", invalidField("cursor", "The selected cursor is invalid.")},
		{"search?kind=x",
			`{"message":"The q field is required. (and 1 more error)","errors":{"q":["The q field is required."],` +
				`"kind":["The selected kind is invalid."]}}`},
		{"orders?q=elm&sort=created_at", invalidField("sort", "The sort field cannot be combined with q.")},
		{"orders?q=elm&order_number=T", invalidField("order_number", "The order number field cannot be combined with q.")},
		{"abstracts?q=elm&sort=-created_at", invalidField("sort", "The sort field cannot be combined with q.")},
		{"search?q=elm&sort=-created_at", invalidField("sort", "The sort field cannot be combined with q.")},
		{"search?q=elm&folder_id=1", invalidField("folder_id", "The folder id field cannot be combined with q.")},
		{"search?q=elm&abstract_id=x", invalidField("abstract_id", "The abstract id field cannot be combined with q.")},
		{"search?q=elm&order_number=1", invalidField("order_number", "The order number field cannot be combined with q.")},
		{"search?q=elm&is_processing=true", invalidField("is_processing", "The is processing field cannot be combined with q.")},
		{"file-vault/files?q=elm&folder_id=1", invalidField("folder_id", "The folder id field cannot be combined with q.")},
		{"file-vault/files?q=elm&is_processing=true", invalidField("is_processing", "The is processing field cannot be combined with q.")},
		{"orders?q=a%00", invalidField("q", "The q field contains invalid characters.")},
	} {
		t.Run(c.query, func(t *testing.T) {
			r := getList("/v1/" + c.query)
			r.status, r.want = 422, c.want
			srv.do(t, r)
		})
	}
	r := getList("/v1/file-vault/files?q=elm&folder_id=x&abstract_id=7")
	r.status, r.has = 422, []string{`"folder_id":["The folder id field cannot be combined with q."`,
		`"abstract_id":["The abstract id field cannot be combined with q."`}
	srv.do(t, r)
	srv.do(t, call{as: "events", method: "GET", path: "/v1/search?q=elm", status: 403,
		want: messageBody("This API key is not authorized for the Developer API.")})
	srv.do(t, call{method: "GET", path: "/v1/search?q=elm", status: 401, want: messageBody("Unauthenticated.")})
	srv.do(t, call{as: "full", method: "POST", path: "/v1/search?q=elm", status: 405,
		headers: map[string]string{"Allow": "GET, HEAD, OPTIONS"}})
	srv.do(t, call{method: "OPTIONS", path: "/v1/search", status: 204, headers: map[string]string{"Allow": "GET, HEAD, OPTIONS"}})
}

func TestSearchFilters(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	srv.createSearchRecords(t)
	const one, two, three = "order T-77", "order T-77-B", "abstract T-77"
	for query, want := range map[string][]string{
		"kind=order":                                               {one, two},
		"kind=ORDER&county=essex":                                  {one},
		"kind=order&state=ma&county=SUFFOLK":                       {two},
		"kind=order&status=active":                                 {one, two},
		"kind=order&status=completed":                              {},
		"kind=order&created_to=2026-05-29":                         {one, two},
		"kind=order&created_to=2026-05-29T04:00:00Z":               {one},
		"kind=order&created_from=2026-05-29T04:00:00.5Z":           {two},
		"kind=order&created_from=2026-05-30":                       {},
		"kind=order&template_id=2":                                 {},
		"kind=order&created_from=2026-06-01&created_to=2026-05-01": {},
	} {
		t.Run(query, func(t *testing.T) {
			srv.checkSearch(t, "q=T-77&"+query, want...)
		})
	}
	for query, want := range map[string][]string{"": {three}, "&template_id=2&state=nh&county=Essex": {three}, "&template_id=1": {},
		"&created_from=2026-05-30": {three}} {
		t.Run(query, func(t *testing.T) {
			_, got := srv.search(t, "q=T-77&kind=abstract"+query)
			if len(got) != len(want) {
				t.Errorf("hits = %q, want %q", got, want)
			}
		})
	}
}

// A list with q returns complete records in the same form as a list without q.
func TestSearchLists(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	id := srv.createSearchRecords(t)
	srv.checkNames(t, "/v1/orders?q=T-77", "T-77", "T-77-B")
	srv.checkNames(t, "/v1/orders?q=T-77&county=suffolk&state=MA&status=active&created_from=2026-05-29", "T-77-B")
	srv.checkNames(t, "/v1/orders?q=T-77&created_to=2026-05-28")
	srv.checkNames(t, "/v1/orders?q=matchesnothing")
	r := getList("/v1/abstracts?q=t77&template_id=2&county=essex")
	r.has = []string{`{"data":[{"id":"ID","template_id":2,`, `"files":[{"id":1,"filename":"T-77 deed.txt",`,
		`}],"links":{"next":null,"prev":null},"meta":{"per_page":25`}
	got := decodeBody[listPage](t, srv.do(t, r))
	if string(got.Data[0].ID) != `"`+id+`"` {
		t.Errorf("ID of the hit = %s, want %s", got.Data[0].ID, id)
	}
	r.method, r.has = "HEAD", nil
	srv.do(t, r)
	srv.checkNames(t, "/v1/abstracts?q=t77&template_id=1")
}

// Following the cursors of a search visits each hit once, in both directions. The cursors
// are valid only for that search.
func TestSearchWalk(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	var want []string
	for i := range 7 {
		want = append(want, fmt.Sprintf("WX-%d", i))
		srv.do(t, orderCall(fmt.Sprintf(`{"order_number":"WX-%d","county":"Essex"}`, i), 201, ""))
	}
	srv.waitForIndex(t)
	for _, path := range []string{"/v1/search?q=WX-&per_page=3", "/v1/orders?q=WX-&per_page=3",
		"/v1/search?q=WX-&kind=order&county=essex&per_page=1"} {
		var seen, back []string
		at, last := path, ""
		for at != "" {
			page, names := srv.getPage(t, at)
			seen, last, at = append(seen, names...), at, ""
			if page.Links.Next != nil {
				at = localPath(t, page.Links.Next)
			}
		}
		for at = last; at != ""; {
			page, names := srv.getPage(t, at)
			back, at = append(names, back...), ""
			if page.Links.Prev != nil {
				at = localPath(t, page.Links.Prev)
			}
		}
		if !slices.Equal(seen, back) {
			t.Errorf("%s: forward %q, backward %q, want the same", path, seen, back)
		}
		slices.Sort(seen)
		if !slices.Equal(seen, want) {
			t.Errorf("hits of %s = %q, want %q", path, seen, want)
		}
	}
	page, _ := srv.getPage(t, "/v1/orders?q=WX-&per_page=3")
	cursor := *page.Meta.NextCursor
	srv.do(t, getList("/v1/orders?q=WX-&per_page=2&cursor="+cursor))
	for _, other := range []string{"orders?q=WX-1", "orders?q=WX-&county=essex", "search?q=WX-", "orders?county=essex",
		"orders?sort=created_at", "abstracts?q=WX-", "orders?q=WX-&created_from=2026-05-01"} {
		r := getList("/v1/" + other + "&cursor=" + cursor)
		r.status, r.want = 422, invalidField("cursor", "The selected cursor is invalid.")
		srv.do(t, r)
	}
}

// A deleted record is not found, even if the search index has not been updated yet.
func TestSearchWithoutTrash(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	srv.createSearchRecords(t)
	got, _ := srv.search(t, "q=T-77&kind=order&county=essex")
	var id string
	srv.must(json.Unmarshal(got.Data[0].ID, &id))
	srv.do(t, call{as: "full", method: "DELETE", path: "/v1/orders/" + id, status: 204})
	srv.checkSearch(t, "q=T-77&kind=order", "order T-77-B")
	srv.checkNames(t, "/v1/orders?q=T-77", "T-77-B")
	srv.do(t, call{as: "full", method: "POST", path: "/v1/orders/" + id + "/restore", status: 200})
	srv.waitForIndex(t)
	srv.checkSearch(t, "q=T-77&kind=order", "order T-77", "order T-77-B")
}

// Text from records and queries is escaped in snippets. Queries are not logged.
func TestSearchEscapes(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	srv.do(t, orderCall(`{"order_number":"<script>alert(7)</script>","address":"<img src=x onerror=alert(8)>"}`, 201, ""))
	srv.waitForIndex(t)
	for _, q := range []string{"<script>alert(7)", "<script>alert(7)</script>", "</mark><script>"} {
		srv.keepOutOfLog(q)
		r := srv.do(t, getList("/v1/search?q="+url.QueryEscape(q)))
		for _, hit := range decodeBody[searchResponse](t, r).Data {
			if hit.Heading != "<script>alert(7)</script>" || hit.Snippet == nil {
				t.Fatalf("hit = %+v, want the order with a snippet", hit)
			}
			unmarked := strings.NewReplacer("<mark>", "", "</mark>", "").Replace(*hit.Snippet)
			if strings.ContainsAny(unmarked, `<>"'`) || !strings.Contains(unmarked, "&lt;script&gt;") {
				t.Errorf("snippet = %s, want it escaped", *hit.Snippet)
			}
		}
	}
}

// waitForIndex waits until the search index includes all changes.
func (srv *testServer) waitForIndex(t testing.TB) {
	t.Helper()
	_, err := srv.vault.Search.Await(t.Context(), func(uint64, uint64) {})
	srv.must(err)
}

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

// hits is an answer of /search as callers decode it.
type hits struct {
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

// found are what a search finds, as "order T-1".
func (h *house) found(t testing.TB, query string) (got hits, names []string) {
	t.Helper()
	got = decode[hits](t, h.ask(t, list("/v1/search?"+query)))
	names = []string{}
	for _, hit := range got.Data {
		names = append(names, hit.Kind+" "+hit.Heading)
	}
	return got, names
}

func (h *house) finds(t testing.TB, query string, want ...string) {
	t.Helper()
	if _, got := h.found(t, query); !slices.Equal(got, want) {
		t.Errorf("%s finds %q, want %q", query, got, want)
	}
}

// furnishSearch makes what the filters of a search tell apart.
func (h *house) furnishSearch(t *testing.T) (abstractID string) {
	t.Helper()
	h.ask(t, order(`{"order_number":"T-77","county":"Essex","state":"MA","custom_fields":{"notes":"Quitclaim <script>alert(1)</script>"}}`, 201, ""))
	h.clock.Advance(time.Second)
	h.ask(t, order(`{"order_number":"T-77-B","county":"Suffolk","state":"MA"}`, 201, ""))
	h.clock.Advance(24 * time.Hour)
	abstractID = h.id(t, abstract(201, "", field("template_id", "2"), field("county", "Essex"), field("state", "NH"), field("tax_map", "T-77"),
		file("files", "T-77 deed.txt", "Know all men by these presents\nthat <b>Quitclaim</b> & covenants")))
	h.settle(t)
	return abstractID
}

func TestSearchShape(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.furnishSearch(t) // with a document in processing
	const none = `{"data":[],"links":{"next":null,"prev":null},"meta":{"per_page":25,"next_cursor":null,"prev_cursor":null,"index":{"complete":false,"behind":0,"texts":1}}}`
	r := list("/v1/search?q=nobodyhasthis&nobody=1&sort=&cursor=&kind=&county=%20")
	r.want = none
	h.ask(t, r)
	r.method, r.want = "HEAD", ""
	h.ask(t, r)
	r = list("/v1/search?q=T-77&kind=order&county=essex")
	r.has = []string{`{"data":[{"kind":"order","id":"ID","heading":"T-77","snippet":"`, `,"page":null,"abstract":null,"match":"exact","score":`, `}],"links":{"next":null,"prev":null},"meta":{"per_page":25,"next_cursor":null,"prev_cursor":null,"index":{"complete":false,"behind":0,"texts":1}}}`}
	h.ask(t, r)
	got, _ := h.found(t, "q=T-77&kind=order&county=essex")
	var id string
	h.must(json.Unmarshal(got.Data[0].ID, &id))
	h.ask(t, row{as: "read", method: "GET", path: "/v1/orders/" + id, status: 200, has: []string{`"order_number":"T-77"`}})
}

// A program can tell what is called so from what has the words, and both from a guess.
func TestSearchMatch(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.ask(t, order(`{"order_number":"12-3-045","address":"1 Sean Road","custom_fields":{"buyer_borrower":"Sean Quirk"}}`, 201, ""))
	h.ask(t, order(`{"order_number":"12-3-0451","address":"2 Scan Road","custom_fields":{"buyer_borrower":"Scan Quirk 12 3 045"}}`, 201, ""))
	h.ask(t, upload("full", 201, file("files", "Deed Bk 1022 Pg 311.txt", "a deed")))
	h.settle(t)
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
		got := []string{}
		for _, hit := range decode[hits](t, h.ask(t, list("/v1/search?q="+query))).Data {
			got = append(got, hit.Match+" "+hit.Heading)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
}

// Who reads the description alone knows the language of a search, and its refusals.
func TestSearchIsDescribed(t *testing.T) {
	t.Parallel()
	doc := description(t)
	text := doc.Components.Parameters["Text"].Value.Description
	for _, has := range []string{"All words", "beginning", "quotation marks", "Case, accents and punctuation", "Book and page", "typing error", "1,000"} {
		if !strings.Contains(text, has) {
			t.Errorf("q is described without %q:\n%s", has, text)
		}
	}
	examples := doc.Components.Responses["SearchUnavailable"].Value.Content["application/json"].Examples
	for _, message := range []string{noIndex, tooLong} {
		if !slices.ContainsFunc(slices.Collect(maps.Values(examples)), func(e *openapi3.ExampleRef) bool {
			return reflect.DeepEqual(e.Value.Value, map[string]any{"message": message})
		}) {
			t.Errorf("no example says %q", message)
		}
	}
	for path, item := range doc.Paths.Map() {
		if get := item.Get; get != nil && get.Parameters.GetByInAndName("query", "q") != nil {
			if got := get.Responses.Value("503").Ref; got != "#/components/responses/SearchUnavailable" {
				t.Errorf("%s: 503 is %q", path, got)
			}
		}
	}
}

// What a search says that cannot be answered now.
const (
	noIndex = "The search index is being made; try again soon."
	tooLong = "The search took too long; look for something rarer, or narrow it."
)

func TestSearchRefused(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.settle(t)
	missing, short := invalid("q", "The q field is required."), invalid("q", "The q field must have at least two letters or digits.")
	for _, c := range []struct{ query, want string }{
		{"search", missing}, {"search?q=", missing}, {"search?q=%20%09", missing}, {"search?q=elm&q=", missing},
		{"search?q=a%00b", invalid("q", "The q field contains invalid characters.")}, {"search?q=%ff%fe", invalid("q", "The q field contains invalid characters.")},
		{"search?q=" + strings.Repeat("%C3%BC", 501), invalid("q", "The q field must not be greater than 500 characters.")},
		{"search?q=x", short}, {"orders?q=x", short}, {"search?q=%22-%22+.", short},
		{"search?q=" + strings.Repeat("a+", 40), invalid("q", "The q field has too much to look for; fewer words will do.")},
		{"search?q=elm&kind=folder", invalid("kind", "The selected kind is invalid.")},
		{"search?q=elm&per_page=0", invalid("per_page", "The per page field must be between 1 and 100.")}, {"search?q=elm&per_page=101", invalid("per_page", "The per page field must be between 1 and 100.")},
		{"search?q=elm&template_id=x", invalid("template_id", "The template id field must be an integer.")}, {"search?q=elm&template_id=0", invalid("template_id", "The selected template id is invalid.")},
		{"search?q=elm&county=%00", invalid("county", "The county field contains invalid characters.")}, {"search?q=elm&state=" + strings.Repeat("x", 2001), invalid("state", "The state field must not be greater than 2000 characters.")},
		{"search?q=elm&status=%00", invalid("status", "The status field contains invalid characters.")},
		{"search?q=elm&created_from=1", invalid("created_from", "The created from field must be a date or a date-time.")}, {"search?q=elm&created_to=2026-02-30", invalid("created_to", "The created to field must be a date or a date-time.")},
		{"search?q=elm&cursor=x", invalid("cursor", "The selected cursor is invalid.")},
		{"search?kind=x", `{"message":"The q field is required. (and 1 more error)","errors":{"q":["The q field is required."],"kind":["The selected kind is invalid."]}}`},
		{"orders?q=elm&sort=created_at", invalid("sort", "The sort field cannot be combined with q.")},
		{"orders?q=elm&order_number=T", invalid("order_number", "The order number field cannot be combined with q.")},
		{"abstracts?q=elm&sort=-created_at", invalid("sort", "The sort field cannot be combined with q.")},
		{"search?q=elm&sort=-created_at", invalid("sort", "The sort field cannot be combined with q.")},
		{"search?q=elm&folder_id=1", invalid("folder_id", "The folder id field cannot be combined with q.")},
		{"search?q=elm&abstract_id=x", invalid("abstract_id", "The abstract id field cannot be combined with q.")},
		{"search?q=elm&order_number=1", invalid("order_number", "The order number field cannot be combined with q.")},
		{"search?q=elm&is_processing=true", invalid("is_processing", "The is processing field cannot be combined with q.")},
		{"file-vault/files?q=elm&folder_id=1", invalid("folder_id", "The folder id field cannot be combined with q.")},
		{"file-vault/files?q=elm&is_processing=true", invalid("is_processing", "The is processing field cannot be combined with q.")},
		{"orders?q=a%00", invalid("q", "The q field contains invalid characters.")},
	} {
		r := list("/v1/" + c.query)
		r.status, r.want = 422, c.want
		h.ask(t, r)
	}
	r := list("/v1/file-vault/files?q=elm&folder_id=x&abstract_id=7")
	r.status, r.has = 422, []string{`"folder_id":["The folder id field cannot be combined with q."`, `"abstract_id":["The abstract id field cannot be combined with q."`}
	h.ask(t, r)
	h.ask(t, row{as: "events", method: "GET", path: "/v1/search?q=elm", status: 403, want: says("This API key is not authorized for the Developer API.")})
	h.ask(t, row{method: "GET", path: "/v1/search?q=elm", status: 401, want: says("Unauthenticated.")})
	h.ask(t, row{as: "full", method: "POST", path: "/v1/search?q=elm", status: 405, headers: map[string]string{"Allow": "GET, HEAD, OPTIONS"}})
	h.ask(t, row{method: "OPTIONS", path: "/v1/search", status: 204, headers: map[string]string{"Allow": "GET, HEAD, OPTIONS"}})
}

func TestSearchFilters(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.furnishSearch(t)
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
		h.finds(t, "q=T-77&"+query, want...)
	}
	for query, want := range map[string][]string{"": {three}, "&template_id=2&state=nh&county=Essex": {three}, "&template_id=1": {}, "&created_from=2026-05-30": {three}} {
		_, got := h.found(t, "q=T-77&kind=abstract"+query)
		if len(got) != len(want) {
			t.Errorf("%s: %q", query, got)
		}
	}
}

// Lists of whole records, in their own shape.
func TestSearchLists(t *testing.T) {
	t.Parallel()
	h := open(t)
	id := h.furnishSearch(t)
	h.names(t, "/v1/orders?q=T-77", "T-77", "T-77-B")
	h.names(t, "/v1/orders?q=T-77&county=suffolk&state=MA&status=active&created_from=2026-05-29", "T-77-B")
	h.names(t, "/v1/orders?q=T-77&created_to=2026-05-28")
	h.names(t, "/v1/orders?q=nobodyhasthis")
	r := list("/v1/abstracts?q=t77&template_id=2&county=essex")
	r.has = []string{`{"data":[{"id":"ID","template_id":2,`, `"files":[{"id":1,"filename":"T-77 deed.txt",`, `}],"links":{"next":null,"prev":null},"meta":{"per_page":25`}
	got := decode[listPage](t, h.ask(t, r))
	if string(got.Data[0].ID) != `"`+id+`"` {
		t.Errorf("%s, want %s", got.Data[0].ID, id)
	}
	r.method, r.has = "HEAD", nil
	h.ask(t, r)
	h.names(t, "/v1/abstracts?q=t77&template_id=1")
}

// A walk by cursors sees everything once, there and back, and its cursors are of their
// search alone.
func TestSearchWalk(t *testing.T) {
	t.Parallel()
	h := open(t)
	var want []string
	for i := range 7 {
		want = append(want, fmt.Sprintf("WX-%d", i))
		h.ask(t, order(fmt.Sprintf(`{"order_number":"WX-%d","county":"Essex"}`, i), 201, ""))
	}
	h.settle(t)
	for _, path := range []string{"/v1/search?q=WX-&per_page=3", "/v1/orders?q=WX-&per_page=3", "/v1/search?q=WX-&kind=order&county=essex&per_page=1"} {
		var seen, back []string
		at, last := path, ""
		for at != "" {
			page, names := h.page(t, at)
			seen, last, at = append(seen, names...), at, ""
			if page.Links.Next != nil {
				at = here(t, page.Links.Next)
			}
		}
		for at = last; at != ""; {
			page, names := h.page(t, at)
			back, at = append(names, back...), ""
			if page.Links.Prev != nil {
				at = here(t, page.Links.Prev)
			}
		}
		if !slices.Equal(seen, back) {
			t.Errorf("%s: there %q, back %q", path, seen, back)
		}
		slices.Sort(seen)
		if !slices.Equal(seen, want) {
			t.Errorf("%s: %q", path, seen)
		}
	}
	page, _ := h.page(t, "/v1/orders?q=WX-&per_page=3")
	cursor := *page.Meta.NextCursor
	h.ask(t, list("/v1/orders?q=WX-&per_page=2&cursor="+cursor))
	for _, other := range []string{"orders?q=WX-1", "orders?q=WX-&county=essex", "search?q=WX-", "orders?county=essex", "orders?sort=created_at", "abstracts?q=WX-", "orders?q=WX-&created_from=2026-05-01"} {
		r := list("/v1/" + other + "&cursor=" + cursor)
		r.status, r.want = 422, invalid("cursor", "The selected cursor is invalid.")
		h.ask(t, r)
	}
}

// What goes to the trash is not found from the answer on, whatever the index knows.
func TestSearchWithoutTrash(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.furnishSearch(t)
	got, _ := h.found(t, "q=T-77&kind=order&county=essex")
	var id string
	h.must(json.Unmarshal(got.Data[0].ID, &id))
	h.ask(t, row{as: "full", method: "DELETE", path: "/v1/orders/" + id, status: 204})
	h.finds(t, "q=T-77&kind=order", "order T-77-B")
	h.names(t, "/v1/orders?q=T-77", "T-77-B")
	h.ask(t, row{as: "full", method: "POST", path: "/v1/orders/" + id + "/restore", status: 200})
	h.settle(t)
	h.finds(t, "q=T-77&kind=order", "order T-77", "order T-77-B")
}

// Nothing of a record or of a question becomes markup, and no question is in the log.
func TestSearchEscapes(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.ask(t, order(`{"order_number":"<script>alert(7)</script>","address":"<img src=x onerror=alert(8)>"}`, 201, ""))
	h.settle(t)
	for _, q := range []string{"<script>alert(7)", "<script>alert(7)</script>", "</mark><script>"} {
		h.remember(q)
		r := h.ask(t, list("/v1/search?q="+url.QueryEscape(q)))
		for _, hit := range decode[hits](t, r).Data {
			if hit.Heading != "<script>alert(7)</script>" || hit.Snippet == nil {
				t.Fatalf("%+v", hit)
			}
			left := strings.NewReplacer("<mark>", "", "</mark>", "").Replace(*hit.Snippet)
			if strings.ContainsAny(left, `<>"'`) || !strings.Contains(left, "&lt;script&gt;") {
				t.Errorf("%s", *hit.Snippet)
			}
		}
	}
}

// settle sees to it that everything can be found: its documents have their text, and the
// index knows of all.
func (h *house) settle(t testing.TB) {
	t.Helper()
	_, err := h.vault.Search.Await(t.Context(), func(uint64, uint64) {})
	h.must(err)
}

// read waits until the text of every document is made, and the index knows of it.
func (h *house) read(t testing.TB) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); ; {
		if page, _ := h.page(t, "/v1/file-vault/files?is_processing=true"); len(page.Data) == 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatal("documents are not processed")
		}
	}
	h.settle(t)
}

// What stands in documents is found on its page, by words, phrases and numbers, with a
// typing error where nothing else is found.
func TestSearchText(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.vault.Start(1 << 40)
	id := h.id(t, abstract(201, "", field("county", "Essex"), field("custom_fields", `{"file_number":"A-2026-17"}`),
		file("files", "deed.txt", "Know all men by these presents that <script>alert(9)</script> Ebenezer Nightingale of Salem, recorded in Bk 1022 Pg 311")))
	h.ask(t, upload("full", 201, file("files", "note.txt", "the presents by men are all known to Nightingales")))
	h.read(t)
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
		_, got := h.found(t, "q="+query)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s finds %q, want %q", query, got, want)
		}
	}
	r := list("/v1/search?q=%22script+alert%22+nightingale+")
	r.has = []string{`"kind":"file","id":1,"heading":"deed.txt","snippet":"`, `&lt;<mark>script&gt;alert</mark>(9)&lt;/script&gt; Ebenezer <mark>Nightingale</mark> of`, `"page":1,"abstract":{"id":"ID","heading":"A-2026-17"},"match":"words",`}
	h.ask(t, r)
	r = list("/v1/search?q=note.txt")
	r.has = []string{`"heading":"note.txt","snippet":"<mark>note.txt</mark>","page":null,"abstract":null,"match":"words"`}
	h.ask(t, r)
	r = list("/v1/file-vault/files?q=nightingale&per_page=1")
	r.has = []string{`{"data":[{"id":`, `"cursor=`[1:]}
	h.ask(t, r)
	hit, _ := h.found(t, "q=ebenezer")
	if of := hit.Data[0].Abstract; of == nil || of.ID != id {
		t.Errorf("filed with %+v, want %s", of, id)
	}
	got, _ := h.page(t, "/v1/file-vault/files?q=ebenezer")
	if len(got.Data) != 1 || got.Data[0].Filename != "deed.txt" {
		t.Errorf("%+v", got)
	}
	// With its abstract the document goes out of sight, before the index hears of it.
	h.ask(t, row{as: "full", method: "DELETE", path: "/v1/abstracts/" + id, status: 204})
	h.finds(t, "q=ebenezer")
	h.names(t, "/v1/file-vault/files?q=ebenezer")
}

// A record that changed is judged as it is, while the index knows it as it was.
func TestSearchBehindAChange(t *testing.T) {
	t.Parallel()
	h := open(t)
	id := h.id(t, order(`{"order_number":"L-100","county":"Essex"}`, 201, ""))
	h.settle(t)
	h.ask(t, row{as: "full", method: "PATCH", path: "/v1/orders/" + id, header: []string{asJSON}, body: `{"county":"Suffolk","status":"completed"}`, status: 200})
	h.finds(t, "q=L-100&county=essex")
	h.finds(t, "q=L-100&status=active")
	h.names(t, "/v1/orders?q=L-100&county=essex")
	h.finds(t, "q=L-100", "order L-100")
	h.settle(t)
	h.finds(t, "q=L-100&county=suffolk&status=completed", "order L-100")
}

// While there is no index, and when a search takes too long, callers are told to come
// back.
func TestSearchUnavailable(t *testing.T) {
	t.Parallel()
	busy := func(h *house, message string) {
		t.Helper()
		for _, path := range []string{"/v1/search?q=elm", "/v1/orders?q=elm", "/v1/abstracts?q=elm", "/v1/file-vault/files?q=elm"} {
			r := list(path)
			r.status, r.want, r.headers = 503, says(message), map[string]string{"Retry-After": "10"}
			h.ask(t, r)
			r.method, r.want = "HEAD", ""
			h.ask(t, r)
		}
		h.ask(t, list("/v1/orders"))
	}
	h := open(t)
	busy(h, noIndex)
	late := open(t, func(s *setup) { s.vault.Settings.Search.Deadline = 1 })
	late.ask(t, order(`{"order_number":"elm"}`, 201, ""))
	late.settle(t)
	busy(late, tooLong)
}

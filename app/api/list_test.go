package api_test

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// listPage is the JSON of a list page.
type listPage struct {
	Data []struct {
		ID          json.RawMessage
		OrderNumber string `json:"order_number"`
		Filename    string
		City        string
		Kind        string
		Heading     string
	}
	Links struct{ Next, Prev *string }
	Meta  struct {
		PerPage    int     `json:"per_page"`
		NextCursor *string `json:"next_cursor"`
		PrevCursor *string `json:"prev_cursor"`
	}
}

// getList returns a call that reads the list at path.
func getList(path string) call { return call{as: "read", method: "GET", path: path, status: 200} }

// getPage returns a page of a list and the names of its records.
func (srv *testServer) getPage(t testing.TB, path string) (listPage, []string) {
	t.Helper()
	got := decodeBody[listPage](t, srv.do(t, getList(path)))
	names := []string{}
	for _, d := range got.Data {
		names = append(names, d.OrderNumber+d.Filename+d.City+d.Heading)
	}
	return got, names
}

// checkNames checks the names of the records on a page.
func (srv *testServer) checkNames(t testing.TB, path string, want ...string) {
	t.Helper()
	if _, got := srv.getPage(t, path); !slices.Equal(got, want) {
		t.Errorf("names at %s = %q, want %q", path, got, want)
	}
}

// localPath returns the path and query of a link. It checks the origin of the link.
func localPath(t testing.TB, link *string) string {
	t.Helper()
	if link == nil {
		t.Fatal("link = nil, want one")
	}
	path, ok := strings.CutPrefix(*link, "http://vault.test")
	if !ok {
		t.Errorf("link = %s, want origin http://vault.test", *link)
	}
	return path
}

func TestListShape(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	const empty = `{"data":[],"links":{"next":null,"prev":null},"meta":{"per_page":25,"next_cursor":null,"prev_cursor":null}}`
	for _, path := range []string{"/v1/orders", "/v1/abstracts", "/v1/file-vault/files", "/v1/trash"} {
		r := getList(path)
		r.want = empty
		srv.do(t, r)
		r.path, r.want = path+"?per_page=%20100%20&unknown=1&sort=&status=&county=%20", strings.Replace(empty, "25", "100", 1)
		srv.do(t, r)
		r.method, r.want = "HEAD", ""
		srv.do(t, r)
	}
	srv.do(t, orderCall(`{"order_number":"T-1"}`, 201, ""))
	r := getList("/v1/orders")
	r.want = `{"data":[` + bareOrder[len(`{"data":`):len(bareOrder)-1] + `]` + empty[len(`{"data":[]`):]
	srv.do(t, r)
	srv.do(t, abstractCall(201, "", filePart("files", "a.pdf", pdf(3))))
	r = getList("/v1/abstracts")
	r.has = []string{`{"data":[{"id":"ID","template_id":1,`, `"files":[` + storedPDF(1, "a.pdf", "null", 3) + `],"created_at"`,
		`}],"links":{"next":null,`}
	srv.do(t, r)
	r = getList("/v1/file-vault/files")
	r.want = `{"data":[` + storedPDF(1, "a.pdf", "null", 3) + `]` + empty[len(`{"data":[]`):]
	srv.do(t, r)
}

// Lists reject invalid parameters. One response reports all of them.
func TestListRejectsInvalidParameters(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	between := "The per page field must be between 1 and 100."
	notADate := "The created from field must be a date or a date-time."
	for _, c := range []struct{ query, field, sentence string }{
		{"orders?per_page=0", "per_page", between}, {"orders?per_page=101", "per_page", between},
		{"orders?per_page=-1", "per_page", between}, {"orders?per_page=99999999999999999999", "per_page", between},
		{"orders?per_page=1&per_page=0", "per_page", between},
		{"orders?per_page=x", "per_page", "The per page field must be an integer."},
		{"orders?per_page=1.0", "per_page", "The per page field must be an integer."},
		{"orders?sort=id", "sort", "The selected sort is invalid."},
		{"orders?sort=--created_at", "sort", "The selected sort is invalid."}, {"orders?sort=-", "sort", "The selected sort is invalid."},
		{"orders?sort=Created_at", "sort", "The selected sort is invalid."},
		{"abstracts?sort=due_date", "sort", "The selected sort is invalid."},
		{"file-vault/files?sort=order_number", "sort", "The selected sort is invalid."},
		{"trash?sort=created_at", "sort", "The selected sort is invalid."},
		{"orders?status=a%00b", "status", "The status field contains invalid characters."},
		{"orders?county=%ff", "county", "The county field contains invalid characters."},
		{"orders?order_number=" + strings.Repeat("n", 256), "order_number", "The order number field must not be greater than 255 characters."},
		{"abstracts?state=" + strings.Repeat("n", 2001), "state", "The state field must not be greater than 2000 characters."},
		{"abstracts?template_id=x", "template_id", "The template id field must be an integer."},
		{"abstracts?template_id=null", "template_id", "The template id field must be an integer."},
		{"abstracts?template_id=0", "template_id", "The selected template id is invalid."},
		{"file-vault/files?folder_id=-1", "folder_id", "The selected folder id is invalid."},
		{"file-vault/files?folder_id=NULL", "folder_id", "The folder id field must be an integer."},
		{"file-vault/files?abstract_id=7", "abstract_id", "The selected abstract id is invalid."},
		{"file-vault/files?abstract_id=null", "abstract_id", "The selected abstract id is invalid."},
		{"file-vault/files?is_processing=yes", "is_processing", "The is processing field must be true or false."},
		{"trash?kind=folder", "kind", "The selected kind is invalid."},
		{"orders?created_from=2026-02-30", "created_from", notADate}, {"orders?created_from=yesterday", "created_from", notADate},
		{"orders?created_from=2026-5-1", "created_from", notADate},
		{"orders?created_from=2026-05-29T04:00:00", "created_from", notADate},
		{"orders?created_from=0000-01-01", "created_from", notADate}, {"orders?created_from=12026-01-01", "created_from", notADate},
		{"orders?created_from=2026-05-29T04:00:00,5Z", "created_from", notADate},
		{"orders?created_to=1", "created_to", "The created to field must be a date or a date-time."},
		{"orders?cursor=x", "cursor", "The selected cursor is invalid."},
		{"orders?cursor=%00", "cursor", "The selected cursor is invalid."},
		{"orders?cursor=" + strings.Repeat("A", 9000), "cursor", "The selected cursor is invalid."},
	} {
		t.Run(c.query, func(t *testing.T) {
			r := getList("/v1/" + c.query)
			r.status, r.want = 422, invalidField(c.field, c.sentence)
			srv.do(t, r)
		})
	}
	r := getList("/v1/file-vault/files?per_page=0&sort=x&folder_id=x&is_processing=2&created_to=x&cursor=x")
	r.status, r.has = 422, []string{`{"message":"The folder id field must be an integer. (and 4 more errors)","errors":{"folder_id":["`,
		`"is_processing":["`, `"created_to":["`, `"per_page":["`, `"sort":["`}
	srv.do(t, r)
	r = getList("/v1/orders?status=%zz")
	r.status, r.has = 400, nil
	srv.do(t, r)
}

// createListRecords creates orders and an abstract that differ in the fields used by
// filters. It returns the ID of the abstract.
func (srv *testServer) createListRecords(t *testing.T) (abstract string) {
	t.Helper()
	for i, body := range []string{
		`{"order_number":"B-2","county":"Essex","state":"MA","due_date":"2026-07-01"}`,
		`{"order_number":"a-1","county":"ESSEX","state":"NH"}`,
		`{"order_number":"c-3","county":"Straße","due_date":"2026-06-01"}`,
		`{"order_number":"B-2","county":"Suffolk","state":"MA"}`,
	} {
		if i == 2 {
			srv.clock.Advance(20 * time.Hour) // to after midnight
		}
		srv.do(t, orderCall(body, 201, ""))
		srv.clock.Advance(time.Second)
	}
	return decodeBody[struct{ Data struct{ ID string } }](t, srv.do(t, salemAbstract())).Data.ID
}

// salemAbstract returns a call that creates an abstract in Salem with one file.
func salemAbstract() call {
	return abstractCall(201, "", fieldPart("template_id", "2"), fieldPart("county", "Essex"), fieldPart("city", "Salem"),
		filePart("files", "of.pdf", pdf(1)))
}

func TestListFilters(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	id := srv.createListRecords(t)
	srv.do(t, abstractCall(201, "", fieldPart("city", "Lynn")))
	srv.do(t, uploadCall("full", 201, fieldPart("folder_id", "2"), filePart("files", "in.pdf", pdf(1))))
	srv.do(t, uploadCall("full", 201, filePart("files", "no.pdf", pdf(1))))
	missing := srv.vault.Secrets.IDs("abstracts").Encode(999)
	for _, c := range []struct {
		query string
		want  []string
	}{
		{"orders", []string{"B-2", "c-3", "a-1", "B-2"}},
		{"orders?sort=created_at", []string{"B-2", "a-1", "c-3", "B-2"}},
		{"orders?sort=order_number", []string{"a-1", "B-2", "B-2", "c-3"}},
		{"orders?sort=-order_number", []string{"c-3", "B-2", "B-2", "a-1"}},
		{"orders?sort=due_date&per_page=2", []string{"c-3", "B-2"}},
		{"orders?county=essex", []string{"a-1", "B-2"}},
		{"orders?county=STRASSE", []string{"c-3"}},
		{"orders?county=essex&state=ma", []string{"B-2"}},
		{"orders?county=suffolk&county=essex", []string{"a-1", "B-2"}},
		{"orders?status=ACTIVE&state=MA", []string{"B-2", "B-2"}},
		{"orders?status=completed", []string{}},
		{"orders?order_number=b-2", []string{"B-2", "B-2"}},
		{"orders?order_number=b-", []string{}},
		{"orders?created_to=2026-05-29", []string{"a-1", "B-2"}},
		{"orders?created_from=2026-05-30", []string{"B-2", "c-3"}},
		{"orders?created_from=2026-05-29T04:00:01Z&created_to=2026-05-30T02:00:02%2B02:00", []string{"c-3", "a-1"}},
		{"orders?created_from=2026-05-29T04:00:01Z&created_to=2026-05-30T02:00:02+02:00", []string{"c-3", "a-1"}},
		{"orders?created_from=2026-05-29T04:00:01.0000001Z&created_to=2026-05-30T00:00:01.9999999Z", []string{}},
		{"orders?created_from=2026-06-01&created_to=2026-05-01", []string{}},
		{"abstracts?template_id=2", []string{"Salem"}},
		{"abstracts?template_id=999", []string{}},
		{"abstracts?county=essex&created_from=2026-05-30", []string{"Salem"}},
		{"abstracts?status=new", []string{"Lynn", "Salem"}},
		{"file-vault/files", []string{"no.pdf", "in.pdf", "of.pdf"}},
		{"file-vault/files?folder_id=2", []string{"in.pdf"}},
		{"file-vault/files?folder_id=null", []string{"no.pdf"}},
		{"file-vault/files?folder_id=999", []string{}},
		{"file-vault/files?abstract_id=" + id, []string{"of.pdf"}},
		{"file-vault/files?abstract_id=" + missing, []string{}},
		{"file-vault/files?abstract_id=" + id + "&folder_id=2", []string{}},
		{"file-vault/files?is_processing=TRUE", []string{"no.pdf", "in.pdf", "of.pdf"}},
		{"file-vault/files?is_processing=0", []string{}},
	} {
		t.Run(c.query, func(t *testing.T) {
			srv.checkNames(t, "/v1/"+c.query, c.want...)
		})
	}
}

// Following the next and previous links visits the entire list. The links keep the query
// parameters.
func TestListLinks(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	srv.createListRecords(t)
	const query = "?per_page=1&county=Essex+%26+Co&county=essex&x=%C3%BC&sort=created_at"
	r := getList("/api/v1//orders/" + query)
	r.route = "/v1/orders" + query
	first := decodeBody[listPage](t, srv.do(t, r))
	if len(first.Data) != 1 || first.Links.Prev != nil || first.Meta.PrevCursor != nil {
		t.Fatalf("first page = %+v, want one record and no previous page", first)
	}
	next := localPath(t, first.Links.Next)
	if want := "/v1/orders?per_page=1&county=Essex+%26+Co&county=essex&x=%C3%BC&sort=created_at&cursor=" +
		*first.Meta.NextCursor; next != want {
		t.Errorf("next link = %s, want %s", next, want)
	}
	second, names := srv.getPage(t, next)
	if !slices.Equal(names, []string{"a-1"}) || second.Links.Next != nil || strings.Count(*second.Links.Prev, "cursor=") != 1 {
		t.Errorf("second page = %q, %+v, want a-1, no next page", names, second)
	}
	again, names := srv.getPage(t, localPath(t, second.Links.Prev))
	if !slices.Equal(names, []string{"B-2"}) || again.Links.Prev != nil || again.Links.Next == nil {
		t.Errorf("previous page = %q, %+v, want B-2, no previous page", names, again)
	}
	// The page size may differ between the pages of a list.
	srv.checkNames(t, strings.Replace(next, "per_page=1", "per_page=50", 1), "a-1")

	publicServer := newTestServer(t, func(cfg *testConfig) { cfg.api.PublicURL = "https://vault.example" })
	publicServer.createListRecords(t)
	const prefix = "https://vault.example/v1/orders?per_page=1&cursor="
	if page, _ := publicServer.getPage(t, "/v1/orders?per_page=1"); !strings.HasPrefix(*page.Links.Next, prefix) {
		t.Errorf("next link = %s, want the origin https://vault.example", *page.Links.Next)
	}
}

// A cursor is valid only with the record type, filters, sort order, and server it was
// created for.
func TestCursorOfAnotherList(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	srv.createListRecords(t)
	srv.do(t, salemAbstract())
	page, _ := srv.getPage(t, "/v1/orders?per_page=1&county=essex&sort=created_at&created_from=2026-05-29")
	cursor := *page.Meta.NextCursor
	const same = "/v1/orders?county=%20ESSEX&sort=created_at&created_from=2026-05-29T00:00:00Z&status=&cursor="
	srv.checkNames(t, same+cursor, "a-1")
	rejected := invalidField("cursor", "The selected cursor is invalid.")
	for _, other := range []string{
		"/v1/orders?sort=created_at&created_from=2026-05-29&cursor=", "/v1/orders?county=essex&created_from=2026-05-29&cursor=",
		"/v1/orders?county=essex&sort=-created_at&created_from=2026-05-29&cursor=",
		"/v1/orders?county=essex&sort=created_at&cursor=", "/v1/orders?state=essex&sort=created_at&created_from=2026-05-29&cursor=",
		"/v1/orders?county=essex&sort=created_at&created_to=2026-05-29&cursor=",
		"/v1/orders?county=essex&sort=due_date&created_from=2026-05-29&cursor=",
		"/v1/abstracts?county=essex&sort=created_at&created_from=2026-05-29&cursor=",
		"/v1/orders?county=essex&state=ma&sort=created_at&created_from=2026-05-29&cursor=",
	} {
		r := getList(other + cursor)
		r.status, r.want = 422, rejected
		srv.do(t, r)
	}
	for i := range cursor {
		changed := []byte(cursor)
		changed[i] = "AB"[boolToInt(changed[i] == 'A')]
		r := getList(same + string(changed))
		r.status, r.want = 422, rejected
		srv.do(t, r)
	}
	otherServer := newTestServer(t, func(cfg *testConfig) { cfg.secret = rand.NewChaCha8([32]byte{9}) })
	r := getList(same + cursor)
	r.status, r.want = 422, rejected
	otherServer.do(t, r)
}

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

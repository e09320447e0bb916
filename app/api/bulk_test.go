package api_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"deedkeep/app/apitypes"
	"deedkeep/app/model"
)

// outcomes returns the outcomes of a bulk change: an ID, and a message for those that failed.
func outcomes(t *testing.T, srv *testServer, path, body string) (list []string, meta apitypes.BulkMeta) {
	t.Helper()
	got := decodeBody[apitypes.Bulk](t, srv.do(t, jsonCall("POST", path, body, 200)))
	for _, item := range got.Data {
		if item.OK == (item.Message != "") {
			t.Errorf("outcome = %+v, want a message exactly for a failure", item)
		}
		list = append(list, strings.TrimSpace(string(item.ID)+" "+item.Message))
	}
	return list, got.Meta
}

func wantOutcomes(t *testing.T, srv *testServer, path, body string, want ...string) {
	t.Helper()
	got, meta := outcomes(t, srv, path, body)
	failed := 0
	for _, one := range want {
		if strings.Contains(one, " ") {
			failed++
		}
	}
	if !reflect.DeepEqual(got, want) || meta != (apitypes.BulkMeta{Changed: int64(len(want) - failed), Failed: int64(failed)}) {
		t.Errorf("%s %s:\ngot  %q %+v\nwant %q", path, body, got, meta, want)
	}
}

// A bulk change changes each record completely or not at all, and says which failed and why.
func TestBulk(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	var ids []string
	for n := range 3 {
		ids = append(ids, fmt.Sprintf("%q", srv.createID(t, orderCall(fmt.Sprintf(`{"order_number":"T-%d"}`, n), 201, ""))))
	}
	all := strings.Join(ids, ",")
	wantOutcomes(t, srv, "/orders/bulk", `{"ids":[`+all+`,"nonsense",`+ids[0]+`],"set":{"city":"Salem","custom_fields":{"client":"Acme"}}}`,
		ids[0], ids[1], ids[2], `"nonsense" Not found.`)
	wantOutcomes(t, srv, "/orders/bulk", `{"ids":[`+ids[0]+`],"action":"trash"}`, ids[0])
	wantOutcomes(t, srv, "/orders/bulk", `{"ids":[`+all+`],"set":{"due_date":"2026-07-01"}}`, ids[0]+" Not found.", ids[1], ids[2])
	wantOutcomes(t, srv, "/orders/bulk", `{"ids":[`+all+`],"action":"restore"}`, ids[0], ids[1], ids[2])
	invalid := "The selected status is invalid."
	wantOutcomes(t, srv, "/orders/bulk", `{"ids":[`+ids[1]+`],"set":{"status":"Nonsense","city":"Lost"}}`, ids[1]+" "+invalid)
	for n, due := range []string{"", "2026-07-01", "2026-07-01"} {
		id := strings.Trim(ids[n], `"`)
		got := decodeBody[apitypes.OrderBody](t, srv.do(t, call{as: "full", method: "GET", path: "/v1/orders/" + id, status: 200})).Data
		if got.City == nil || *got.City != "Salem" || string(got.CustomFields["client"]) != `"Acme"` || (got.DueDate == nil) != (due == "") {
			t.Errorf("order %d = %+v, want the city Salem, the client Acme, and the due date %q", n, got, due)
		}
	}
}

// A bulk change of abstracts can change fields and the assignment together, and a document takes its instruments with it.
func TestBulkOfAbstractsAndDocuments(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	from := srv.createID(t, abstractCall(201, "", filePart("files", "a.pdf", pdf(1)), filePart("files", "b.pdf", pdf(2))))
	to := srv.createID(t, abstractCall(201, ""))
	srv.createInstrument(t, from, `{"documents":[{"file_id":1}]}`)
	srv.createInstrument(t, from, `{"documents":[{"file_id":2}]}`)
	srv.do(t, jsonCall("PUT", "/abstracts/"+from+"/assignment", `{"due_date":"2026-06-30"}`, 200))
	quoted := fmt.Sprintf("%q", from)
	get := func(path string) reply {
		t.Helper()
		return srv.do(t, call{as: "full", method: "GET", path: "/v1/abstracts/" + path, status: 200})
	}
	wantOutcomes(t, srv, "/abstracts/bulk", `{"ids":[`+quoted+`],"set":{"city":"Salem","searcher":99}}`,
		quoted+" The selected searcher is invalid.")
	wantOutcomes(t, srv, "/abstracts/bulk", `{"ids":[`+quoted+`],"set":{"county":"Kent","examiner":null}}`, quoted)
	got := decodeBody[struct{ Data apitypes.Abstract }](t, get(from)).Data
	if got.City != nil || got.County == nil || *got.County != "Kent" {
		t.Errorf("abstract = %+v, want the county and no city, because the searcher was invalid", got)
	}
	work := decodeBody[apitypes.AssignmentBody](t, get(from+"/assignment"))
	if work.Data.DueDate == nil || *work.Data.DueDate != "2026-06-30" {
		t.Errorf("assignment = %+v, want the due date from before", work.Data)
	}
	wantOutcomes(t, srv, "/file-vault/files/bulk", fmt.Sprintf(`{"ids":[1],"set":{"abstract_id":%q,"instruments":true}}`, to), "1")
	wantOutcomes(t, srv, "/file-vault/files/bulk", fmt.Sprintf(`{"ids":[2,7],"set":{"abstract_id":%q}}`, to), "2", "7 Not found.")
	wantOutcomes(t, srv, "/file-vault/files/bulk", `{"ids":[2],"set":{"abstract_id":"nonsense","instruments":true}}`,
		"2 The selected abstract id is invalid.")
	for id, want := range map[string]int{from: 1, to: 1} {
		list := decodeBody[struct{ Data []json.RawMessage }](t, get(id+"/instruments"))
		if len(list.Data) != want {
			t.Errorf("instruments of %s = %d, want %d", id, len(list.Data), want)
		}
	}
}

// A bulk change without valid IDs and exactly one thing to do changes nothing.
func TestBulkRejectsRequests(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	id := fmt.Sprintf("%q", srv.createID(t, orderCall(`{"order_number":"T-1"}`, 201, "")))
	for body, want := range map[string]string{
		`{}`:                                                                   "The set field is required.",
		`{"ids":[` + id + `]}`:                                                 "The set field is required.",
		`{"ids":[` + id + `],"set":{}}`:                                        "The set field is required.",
		`{"ids":[` + id + `],"set":null}`:                                      "The set field is required.",
		`{"ids":[],"set":{"city":"x"}}`:                                        "The ids field is required.",
		`{"ids":null,"set":{"city":"x"}}`:                                      "The ids field is required.",
		`{"ids":{"a":1},"set":{"city":"x"}}`:                                   "The ids field must be an array.",
		`{"ids":[` + id + `],"action":"burn"}`:                                 "The selected action is invalid.",
		`{"ids":[` + id + `],"action":["trash"]}`:                              "The selected action is invalid.",
		`{"ids":[` + id + `],"action":"trash","set":{"city":"x"}}`:             "The action field cannot be combined with set.",
		`{"ids":[` + strings.Repeat(id+",", 1000) + id + `],"action":"trash"}`: "The ids field must not have more than 1000 items.",
	} {
		got := decodeBody[apitypes.Failure](t, srv.do(t, jsonCall("POST", "/orders/bulk", body, 422)))
		if got.Message != want {
			t.Errorf("%.60s: message = %q, want %q", body, got.Message, want)
		}
	}
	srv.do(t, call{as: "full", method: "GET", path: "/v1/orders/" + strings.Trim(id, `"`), status: 200})
	ignored := jsonCall("POST", "/orders/bulk", `{"ids":[`+id+`],"set":{"city":"x","hue":"y"},"then":1}`, 200)
	ignored.headers = map[string]string{"X-Ignored-Fields": "then,set.hue"}
	srv.do(t, ignored)
	bad := jsonCall("POST", "/file-vault/files/bulk", `{"ids":[1],"set":{"folder_id":1,"instruments":"yes"}}`, 422)
	if got := decodeBody[apitypes.Failure](t, srv.do(t, bad)); got.Message != "The instruments field must be true or false." {
		t.Errorf("message = %q", got.Message)
	}
}

// An order has one assignee. The list can be filtered by it, and a bulk change sets it.
func TestOrderAssignment(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	_, kim, err := srv.vault.Users.Create(t.Context(), model.Actor{Kind: "operator"}, model.UserDraft{Name: "Kim", Role: model.RoleStaff})
	if err != nil {
		t.Fatalf("create user: %v", err)
	}
	assigned := fmt.Sprintf(`"assignee":%d`, kim.ID)
	first := srv.createID(t, orderCall(`{"order_number":"T-1","due_date":"2026-07-01"}`, 201, ""))
	second := srv.createID(t, orderCall(`{"order_number":"T-2"}`, 201, ""))
	path := "/orders/" + first + "/assignment"
	read := call{as: "read", method: "GET", path: "/v1" + path, status: 200}
	read.want = `{"data":{"assignee":null,"due_date":"2026-07-01"}}`
	tag := "If-Match: " + srv.do(t, read).Header.Get("ETag")
	for _, body := range []string{`{}`, `{"due_date":"2026-08-01"}`} {
		srv.do(t, jsonCall("PUT", path, body, 422).withHas(`"assignee":["The assignee field is required."]`))
	}
	srv.do(t, jsonCall("PUT", path, `{"assignee":99,"due_date":"x"}`, 422).withHas(`"assignee":[`, `"due_date":[`))
	put := jsonCall("PUT", path, `{`+assigned+`}`, 200).withHas(assigned, `"due_date":"2026-07-01"`)
	put.header = append(put.header, tag)
	srv.do(t, put)
	put.body, put.status, put.has = `{"assignee":null}`, 412, nil
	srv.do(t, put)
	srv.do(t, call{as: "events", method: "GET", path: "/v1/events?sort=-created_at&per_page=1", status: 200,
		has: []string{`"kind":"order.changed"`, `"field":"assignee"`, "Assignee: (blank) → Kim"}})

	list := func(query string, want ...string) {
		t.Helper()
		var numbers []string
		for _, o := range decodeBody[apitypes.Page[apitypes.Order]](t, srv.do(t, call{as: "read", method: "GET", path: "/v1/orders?" + query,
			status: 200})).Data {
			numbers = append(numbers, o.OrderNumber)
		}
		if !reflect.DeepEqual(numbers, want) {
			t.Errorf("%s: got %q, want %q", query, numbers, want)
		}
	}
	list(fmt.Sprint("assignee=", kim.ID), "T-1")
	list("assignee=null", "T-2")
	list("assignee=77")
	for query, want := range map[string]string{"assignee=me": "assignee", "assignee=1&q=T-1": "assignee"} {
		srv.do(t, call{as: "read", method: "GET", path: "/v1/orders?" + query, status: 422, has: []string{`"` + want + `":[`}})
	}

	ids := fmt.Sprintf(`"ids":[%q,%q]`, first, second)
	wantOutcomes(t, srv, "/orders/bulk", `{`+ids+`,"set":{"city":"Salem",`+assigned+`}}`, fmt.Sprintf("%q", first), fmt.Sprintf("%q", second))
	list(fmt.Sprint("sort=order_number&assignee=", kim.ID), "T-1", "T-2")
	wantOutcomes(t, srv, "/orders/bulk", `{`+ids+`,"set":{"assignee":null}}`, fmt.Sprintf("%q", first), fmt.Sprintf("%q", second))
	list("sort=order_number&assignee=null", "T-1", "T-2")
	read.want = `{"data":{"assignee":null,"due_date":"2026-07-01"}}`
	srv.do(t, read)
}

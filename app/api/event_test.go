package api_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"deedkeep/app/apitypes"
	"deedkeep/app/control"
	"deedkeep/app/model"
	"deedkeep/app/secret"
	"deedkeep/app/store"
	"deedkeep/app/vaulttest"
)

// control sends a request to the control socket's handler and returns the status and the
// body of the response.
func (srv *testServer) control(t *testing.T, method, path, body string) (status int, text string) {
	t.Helper()
	handler := control.NewHandler(control.HandlerOptions{App: srv.vault, Log: slog.New(slog.DiscardHandler), Rand: vaulttest.Rand()})
	w := httptest.NewRecorder()
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set(control.OperatorHeader, "ann")
	handler.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// listEvents returns a page of the audit log, newest entry first.
func (srv *testServer) listEvents(t *testing.T, query string) []apitypes.Event {
	t.Helper()
	status, text := srv.control(t, http.MethodGet, "/control/events?limit=100&"+query, "")
	var got apitypes.Data[[]apitypes.Event]
	if err := json.Unmarshal([]byte(text), &got); err != nil || status != 200 {
		t.Fatalf("list events: status %d, %v: %s", status, err, text)
	}
	return got.Data
}

// lastSeq returns the sequence number of the newest audit log entry.
func (srv *testServer) lastSeq(t *testing.T) (seq int64) {
	t.Helper()
	for _, e := range srv.listEvents(t, "") {
		seq = max(seq, e.Seq)
	}
	return seq
}

// Each change adds an audit log entry that contains the actor and the client address.
func TestEveryChangeIsLogged(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	before := srv.lastSeq(t)
	id := func(r reply) string {
		t.Helper()
		created := decodeBody[struct{ Data struct{ ID string } }](t, r)
		if created.Data.ID == "" {
			t.Fatalf("body = %s, want an ID", r.body)
		}
		return created.Data.ID
	}
	order := id(srv.do(t, call{as: "full", method: "POST", path: "/v1/orders", header: []string{asJSON},
		body: `{"order_number":"T-1"}`, status: 201}))
	srv.do(t, call{as: "full", method: "POST", path: "/v1/file-vault/folders", header: []string{asJSON}, body: `{"name":"Box 9"}`,
		status: 201})
	srv.do(t, uploadCall("full", 201, filePart("files", "a.pdf", pdf(1))))
	abstract := id(srv.do(t, abstractCall(201, "", filePart("files[]", "b.pdf", pdf(2)))))
	srv.do(t, call{as: "full", method: "POST", path: "/v1/abstracts/" + abstract + "/files", route: "/v1/abstracts/{id}/files",
		header: []string{asForm}, body: formBody(filePart("files", "c.pdf", pdf(3))), status: 201})
	srv.do(t, call{as: "full", method: "GET", path: "/v1/file-vault/files/1/download", status: 302})
	srv.do(t, call{as: "full", method: "HEAD", path: "/v1/file-vault/files/1/download", status: 302})
	srv.listEvents(t, "") // flushes buffered events
	const abstractPath, orderPath, filePath = "/v1/abstracts/{id}", "/v1/orders/{id}", "/v1/file-vault/files/"
	for _, r := range []call{
		{method: "PATCH", path: "/v1/abstracts/" + abstract, route: abstractPath, body: `{"county":"Kent"}`, status: 200},
		{method: "DELETE", path: "/v1/abstracts/" + abstract + "/files/3", route: abstractPath + "/files/{n}", status: 204},
		{method: "DELETE", path: "/v1/abstracts/" + abstract, route: abstractPath, status: 204},
		{method: "POST", path: "/v1/abstracts/" + abstract + "/restore", route: abstractPath + "/restore", status: 200},
		{method: "PATCH", path: "/v1/orders/" + order, route: orderPath, body: `{"due_date":"2026-06-15"}`, status: 200},
		{method: "DELETE", path: "/v1/orders/" + order, route: orderPath, status: 204},
		{method: "POST", path: "/v1/orders/" + order + "/restore", route: orderPath + "/restore", status: 200},
		{method: "PATCH", path: filePath + "1", body: `{"filename":"z.pdf"}`, status: 200},
		{method: "DELETE", path: filePath + "1", status: 204},
		{method: "POST", path: filePath + "1/restore", status: 200},
		{method: "PATCH", path: "/v1/file-vault/folders/5", body: `{"name":"Box 10"}`, status: 200},
		{method: "DELETE", path: "/v1/file-vault/folders/5", status: 204},
		// Requests that only read, fail, or change nothing don't add an entry.
		{method: "GET", path: filePath + "1", status: 200},
		{method: "POST", path: "/v1/orders", body: `{}`, status: 422},
		{method: "PATCH", path: "/v1/orders/" + order, route: orderPath, body: `{"due_date":"2026-06-15"}`, status: 200},
		{method: "GET", path: "/v1/trash", status: 200},
	} {
		if r.as = "full"; r.body != "" {
			r.header = []string{asJSON}
		}
		srv.do(t, r)
	}
	want := []struct{ kind, record, abstract string }{
		{"order.created", "order:" + order, ""}, {"folder.created", "folder:5", ""}, {"file.filed", "file:1", ""},
		{"abstract.created", "abstract:" + abstract, ""}, {"file.filed", "file:2", "abstract:" + abstract},
		{"file.filed", "file:3", "abstract:" + abstract},
		{"file.downloaded", "file:1", ""},
		{"abstract.changed", "abstract:" + abstract, ""}, {"file.detached", "file:3", "abstract:" + abstract},
		{"abstract.trashed", "abstract:" + abstract, ""}, {"abstract.restored", "abstract:" + abstract, ""},
		{"order.changed", "order:" + order, ""}, {"order.trashed", "order:" + order, ""}, {"order.restored", "order:" + order, ""},
		{"file.changed", "file:1", ""}, {"file.trashed", "file:1", ""}, {"file.restored", "file:1", ""},
		{"folder.changed", "folder:5", ""}, {"folder.removed", "folder:5", ""},
	}
	got := slices.DeleteFunc(srv.listEvents(t, ""), func(e apitypes.Event) bool { return e.Seq <= before })
	if len(got) != len(want) {
		t.Fatalf("events = %d, want %d: %+v", len(got), len(want), got)
	}
	for i, w := range want {
		e := got[len(got)-1-i]
		if e.Kind != w.kind || *e.Record != w.record || e.Detail["abstract"] != w.abstract {
			t.Errorf("event %d = %s of %s (%v), want %+v", i, e.Kind, *e.Record, e.Detail, w)
		}
		if a := e.Actor; a.Kind != "key" || a.ID == nil || *a.ID != 1 || a.Name == nil || *a.Name != "full" || a.Address == nil ||
			*a.Address != "127.0.0.1" || e.RequestID == nil {
			t.Errorf("actor of %s = %+v, want the key full", e.Kind, a)
		}
	}

	// The record filter accepts records in the same form as in the entries.
	if list := srv.listEvents(t, "record=abstract:"+abstract); len(list) != 4 || list[3].Kind != "abstract.created" {
		t.Errorf("events of the abstract = %+v, want 4, the creation last", list)
	}
	for _, unknown := range []string{"abstract:1", "abstract:", "abstract", "order:%20", "x"} {
		srv.do(t, call{as: "events", method: "GET", path: "/v1/events?record=" + unknown, status: 422,
			want: invalidField("record", "The selected record is invalid.")})
		if status, text := srv.control(t, http.MethodGet, "/control/events?limit=1&record="+unknown, ""); status != 422 {
			t.Errorf("events of %s: status %d, want 422: %s", unknown, status, text)
		}
	}
	if list := srv.listEvents(t, "actor=key:1&kind=file.filed"); len(list) != 3 {
		t.Errorf("events with two filters = %+v, want 3", list)
	}
}

// Changes made through the control socket are logged with the name of the operator.
func TestControlEventsNameOperator(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	srv.do(t, call{as: "full", method: "GET", path: "/v1/order-fields", status: 200})
	for _, row := range []struct{ path, body, kind string }{
		{"/control/keys", `{"name":"desk"}`, "key.created"}, {"/control/keys/2/revoke", "", "key.revoked"},
		{"/control/keys/1/rotate", `{"overlap_seconds":0}`, "key.rotated"},
	} {
		t.Run(row.path, func(t *testing.T) {
			if status, text := srv.control(t, http.MethodPost, row.path, row.body); status != 200 {
				t.Fatalf("status = %d, want 200: %s", status, text)
			}
			e := srv.listEvents(t, "")[0]
			if e.Kind != row.kind || e.Actor.Kind != "operator" || *e.Actor.Name != "ann" || e.Actor.Address != nil || e.RequestID == nil {
				t.Errorf("event = %+v, want %s of the operator ann", e, row.kind)
			}
		})
	}
}

// Audit log entries have the expected JSON, both with all optional members and with none of
// them.
func TestEventShape(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 5, 29, 4, 0, 1, 0, time.UTC)
	srv := newTestServer(t, func(cfg *testConfig) {
		withEvents(t, cfg, model.Event{At: at,
			Actor: model.Actor{Kind: "user", ID: 3, Name: "Ann <x>", Address: "192.0.2.1", RequestID: "r-1"}, Kind: "file.changed", Record: "file:1",
			Detail: map[string]string{"abstract": "abstract:7", "name": "abstract:7", "order": "order"},
			Changes: []model.Change{{Field: "filename", From: []byte(`"a <b>.pdf"`), To: []byte(`"b.pdf"`)},
				{Field: "abstract_id", From: nil, To: []byte("7")},
				{Field: "folder_id", From: []byte("7"), To: []byte("null")}}},
			model.Event{At: at, Actor: model.SystemActor(), Kind: "abstract.purged", Record: "abstract:7"},
			model.Event{At: at, Actor: model.SystemActor(), Kind: "vault.opened"})
	})
	srv.do(t, call{as: "full", method: "GET", path: "/v1/order-fields", status: 200})
	abstract := "abstract:" + srv.vault.Secrets.IDs("abstracts").Encode(7)
	_, text := srv.control(t, http.MethodGet, "/control/events/export?from=2", "")
	var got []string
	for line := range strings.Lines(text) {
		if len(got) == 3 {
			break // the rest of the entries are about API keys
		}
		line, _, _ = strings.Cut(strings.TrimPrefix(line, `{"event":`), `,"hash"`)
		_, line, _ = strings.Cut(line, `,`)
		got = append(got, line)
	}
	const when = `"at":"2026-05-29T04:00:01.000000Z",`
	const system = `"actor":{"kind":"system","id":null,"name":null,"address":null},`
	want := []string{
		when + `"actor":{"kind":"user","id":3,"name":"Ann <x>","address":"192.0.2.1"},"kind":"file.changed","record":"file:1",` +
			`"detail":{"abstract":"` + abstract + `","name":"abstract:7","order":"order"},` +
			`"changes":[{"field":"filename","from":"a <b>.pdf","to":"b.pdf","row":null,"text":null},{"field":"abstract_id","from":null,"to":"` +
			strings.TrimPrefix(abstract, "abstract:") + `","row":null,"text":null},` +
			`{"field":"folder_id","from":7,"to":null,"row":null,"text":null}],"names":{},"request_id":"r-1"`,
		when + system + `"kind":"abstract.purged","record":"` + abstract + `","detail":{},"changes":[],"names":{},"request_id":null`,
		when + system + `"kind":"vault.opened","record":null,"detail":{},"changes":[],"names":{},"request_id":null`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if end := fmt.Sprintf("{\"end\":{\"entries\":%d}}\n", srv.lastSeq(t)-1); !strings.HasSuffix(text, end) {
		t.Errorf("export = %s, want the last line %s", text, end)
	}
}

func TestControlEventsRejected(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	srv.do(t, call{as: "full", method: "GET", path: "/v1/order-fields", status: 200})
	for _, row := range []struct{ path, has string }{
		{"/control/events", "The limit field must be between 1 and 10000."}, {"/control/events?limit=0", "limit"},
		{"/control/events?limit=10001", "limit"},
		{"/control/events?limit=1&from=2026-05-29", "The from must be a time."}, {"/control/events?limit=1&to=x", "The to must be a time."},
		{"/control/events/export", "The from field must be an integer."}, {"/control/events/export?from=-1", "from"},
	} {
		t.Run(row.path, func(t *testing.T) {
			if status, text := srv.control(t, http.MethodGet, row.path, ""); status != 422 || !strings.Contains(text, row.has) {
				t.Errorf("status %d, want 422 and %q: %s", status, row.has, text)
			}
		})
	}
}

// withEvents adds events to the audit log before the server opens the data directory.
func withEvents(t *testing.T, cfg *testConfig, events ...model.Event) {
	t.Helper()
	ring, _, err := secret.LoadKeys(filepath.Join(cfg.vault.Dir, "secret.key"), vaulttest.Rand())
	if err != nil {
		t.Fatalf("secret.LoadKeys: %v", err)
	}
	db, err := store.Open(t.Context(), filepath.Join(cfg.vault.Dir, "vault.db"),
		store.Options{Now: cfg.vault.Now, Fingerprint: ring.Fingerprint(), Workspace: cfg.workspace})
	if err != nil {
		t.Fatalf("store.Open: %v", err)
	}
	err = db.Update(t.Context(), nil, func(tx *store.Tx) error {
		for _, e := range events {
			if err := tx.AddEvent(e); err != nil {
				return err
			}
		}
		return nil
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatalf("add events: %v", err)
	}
}

// Every operation of the API that changes a record writes its fields before and after to the audit log, in words too, with
// the names of the records. "whole" operations create, delete, or restore a record; "none" change no record. An operation
// that this test doesn't know fails it.
func TestEveryOperationIsLogged(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	abstract := srv.createID(t, abstractCall(201, "", filePart("files", "a.pdf", pdf(1)), filePart("files", "b.pdf", pdf(2)),
		filePart("files", "c.pdf", pdf(3))))
	deleted := srv.createID(t, abstractCall(201, ""))
	order := srv.createID(t, orderCall(`{"order_number":"T-1"}`, 201, ""))
	deletedOrder := srv.createID(t, orderCall(`{"order_number":"T-2"}`, 201, ""))
	for _, body := range []string{`{"type":"Warranty Deed"}`, `{"type":"Mortgage"}`, `{}`} {
		srv.do(t, jsonCall("POST", "/abstracts/"+abstract+"/instruments", body, 201))
	}
	for range 2 {
		srv.do(t, jsonCall("POST", "/abstracts/"+abstract+"/notes", `{"text":"As typed"}`, 201))
		srv.do(t, call{as: "full", method: "POST", path: "/v1/file-vault/folders", header: []string{asJSON}, status: 201,
			body: fmt.Sprintf(`{"name":"Box %d"}`, srv.lastSeq(t))})
	}
	const whole, none = "whole", "none"
	type step struct{ path, body, fields string }
	steps := []struct {
		operation string
		step
	}{
		{"PATCH /abstracts/{id}", step{body: `{"county":"Kent","custom_fields":{"file_number":"24-1"}}`,
			fields: "county custom_fields.file_number"}},
		{"POST /abstracts", step{fields: whole, body: `{}`}},
		{"POST /abstracts/{id}/files", step{fields: whole}},
		{"PATCH /orders/{id}", step{body: `{"due_date":"2026-06-15"}`, fields: "due_date"}},
		{"POST /abstracts/bulk", step{body: fmt.Sprintf(`{"ids":[%q],"set":{"city":"Salem","due_date":"2026-12-24"}}`, abstract),
			fields: "city due_date"}},
		{"POST /orders/bulk", step{body: fmt.Sprintf(`{"ids":[%q],"set":{"city":"Salem"}}`, order), fields: "city"}},
		{"POST /instruments/bulk", step{body: `{"ids":[1],"set":{"book":"77"}}`, fields: "book"}},
		{"POST /file-vault/files/bulk", step{body: `{"ids":[1],"set":{"filename":"y.pdf"}}`, fields: "filename"}},
		{"POST /file-vault/files/pages", step{body: `{"name":"Split","parts":[{"file_id":1}]}`, fields: whole}},
		{"PUT /orders/{id}/assignment", step{body: `{"assignee":null,"due_date":"2026-11-30"}`, fields: "due_date"}},
		{"POST /orders", step{body: `{"order_number":"T-3"}`, fields: whole}},
		{"PATCH /file-vault/folders/{n}", step{path: "/file-vault/folders/5", body: `{"name":"Box 10"}`, fields: "name"}},
		{"POST /file-vault/folders", step{body: `{"name":"Box 11"}`, fields: whole}},
		{"POST /file-vault/upload", step{fields: whole}},
		{"PUT /abstracts/{id}/order", step{body: fmt.Sprintf(`{"order_id":%q}`, order), fields: "order_id"}},
		{"DELETE /abstracts/{id}/order", step{fields: "order_id"}},
		{"PUT /abstracts/{id}/assignment", step{body: `{"due_date":"2026-12-01"}`, fields: "due_date"}},
		{"PUT /abstracts/{id}/names-run", step{body: `{"rows":[{"name":"Jones, Bea","result":"judgment found"}]}`, fields: "names_run"}},
		{"PUT /abstracts/{id}/requirements", step{body: `{"rows":[{"kind":"requirement","text":"Release"}]}`, fields: "requirements"}},
		{"PUT /phrases", step{body: `{"rows":[{"name":"Release","kind":"requirement","text":"Release of {type}."}]}`, fields: "phrases"}},
		{"PUT /abstracts/{id}/instruments/sequence", step{body: `{"instruments":[3,1,2]}`, fields: "sequence"}},
		{"POST /abstracts/{id}/instruments", step{body: `{"book":"1"}`, fields: whole}},
		{"PATCH /instruments/{n}",
			step{body: `{"book":"12","grantors":["Smith"],"documents":[{"file_id":1}],"relations":[{"kind":"releases","instrument_id":2}]}`,
				fields: "book grantors documents relations"}},
		{"DELETE /instruments/{n}", step{path: "/instruments/3", fields: whole}},
		{"POST /instruments/{n}/restore", step{path: "/instruments/3/restore", fields: whole}},
		{"POST /abstracts/{id}/notes", step{body: `{"text":"x"}`, fields: "text"}},
		{"POST /orders/{id}/notes", step{body: `{"text":"x"}`, fields: "text"}},
		{"POST /file-vault/files/{n}/notes", step{body: `{"text":"x","page":1}`, fields: "text page"}},
		{"PATCH /notes/{n}", step{body: `{"text":"As changed"}`, fields: "text"}},
		{"DELETE /notes/{n}", step{path: "/notes/2", fields: "text"}},
		{"POST /notes/{n}/restore", step{path: "/notes/2/restore", fields: "text"}},
		{"POST /abstracts/{id}/certificate", step{body: `{"effective_date":"2026-05-01"}`,
			fields: "effective_date custom_fields.effective_date"}},
		{"POST /abstracts/{id}/certificate/{n}/void", step{path: "/abstracts/" + abstract + "/certificate/1/void",
			body: `{"reason":"Wrong date"}`, fields: "void_reason"}},
		{"POST /abstracts/{id}/bring-down", step{fields: whole}},
		{"POST /views",
			step{body: `{"name":"x","record":"orders","filters":{"county":"Kent"},"columns":["status"],"sort":"due_date","shared":true}`,
				fields: "name filters sort columns shared"}},
		{"PATCH /views/{n}", step{body: `{"name":"y","filters":null}`, fields: "name filters"}},
		{"DELETE /views/{n}", step{fields: "name columns"}},
		{"PATCH /file-vault/files/{n}", step{path: "/file-vault/files/2", body: `{"filename":"z.pdf","folder_id":5}`,
			fields: "filename folder_id abstract_id"}},
		{"DELETE /file-vault/files/{n}", step{path: "/file-vault/files/2", fields: whole}},
		{"POST /file-vault/files/{n}/restore", step{path: "/file-vault/files/2/restore", fields: whole}},
		{"DELETE /abstracts/{id}/files/{n}", step{path: "/abstracts/" + abstract + "/files/3", fields: whole}},
		{"DELETE /file-vault/folders/{n}", step{path: "/file-vault/folders/6", fields: whole}},
		{"DELETE /abstracts/{id}", step{path: "/abstracts/" + deleted, fields: whole}},
		{"POST /abstracts/{id}/restore", step{path: "/abstracts/" + deleted + "/restore", fields: whole}},
		{"DELETE /orders/{id}", step{path: "/orders/" + deletedOrder, fields: whole}},
		{"POST /orders/{id}/restore", step{path: "/orders/" + deletedOrder + "/restore", fields: whole}},
		{"POST /abstracts/{id}/runsheet", step{fields: none}},
		{"POST /uploads", step{fields: none}}, {"PATCH /uploads/{id}", step{fields: none}}, {"DELETE /uploads/{id}", step{fields: none}},
	}
	known := map[string]bool{}
	for _, s := range steps {
		known[s.operation] = true
	}
	for path, item := range loadDescription(t).Paths.Map() {
		for method := range item.Operations() {
			if op := method + " " + path; len(item.Servers) == 0 && method != http.MethodGet && method != http.MethodHead && !known[op] {
				t.Errorf("%s is missing in this test: say which fields its audit entry has before and after", op)
			}
		}
	}
	for _, s := range steps {
		if s.fields == none {
			continue
		}
		before := srv.lastSeq(t)
		method, path, _ := strings.Cut(s.operation, " ")
		route := path
		path = cmp.Or(s.path, strings.NewReplacer("{id}", map[bool]string{true: order, false: abstract}[strings.HasPrefix(path, "/orders")],
			"{n}", "1").Replace(path))
		r := call{as: "full", method: method, path: "/v1" + path, route: "/v1" + route, body: s.body, status: map[string]int{"PATCH": 200,
			"PUT": 200, "DELETE": 204, "POST": 201}[method]}
		switch {
		case strings.HasSuffix(path, "/restore"), strings.HasSuffix(path, "/void"), strings.HasSuffix(path, "/bulk"):
			r.status = 200
		case strings.HasSuffix(path, "/pages"):
			r.status = 202
		case strings.HasSuffix(path, "/files") || strings.HasSuffix(path, "/upload"):
			r.header, r.body = []string{asForm}, formBody(filePart(map[bool]string{true: "files[]", false: "files"}[strings.HasSuffix(path,
				"/files")], "n.pdf", pdf(4)))
		}
		if s.body != "" {
			r.header = []string{asJSON}
		}
		srv.do(t, r)
		events := slices.DeleteFunc(srv.listEvents(t, ""), func(e apitypes.Event) bool { return e.Seq <= before })
		checkLoggedFields(t, s.operation, events, strings.Fields(strings.ReplaceAll(s.fields, whole, "")))
	}
}

// checkLoggedFields checks that events have the names of their records, and fields before and after, in words.
func checkLoggedFields(t *testing.T, operation string, events []apitypes.Event, fields []string) {
	t.Helper()
	if len(events) == 0 {
		t.Errorf("%s wrote no audit entry", operation)
	}
	var changes []apitypes.Change
	for _, e := range events {
		changes = append(changes, e.Changes...)
		if e.Record != nil && e.Names[*e.Record] == "" {
			t.Errorf("%s: %s of %s has no name", operation, e.Kind, *e.Record)
		}
	}
	for _, field := range fields {
		at := slices.IndexFunc(changes, func(c apitypes.Change) bool { return c.Field == field && string(c.From) != string(c.To) })
		moved := field == "abstract_id" // the text of folder_id includes it
		if at < 0 || changes[at].Text == nil && !moved {
			t.Errorf("%s: no audit entry has %s before and after, in words: %+v", operation, field, changes)
		}
	}
}

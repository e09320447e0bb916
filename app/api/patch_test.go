package api_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// patchCall returns a call that sends a PATCH request for the record at path.
func patchCall(path, body string, status int, want string) call {
	return call{as: "full", method: "PATCH", path: path, header: []string{asJSON}, body: body, status: status, want: want}
}

// deleteCall returns a call that moves the record at path to the trash.
func deleteCall(path string, status int) call {
	return call{as: "full", method: "DELETE", path: path, status: status}
}

// restoreCall returns a call that restores the record at path from the trash.
func restoreCall(path string, status int) call {
	return call{as: "full", method: "POST", path: path + "/restore", status: status}
}

// createID creates a record and returns its ID.
func (srv *testServer) createID(t testing.TB, r call) string {
	t.Helper()
	return decodeBody[struct{ Data struct{ ID string } }](t, srv.do(t, r)).Data.ID
}

func TestPatchOrder(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	path := "/v1/orders/" + srv.createID(t,
		orderCall(`{"order_number":"T-1","city":"Salem","custom_fields":{"rush":"Rush","client":"C"}}`, 201, ""))
	text := func(number, status, due, city, custom, updated string) string {
		return `{"data":{"id":"ID","order_number":"` + number + `","status":"` + status + `","due_date":` + due +
			`,"address":null,"city":` + city + `,"county":null,"state":null,` +
			`"custom_fields":` + custom + `,"created_at":"2026-05-29T04:00:00.000000Z","updated_at":"2026-05-29T04:00:` + updated + `Z"}}`
	}
	all := `{"client":"C","rush":"Rush"}`
	srv.clock.Advance(time.Second)
	srv.do(t, patchCall(path, `{}`, 200, text("T-1", "active", "null", `"Salem"`, all, "00.000000")))
	srv.do(t, patchCall(path, `[1]`, 200, text("T-1", "active", "null", `"Salem"`, all, "00.000000")))
	srv.do(t, call{as: "full", method: "PATCH", path: path, status: 200, want: text("T-1", "active", "null", `"Salem"`, all, "00.000000")})
	srv.do(t, patchCall(path, `{"city":" Salem ","id":"x","zip":1,"created_at":null}`, 200,
		text("T-1", "active", "null", `"Salem"`, all, "00.000000")))
	srv.do(t, patchCall(path, `{"city":null,"due_date":"2026-07-01","custom_fields":{"rush":null,"notes":"n","absent":"x"}}`, 200,
		text("T-1", "active", `"2026-07-01"`, "null", `{"client":"C","notes":"n"}`, "01.000000")))
	srv.do(t, patchCall(path, `{"status":"completed","order_number":" T-2 ","due_date":""}`, 200,
		text("T-2", "completed", "null", "null", `{"client":"C","notes":"n"}`, "01.000001")))
	srv.do(t, patchCall(path, `{"custom_fields":null}`, 200, text("T-2", "completed", "null", "null", `{}`, "01.000002")))
	srv.do(t, call{as: "read", method: "GET", path: path, status: 200, want: text("T-2", "completed", "null", "null", `{}`, "01.000002")})
	for _, c := range []struct{ body, want string }{
		{`{"order_number":null}`, invalidField("order_number", "The order number field is required.")},
		{`{"order_number":7}`, invalidField("order_number", "The order number field must be a string.")},
		{`{"status":null}`, invalidField("status", "The status field is required.")},
		{`{"status":"Completed"}`, invalidField("status", "The selected status is invalid.")},
		{`{"due_date":"x","city":[],"custom_fields":{"rush":"?"}}`,
			`{"message":"The due date field must match the format Y-m-d. (and 2 more errors)",` +
				`"errors":{"due_date":["The due date field must match the format Y-m-d."],` +
				`"city":["The city field must be a string."],"custom_fields.rush":["The selected rush is invalid."]}}`},
		{`{"custom_fields":"x"}`, invalidField("custom_fields", "The custom fields field must be an array.")},
	} {
		t.Run(c.body, func(t *testing.T) {
			srv.do(t, patchCall(path, c.body, 422, c.want))
		})
	}
	srv.do(t, patchCall(path, `{`, 400, ""))
	srv.do(t, patchCall(path, `{"a":1,"a":2}`, 400, ""))
	r := patchCall(path, `{}`, 415, messageBody("The Content-Type must be application/json."))
	r.header = []string{"Content-Type: text/json"}
	srv.do(t, r)
}

func TestPatchAbstract(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	path := "/v1/abstracts/" + srv.createID(t,
		abstractCall(201, "", fieldPart("county", "Essex"), filePart("files", "a.pdf", pdf(1)), filePart("files", "b.pdf", pdf(1))))
	r := patchCall(path,
		`{"status":"Complete","tax_map":"7-1","county":"","custom_fields":{"search_type":"30 Year"},"files":[2,"1"],"template_id":1}`, 200, "")
	r.has = []string{`"status":"Complete"`, `"tax_map":"7-1"`, `"county":null`, `"custom_fields":{"search_type":"30 Year"}`}
	body := string(srv.do(t, r).body)
	if a, b := strings.Index(body, `"a.pdf"`), strings.Index(body, `"b.pdf"`); b < 0 || b > a {
		t.Errorf("files are out of order: %s", body)
	}
	for _, c := range []struct{ body, want string }{
		{`{"status":"Nowhere"}`, invalidField("status", "The selected status is invalid.")},
		{`{"files":{}}`, invalidField("files", "The files field must be an array.")},
		{`{"files":null}`, invalidField("files", "The files field must be an array.")},
		{`{"files":[1]}`, invalidField("files", "The selected files is invalid.")},
		{`{"files":[1,1]}`, invalidField("files", "The selected files is invalid.")},
		{`{"files":[1,2,3]}`, invalidField("files", "The selected files is invalid.")},
		{`{"files":[1,-2]}`, invalidField("files", "The selected files is invalid.")},
		{`{"template_id":2}`, invalidField("template_id", "The template id field cannot be changed.")},
	} {
		t.Run(c.body, func(t *testing.T) {
			srv.do(t, patchCall(path, c.body, 422, c.want))
		})
	}
}

func TestPatchFileAndFolder(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t, withoutFolders)
	srv.do(t, folderCall(`{"name":"a"}`, 201, ""))
	srv.do(t, folderCall(`{"name":"b","parent_id":1}`, 201, ""))
	srv.do(t, uploadCall("full", 201, fieldPart("folder_id", "1"), filePart("files", "a.pdf", pdf(1))))
	srv.do(t, abstractCall(201, "", filePart("files", "of.pdf", pdf(1))))
	const file = "/v1/file-vault/files/1"
	srv.do(t, patchCall(file, `{"filename":"../x/Deed\u202e 1903.PDF","folder_id":"2"}`, 200,
		`{"data":`+strings.Replace(storedPDF(1, "Deed 1903.PDF", "2", 1), `"PDF"`, `"pdf"`, 1)+`}`))
	srv.do(t, patchCall(file, `{"folder_id":null}`, 200, `{"data":`+storedPDF(1, "Deed 1903.PDF", "null", 1)+`}`))
	for _, c := range []struct{ path, body, want string }{
		{file, `{"filename":"deed.txt"}`, invalidField("filename", "The filename must keep its .pdf extension.")},
		{file, `{"filename":" "}`, invalidField("filename", "The filename field is required.")},
		{file, `{"filename":null}`, invalidField("filename", "The filename field is required.")},
		{file, `{"filename":1}`, invalidField("filename", "The filename field must be a string.")},
		{file, `{"folder_id":99}`, invalidField("folder_id", "The selected folder id is invalid.")},
		{file, `{"folder_id":"x"}`, invalidField("folder_id", "The folder id field must be an integer.")},
		{"/v1/file-vault/folders/1", `{"name":""}`, invalidField("name", "The name field is required.")},
		{"/v1/file-vault/folders/1", `{"parent_id":2}`, invalidField("parent_id", "The selected parent id is invalid.")},
		{"/v1/file-vault/folders/1", `{"parent_id":1}`, invalidField("parent_id", "The selected parent id is invalid.")},
	} {
		t.Run(c.path, func(t *testing.T) {
			srv.do(t, patchCall(c.path, c.body, 422, c.want))
		})
	}
	srv.do(t, patchCall("/v1/file-vault/folders/2", `{"name":" A ","parent_id":null}`, 422,
		invalidField("name", "The name has already been taken.")))
	srv.do(t, patchCall("/v1/file-vault/folders/2", `{"name":" C ","parent_id":null}`, 200, `{"data":{"id":2,"name":"C","parent_id":null}}`))
	srv.do(t, call{as: "read", method: "GET", path: "/v1/file-vault/folders/2", status: 200,
		want: `{"data":{"id":2,"name":"C","parent_id":null}}`})
	r := patchCall("/v1/file-vault/files/2", `{"folder_id":1}`, 200, "")
	srv.do(t, r)
}

// The ETag of a record changes only if its version changes. A change with an outdated
// If-Match header is rejected.
func TestIfMatch(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	order1 := "/v1/orders/" + srv.createID(t, orderCall(`{"order_number":"T-1"}`, 201, ""))
	order2 := "/v1/orders/" + srv.createID(t, orderCall(`{"order_number":"T-1"}`, 201, ""))
	abstract1 := "/v1/abstracts/" + srv.createID(t, abstractCall(201, ""))
	tag := func(path string) string {
		t.Helper()
		got := srv.do(t, call{as: "read", method: "GET", path: path, header: []string{"If-None-Match: *", `If-Match: "x"`}, status: 200})
		if head := srv.do(t, call{as: "read", method: "HEAD", path: path, status: 200}); head.Header.Get("ETag") != got.Header.Get("ETag") {
			t.Errorf("ETag of HEAD = %q, want %q", head.Header.Get("ETag"), got.Header.Get("ETag"))
		}
		return got.Header.Get("ETag")
	}
	first := tag(order1)
	if others := []string{tag(order2), tag(abstract1)}; slices.Contains(others, first) || others[0] == others[1] {
		t.Errorf("ETags of three records = %s, %q, want different ones", first, others)
	}
	if srv.do(t, call{as: "full", method: "GET", path: order1, header: []string{"If-None-Match: " + first}, status: 200}); tag(order1) != first {
		t.Error("the ETag changed, but the record didn't")
	}
	const stale = "The record has changed since you read it. Read it again."
	send := func(method string, status int, match ...string) reply {
		t.Helper()
		r := patchCall(order1, fmt.Sprintf(`{"city":"c%d"}`, time.Now().UnixNano()), status, "")
		r.method = method
		for _, m := range match {
			r.header = append(r.header, "If-Match: "+m)
		}
		if status == 412 {
			r.want = messageBody(stale)
		}
		return srv.do(t, r)
	}
	second := send("PATCH", 200, first).Header.Get("ETag")
	if second == first || second != tag(order1) {
		t.Errorf("ETag after a change = %q, want another one than %q, the same as of GET", second, first)
	}
	for _, bad := range [][]string{
		{first}, {tag(order2)}, {tag(abstract1)}, {"W/" + second}, {strings.Trim(second, `"`)}, {`""`}, {""}, {`"`}, {second + second},
		{second + " x"}, {"*, " + second}, {`"*"`}, {second, "*"},
		{`"x", W/` + second}, {"'" + strings.Trim(second, `"`) + "'"}, {`"` + strings.Repeat("A", 22) + `"`}, {`"1"`},
	} {
		for _, method := range []string{"PATCH", "DELETE"} {
			send(method, 412, bad...)
		}
	}
	third := send("PATCH", 200, `"x,y" , ,`+second+`, W/"z"`).Header.Get("ETag")
	fourth := send("PATCH", 200, first, third).Header.Get("ETag")
	send("PATCH", 200, " * ")
	send("DELETE", 412, fourth)
	send("DELETE", 204, tag(order1))
	send("PATCH", 404, "*")
	send("PATCH", 404, fourth)
	srv.do(t, call{as: "full", method: "POST", path: order1 + "/restore", status: 200})

	// Adding or removing a file changes the version of the abstract. Processing a file
	// doesn't.
	before := tag(abstract1)
	srv.do(t, call{as: "full", method: "POST", path: abstract1 + "/files", header: []string{asForm},
		body: formBody(filePart("files", "a.txt", "Know all men")), status: 201})
	after := tag(abstract1)
	etagAndState := func(path string) string {
		return tag(path) + fmt.Sprint(strings.Contains(string(srv.do(t, getList(path)).body), `"is_processing":true`))
	}
	if state := etagAndState("/v1/file-vault/files/1"); before == after || state != tag("/v1/file-vault/files/1")+"true" {
		t.Errorf("ETag before and after adding a file = %s, %s, state %s, want a change and no processed file", before, after, state)
	}
	srv.do(t, call{as: "full", method: "DELETE", path: abstract1 + "/files/1", status: 204})
	if removed := tag(abstract1); removed == after || removed == before {
		t.Errorf("ETags before adding, after adding, and after removing a file = %s, %s, %s, want different ones", before, after, removed)
	}
}

// Of several concurrent changes with the same If-Match header, one succeeds and the others
// get a 412.
func TestConcurrentPatches(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	path := "/v1/abstracts/" + srv.createID(t, abstractCall(201, "", fieldPart("city", "Salem")))
	read := srv.do(t, call{as: "full", method: "GET", path: path, status: 200}).Header.Get("ETag")
	var wait sync.WaitGroup
	statuses := make(chan int, 8)
	for i := range cap(statuses) {
		wait.Go(func() {
			r := patchCall(path, fmt.Sprintf(`{"address":"%d Elm Street"}`, i), 0, "")
			r.header = append(r.header, "If-Match: "+read)
			statuses <- srv.doOnce(t, r).StatusCode
		})
	}
	wait.Wait()
	close(statuses)
	done := map[int]int{}
	for status := range statuses {
		done[status]++
	}
	if done[200] != 1 || done[412] != 7 {
		t.Errorf("statuses = %v, want one 200 and seven 412", done)
	}
	now := srv.do(t, call{as: "full", method: "GET", path: path, status: 200,
		has: []string{`"city":"Salem"`, ` Elm Street"`}}).Header.Get("ETag")
	r := patchCall(path, `{"city":"Lynn"}`, 200, "")
	r.header, r.has = append(r.header, "If-Match: "+now), []string{`"city":"Lynn"`, ` Elm Street"`}
	srv.do(t, r)
}

// A record in the trash gets a 404 and does not appear in lists. After it is restored, it
// is the same as before.
func TestTrash(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	abstract1 := srv.createID(t, abstractCall(201, "", fieldPart("address", "12 Elm"), filePart("files", "a.pdf", pdf(1)),
		filePart("files", "b.pdf", pdf(2))))
	order1 := srv.createID(t, orderCall(`{"order_number":"T-1"}`, 201, ""))
	srv.do(t, uploadCall("full", 201, fieldPart("folder_id", "1"), filePart("files", "c.pdf", pdf(3))))
	for _, c := range []struct{ path, kind, id, heading, list string }{
		{"/v1/abstracts/" + abstract1, "abstract", `"` + abstract1 + `"`, "12 Elm", "/v1/abstracts"},
		{"/v1/orders/" + order1, "order", `"` + order1 + `"`, "T-1", "/v1/orders"},
		{"/v1/file-vault/files/3", "file", "3", "c.pdf", "/v1/file-vault/files?folder_id=1"},
	} {
		t.Run(c.path, func(t *testing.T) {
			before := srv.do(t, call{as: "read", method: "GET", path: c.path, status: 200})
			srv.do(t, restoreCall(c.path, 200)) // the record is no longer in the trash, so nothing changes
			got := srv.do(t, deleteCall(c.path, 204))
			if len(got.body) != 0 || got.Header.Get("Content-Type") != "" || got.Header.Get("Content-Length") != "" {
				t.Errorf("204 has the headers %v and body %s, want no body", got.Header, got.body)
			}
			srv.do(t, call{as: "full", method: "GET", path: c.path, status: 404, want: messageBody("Not found.")})
			srv.do(t, deleteCall(c.path, 404))
			srv.do(t, patchCall(c.path, `{}`, 404, ""))
			srv.checkNames(t, c.list)
			trashed := getList("/v1/trash?kind=" + strings.ToUpper(c.kind))
			got = srv.do(t, trashed)
			if want := `{"data":[{"kind":"` + c.kind + `","id":` + c.id + `,"heading":"` + c.heading +
				`","deleted_at":"2026-05-29T04:00:00.000000Z","deleted_by":{"kind":"key","id":1,"name":"full","address":"127.0.0.1"},` +
				`"restorable_until":"2026-06-28T04:00:00.000000Z","retained_until":null,"abstract_id":null}],"links"`; !strings.HasPrefix(string(got.body), want) {
				t.Errorf("trash = %s, want the prefix %s", got.body, want)
			}
			r := restoreCall(c.path, 200)
			if again := srv.do(t, r); string(again.body) != string(before.body) || again.Header.Get("ETag") == "" {
				t.Errorf("restored record = %s, want %s and an ETag", again.body, before.body)
			}
			srv.checkNames(t, "/v1/trash")
			srv.do(t, call{as: "read", method: "GET", path: c.path, status: 200})
		})
	}
	srv.do(t, deleteCall("/v1/abstracts/"+abstract1, 204))
	for _, path := range []string{"/v1/file-vault/files/1", "/v1/file-vault/files/1/download", "/v1/file-vault/files/2"} {
		srv.do(t, call{as: "full", method: "GET", path: path, status: 404})
	}
	r := restoreCall("/v1/file-vault/files/1", 409) // the abstract of the file is in the trash
	srv.do(t, r)
	srv.do(t, restoreCall("/v1/abstracts/"+abstract1, 200))
	srv.do(t, call{as: "full", method: "GET", path: "/v1/file-vault/files/1/download", status: 302})
	srv.do(t, deleteCall("/v1/orders/"+order1, 204))
	srv.clock.Advance(30 * 24 * time.Hour)
	srv.do(t, restoreCall("/v1/orders/"+order1, 404))
}

func TestDetach(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	path := "/v1/abstracts/" + srv.createID(t,
		abstractCall(201, "", filePart("files", "a.pdf", pdf(1)), filePart("files", "b.pdf", pdf(2)), filePart("files", "c.pdf", pdf(3))))
	other := "/v1/abstracts/" + srv.createID(t, abstractCall(201, ""))
	for _, wrong := range []string{other + "/files/2", path + "/files/99", path + "/files/0", path + "/files/x", "/v1/abstracts/x/files/2"} {
		srv.do(t, deleteCall(wrong, 404))
	}
	tag := func(n string) string {
		return srv.do(t, call{as: "full", method: "GET", path: "/v1/file-vault/files/" + n, status: 200}).Header.Get("ETag")
	}
	r := deleteCall(path+"/files/2", 412)
	r.header = []string{"If-Match: " + tag("1")}
	srv.do(t, r)
	r.status, r.header = 204, []string{"If-Match: " + tag("2")}
	srv.do(t, r)
	srv.do(t, deleteCall(path+"/files/2", 404))
	srv.checkNames(t, "/v1/file-vault/files", "c.pdf", "a.pdf")
	srv.checkNames(t, "/v1/trash", "b.pdf")
	srv.do(t, restoreCall("/v1/file-vault/files/2", 200))
	body := string(srv.do(t, call{as: "full", method: "GET", path: path, status: 200}).body)
	if a, b, c := strings.Index(body, "a.pdf"), strings.Index(body, "b.pdf"), strings.Index(body, "c.pdf"); a > b || b > c || a < 0 {
		t.Errorf("files are out of order: %s", body)
	}
}

func TestFolderRemoved(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t, withoutFolders)
	srv.do(t, folderCall(`{"name":"a"}`, 201, ""))
	srv.do(t, folderCall(`{"name":"b","parent_id":1}`, 201, ""))
	srv.do(t, uploadCall("full", 201, fieldPart("folder_id", "2"), filePart("files", "a.pdf", pdf(1))))
	srv.do(t, deleteCall("/v1/file-vault/folders/1", 409))
	srv.do(t, deleteCall("/v1/file-vault/folders/2", 409))
	srv.do(t, deleteCall("/v1/file-vault/files/1", 204))
	r := deleteCall("/v1/file-vault/folders/2", 412)
	r.header = []string{`If-Match: "x"`}
	srv.do(t, r)
	srv.do(t, deleteCall("/v1/file-vault/folders/2", 204))
	srv.do(t, deleteCall("/v1/file-vault/folders/2", 404))
	srv.do(t, deleteCall("/v1/file-vault/folders/1", 204))
	srv.do(t, call{as: "read", method: "GET", path: "/v1/file-vault/folders", status: 200, want: `{"folders":[]}`})
	srv.do(t, call{as: "full", method: "POST", path: "/v1/file-vault/files/1/restore", status: 200, has: []string{`"folder_id":null`}})
}

// A restore request may have an empty body or a JSON object.
func TestRestoreBodies(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	path := "/v1/orders/" + srv.createID(t, orderCall(`{"order_number":"T-1"}`, 201, "")) + "/restore"
	for _, c := range []struct {
		header, body string
		status       int
	}{{asJSON, "", 200}, {asJSON, `{"order_number":7}`, 200}, {asJSON, `{`, 400}, {"Content-Type: text/plain", "", 415},
		{"X: y", "text", 415}} {
		t.Run(c.header, func(t *testing.T) {
			srv.do(t, call{as: "full", method: "POST", path: path, header: []string{c.header}, body: c.body, status: c.status})
		})
	}
	srv.do(t, restoreCall("/v1/orders/x", 404))
	srv.do(t, restoreCall("/v1/orders/"+srv.vault.Secrets.IDs("orders").Encode(99), 404))
}

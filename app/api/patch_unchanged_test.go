package api_test

import (
	"encoding/json"
	"testing"
	"time"
)

// A PATCH request whose body is the response of a GET request changes nothing, including
// the version.
func TestPatchWithUnchangedRecord(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	const custom = `{"file_number":"A & B <c> \u2028","search_type":"30 Year","indices_searched":["Plats","UCC"],"names_run":" two \n lines "}`
	fullAbstract := srv.createID(t, abstractCall(201, "", fieldPart("county", "Essex"), fieldPart("custom_fields", custom),
		filePart("files", "a.pdf", pdf(1)), filePart("files", "b.pdf", pdf(1))))
	bareAbstractID := srv.createID(t, abstractCall(201, "", fieldPart("template_id", "3")))
	fullOrder := srv.createID(t, orderCall(
		`{"order_number":" T & <1> ","due_date":"2026-07-01","custom_fields":{"rush":"Rush","client":"\u003cC\u003e"}}`, 201, ""))
	bareOrderID := srv.createID(t, orderCall(`{"order_number":"T-2"}`, 201, ""))
	srv.do(t, uploadCall("full", 201, fieldPart("folder_id", "1"), filePart("files", "c d.PDF", pdf(1))))
	subfolder := decodeBody[struct{ Folder struct{ ID json.Number } }](t,
		srv.do(t, call{as: "full", method: "POST", path: "/v1/file-vault/folders", header: []string{asJSON},
			body: `{"name":"Deeds","parent_id":1}`, status: 201})).Folder.ID
	srv.clock.Advance(time.Second)
	for _, path := range []string{
		"/abstracts/" + fullAbstract, "/abstracts/" + bareAbstractID, "/orders/" + fullOrder, "/orders/" + bareOrderID,
		"/file-vault/files/1", "/file-vault/files/3", "/file-vault/folders/1", "/file-vault/folders/" + subfolder.String(),
	} {
		read := srv.do(t, getList("/v1"+path))
		record := decodeBody[struct{ Data json.RawMessage }](t, read).Data
		unchanged := patchCall("/v1"+path, string(record), 200, "")
		unchanged.headers = map[string]string{"ETag": read.Header.Get("ETag")}
		before := decodeBody[struct{ Data map[string]any }](t, read)
		after := decodeBody[struct{ Data map[string]any }](t, srv.do(t, unchanged))
		delete(before.Data, "is_processing") // becomes false when processing ends
		delete(after.Data, "is_processing")
		if got, want := canonical(t, after.Data), canonical(t, before.Data); got != want {
			t.Errorf("%s after PATCH = %s, want %s", path, got, want)
		}
	}
	// Files may be sent as objects, but only their IDs are used.
	for _, c := range []struct {
		files  string
		status int
	}{
		{`[{"id":2,"filename":"x"},1]`, 200}, {`[{"id":"1"},{"id":2}]`, 200}, {`[{"id":1},{"id":1}]`, 422}, {`[{},{"id":2}]`, 422},
		{`[{"id":null},2]`, 422}, {`[[1],2]`, 422},
	} {
		t.Run(c.files, func(t *testing.T) {
			srv.do(t, patchCall("/v1/abstracts/"+fullAbstract, `{"files":`+c.files+`}`, c.status, ""))
		})
	}
}

// canonical returns JSON that can be compared. It omits is_processing because background
// processing changes it.
func canonical(t *testing.T, v map[string]any) string {
	t.Helper()
	files, _ := v["files"].([]any)
	for _, f := range files {
		if file, ok := f.(map[string]any); ok {
			delete(file, "is_processing")
		}
	}
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatalf("json.Marshal: %v", err)
	}
	return string(raw)
}

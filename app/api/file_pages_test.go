package api_test

import (
	"fmt"
	"testing"
)

// A file can be created from pages of others, and names them even after they were renamed or deleted.
func TestFileFromPages(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	abstract := srv.createID(t, abstractCall(201, "", filePart("files", "packet.pdf", pdf(9)), filePart("files", "b.pdf", pdf(2))))
	body := `{"name":"Deed","abstract_id":"` + abstract + `","parts":[{"file_id":1,"pages":"3-7","rotate":90},{"file_id":2,"pages":null}]}`
	srv.do(t, call{as: "full", method: "POST", path: "/v1/file-vault/files/pages", header: []string{asJSON}, body: body, status: 202})
	for _, id := range []string{"1", "2"} { // access to the originals is recorded
		srv.do(t, call{as: "events", method: "GET", path: "/v1/events?kind=file.downloaded&record=file:" + id, status: 200,
			has: []string{`"as":"pages"`, `"into":"file:3"`}})
	}
	srv.do(t, jsonCall("PATCH", "/file-vault/files/1", `{"filename":"2019 packet.pdf"}`, 200))
	srv.do(t, call{as: "full", method: "DELETE", path: "/v1/file-vault/files/2", status: 204})
	srv.do(t, call{as: "read", method: "GET", path: "/v1/file-vault/files/3/origin", status: 200,
		want: `{"data":[{"file_id":1,"filename":"2019 packet.pdf","pages":"3-7","rotate":90},` +
			`{"file_id":2,"filename":"b.pdf","pages":"1-2","rotate":0}]}`})
	srv.do(t, call{as: "read", method: "GET", path: "/v1/file-vault/files/1/origin", status: 200, want: `{"data":[]}`})
	for body, field := range map[string][2]string{
		`{"name":"x","parts":{}}`:              {"parts", "The parts field must be an array."},
		`{"name":"x","parts":[{"file_id":2}]}`: {"parts.0.file_id", "The selected file id is invalid."},
		`{"name":"x","parts":[{"file_id":1,"page":"3"}]}`: {"parts.0.page",
			"The page field is unknown. A part has file_id, pages, and rotate."},
		`{"name":7,"parts":[7]}`: {"name", "The name field must be a string."},
		`{"name":"x","abstract_id":"k3Jd82Qz","parts":[{"file_id":1}]}`: {"abstract_id", "The selected abstract id is invalid."},
	} {
		r := call{as: "full", method: "POST", path: "/v1/file-vault/files/pages", header: []string{asJSON}, body: body, status: 422}
		errors := decodeBody[struct{ Errors map[string][]string }](t, srv.do(t, r)).Errors
		if got := fmt.Sprint(errors[field[0]]); got != "["+field[1]+"]" {
			t.Errorf("%s: errors %v, want %s: %s", body, errors, field[0], field[1])
		}
	}
}

package api_test

import (
	"encoding/json"
	"net/http"
	"testing"

	"deedkeep/app/apitypes"
)

// The pages of a scan are listed before OCR has read them. The list has pages of its own.
func TestTextOfFile(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	srv.do(t, uploadCall("full", 201, filePart("files", "Scan.pdf", pdf(3))))
	get := func(query string) apitypes.FileText {
		t.Helper()
		return decodeBody[apitypes.FileText](t, srv.do(t, call{as: "read", method: http.MethodGet,
			path: "/v1/file-vault/files/1/text" + query, status: 200}))
	}
	first := get("?per_page=2")
	if got, _ := json.Marshal(first.Data); string(got) != `{"status":"pending","ocr_enabled":false,"pages":[`+
		`{"page":1,"source":"none","confidence":null,"text":""},{"page":2,"source":"none","confidence":null,"text":""}]}` {
		t.Errorf("first page = %s", got)
	}
	if first.Meta.PerPage != 2 || first.Meta.NextCursor == nil || first.Meta.PrevCursor != nil {
		t.Fatalf("meta of the first page = %+v, want a next cursor", first.Meta)
	}
	second := get("?per_page=2&cursor=" + *first.Meta.NextCursor)
	if len(second.Data.Pages) != 1 || second.Data.Pages[0].Page != 3 || second.Links.Next != nil || second.Meta.PrevCursor == nil {
		t.Fatalf("second page = %+v, want page 3 and no next link", second)
	}
	if back := get("?per_page=2&cursor=" + *second.Meta.PrevCursor); len(back.Data.Pages) != 2 || back.Data.Pages[0].Page != 1 {
		t.Errorf("previous page = %+v, want pages 1 and 2", back)
	}
	for path, status := range map[string]int{
		"/v1/file-vault/files/99/text": 404, "/v1/file-vault/files/1/text?cursor=x": 422, "/v1/file-vault/files/1/text?per_page=0": 422,
	} {
		srv.do(t, call{as: "read", method: http.MethodGet, path: path, status: status})
	}
}

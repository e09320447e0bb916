package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"deedkeep/app/model"
)

// Each request example in openapi.yaml works unchanged on a new server.
func TestRequestExamples(t *testing.T) {
	t.Parallel()
	ran := 0
	for path, item := range loadDescription(t).Paths.Map() {
		for method, operation := range item.Operations() {
			if operation.RequestBody == nil || !slices.Contains([]string{http.MethodPost, http.MethodPut, http.MethodPatch}, method) {
				continue
			}
			for media, content := range operation.RequestBody.Value.Content {
				for name, example := range content.Examples {
					ran++
					t.Run(strings.Join([]string{method, path, media, name}, " "), func(t *testing.T) {
						t.Parallel()
						srv := newTestServer(t)
						srv.sendExample(t, method, path, media, example.Value.Value)
					})
				}
			}
		}
	}
	if ran < 20 {
		t.Errorf("examples = %d, want at least 20", ran)
	}
}

// sendExample creates the records that path refers to and sends the example request.
func (srv *testServer) sendExample(t *testing.T, method, path, media string, value any) {
	t.Helper()
	id := ""
	switch {
	case strings.HasPrefix(path, "/abstracts/{id}"):
		id = srv.createID(t, abstractCall(201, "", filePart("files", "a.pdf", pdf(1))))
	case strings.HasPrefix(path, "/orders/{id}"):
		id = srv.createID(t, orderCall(`{"order_number":"T-1"}`, 201, ""))
	case strings.HasPrefix(path, "/views/{n}"):
		srv.do(t, jsonCall("POST", "/views", `{"name":"x","record":"orders"}`, 201))
	case strings.HasPrefix(path, "/file-vault/files/{n}"):
		srv.do(t, uploadCall("full", 201, filePart("files", "a.pdf", pdf(1))))
	case strings.HasPrefix(path, "/instruments/{n}"), strings.HasPrefix(path, "/notes/{n}"):
		abstract := srv.createID(t, abstractCall(201, ""))
		srv.createInstrument(t, abstract, "{}")
		srv.do(t, jsonCall("POST", "/abstracts/"+abstract+"/notes", `{"text":"x"}`, 201))
	}
	body := srv.prepareTitleWork(t, path, id)
	r := call{as: "full", method: method, path: "/v1" + strings.NewReplacer("{id}", id, "{n}", "1").Replace(path), status: 200}
	if method == http.MethodPost && !slices.Contains([]string{"restore", "void", "bulk"}, path[strings.LastIndexByte(path, '/')+1:]) {
		r.status = 201
	}
	if path == "/file-vault/files/pages" {
		r.status = 202
	}
	members, ok := value.(map[string]any)
	if !ok {
		t.Fatalf("example = %v, want an object", value)
	}
	switch media {
	case "application/json":
		raw, err := json.Marshal(value)
		if err != nil {
			t.Fatalf("json.Marshal: %v", err)
		}
		r.header, r.body = []string{asJSON}, body.Replace(string(raw))
	case "application/x-www-form-urlencoded":
		form := url.Values{}
		for name, v := range members {
			form.Set(name, fmt.Sprint(v))
		}
		r.header, r.body = []string{"Content-Type: " + media}, form.Encode()
	case "multipart/form-data":
		var list []string
		for name, v := range members {
			list = append(list, fieldPart(name, fmt.Sprint(v)))
		}
		r.header, r.body = []string{asForm}, formBody(list...)
	default:
		t.Fatalf("media type %s is not supported by this test", media)
	}
	srv.do(t, r)
}

// prepareTitleWork creates the other records that an example names, and returns what to replace in it.
func (srv *testServer) prepareTitleWork(t *testing.T, path, abstract string) *strings.Replacer {
	t.Helper()
	switch path {
	case "/abstracts/{id}/instruments/sequence":
		for range 3 {
			srv.createInstrument(t, abstract, "{}")
		}
	case "/abstracts/{id}/assignment", "/orders/{id}/assignment":
		for n := range 7 {
			draft := model.UserDraft{Name: fmt.Sprint("user", n), Role: model.RoleStaff}
			if _, _, err := srv.vault.Users.Create(t.Context(), model.Actor{Kind: "operator"}, draft); err != nil {
				t.Fatalf("create user: %v", err)
			}
		}
	case "/file-vault/files/pages":
		into := srv.createID(t, abstractCall(201, "", filePart("files", "a.pdf", pdf(1))))
		return strings.NewReplacer("k3Jd82Qz", into, "90000077", "1")
	case "/abstracts/{id}/certificate/{n}/void":
		srv.do(t, jsonCall("POST", "/abstracts/"+abstract+"/certificate", `{"effective_date":"2026-05-01"}`, 201))
	case "/abstracts/{id}/order":
		return strings.NewReplacer("Zz9aB31x", srv.createID(t, orderCall(`{"order_number":"T-1"}`, 201, "")))
	}
	return strings.NewReplacer()
}

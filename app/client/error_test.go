package client_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"deedkeep/app/apitypes"
	"deedkeep/app/client"
)

func readError(t testing.TB, status int, header http.Header, body io.Reader) *client.Error {
	t.Helper()
	c := client.New("http://vault.test", key, roundTripFunc(func(r *http.Request) *http.Response {
		return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(body), Request: r}
	}))
	err := listFolders(t.Context(), c)
	var failure *client.Error
	if !errors.As(err, &failure) {
		t.Fatalf("listFolders with status %d = %v, want a *client.Error", status, err)
	}
	return failure
}

func TestErrorResponses(t *testing.T) {
	id := http.Header{"X-Request-Id": {"req-1"}}
	for _, row := range []struct {
		name   string
		status int
		header http.Header
		body   string
		want   client.Error
		text   string
	}{
		{"no key", 401, id, `{"message":"Unauthenticated."}`,
			client.Error{Status: 401, Message: "Unauthenticated.", RequestID: "req-1"}, "Unauthenticated."},
		{"invalid", 422, id, `{"message":"The b. (and 2 more errors)","errors":{"b":["The b."],"a":["The a.","And a."]}}`,
			client.Error{Status: 422, Message: "The b. (and 2 more errors)", RequestID: "req-1",
				Errors: apitypes.FieldErrors{{Field: "b", Sentences: []string{"The b."}}, {Field: "a", Sentences: []string{"The a.", "And a."}}}},
			"The b. (and 2 more errors)"},
		{"too many", 429, http.Header{"Retry-After": {"30"}}, `{"message":"Too many requests."}`,
			client.Error{Status: 429, Message: "Too many requests."}, "Too many requests."},
		{"server error", 500, id, `{"message":"Server error."}`,
			client.Error{Status: 500, Message: "Server error.", RequestID: "req-1"}, "Server error. (request req-1)"},
		{"a proxy's page", 502, http.Header{}, `<html>nginx</html>`, client.Error{Status: 502, Message: "502 Bad Gateway"}, "502 Bad Gateway"},
		{"empty", 404, http.Header{}, ``, client.Error{Status: 404, Message: "404 Not Found"}, "404 Not Found"},
		{"truncated", 404, http.Header{}, `{"message":"Not fo`, client.Error{Status: 404, Message: "404 Not Found"}, "404 Not Found"},
		{"errors of a list", 422, http.Header{}, `{"message":"m","errors":[]}`,
			client.Error{Status: 422, Message: "422 Unprocessable Entity"}, "422 Unprocessable Entity"},
		{"unknown status", 599, http.Header{}, ``, client.Error{Status: 599, Message: "599"}, "599"},
		{"redirect", 301, http.Header{"Location": {"https://elsewhere.test/"}}, ``,
			client.Error{Status: 301, Message: "301 Moved Permanently to https://elsewhere.test/"},
			"301 Moved Permanently to https://elsewhere.test/"},
	} {
		t.Run(row.name, func(t *testing.T) {
			got := readError(t, row.status, row.header, strings.NewReader(row.body))
			if !reflect.DeepEqual(*got, row.want) {
				t.Errorf("got %+v, want %+v", *got, row.want)
			}
			if got.Error() != row.text {
				t.Errorf("Error() = %q, want %q", got.Error(), row.text)
			}
		})
	}
}

func TestTruncatedErrorResponse(t *testing.T) {
	got := readError(t, 413, http.Header{}, io.MultiReader(strings.NewReader(`{"message":`), broken{}))
	if got.Status != 413 || got.Message != "413 Request Entity Too Large" {
		t.Errorf("got %+v, want status 413 with its standard text", *got)
	}
}

func FuzzErrorResponse(f *testing.F) {
	for _, s := range []string{`{"message":"m","errors":{"a":["b"]}}`, `{"message":1}`, `[`, ``, "\x00",
		`{"message":"m","errors":{"a":[null]}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		got := readError(t, 422, http.Header{}, bytes.NewReader(body))
		if got.Status != 422 || got.Message == "" {
			t.Fatalf("got %+v, want status 422 and a message", *got)
		}
	})
}

package client_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"deedkeep/app/apitypes"
	"deedkeep/app/vaulttest/client"
)

const (
	key          = "dk_live_secret"
	abstractJSON = `{"id":"k3Jd82Qz","template_id":2,"status":null,"address":"12 Elm & Oak","city":null,"county":null,"state":null,` +
		`"tax_map":null,"custom_fields":{"fee":1.50},"files":[` + fileJSON +
		`],"created_at":"2026-05-29T04:00:00.000000Z","updated_at":"2026-05-29T04:00:00.000001Z"}`
	fileJSON = `{"id":77,"filename":"Deed.pdf","file_type":"pdf","mime_type":"application/pdf","page_count":12,"file_size":248115,` +
		`"file_size_human":"242.3 KB","folder_id":null,"is_processing":true,` +
		`"download_url":"https://vault.test/v1/file-vault/files/77/download",` +
		`"created_at":"2026-05-29T04:00:00.000000Z"}`
	orderJSON = `{"id":"Zz9aB31x","order_number":"T-1","status":"active","due_date":"2026-06-15","address":null,` +
		`"city":null,"county":null,"state":null,` +
		`"custom_fields":{},"created_at":"2026-05-29T04:00:00.000000Z","updated_at":"2026-05-29T04:00:00.000000Z"}`
	fieldJSON  = `{"key":"search_type","label":"Search type","type":"dropdown","required":true,"options":["full"]}`
	folderJSON = `{"id":4,"name":"2026","parent_id":1}`
)

func ptr[T any](v T) *T { return &v }

// recordedRequest is the last request that a test server received, with its body.
type recordedRequest struct {
	request *http.Request
	body    string
}

// serve starts a server that sends the same response to every request. It returns the server and the last request.
func serve(t *testing.T, status int, body string) (*httptest.Server, *recordedRequest) {
	t.Helper()
	got := &recordedRequest{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		if err != nil {
			t.Errorf("read request body: %v", err)
		}
		got.request, got.body = r, string(text)
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Request-Id", "req-1")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(srv.Close)
	return srv, got
}

func TestCalls(t *testing.T) {
	type call = func(context.Context, *client.Client) (any, error)
	for _, row := range []struct {
		name     string
		do       call
		status   int
		response string
		want     string // the result as JSON
		line     string
		body     string
	}{
		{"templates", func(ctx context.Context, c *client.Client) (any, error) { return c.Templates(ctx) },
			200, `{"templates":[{"id":1,"name":"Full","default":true,"custom_fields":[` + fieldJSON + `]}]}`,
			`[{"id":1,"name":"Full","default":true,"custom_fields":[` + fieldJSON + `]}]`, "GET /v1/abstract-templates", ""},
		{"abstract", func(ctx context.Context, c *client.Client) (any, error) { return c.Abstract(ctx, "k3Jd82Qz") },
			200, `{"data":` + abstractJSON + `}`, abstractJSON, "GET /v1/abstracts/k3Jd82Qz", ""},
		{"abstract of a hostile id", func(ctx context.Context, c *client.Client) (any, error) { return c.Abstract(ctx, "a/../b?c") },
			200, `{"data":` + abstractJSON + `}`, abstractJSON, "GET /v1/abstracts/a%2F..%2Fb%3Fc", ""},
		{"order fields", func(ctx context.Context, c *client.Client) (any, error) { return c.OrderFields(ctx) },
			200, `{"core_fields":[` + fieldJSON + `],"custom_fields":[]}`, `{"core_fields":[` + fieldJSON + `],"custom_fields":[]}`,
			"GET /v1/order-fields", ""},
		{"order", func(ctx context.Context, c *client.Client) (any, error) {
			return c.CreateOrder(ctx, client.OrderDraft{OrderNumber: "T-1", DueDate: "2026-06-15",
				CustomFields: map[string]any{"tags": []string{"a"}}})
		}, 201, `{"data":` + orderJSON + `}`, orderJSON, "POST /v1/orders",
			`{"order_number":"T-1","due_date":"2026-06-15","custom_fields":{"tags":["a"]}}`},
		{"folders", func(ctx context.Context, c *client.Client) (any, error) { return c.Folders(ctx) },
			200, `{"folders":[` + folderJSON + `]}`, `[` + folderJSON + `]`, "GET /v1/file-vault/folders", ""},
		{"folder", func(ctx context.Context, c *client.Client) (any, error) {
			return c.CreateFolder(ctx, "2026", ptr(int64(1)))
		},
			201, `{"success":true,"message":"m","folder":` + folderJSON + `}`, folderJSON, "POST /v1/file-vault/folders",
			`{"name":"2026","parent_id":1}`},
		{"folder at the top", func(ctx context.Context, c *client.Client) (any, error) { return c.CreateFolder(ctx, "2026", nil) },
			201, `{"success":true,"message":"m","folder":` + folderJSON + `}`, folderJSON, "POST /v1/file-vault/folders",
			`{"name":"2026","parent_id":null}`},
		{"file", func(ctx context.Context, c *client.Client) (any, error) { return c.File(ctx, 77) },
			200, `{"data":` + fileJSON + `}`, fileJSON, "GET /v1/file-vault/files/77", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			srv, got := serve(t, row.status, row.response)
			result, err := row.do(t.Context(), client.New(srv.URL+"/v1/", key, srv.Client().Transport))
			if err != nil {
				t.Fatalf("%s: %v", row.line, err)
			}
			if text, err := apitypes.Marshal(result); err != nil || string(text) != row.want {
				t.Errorf("result (%v)\n%s\nwant\n%s", err, text, row.want)
			}
			if line := got.request.Method + " " + got.request.RequestURI; line != row.line {
				t.Errorf("sent %s, want %s", line, row.line)
			}
			if got.body != row.body {
				t.Errorf("sent the body %s, want %s", got.body, row.body)
			}
			h := got.request.Header
			if h.Get("Authorization") != "Bearer "+key {
				t.Errorf("headers = %v, want the key", h)
			}
			if row.body != "" && h.Get("Content-Type") != "application/json" {
				t.Errorf("Content-Type = %q, want application/json", h.Get("Content-Type"))
			}
		})
	}
}

func TestEmptyAbstractID(t *testing.T) {
	c := client.New("http://vault.test", key, nil)
	if _, err := c.Abstract(t.Context(), ""); err == nil {
		t.Error("Abstract with an empty ID succeeded, want an error")
	}
	if _, err := c.AddFiles(t.Context(), "", nil); err == nil {
		t.Error("AddFiles with an empty ID succeeded, want an error")
	}
}

func TestInvalidBaseURL(t *testing.T) {
	if _, err := client.New("ftp://vault.test", key, nil).Download(t.Context(), 1); err == nil {
		t.Error("Download with the base URL ftp://vault.test succeeded, want an error")
	}
}

// roundTripFunc is a transport that doesn't use the network.
type roundTripFunc func(*http.Request) *http.Response

func (f roundTripFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r), nil }

var errBroken = errors.New("broken")

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errBroken }

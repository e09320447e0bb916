package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"deedkeep/app/apitypes"
	"deedkeep/app/vaulttest/client"
)

func TestControlCalls(t *testing.T) {
	const abstract, order, file, folder = `{"data":` + abstractJSON + `}`, `{"data":` + orderJSON + `}`, `{"data":` + fileJSON + `}`,
		`{"data":` + folderJSON + `}`
	change := client.Patch{"city": nil}
	for _, row := range []struct {
		name     string
		do       func(context.Context, *client.Client) (any, error)
		response string
		line     string
		body     string
	}{
		{"patch abstract", func(ctx context.Context, c *client.Client) (any, error) { return c.PatchAbstract(ctx, "a/b", change) },
			abstract, "PATCH /v1/abstracts/a%2Fb", `{"city":null}`},
		{"restore abstract", func(ctx context.Context, c *client.Client) (any, error) { return c.RestoreAbstract(ctx, "ab") }, abstract,
			"POST /v1/abstracts/ab/restore", ``},
		{"order", func(ctx context.Context, c *client.Client) (any, error) { return c.Order(ctx, "or") }, order, "GET /v1/orders/or", ``},
		{"patch order", func(ctx context.Context, c *client.Client) (any, error) { return c.PatchOrder(ctx, "or", change) }, order,
			"PATCH /v1/orders/or", `{"city":null}`},
		{"restore order", func(ctx context.Context, c *client.Client) (any, error) { return c.RestoreOrder(ctx, "or") }, order,
			"POST /v1/orders/or/restore", ``},
		{"patch file", func(ctx context.Context, c *client.Client) (any, error) { return c.PatchFile(ctx, 77, change) }, file,
			"PATCH /v1/file-vault/files/77", `{"city":null}`},
		{"restore file", func(ctx context.Context, c *client.Client) (any, error) { return c.RestoreFile(ctx, 77) }, file,
			"POST /v1/file-vault/files/77/restore", ``},
		{"folder", func(ctx context.Context, c *client.Client) (any, error) { return c.Folder(ctx, 4) }, folder,
			"GET /v1/file-vault/folders/4", ``},
		{"patch folder", func(ctx context.Context, c *client.Client) (any, error) { return c.PatchFolder(ctx, 4, change) }, folder,
			"PATCH /v1/file-vault/folders/4", `{"city":null}`},
		{"trash abstract", func(ctx context.Context, c *client.Client) (any, error) { return nil, c.TrashAbstract(ctx, "ab") }, ``,
			"DELETE /v1/abstracts/ab", ``},
		{"trash order", func(ctx context.Context, c *client.Client) (any, error) { return nil, c.TrashOrder(ctx, "or") }, ``,
			"DELETE /v1/orders/or", ``},
		{"trash file", func(ctx context.Context, c *client.Client) (any, error) { return nil, c.TrashFile(ctx, 77) }, ``,
			"DELETE /v1/file-vault/files/77", ``},
		{"detach file", func(ctx context.Context, c *client.Client) (any, error) { return nil, c.DetachFile(ctx, "ab", 77) }, ``,
			"DELETE /v1/abstracts/ab/files/77", ``},
		{"remove folder", func(ctx context.Context, c *client.Client) (any, error) { return nil, c.DeleteFolder(ctx, 4) }, ``,
			"DELETE /v1/file-vault/folders/4", ``},
	} {
		t.Run(row.name, func(t *testing.T) {
			srv, got := serve(t, 200, row.response)
			result, err := row.do(t.Context(), client.New(srv.URL, key, nil).With(client.CallOptions{IdempotencyKey: "once", IfMatch: `"v1"`}))
			if err != nil {
				t.Fatalf("%s: %v", row.line, err)
			}
			if text, err := apitypes.Marshal(result); row.response != "" && (err != nil || `{"data":`+string(text)+`}` != row.response) {
				t.Errorf("result = %s, %v, want the data of %s", text, err, row.response)
			}
			if line := got.request.Method + " " + got.request.RequestURI; line != row.line || got.body != row.body {
				t.Errorf("sent %s with %q, want %s with %q", line, got.body, row.line, row.body)
			}
			method, _, _ := strings.Cut(row.line, " ")
			if once := got.request.Header.Get("Idempotency-Key"); (once == "once") != (method == "POST") {
				t.Errorf("Idempotency-Key of %s = %q, want it only for POST", row.line, once)
			}
			if match := got.request.Header.Get("If-Match"); (match == `"v1"`) != (method != "GET") {
				t.Errorf("If-Match of %s = %q, want it for all but GET", row.line, match)
			}
		})
	}
}

func TestEmptyIDs(t *testing.T) {
	c := client.New("http://vault.test", key, roundTripFunc(func(r *http.Request) *http.Response {
		t.Errorf("sent %s %s, want no request", r.Method, r.URL)
		return nil
	}))
	for name, do := range map[string]func() error{
		"patch abstract":   func() error { _, err := c.PatchAbstract(t.Context(), "", nil); return err },
		"restore abstract": func() error { _, err := c.RestoreAbstract(t.Context(), ""); return err },
		"trash abstract":   func() error { return c.TrashAbstract(t.Context(), "") },
		"detach file":      func() error { return c.DetachFile(t.Context(), "", 1) },
		"order":            func() error { _, err := c.Order(t.Context(), ""); return err },
		"trash order":      func() error { return c.TrashOrder(t.Context(), "") },
	} {
		if do() == nil {
			t.Errorf("%s with an empty ID succeeded, want an error", name)
		}
	}
}

func TestCallOptionsReceiveHeaders(t *testing.T) {
	c := client.New("http://vault.test", key, roundTripFunc(func(r *http.Request) *http.Response {
		return &http.Response{StatusCode: 201, Header: http.Header{"Etag": {`"tag"`}, "Idempotent-Replayed": {"true"}},
			Body: io.NopCloser(strings.NewReader(`{"data":` + orderJSON + `}`)), Request: r}
	}))
	var tag string
	var replayed bool
	if _, err := c.With(client.CallOptions{ETag: &tag, Replayed: &replayed}).CreateOrder(t.Context(), client.OrderDraft{}); err != nil ||
		tag != `"tag"` || !replayed {
		t.Errorf("ETag = %s, replayed = %v, %v, want \"tag\" and true", tag, replayed, err)
	}
}

// Iteration reads all pages, including empty ones. It stops when the loop stops or at the first error.
func TestLists(t *testing.T) {
	var requests []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests = append(requests, r.URL.RequestURI())
		page := apitypes.Page[json.RawMessage]{}
		switch r.URL.Query().Get("cursor") {
		case "":
			page.Data, page.Meta.NextCursor = apitypes.List[json.RawMessage]{json.RawMessage(orderJSON), json.RawMessage(orderJSON)}, new("c&1")
		case "c&1":
			page.Meta.NextCursor = new("c2")
		case "c2":
			page.Data, page.Meta.NextCursor = apitypes.List[json.RawMessage]{json.RawMessage(orderJSON)}, new("bad")
		default:
			w.WriteHeader(http.StatusUnprocessableEntity)
		}
		_ = json.NewEncoder(w).Encode(page)
	}))
	defer srv.Close()
	c := client.New(srv.URL, key, nil)
	list := client.ListOptions{Filters: map[string]string{"county": "St. Clair"}, Sort: "-due_date", PerPage: 2}
	n, failure := drain(c.Orders(t.Context(), list))
	var e *client.Error
	if n != 3 || !errors.As(failure, &e) || e.Status != http.StatusUnprocessableEntity {
		t.Errorf("got %d orders, %v, want 3 and status 422", n, failure)
	}
	const all = "county=St.+Clair"
	want := []string{"/v1/orders?" + all + "&per_page=2&sort=-due_date", "/v1/orders?" + all + "&cursor=c%261&per_page=2&sort=-due_date",
		"/v1/orders?" + all + "&cursor=c2&per_page=2&sort=-due_date", "/v1/orders?" + all + "&cursor=bad&per_page=2&sort=-due_date"}
	for i := range want {
		if i >= len(requests) || requests[i] != want[i] {
			t.Fatalf("sent %q, want %q", requests, want)
		}
	}
	requests = nil
	for _, err := range c.Orders(t.Context(), client.ListOptions{}) {
		if err != nil {
			t.Errorf("first order: %v", err)
		}
		break
	}
	if len(requests) != 1 || requests[0] != "/v1/orders" {
		t.Errorf("sent %q, want only /v1/orders", requests)
	}
	for path, page := range map[string]func() error{
		"/v1/abstracts":        func() error { _, err := c.AbstractPage(t.Context(), client.ListOptions{Cursor: "x"}); return err },
		"/v1/file-vault/files": func() error { _, err := c.FilePage(t.Context(), client.ListOptions{Cursor: "x"}); return err },
		"/v1/trash":            func() error { _, err := c.TrashPage(t.Context(), client.ListOptions{Cursor: "x"}); return err },
		"/v1/events":           func() error { _, err := c.AuditLogPage(t.Context(), client.ListOptions{Cursor: "x"}); return err },
	} {
		if requests = nil; page() == nil || len(requests) != 1 || requests[0] != path+"?cursor=x" {
			t.Errorf("sent %q, want one request to %s with the cursor, and an error", requests, path)
		}
	}
}

func drain[T any](list iter.Seq2[T, error]) (n int, err error) {
	for _, e := range list {
		if err != nil {
			return -1, err
		}
		if err = e; err == nil {
			n++
		}
	}
	return n, err
}

package client_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"deedkeep/app/apitypes"
	"deedkeep/app/client"
)

const key = "dk_live_secret"

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

// listFolders calls a route with a small response.
func listFolders(ctx context.Context, c *client.Client) error {
	return c.Do(ctx, http.MethodGet, "/v1/file-vault/folders", nil, &apitypes.Folders{})
}

func TestWithoutKey(t *testing.T) {
	srv, got := serve(t, 200, `{"folders":[]}`)
	if err := listFolders(t.Context(), client.New(srv.URL, "", nil)); err != nil {
		t.Fatalf("list folders: %v", err)
	}
	if value, sent := got.request.Header["Authorization"]; sent {
		t.Errorf("sent Authorization %q, want none", value)
	}
}

// WithHeader doesn't change the client that it copies.
func TestWithHeaderCopies(t *testing.T) {
	srv, got := serve(t, 200, `{"folders":[]}`)
	first := client.New(srv.URL, "", nil).WithHeader("X-First", "1")
	second := first.WithHeader("X-Second", "2")
	for _, row := range []struct {
		name          string
		c             *client.Client
		first, second string
	}{{"one header", first, "1", ""}, {"two headers", second, "1", "2"}} {
		t.Run(row.name, func(t *testing.T) {
			if err := listFolders(t.Context(), row.c); err != nil {
				t.Fatalf("list folders: %v", err)
			}
			if h := got.request.Header; h.Get("X-First") != row.first || h.Get("X-Second") != row.second {
				t.Errorf("headers = %q, %q, want %q, %q", h.Get("X-First"), h.Get("X-Second"), row.first, row.second)
			}
		})
	}
}

func TestInvalidBaseURL(t *testing.T) {
	for _, base := range []string{"", "vault.test", "ftp://vault.test", "http://", "http://a b", "://"} {
		c := client.New(base, key, nil)
		if err := listFolders(t.Context(), c); err == nil {
			t.Errorf("listFolders with the base URL %q succeeded, want an error", base)
		}
	}
}

func TestCanceled(t *testing.T) {
	entered, release := make(chan struct{}), make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		close(entered)
		<-release
	}))
	defer srv.Close()
	defer close(release)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-entered; cancel() }()
	if err := listFolders(ctx, client.New(srv.URL, key, nil)); !errors.Is(err, context.Canceled) {
		t.Fatalf("listFolders = %v, want %v", err, context.Canceled)
	}
}

// roundTripFunc is a transport that doesn't use the network.
type roundTripFunc func(*http.Request) *http.Response

func (f roundTripFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r), nil }

// trackedBody records whether it was closed.
type trackedBody struct {
	io.Reader
	closed bool
}

func (b *trackedBody) Close() error { b.closed = true; return nil }

func TestResponseBodiesAreClosedAndLimited(t *testing.T) {
	for _, row := range []struct {
		name   string
		status int
		body   io.Reader
		fails  bool
	}{
		{"good", 200, strings.NewReader(`{"folders":[]}`), false},
		{"truncated", 200, strings.NewReader(`{"folders":[`), true},
		{"broken", 200, io.MultiReader(strings.NewReader(`{"folders":`), broken{}), true},
		{"trailing", 200, strings.NewReader(`{"folders":[]}x`), true},
		{"HTML page", 200, strings.NewReader(`<html>`), true},
		{"empty", 204, strings.NewReader(``), true},
		{"endless", 200, endless{}, true},
		{"not found", 404, strings.NewReader(`{"message":"Not found."}`), true},
		{"endless error", 500, endless{}, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			body := &trackedBody{Reader: row.body}
			c := client.New("http://vault.test", key, roundTripFunc(func(r *http.Request) *http.Response {
				return &http.Response{StatusCode: row.status, Header: http.Header{}, Body: body, Request: r}
			}))
			if err := listFolders(t.Context(), c); (err != nil) != row.fails {
				t.Errorf("listFolders = %v, want an error: %v", err, row.fails)
			}
			if !body.closed {
				t.Error("the response body is open, want it closed")
			}
		})
	}
}

var errBroken = errors.New("broken")

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errBroken }

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func TestErrorsNameTheCall(t *testing.T) {
	c := client.New("http://vault.test", key, roundTripFunc(func(r *http.Request) *http.Response {
		return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(broken{}), Request: r}
	}))
	err := listFolders(t.Context(), c)
	if !errors.Is(err, errBroken) || !strings.HasPrefix(err.Error(), "GET /v1/file-vault/folders: ") {
		t.Fatalf("listFolders = %v, want %v with the call in front", err, errBroken)
	}
	if reflect.TypeOf(err) == reflect.TypeFor[*client.Error]() {
		t.Fatalf("listlistFolders = %T, want another type than *client.Error for a broken connection", err)
	}
}

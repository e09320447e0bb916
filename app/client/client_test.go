package client_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"deedkeep/app/apitypes"
	"deedkeep/app/client"
)

const (
	key          = "dk_live_secret"
	abstractJSON = `{"id":"k3Jd82Qz","template_id":2,"status":null,"address":"12 Elm & Oak","city":null,"county":null,"state":null,"tax_map":null,` +
		`"custom_fields":{"fee":1.50},"files":[` + fileJSON +
		`],"created_at":"2026-05-29T04:00:00.000000Z","updated_at":"2026-05-29T04:00:00.000001Z"}`
	fileJSON = `{"id":77,"filename":"Deed.pdf","file_type":"pdf","mime_type":"application/pdf","page_count":12,"file_size":248115,` +
		`"file_size_human":"242.3 KB","folder_id":null,"is_processing":true,"download_url":"https://vault.test/v1/file-vault/files/77/download",` +
		`"created_at":"2026-05-29T04:00:00.000000Z"}`
	orderJSON = `{"id":"Zz9aB31x","order_number":"T-1","status":"active","due_date":"2026-06-15","address":null,"city":null,"county":null,"state":null,` +
		`"custom_fields":{},"created_at":"2026-05-29T04:00:00.000000Z","updated_at":"2026-05-29T04:00:00.000000Z"}`
	fieldJSON  = `{"key":"search_type","label":"Search type","type":"dropdown","required":true,"options":["full"]}`
	folderJSON = `{"id":4,"name":"2026","parent_id":1}`
	keyJSON    = `{"id":4,"name":"Desk","prefix":"dk_live_ab12","abilities":["api:v1"],"created_at":"2026-05-29T04:00:00.000000Z",` +
		`"last_used_at":null,"use_count":3,"expires_at":"2026-08-29T04:00:00.000000Z","revoked_at":null}`
	statusJSON = `{"running":true,"started_at":"2026-05-29T04:00:00.000000Z","version":"1.0","commit":"c","data":"d","listen":"l","certificate":null,"abstracts":1,"orders":2,` +
		`"files":3,"folders":4,"trashed":6,"bytes":5,"queue":7,"failed":8,"disk_free":9,"disk_reserve":10,"read_only":true,"last_backup_at":null,"writes_denied":null,` +
		`"last_backup":null,"backup_failure":null,"next_backup_at":null,"search":{"ready":false,"building":false,"done":null,"total":null,"records":0,"bytes":0,"segments":0,"behind":0,"since":null,"error":null},` +
		`"damaged":[],"scrub":{"every_seconds":0,"started_at":null,"completed_at":null,"progress":0,"age_seconds":0,"overdue":false}}`
	verifyJSON = `{"ok":false,"records":1,"files":2,"blobs":3,"bytes":4,"events":5,"orphans":6,"leftovers":7,"search_bytes":8,` +
		`"findings":[{"kind":"blob","subject":"ab12","problem":"its bytes differ"}]}`
)

func ptr[T any](v T) *T { return &v }

// seen records the requests to a test server.
type seen struct {
	request *http.Request
	body    string
}

// serve responds to every request with one status and body, and records the requests.
func serve(t *testing.T, status int, body string) (*httptest.Server, *seen) {
	t.Helper()
	got := &seen{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
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
		name   string
		do     call
		status int
		answer string
		want   string // the result as JSON
		line   string
		body   string
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
		{"status", func(ctx context.Context, c *client.Client) (any, error) { return c.Status(ctx) },
			200, statusJSON, statusJSON, "GET /control/status", ""},
		{"keys", func(ctx context.Context, c *client.Client) (any, error) { return c.Keys(ctx) },
			200, `{"data":[` + keyJSON + `]}`, `[` + keyJSON + `]`, "GET /control/keys", ""},
		{"key", func(ctx context.Context, c *client.Client) (any, error) {
			return c.CreateKey(ctx, apitypes.KeyCreate{Name: "Desk", Abilities: apitypes.List[string]{"api:v1"},
				ExpiresAt: ptr(apitypes.At(time.Date(2026, 8, 29, 4, 0, 0, 0, time.UTC)))})
		}, 201, `{"key":"dk_live_x","data":` + keyJSON + `}`, `{"key":"dk_live_x","data":` + keyJSON + `}`, "POST /control/keys",
			`{"name":"Desk","abilities":["api:v1"],"expires_at":"2026-08-29T04:00:00.000000Z"}`},
		{"revoke", func(ctx context.Context, c *client.Client) (any, error) { return c.RevokeKey(ctx, 4) },
			200, `{"data":` + keyJSON + `}`, keyJSON, "POST /control/keys/4/revoke", `{}`},
		{"rotate", func(ctx context.Context, c *client.Client) (any, error) { return c.RotateKey(ctx, 4, 90*time.Second) },
			201, `{"key":"dk_live_x","data":` + keyJSON + `}`, `{"key":"dk_live_x","data":` + keyJSON + `}`, "POST /control/keys/4/rotate",
			`{"overlap_seconds":90}`},
		{"verify", func(ctx context.Context, c *client.Client) (any, error) { return c.Verify(ctx, nil) },
			200, `{"progress":{"done":1,"total":2,"unit":"bytes"}}` + "\n" + `{"result":` + verifyJSON + `}` + "\n", verifyJSON,
			"POST /control/verify", ``},
	} {
		t.Run(row.name, func(t *testing.T) {
			srv, got := serve(t, row.status, row.answer)
			result, err := row.do(t.Context(), client.New(srv.URL+"/v1/", key, srv.Client().Transport).AsOperator("ann"))
			if err != nil {
				t.Fatal(err)
			}
			if text, err := apitypes.Marshal(result); err != nil || string(text) != row.want {
				t.Errorf("result (%v)\n%s\nwant\n%s", err, text, row.want)
			}
			if line := got.request.Method + " " + got.request.RequestURI; line != row.line {
				t.Errorf("asked %s, want %s", line, row.line)
			}
			if got.body != row.body {
				t.Errorf("sent %s, want %s", got.body, row.body)
			}
			h := got.request.Header
			if h.Get("Authorization") != "Bearer "+key || h.Get(client.OperatorHeader) != "ann" {
				t.Errorf("headers %v", h)
			}
			if row.body != "" && h.Get("Content-Type") != "application/json" {
				t.Errorf("content type %q", h.Get("Content-Type"))
			}
		})
	}
}

func TestWithoutKeyOrOperator(t *testing.T) {
	srv, got := serve(t, 200, statusJSON)
	if _, err := client.New(srv.URL, "", nil).Status(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"Authorization", client.OperatorHeader} {
		if _, sent := got.request.Header[name]; sent {
			t.Errorf("%s was sent", name)
		}
	}
}

func TestControlSocket(t *testing.T) {
	srv, got := serve(t, 200, statusJSON)
	dial := func(ctx context.Context, _, address string) (net.Conn, error) {
		if address != "deedkeep:80" {
			t.Errorf("dialed %s", address)
		}
		return (&net.Dialer{}).DialContext(ctx, "tcp", srv.Listener.Addr().String())
	}
	socketTransport := &http.Transport{DialContext: dial}
	defer socketTransport.CloseIdleConnections()
	if _, err := client.New(client.ControlBaseURL, "", socketTransport).Status(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got.request.Host != "deedkeep" || got.request.RequestURI != "/control/status" {
		t.Errorf("asked %s of %s", got.request.RequestURI, got.request.Host)
	}
}

func TestBadBase(t *testing.T) {
	for _, base := range []string{"", "vault.test", "ftp://vault.test", "http://", "http://a b", "://"} {
		c := client.New(base, key, nil)
		if _, err := c.Status(t.Context()); err == nil {
			t.Errorf("base %q was called", base)
		}
		if _, err := c.Download(t.Context(), 1); err == nil {
			t.Errorf("base %q was downloaded from", base)
		}
	}
}

func TestEmptyID(t *testing.T) {
	c := client.New("http://vault.test", key, nil)
	if _, err := c.Abstract(t.Context(), ""); err == nil {
		t.Error("read the abstract of no id")
	}
	if _, err := c.AddFiles(t.Context(), "", nil); err == nil {
		t.Error("added files to the abstract of no id")
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
	if _, err := client.New(srv.URL, key, nil).Templates(ctx); !errors.Is(err, context.Canceled) {
		t.Fatalf("err = %v", err)
	}
}

// answers is a transport that returns prepared responses.
type answers func(*http.Request) *http.Response

func (a answers) RoundTrip(r *http.Request) (*http.Response, error) { return a(r), nil }

// tracked records whether it was closed.
type tracked struct {
	io.Reader
	closed bool
}

func (b *tracked) Close() error { b.closed = true; return nil }

func TestBodiesAreClosedAndBounded(t *testing.T) {
	for _, row := range []struct {
		name   string
		status int
		body   io.Reader
		bad    bool
	}{
		{"good", 200, strings.NewReader(`{"folders":[]}`), false},
		{"cut", 200, strings.NewReader(`{"folders":[`), true},
		{"broken", 200, io.MultiReader(strings.NewReader(`{"folders":`), broken{}), true},
		{"trailing", 200, strings.NewReader(`{"folders":[]}x`), true},
		{"a page", 200, strings.NewReader(`<html>`), true},
		{"empty", 204, strings.NewReader(``), true},
		{"endless", 200, endless{}, true},
		{"error", 404, strings.NewReader(`{"message":"Not found."}`), true},
		{"endless error", 500, endless{}, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			body := &tracked{Reader: row.body}
			c := client.New("http://vault.test", key, answers(func(r *http.Request) *http.Response {
				return &http.Response{StatusCode: row.status, Header: http.Header{}, Body: body, Request: r}
			}))
			if _, err := c.Folders(t.Context()); (err != nil) != row.bad {
				t.Errorf("err = %v", err)
			}
			if !body.closed {
				t.Error("the body was left open")
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
	c := client.New("http://vault.test", key, answers(func(r *http.Request) *http.Response {
		return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(broken{}), Request: r}
	}))
	_, err := c.Folders(t.Context())
	if !errors.Is(err, errBroken) || !strings.HasPrefix(err.Error(), "GET /v1/file-vault/folders: ") {
		t.Fatalf("err = %v", err)
	}
	if reflect.TypeOf(err) == reflect.TypeFor[*client.Error]() {
		t.Fatal("a broken connection passes for a refusal")
	}
}

package control_test

import (
	"bytes"
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
	"deedkeep/app/control"
)

const (
	keyJSON = `{"id":4,"name":"Desk","prefix":"dk_live_ab12","abilities":["api:v1"],"created_at":"2026-05-29T04:00:00.000000Z",` +
		`"last_used_at":null,"use_count":3,"expires_at":"2026-08-29T04:00:00.000000Z","revoked_at":null}`
	statusJSON = `{"running":true,"started_at":"2026-05-29T04:00:00.000000Z","version":"1.0","commit":"c","data":"d","listen":"l",` +
		`"example":true,"certificate":null,` +
		`"abstracts":1,"orders":2,"files":3,"folders":4,"trashed":6,"bytes":5,"queue":7,"failed":8,"ocr_files":0,"ocr_pages":0,` +
		`"ocr_reading":[],"ocr_enabled":false,"ocr_resumes_at":null,"disk_free":9,"disk_reserve":10,` +
		`"read_only":true,` +
		`"last_backup_at":null,"writes_denied":null,"still_works":null,"document_room":0,` +
		`"last_backup":null,"backup_failure":null,"next_backup_at":null,"search":{"ready":false,` +
		`"building":false,"done":null,"total":null,"records":0,"bytes":0,"segments":0,"behind":0,"since":null,"error":null},` +
		`"storage":{"documents":0,"database":0,"previews":0,"texts":0,"search_index":0,"cache":0,"other":0,"complete":false},` +
		`"memory":[],"damaged":[],` +
		`"scrub":{"every_seconds":0,"started_at":null,"completed_at":null,"progress":0,"age_seconds":0,"overdue":false},"upgrade_files":[]}`
	verifyJSON = `{"ok":false,"records":1,"files":2,"blobs":3,"bytes":4,"events":5,"orphans":6,"leftovers":7,"search_bytes":8,"search_ready":true,"search_building":false,` +
		`"findings":[{"kind":"blob","subject":"ab12","problem":"its bytes differ"}]}`
)

// newClient returns a client whose requests reach h over HTTP.
func newClient(t *testing.T, h http.Handler) *control.Client {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", server.Listener.Addr().String())
	}}
	t.Cleanup(transport.CloseIdleConnections)
	return control.NewClient(transport)
}

// request is a request that a test server received.
type request struct {
	line, host, body string
	header           http.Header
}

// newCannedClient returns a client of a server that sends the same response to every request, and the last request.
func newCannedClient(t *testing.T, status int, response string) (*control.Client, *request) {
	t.Helper()
	got := &request{}
	return newClient(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Errorf("read the body of %s %s: %v", r.Method, r.URL, err)
		}
		*got = request{r.Method + " " + r.RequestURI, r.Host, string(body), r.Header}
		w.Header().Set("X-Request-Id", "req-1")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, response) // the client may have disconnected
	})), got
}

// roundTripFunc is a transport without a network.
type roundTripFunc func(*http.Request) *http.Response

func (f roundTripFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r), nil }

// newBodyClient returns a client that gets body in every response.
func newBodyClient(body io.Reader) *control.Client {
	return control.NewClient(roundTripFunc(func(r *http.Request) *http.Response {
		return &http.Response{StatusCode: 200, Header: http.Header{"X-Request-Id": {"req-1"}}, Body: io.NopCloser(body), Request: r}
	}))
}

var errBroken = errors.New("broken")

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, errBroken }

func TestClientCalls(t *testing.T) {
	expires := apitypes.At(time.Date(2026, 8, 29, 4, 0, 0, 0, time.UTC))
	for _, row := range []struct {
		name     string
		call     func(context.Context, *control.Client) (any, error)
		status   int
		response string
		want     string // the result as JSON
		line     string
		body     string
	}{
		{"status", func(ctx context.Context, c *control.Client) (any, error) { return c.Status(ctx) },
			200, statusJSON, statusJSON, "GET /control/status", ""},
		{"keys", func(ctx context.Context, c *control.Client) (any, error) { return c.Keys(ctx) },
			200, `{"data":[` + keyJSON + `]}`, `[` + keyJSON + `]`, "GET /control/keys", ""},
		{"create key", func(ctx context.Context, c *control.Client) (any, error) {
			return c.CreateKey(ctx, apitypes.KeyCreate{Name: "Desk", Abilities: apitypes.List[string]{"api:v1"}, ExpiresAt: &expires})
		}, 201, `{"key":"dk_live_x","data":` + keyJSON + `}`, `{"key":"dk_live_x","data":` + keyJSON + `}`, "POST /control/keys",
			`{"name":"Desk","abilities":["api:v1"],"expires_at":"2026-08-29T04:00:00.000000Z"}`},
		{"revoke key", func(ctx context.Context, c *control.Client) (any, error) { return c.RevokeKey(ctx, 4) },
			200, `{"data":` + keyJSON + `}`, keyJSON, "POST /control/keys/4/revoke", `{}`},
		{"rotate key", func(ctx context.Context, c *control.Client) (any, error) { return c.RotateKey(ctx, 4, 90*time.Second) },
			201, `{"key":"dk_live_x","data":` + keyJSON + `}`, `{"key":"dk_live_x","data":` + keyJSON + `}`,
			"POST /control/keys/4/rotate", `{"overlap_seconds":90}`},
		{"verify", func(ctx context.Context, c *control.Client) (any, error) { return c.Verify(ctx, nil) },
			200, `{"progress":{"done":1,"total":2,"unit":"bytes"}}` + "\n" + `{"result":` + verifyJSON + `}` + "\n", verifyJSON,
			"POST /control/verify", ``},
	} {
		t.Run(row.name, func(t *testing.T) {
			c, got := newCannedClient(t, row.status, row.response)
			result, err := row.call(t.Context(), c.AsOperator("ann"))
			if err != nil {
				t.Fatalf("%s: %v", row.line, err)
			}
			if text, err := apitypes.Marshal(result); err != nil || string(text) != row.want {
				t.Errorf("result = %s, %v, want\n%s", text, err, row.want)
			}
			if got.line != row.line || got.body != row.body || got.host != "deedkeep" {
				t.Errorf("sent %s to %s with body %s, want %s to deedkeep with body %s", got.line, got.host, got.body, row.line, row.body)
			}
			if name := got.header.Get(control.OperatorHeader); name != "ann" {
				t.Errorf("%s = %q, want ann", control.OperatorHeader, name)
			}
			if media := got.header.Get("Content-Type"); row.body != "" && media != "application/json" {
				t.Errorf("Content-Type = %q, want application/json", media)
			}
		})
	}
}

func TestClientWithoutOperatorSendsNoHeader(t *testing.T) {
	for name, as := range map[string]func(*control.Client) *control.Client{
		"no AsOperator": func(c *control.Client) *control.Client { return c },
		"empty name":    func(c *control.Client) *control.Client { return c.AsOperator("") },
	} {
		t.Run(name, func(t *testing.T) {
			c, got := newCannedClient(t, 200, statusJSON)
			if _, err := as(c).Status(t.Context()); err != nil {
				t.Fatalf("Status: %v", err)
			}
			for _, name := range []string{"Authorization", control.OperatorHeader} {
				if value, sent := got.header[name]; sent {
					t.Errorf("sent %s: %q, want none", name, value)
				}
			}
		})
	}
}

func TestVerify(t *testing.T) {
	const first, second = `{"progress":{"done":1,"total":3,"unit":"records"}}` + "\n",
		`{"progress":{"done":3,"total":3,"unit":"bytes"}}` + "\n"
	want := apitypes.Verify{
		Records: 1, Files: 2, Blobs: 3, Bytes: 4, Events: 5, Orphans: 6, Leftovers: 7, SearchBytes: 8, SearchReady: true,
		Findings: apitypes.List[apitypes.Finding]{{Kind: "blob", Subject: "ab12", Problem: "its bytes differ"}},
	}
	var got []apitypes.Progress
	result, err := newBodyClient(strings.NewReader(first+second+`{"result":`+verifyJSON+"}\n")).
		Verify(t.Context(), func(p apitypes.Progress) { got = append(got, p) })
	if err != nil || !reflect.DeepEqual(result, want) {
		t.Errorf("Verify = %+v, %v, want %+v", result, err, want)
	}
	if want := []apitypes.Progress{{Done: 1, Total: 3, Unit: "records"}, {Done: 3, Total: 3, Unit: "bytes"}}; !reflect.DeepEqual(got, want) {
		t.Errorf("progress = %v, want %v", got, want)
	}

	_, err = newBodyClient(strings.NewReader(first+`{"error":"Server error."}`+"\n")).Verify(t.Context(), nil)
	failure, ok := errors.AsType[*client.Error](err)
	if !ok || failure.Status != 500 || failure.Message != "Server error." || failure.RequestID != "req-1" {
		t.Errorf("Verify = %v, want Server error. with status 500 and request ID req-1", err)
	}
}

func TestVerifyFailsIfResponseEndsEarly(t *testing.T) {
	const progress = `{"progress":{"done":1,"total":3,"unit":"records"}}` + "\n"
	for _, row := range []struct {
		name string
		body io.Reader
		want error
	}{
		{"empty", strings.NewReader(""), io.ErrUnexpectedEOF},
		{"after a line", strings.NewReader(progress), io.ErrUnexpectedEOF},
		{"within a line", strings.NewReader(progress + progress[:20]), io.ErrUnexpectedEOF},
		{"within the result", strings.NewReader(`{"result":{"ok":true`), io.ErrUnexpectedEOF},
		{"network error", io.MultiReader(strings.NewReader(progress+progress[:20]), brokenReader{}), errBroken},
	} {
		t.Run(row.name, func(t *testing.T) {
			if result, err := newBodyClient(row.body).Verify(t.Context(), nil); !errors.Is(err, row.want) || result.OK {
				t.Errorf("Verify = %+v, %v, want %v", result, err, row.want)
			}
		})
	}
	if _, err := newBodyClient(strings.NewReader("<html>")).Verify(t.Context(), nil); err == nil {
		t.Error("Verify accepted an HTML page as a result, want an error")
	}
}

func TestRepair(t *testing.T) {
	c, got := newCannedClient(t, 200, `{"result":{"ok":true,"findings":[],"repaired":{"done":true,"tasks_added":2}}}`)
	result, err := c.Repair(t.Context(), nil)
	if err != nil || !result.OK || result.Repaired == nil || !result.Repaired.Done || result.Repaired.TasksAdded != 2 {
		t.Errorf("Repair = %+v, %v, want a successful repair with 2 tasks", result, err)
	}
	if got.line != "POST /control/repair" {
		t.Errorf("sent %s, want POST /control/repair", got.line)
	}
}

func TestVerifyRejected(t *testing.T) {
	c, _ := newCannedClient(t, 503, `{"message":"The server is stopping."}`)
	_, err := c.Verify(t.Context(), nil)
	if failure, ok := errors.AsType[*client.Error](err); !ok || failure.Status != 503 {
		t.Fatalf("Verify = %v, want status 503", err)
	}
}

// A verification can take an hour, so canceling the context must end it immediately.
func TestVerifyCanceled(t *testing.T) {
	c := newClient(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The server can detect that the client disconnected only after it has read the request.
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, `{"progress":{"done":1,"total":3,"unit":"records"}}`+"\n")
		if err := http.NewResponseController(w).Flush(); err != nil {
			t.Errorf("flush the progress: %v", err)
		}
		<-r.Context().Done()
	}))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if _, err := c.Verify(ctx, func(apitypes.Progress) { cancel() }); !errors.Is(err, context.Canceled) {
		t.Fatalf("Verify = %v, want %v", err, context.Canceled)
	}
}

func FuzzVerify(f *testing.F) {
	for _, s := range []string{`{"progress":{"done":1,"total":2,"unit":"u"}}`, `{"result":{"ok":true}}`, `{"error":"e"}`,
		"null\n\n1", `{"result":null}`, `{`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		result, err := newBodyClient(bytes.NewReader(body)).Verify(t.Context(), func(apitypes.Progress) {})
		if err != nil && !reflect.DeepEqual(result, apitypes.Verify{}) {
			t.Fatalf("Verify(%q) = %+v with error %v, want no result", body, result, err)
		}
		if err == nil && !bytes.Contains(bytes.ToLower(body), []byte("result")) && !bytes.Contains(body, []byte(`\u`)) {
			t.Fatalf("Verify(%q) = %+v, want an error, as the body has no result", body, result)
		}
	})
}

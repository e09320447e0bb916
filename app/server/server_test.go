package server_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"deedkeep/app/config"
	"deedkeep/app/control"
	"deedkeep/app/model"
	"deedkeep/app/server"
	"deedkeep/app/store"
	"deedkeep/app/vaulttest"
	"deedkeep/app/vaulttest/client"
)

// Each path is served by the right handler, and all responses have the common headers.
func TestRoutes(t *testing.T) {
	r := serve(t, nil)
	password := "a long walk to the courthouse"
	administrator := model.UserDraft{Name: "kim", Role: model.RoleAdmin, Password: &password}
	if _, _, err := r.vault.Users.Create(t.Context(), model.Actor{Kind: "operator"}, administrator); err != nil {
		t.Fatalf("create user: %v", err)
	}
	const (
		data, page = "application/json", "text/html; charset=utf-8"
		unknown    = `{"message":"Not found."}`
	)
	for _, row := range []struct {
		name, method, path           string
		key                          bool
		status                       int
		contentType, wantBody, allow string
	}{
		{"health", "GET", "/healthz", false, 200, data, `{"status":"ok"}`, ""},
		{"health, head", "HEAD", "/healthz", false, 200, data, "", ""},
		{"health, other method", "POST", "/healthz", false, 405, data, "not allowed", "GET, HEAD"},
		{"ready", "GET", "/readyz", false, 200, data, `{"status":"ok"}`, ""},
		{"ready, head", "HEAD", "/readyz", false, 200, data, "", ""},
		{"ready, other method", "DELETE", "/readyz", false, 405, data, "not allowed", "GET, HEAD"},
		{"openapi", "GET", "/openapi.json", false, 200, data, `"openapi":"3.1`, ""},
		{"openapi, head", "HEAD", "/openapi.json", false, 200, data, "", ""},
		{"openapi, other method", "PUT", "/openapi.json", false, 405, data, "not allowed", "GET, HEAD"},
		{"docs", "GET", "/docs", false, 200, page, "openapi.json", ""},
		{"docs, head", "HEAD", "/docs", false, 200, page, "", ""},
		{"docs, other method", "POST", "/docs", false, 405, page, "Action not available", "GET, HEAD"},
		{"home", "GET", "/", false, 303, page, "/sign-in", ""},
		{"home, head", "HEAD", "/", false, 303, page, "", ""},
		{"home, other method", "POST", "/", false, 405, page, "Action not available", "GET, HEAD"},
		{"unknown page", "GET", "/nothing", false, 404, page, "Page not found", ""},
		{"health with two slashes is a page", "GET", "//healthz", false, 404, page, "Page not found", ""},
		{"damaged link", "GET", "/dl/x", false, 403, page, "Download link not valid", ""},
		{"v1 without a key", "GET", "/v1/order-fields", false, 401, data, "Unauthenticated.", ""},
		{"v1", "GET", "/v1/order-fields", true, 200, data, "core_fields", ""},
		{"v1 with its prefix /api", "GET", "/api/v1/order-fields", true, 200, data, "core_fields", ""},
		{"repeated slashes", "GET", "//v1//order-fields/", true, 200, data, "core_fields", ""},
		{"repeated slashes, prefix /api", "GET", "/api//v1///order-fields//", true, 200, data, "core_fields", ""},
		{"repeated slashes need a key", "GET", "//v1//order-fields/", false, 401, data, "Unauthenticated.", ""},
		{"v1 itself", "GET", "/v1", true, 404, data, unknown, ""},
		{"v1 itself without a key", "GET", "/v1/", false, 401, data, "Unauthenticated.", ""},
		{"unknown route", "GET", "/v1/nothing", true, 404, data, unknown, ""},
		{"method not allowed", "DELETE", "/v1/orders", true, 405, data, "not allowed", "POST"},
		{"options", "OPTIONS", "/v1/orders", false, 204, "", "", "POST, OPTIONS"},
		{"dot segments", "GET", "/v1/%2e%2e/healthz", true, 404, data, unknown, ""},
		{"dot segments without a key", "GET", "/v1/%2e%2e/healthz", false, 401, data, "Unauthenticated.", ""},
		{"plain dot segments", "GET", "/v1/../healthz", true, 404, data, unknown, ""},
		{"dot segments before v1", "GET", "/%2e%2e/v1/order-fields", true, 404, page, "Page not found", ""},
		{"encoded slash", "GET", "/v1%2forder-fields", true, 404, data, unknown, ""},
		{"encoded letter", "GET", "/%761/order-fields", true, 200, data, "core_fields", ""},
		{"capital letters", "GET", "/V1/order-fields", true, 404, page, "Page not found", ""},
		{"longer name", "GET", "/v1x/order-fields", true, 404, page, "Page not found", ""},
		{"control socket only", "GET", "/control/status", true, 404, page, "Page not found", ""},
		{"control socket only, post", "POST", "/control/keys", true, 404, page, "Page not found", ""},
		{"control socket only, v1", "GET", "/v1/control/status", true, 404, data, unknown, ""},
		{"options of the server", "OPTIONS", "*", false, 404, page, "Page not found", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			request := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n", row.method, row.path, r.address)
			if row.key {
				request += "Authorization: Bearer " + r.key + "\r\n"
			}
			resp, body := r.raw(t, row.method, request+"\r\n")
			if resp.StatusCode != row.status || resp.Header.Get("Content-Type") != row.contentType || !strings.Contains(body, row.wantBody) {
				t.Errorf("got %d %s %q, want %d %s with %q",
					resp.StatusCode, resp.Header.Get("Content-Type"), body, row.status, row.contentType, row.wantBody)
			}
			if allow := resp.Header.Get("Allow"); !strings.Contains(allow, row.allow) || row.allow == "" && allow != "" {
				t.Errorf("Allow: got %q, want %q", allow, row.allow)
			}
			if id := resp.Header.Get("X-Request-Id"); len(id) != 20 {
				t.Errorf("X-Request-Id: got %q, want 20 characters", id)
			}
			if policy := resp.Header.Get("Content-Security-Policy"); row.status != 204 && row.status != 303 &&
				!strings.HasPrefix(policy, "default-src 'none'") {
				t.Errorf("Content-Security-Policy: got %q, want default-src 'none'", policy)
			}
			if sniffing := resp.Header.Get("X-Content-Type-Options"); row.status != 204 && sniffing != "nosniff" {
				t.Errorf("X-Content-Type-Options: got %q, want nosniff", sniffing)
			}
			if row.method == http.MethodHead && body != "" {
				t.Errorf("HEAD: got body %q, want none", body)
			}
		})
	}
}

// A valid X-Request-Id header is returned in the response. An invalid one is replaced.
func TestRequestID(t *testing.T) {
	r := serve(t, nil)
	for _, path := range []string{"/", "/nothing", "/healthz", "/openapi.json", "/v1/orders", "/dl/x"} {
		for sent, valid := range map[string]bool{"caller-1.a_B": true, "two words": false, strings.Repeat("x", 129): false} {
			resp, _ := r.raw(t, "GET", "GET "+path+" HTTP/1.1\r\nHost: a\r\nX-Request-Id: "+sent+"\r\n\r\n")
			if id := resp.Header.Get("X-Request-Id"); id == "" || (id == sent) != valid {
				t.Errorf("GET %s with X-Request-Id %q (valid: %v): got %q", path, sent, valid, id)
			}
		}
	}
}

// syncBuffer is a buffer that is safe for concurrent use.
type syncBuffer struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all.String()
}

// The log and the audit log have the server's own ID of a request, and the log has the client's
// beside it.
func TestRequestIDOfClient(t *testing.T) {
	opts := options(t, nil)
	var log syncBuffer
	opts.Log = slog.New(slog.NewJSONHandler(&log, nil))
	r := serveWith(t, opts)
	const order = `{"order_number":"26-0001","address":"1 Main St"}`
	resp, body := r.raw(t, "POST", "POST /v1/orders HTTP/1.1\r\nHost: a\r\nX-Request-Id: chosen-by-client\r\n"+
		"Content-Type: application/json\r\nAuthorization: Bearer "+r.key+
		fmt.Sprintf("\r\nContent-Length: %d\r\n\r\n%s", len(order), order))
	if id := resp.Header.Get("X-Request-Id"); id != "chosen-by-client" {
		t.Errorf("X-Request-Id of the response: got %q, want the client's", id)
	}
	line := struct {
		RequestID string `json:"request_id"`
		Client    string `json:"client_request_id"`
	}{}
	for text := range strings.Lines(log.String()) {
		if strings.Contains(text, `"msg":"request"`) {
			if err := json.Unmarshal([]byte(text), &line); err != nil {
				t.Fatalf("parse log line: %v", err)
			}
		}
	}
	if len(line.RequestID) != 20 || line.Client != "chosen-by-client" {
		t.Errorf("log line: got %+v, want an ID of the server and the client's, after %s %s", line, resp.Status, body)
	}
	page, err := r.vault.Events.List(t.Context(), store.Query{Limit: 20})
	if err != nil {
		t.Fatalf("list events: %v", err)
	}
	found := slices.IndexFunc(page.Items, func(e model.Event) bool { return e.Kind == "order.created" })
	if found < 0 || page.Items[found].Actor.RequestID != line.RequestID {
		t.Errorf("audit log: got %+v, want order.created with the request ID %s", page.Items, line.RequestID)
	}
}

// If the disk is full, the server reports that it is alive but not ready.
func TestNotReady(t *testing.T) {
	opts := options(t, nil)
	vaultOpts := vaulttest.Options(t)
	vaultOpts.Dir, vaultOpts.Settings.DiskReserve = shortDir(t), 1<<62
	opts.App = vaulttest.Open(t, vaultOpts)
	handler, err := server.Handler(opts)
	if err != nil {
		t.Fatalf("server.Handler: %v", err)
	}
	for path, want := range map[string]int{"/healthz": 200, "/readyz": 503} {
		w := newRecorder()
		handler.ServeHTTP(w, request(t, path))
		if w.status != want {
			t.Errorf("GET %s: got %d %s, want %d", path, w.status, &w.body, want)
		}
		explained := strings.Contains(w.body.String(), "The disk is full. Reading, signing in, deleting,") && w.header.Get("Retry-After") != "" &&
			w.header.Get("X-Error-Code") == "unavailable"
		if want == 503 && !explained {
			t.Errorf("GET %s: got %v %s, want Retry-After, the code unavailable, and the reason", path, w.header, &w.body)
		}
	}
}

// If the disk is nearly full, the server is ready and says up to which size it accepts documents.
func TestReadyOnNearlyFullDisk(t *testing.T) {
	opts := options(t, nil)
	vaultOpts := vaulttest.Options(t)
	vaultOpts.Dir, vaultOpts.Settings.FileSize = shortDir(t), 1<<56
	opts.App = vaulttest.Open(t, vaultOpts)
	handler, err := server.Handler(opts)
	if err != nil {
		t.Fatalf("server.Handler: %v", err)
	}
	for path, want := range map[string]string{
		"/healthz": `^{"status":"ok"}\s*$`,
		"/readyz":  `^{"status":"ok","message":"Documents of up to [0-9.]+ [MGT]B are still accepted. Everything else works."}\s*$`,
	} {
		w := newRecorder()
		handler.ServeHTTP(w, request(t, path))
		if w.status != 200 || !regexp.MustCompile(want).MatchString(w.body.String()) {
			t.Errorf("GET %s: got %d %s, want 200 and %s", path, w.status, &w.body, want)
		}
	}
}

// recorder is a ResponseWriter that implements io.ReaderFrom, like the one in net/http.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
	from   []io.Reader // the arguments of ReadFrom calls
}

func newRecorder() *recorder { return &recorder{header: http.Header{}} }

func (re *recorder) Header() http.Header { return re.header }
func (re *recorder) WriteHeader(status int) {
	if re.status == 0 {
		re.status = status
	}
}
func (re *recorder) Write(p []byte) (int, error) {
	re.WriteHeader(http.StatusOK)
	return re.body.Write(p)
}
func (re *recorder) ReadFrom(r io.Reader) (int64, error) {
	re.WriteHeader(http.StatusOK)
	re.from = append(re.from, r)
	return re.body.ReadFrom(r)
}

// request returns a GET request with RequestURI set, as it is when net/http passes a request to a
// handler.
func request(t *testing.T, target string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://vault.test"+target, nil)
	if err != nil {
		t.Fatalf("create request: %v", err)
	}
	r.RequestURI = target
	return r
}

// Downloads use sendfile. net/http does that only if the handler copies a syscall.Conn to an unwrapped
// ResponseWriter.
func TestDownloadUsesSendfile(t *testing.T) {
	r := serve(t, nil)
	content := append(vaulttest.PDF(1, "kernel"), bytes.Repeat([]byte("x"), 200_000)...)
	c := client.New("http://"+r.address, r.key, nil)
	uploaded, err := c.Upload(t.Context(), nil, []client.Upload{{Filename: "Deed.pdf", Reader: bytes.NewReader(content)}})
	if err != nil || len(uploaded.Files) != 1 {
		t.Fatalf("upload: got %+v, %v, want one file", uploaded, err)
	}
	download, err := c.Download(t.Context(), uploaded.Files[0].ID)
	if err != nil {
		t.Fatalf("download: %v", err)
	}
	got, err := io.ReadAll(download)
	if err = errors.Join(err, download.Close()); err != nil || !bytes.Equal(got, content) {
		t.Fatalf("download: got %d bytes, %v, want the %d bytes of the upload", len(got), err, len(content))
	}

	handler, err := server.Handler(server.Options{Config: config.Default(), App: r.vault, Log: slog.New(slog.DiscardHandler), Now: time.Now})
	if err != nil {
		t.Fatalf("server.Handler: %v", err)
	}
	w, req := newRecorder(), request(t, fmt.Sprintf("/v1/file-vault/files/%d/download", uploaded.Files[0].ID))
	req.Header.Set("Authorization", "Bearer "+r.key)
	handler.ServeHTTP(w, req)
	location := w.header.Get("Location")
	w = newRecorder()
	handler.ServeHTTP(w, request(t, strings.TrimPrefix(location, "http://vault.test")))
	if w.status != http.StatusOK || !bytes.Equal(w.body.Bytes(), content) {
		t.Fatalf("GET %q: got status %d and %d bytes, want 200 and the %d bytes of the upload", location, w.status, w.body.Len(), len(content))
	}
	if len(w.from) == 0 {
		t.Error("ReadFrom wasn't called")
	}
	for _, from := range w.from { // one part per write deadline
		part, ok := from.(*io.LimitedReader)
		if !ok {
			t.Fatalf("ReadFrom of %T, want *io.LimitedReader", from)
		}
		if _, ok := part.R.(syscall.Conn); !ok { // what package net uses sendfile for
			t.Errorf("ReadFrom of a part of %T, want a syscall.Conn", part.R)
		}
	}
}

// When idle connections have used up the limit, a new connection is not delayed: one of the
// idle connections is closed.
func TestConnectionLimit(t *testing.T) {
	const trusted = 6 // three quarters
	r := serve(t, func(c *config.Config) { c.Limits.Connections = 8 })
	roundTrip := func(conn net.Conn) error {
		if _, err := io.WriteString(conn, "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
			return err
		}
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err == nil && resp.StatusCode != http.StatusOK {
			err = errors.New(resp.Status)
		}
		return err
	}
	var conns []net.Conn
	for range trusted + 1 {
		conn := r.dial(t)
		if err := roundTrip(conn); err != nil {
			t.Fatalf("request on a new connection: %v", err)
		}
		conns = append(conns, conn)
	}
	// Usually the first connection is the oldest idle one. But the server may find out later than the
	// client that a response is complete.
	closed := 0
	for _, conn := range conns {
		if err := roundTrip(conn); err != nil {
			closed++
		}
	}
	if closed != 1 {
		t.Errorf("%d of %d connections are closed, want 1", closed, len(conns))
	}
}

// The server limits the size of a request header and the time to send it.
func TestHeaderLimits(t *testing.T) {
	r := serve(t, func(c *config.Config) {
		c.Timeouts.Header = 200 * time.Millisecond
	})
	t.Run("too large", func(t *testing.T) {
		resp, _ := r.raw(t, "GET", "GET /healthz HTTP/1.1\r\nHost: a\r\nX-Long: "+strings.Repeat("x", 100<<10)+"\r\n\r\n")
		if resp.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
			t.Errorf("got %s, want 431", resp.Status)
		}
	})
	t.Run("too slow", func(t *testing.T) {
		conn := r.dial(t)
		if _, err := io.WriteString(conn, "GET /healthz HTTP/1.1\r\nHost: a\r\nX-Slow: "); err != nil {
			t.Fatalf("write: %v", err)
		}
		// The deadline set by dial is much longer than the server's timeout.
		if rest, err := io.ReadAll(conn); err != nil || strings.Contains(string(rest), "200 OK") {
			t.Errorf("got %q, %v, want a closed connection", rest, err)
		}
	})
}

// The control socket serves commands and rejects requests that a browser could send.
func TestControlSocket(t *testing.T) {
	r := serve(t, nil)
	ctl := control.RoundTripper(r.vault.Dir)
	for _, row := range []struct {
		name, base, header, value string
		status                    int
	}{
		{"command", control.BaseURL, "", "", 200},
		{"other host", "http://127.0.0.1", "", "", 403},
		{"host with a port", control.BaseURL + ":80", "", "", 403},
		{"origin", control.BaseURL, "Origin", "null", 403},
		{"referrer", control.BaseURL, "Referer", "http://deedkeep/", 403},
		{"fetch metadata", control.BaseURL, "Sec-Fetch-Mode", "no-cors", 403},
	} {
		t.Run(row.name, func(t *testing.T) {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, row.base+"/control/status", nil)
			if err != nil {
				t.Fatalf("create request: %v", err)
			}
			if row.header != "" {
				req.Header.Set(row.header, row.value)
			}
			resp, err := ctl.RoundTrip(req)
			if err != nil {
				t.Fatalf("send request: %v", err)
			}
			if err := resp.Body.Close(); err != nil || resp.StatusCode != row.status {
				t.Errorf("got %s, %v, want %d", resp.Status, err, row.status)
			}
		})
	}
	c := control.NewClient(ctl)
	status, err := c.Status(t.Context())
	if err != nil || !status.Running || status.Listen == nil || *status.Listen != r.address {
		t.Errorf("Status: got %+v, %v, want a server that listens on %s", status, err, r.address)
	}
}

// When the server is asked to stop, an upload in progress completes. In the meantime, new requests
// are rejected, and the control socket works until the end.
func TestStopCompletesUploads(t *testing.T) {
	r := serve(t, nil)
	content := vaulttest.PDF(3, "in flight")
	pr, pw := io.Pipe()
	uploadResult := make(chan error, 1)
	upload := newNotifyReader(pr)
	go func() {
		c := client.New("http://"+r.address, r.key, nil)
		uploaded, err := c.Upload(context.Background(), nil, []client.Upload{{Filename: "Deed.pdf", Reader: upload}})
		if err == nil && (len(uploaded.Files) != 1 || uploaded.Files[0].FileSize != int64(len(content))) {
			err = fmt.Errorf("got %+v, want one file of %d bytes", uploaded, len(content))
		}
		uploadResult <- err
	}()
	if _, err := pw.Write(content[:10]); err != nil {
		t.Fatalf("write first part of the document: %v", err)
	}
	<-upload.started // the server has asked for the body
	r.stop()
	waitFor(t, func() bool {
		resp, body := r.raw(t, "GET", "GET /v1/order-fields HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer "+r.key+"\r\n\r\n")
		if resp.StatusCode == http.StatusOK {
			return false
		}
		if resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Retry-After") == "" || !resp.Close ||
			resp.Header.Get("X-Request-Id") == "" || resp.Header.Get("X-Error-Code") != "unavailable" ||
			!strings.Contains(body, "The server is stopping") {
			t.Errorf("request while stopping: got %v %s, want 503", resp, body)
		}
		return true
	})
	if _, err := control.NewClient(control.RoundTripper(r.vault.Dir)).Status(t.Context()); err != nil {
		t.Errorf("Status while stopping: %v", err)
	}
	_, err := pw.Write(content[10:])
	if err = errors.Join(err, pw.Close(), <-uploadResult, r.waitStopped(t)); err != nil {
		t.Fatalf("complete the upload and stop: %v", err)
	}
	if _, err := os.Lstat(filepath.Join(r.vault.Dir, "control.sock")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("stat control.sock: got %v, want os.ErrNotExist", err)
	}
}

// A request that doesn't complete within the grace period is aborted.
func TestStopAbortsAfterGracePeriod(t *testing.T) {
	r := serve(t, func(c *config.Config) { c.Timeouts.Grace = 50 * time.Millisecond })
	conn := r.dial(t)
	if _, err := fmt.Fprintf(conn, "POST /v1/orders HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer %s\r\n"+
		"Content-Type: application/json\r\nContent-Length: 99\r\nExpect: 100-continue\r\n\r\n", r.key); err != nil {
		t.Fatalf("write: %v", err)
	}
	if resp, err := http.ReadResponse(bufio.NewReader(conn), nil); err != nil || resp.StatusCode != http.StatusContinue {
		t.Fatalf("read response: got %v, %v, want status 100", resp, err)
	}
	r.stop()
	start := time.Now()
	if err := r.waitStopped(t); err != nil {
		t.Errorf("stop server: %v", err)
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("stop took %v, want at most 5s", took)
	}
}

// If an address is in use, the error names the setting and the control socket isn't created.
func TestAddressInUse(t *testing.T) {
	r := serve(t, nil)
	opts := options(t, func(c *config.Config) { c.Listen = r.address })
	err := server.Serve(t.Context(), opts)
	if err == nil || !strings.Contains(err.Error(), "--listen") {
		t.Errorf("Serve = %v, want an error that names --listen", err)
	}
	if _, err := os.Lstat(filepath.Join(opts.App.Dir, "control.sock")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("stat control.sock: got %v, want os.ErrNotExist", err)
	}
}

// A thousand keys can be created through the control socket while API clients use the vault.
func TestKeysUnderLoad(t *testing.T) {
	r := serve(t, nil)
	ctl := control.NewClient(control.RoundTripper(r.vault.Dir))
	public := client.New("http://"+r.address, r.key, nil)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var load, creators sync.WaitGroup
	for i := range 2 {
		load.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				if _, err := public.CreateOrder(ctx, client.OrderDraft{OrderNumber: fmt.Sprintf("%d-%d", i, n)}); err != nil && ctx.Err() == nil {
					t.Errorf("create order: %v", err)
					return
				}
			}
		})
	}
	const perGoroutine, total = 125, 1000
	texts := make([][]string, total/perGoroutine)
	for i := range texts {
		creators.Go(func() {
			for range perGoroutine {
				created, err := ctl.CreateKey(t.Context(), keyDraft(i))
				if err != nil {
					t.Errorf("create key: %v", err)
					return
				}
				texts[i] = append(texts[i], created.Key)
			}
		})
	}
	creators.Wait()
	cancel()
	load.Wait()
	seen := map[string]bool{}
	for _, list := range texts {
		for _, key := range list {
			seen[key] = true
		}
	}
	if len(seen) != total {
		t.Fatalf("created %d different keys, want %d", len(seen), total)
	}
	for _, list := range texts {
		if _, err := client.New("http://"+r.address, list[len(list)-1], nil).OrderFields(t.Context()); err != nil {
			t.Errorf("get order fields: %v", err)
		}
	}
}

// A revoked key is rejected immediately.
func TestRevokedKeyIsRejected(t *testing.T) {
	r := serve(t, nil)
	ctl := control.NewClient(control.RoundTripper(r.vault.Dir))
	created, err := ctl.CreateKey(t.Context(), keyDraft(1))
	if err != nil {
		t.Fatalf("create key: %v", err)
	}
	c := client.New("http://"+r.address, created.Key, nil)
	if _, err := c.OrderFields(t.Context()); err != nil {
		t.Fatalf("get order fields: %v", err)
	}
	if _, err := ctl.RevokeKey(t.Context(), created.Data.ID); err != nil {
		t.Fatalf("revoke key: %v", err)
	}
	_, err = c.OrderFields(t.Context())
	if apiErr, ok := errors.AsType[*client.Error](err); !ok || apiErr.Status != http.StatusUnauthorized {
		t.Errorf("request after the revocation: got %v, want a client.Error with status 401", err)
	}
}

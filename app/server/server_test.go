package server_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"deedkeep/app/client"
	"deedkeep/app/config"
	"deedkeep/app/control"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/server"
	"deedkeep/app/vaulttest"
)

// running is a server on a free port, with its control socket in a short directory.
type running struct {
	address, key string
	answering    server.Addresses
	vault        *instance.Instance
	end          context.CancelFunc
	ended        chan error
}

// shortDir is a directory in which the path of a socket fits.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "dk") //nolint:usetesting // t.TempDir is too long for a socket
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func options(t *testing.T, change func(*config.Config)) server.Options {
	t.Helper()
	set := vaulttest.Options(t)
	set.Dir, set.Now = shortDir(t), time.Now
	c := config.Default()
	c.Data, c.Listen = set.Dir, "127.0.0.1:0"
	if change != nil {
		change(&c)
	}
	return server.Options{
		Config: c, Vault: vaulttest.Open(t, set), Build: control.Build{Version: "test"}, Log: slog.New(slog.DiscardHandler), Now: time.Now,
	}
}

func serve(t *testing.T, change func(*config.Config)) *running {
	t.Helper()
	return serveWith(t, options(t, change))
}

func serveWith(t *testing.T, opts server.Options) *running {
	t.Helper()
	key, _, err := opts.Vault.Keys.Create(t.Context(), model.Actor{Kind: "operator"}, model.KeyDraft{Name: "test"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	r := &running{key: key, vault: opts.Vault, end: cancel, ended: make(chan error, 1)}
	started := make(chan server.Addresses, 1)
	opts.OnStarted = func(a server.Addresses) { started <- a }
	go func() { r.ended <- server.Serve(ctx, opts) }()
	select {
	case r.answering = <-started:
		r.address = r.answering.Address
	case err := <-r.ended:
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		if err := r.stopped(t); err != nil {
			t.Error(err)
		}
	})
	return r
}

// stopped waits until the server has stopped and returns its error, or nil on the second call.
func (r *running) stopped(t *testing.T) error {
	t.Helper()
	select {
	case err, first := <-r.ended:
		if first {
			close(r.ended)
		}
		return err
	case <-time.After(20 * time.Second):
		t.Fatal("the server does not stop")
		return nil
	}
}

func (r *running) dial(t *testing.T) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", r.address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() }) // Mostly closed by the other side.
	if err := conn.SetDeadline(time.Now().Add(15 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return conn
}

// raw sends bytes unchanged and reads one response.
func (r *running) raw(t *testing.T, method, request string) (*http.Response, string) {
	t.Helper()
	conn := r.dial(t)
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	answer, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer, string(body)
}

func TestMounted(t *testing.T) {
	r := serve(t, nil)
	password := "a long walk to the courthouse"
	administrator := model.UserDraft{Name: "kim", Role: model.RoleAdmin, Password: &password}
	if _, _, err := r.vault.Users.Create(t.Context(), model.Actor{Kind: "operator"}, administrator); err != nil {
		t.Fatal(err)
	}
	const (
		json, page = "application/json", "text/html; charset=utf-8"
		unknown    = `{"message":"Not found."}`
	)
	for _, row := range []struct {
		name, method, path string
		key                bool
		status             int
		kind, holds, allow string
	}{
		{"alive", "GET", "/healthz", false, 200, json, `{"status":"ok"}`, ""},
		{"alive, head", "HEAD", "/healthz", false, 200, json, "", ""},
		{"alive, other method", "POST", "/healthz", false, 405, json, "not allowed", "GET, HEAD"},
		{"ready", "GET", "/readyz", false, 200, json, `{"status":"ok"}`, ""},
		{"ready, head", "HEAD", "/readyz", false, 200, json, "", ""},
		{"ready, other method", "DELETE", "/readyz", false, 405, json, "not allowed", "GET, HEAD"},
		{"contract", "GET", "/openapi.json", false, 200, json, `"openapi":"3.1`, ""},
		{"contract, head", "HEAD", "/openapi.json", false, 200, json, "", ""},
		{"contract, other method", "PUT", "/openapi.json", false, 405, json, "not allowed", "GET, HEAD"},
		{"docs", "GET", "/docs", false, 200, page, "openapi.json", ""},
		{"docs, head", "HEAD", "/docs", false, 200, page, "", ""},
		{"docs, other method", "POST", "/docs", false, 405, page, "cannot be done", "GET, HEAD"},
		{"home", "GET", "/", false, 303, page, "/sign-in", ""},
		{"home, head", "HEAD", "/", false, 303, page, "", ""},
		{"home, other method", "POST", "/", false, 405, page, "cannot be done", "GET, HEAD"},
		{"no page", "GET", "/nothing", false, 404, page, "Nothing is here", ""},
		{"health spelt otherwise is a page", "GET", "//healthz", false, 404, page, "Nothing is here", ""},
		{"damaged link", "GET", "/dl/x", false, 403, page, "This link does not work", ""},
		{"v1 without a key", "GET", "/v1/order-fields", false, 401, json, "Unauthenticated.", ""},
		{"v1", "GET", "/v1/order-fields", true, 200, json, "core_fields", ""},
		{"v1 under its other name", "GET", "/api/v1/order-fields", true, 200, json, "core_fields", ""},
		{"repeated slashes", "GET", "//v1//order-fields/", true, 200, json, "core_fields", ""},
		{"repeated slashes, other name", "GET", "/api//v1///order-fields//", true, 200, json, "core_fields", ""},
		{"repeated slashes need a key", "GET", "//v1//order-fields/", false, 401, json, "Unauthenticated.", ""},
		{"v1 itself", "GET", "/v1", true, 404, json, unknown, ""},
		{"v1 itself without a key", "GET", "/v1/", false, 401, json, "Unauthenticated.", ""},
		{"no route", "GET", "/v1/nothing", true, 404, json, unknown, ""},
		{"no method", "DELETE", "/v1/orders", true, 405, json, "not allowed", "POST"},
		{"options", "OPTIONS", "/v1/orders", false, 204, "", "", "POST, OPTIONS"},
		{"dot segments", "GET", "/v1/%2e%2e/healthz", true, 404, json, unknown, ""},
		{"dot segments without a key", "GET", "/v1/%2e%2e/healthz", false, 401, json, "Unauthenticated.", ""},
		{"plain dot segments", "GET", "/v1/../healthz", true, 404, json, unknown, ""},
		{"dot segments before", "GET", "/%2e%2e/v1/order-fields", true, 404, page, "Nothing is here", ""},
		{"encoded slash", "GET", "/v1%2forder-fields", true, 404, json, unknown, ""},
		{"encoded letters", "GET", "/%761/order-fields", true, 200, json, "core_fields", ""},
		{"capital letters", "GET", "/V1/order-fields", true, 404, page, "Nothing is here", ""},
		{"name with more", "GET", "/v1x/order-fields", true, 404, page, "Nothing is here", ""},
		{"nothing of the door", "GET", "/control/status", true, 404, page, "Nothing is here", ""},
		{"nothing of the door to write", "POST", "/control/keys", true, 404, page, "Nothing is here", ""},
		{"nothing of the door under v1", "GET", "/v1/control/status", true, 404, json, unknown, ""},
		{"general options", "OPTIONS", "*", false, 404, page, "Nothing is here", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			request := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n", row.method, row.path, r.address)
			if row.key {
				request += "Authorization: Bearer " + r.key + "\r\n"
			}
			answer, body := r.raw(t, row.method, request+"\r\n")
			if answer.StatusCode != row.status || answer.Header.Get("Content-Type") != row.kind || !strings.Contains(body, row.holds) {
				t.Errorf("%d %s %q", answer.StatusCode, answer.Header.Get("Content-Type"), body)
			}
			if allow := answer.Header.Get("Allow"); !strings.Contains(allow, row.allow) || row.allow == "" && allow != "" {
				t.Errorf("Allow %q", allow)
			}
			if id := answer.Header.Get("X-Request-Id"); len(id) != 20 {
				t.Errorf("request id %q", id)
			}
			if policy := answer.Header.Get("Content-Security-Policy"); row.status != 204 && row.status != 303 && !strings.HasPrefix(policy, "default-src 'none'") {
				t.Errorf("policy %q", policy)
			}
			if sniffing := answer.Header.Get("X-Content-Type-Options"); row.status != 204 && sniffing != "nosniff" {
				t.Errorf("sniffing %q", sniffing)
			}
			if row.method == http.MethodHead && body != "" {
				t.Errorf("a body for HEAD: %q", body)
			}
		})
	}
}

func TestRequestIDIsKept(t *testing.T) {
	r := serve(t, nil)
	for _, path := range []string{"/", "/nothing", "/healthz", "/openapi.json", "/v1/orders", "/dl/x"} {
		for sent, kept := range map[string]bool{"caller-1.a_B": true, "two words": false, strings.Repeat("x", 129): false} {
			answer, _ := r.raw(t, "GET", "GET "+path+" HTTP/1.1\r\nHost: a\r\nX-Request-Id: "+sent+"\r\n\r\n")
			if id := answer.Header.Get("X-Request-Id"); id == "" || (id == sent) != kept {
				t.Errorf("%s: sent %q, got %q", path, sent, id)
			}
		}
	}
}

func TestNotReady(t *testing.T) {
	opts := options(t, nil)
	set := vaulttest.Options(t)
	set.Dir, set.Settings.DiskReserve = shortDir(t), 1<<62
	opts.Vault = vaulttest.Open(t, set)
	handler, err := server.Handler(opts)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]int{"/healthz": 200, "/readyz": 503} {
		w := newRecorder()
		handler.ServeHTTP(w, request(t, path))
		if w.status != want {
			t.Errorf("%s: %d %s", path, w.status, &w.body)
		}
		if want == 503 && (!strings.Contains(w.body.String(), "The disk is full.") || w.header.Get("Retry-After") == "" || w.header.Get("X-Error-Code") != "unavailable") {
			t.Errorf("%s: %v %s", path, w.header, &w.body)
		}
	}
}

// recorder is a ResponseWriter with ReadFrom, like that of net/http.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
	from   []io.Reader
}

func newRecorder() *recorder { return &recorder{header: http.Header{}} }

func (w *recorder) Header() http.Header { return w.header }
func (w *recorder) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
}
func (w *recorder) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(p)
}
func (w *recorder) ReadFrom(r io.Reader) (int64, error) {
	w.WriteHeader(http.StatusOK)
	w.from = append(w.from, r)
	return w.body.ReadFrom(r)
}

func request(t *testing.T, target string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://vault.test"+target, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.RequestURI = target
	return r
}

// The kernel can send a document with sendfile only if neither the ResponseWriter of
// net/http nor the connection is wrapped.
func TestDownloadIsSentByTheKernel(t *testing.T) {
	r := serve(t, nil)
	content := append(vaulttest.PDF(1, "kernel"), bytes.Repeat([]byte("x"), 200_000)...)
	c := client.New("http://"+r.address, r.key, nil)
	up, err := c.Upload(t.Context(), nil, []client.Upload{{Filename: "Deed.pdf", Reader: bytes.NewReader(content)}})
	if err != nil || len(up.Files) != 1 {
		t.Fatal(up, err)
	}
	got, err := c.Download(t.Context(), up.Files[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	back, err := io.ReadAll(got)
	if err = errors.Join(err, got.Close()); err != nil || !bytes.Equal(back, content) {
		t.Fatalf("%d bytes, %v", len(back), err)
	}

	handler, err := server.Handler(server.Options{Config: config.Default(), Vault: r.vault, Log: slog.New(slog.DiscardHandler), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	w, ask := newRecorder(), request(t, fmt.Sprintf("/v1/file-vault/files/%d/download", up.Files[0].ID))
	ask.Header.Set("Authorization", "Bearer "+r.key)
	handler.ServeHTTP(w, ask)
	location := w.header.Get("Location")
	w = newRecorder()
	handler.ServeHTTP(w, request(t, strings.TrimPrefix(location, "http://vault.test")))
	if w.status != http.StatusOK || !bytes.Equal(w.body.Bytes(), content) {
		t.Fatalf("%d %q: %d bytes", w.status, location, w.body.Len())
	}
	if len(w.from) != 1 {
		t.Fatal("the writer's ReadFrom was not used")
	}
	part, ok := w.from[0].(*io.LimitedReader)
	if !ok {
		t.Fatalf("it read from a %T", w.from[0])
	}
	if _, ok := part.R.(*os.File); !ok {
		t.Errorf("it read from a %T", part.R)
	}
}

// Idle connections up to the limit don't delay a request: the oldest one is closed.
func TestConnectionLimit(t *testing.T) {
	const most = 7
	r := serve(t, func(c *config.Config) { c.Limits.Connections, c.Limits.TrustedConnections = most+1, most })
	answered := func(conn net.Conn) error {
		if _, err := io.WriteString(conn, "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
			return err
		}
		answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err == nil && answer.StatusCode != http.StatusOK {
			err = errors.New(answer.Status)
		}
		return err
	}
	var held []net.Conn
	for range most + 1 {
		conn := r.dial(t)
		if err := answered(conn); err != nil {
			t.Fatal(err)
		}
		held = append(held, conn)
	}
	if err := answered(held[0]); err == nil {
		t.Error("the oldest stays")
	}
	for i, conn := range held[1:] {
		if err := answered(conn); err != nil {
			t.Errorf("number %d: %v", i+1, err)
		}
	}
}

func TestHeaders(t *testing.T) {
	r := serve(t, func(c *config.Config) {
		c.Timeouts.Header = 200 * time.Millisecond
		c.Limits.HeaderBytes = 4 << 10
	})
	t.Run("too large", func(t *testing.T) {
		answer, _ := r.raw(t, "GET", "GET /healthz HTTP/1.1\r\nHost: a\r\nX-Long: "+strings.Repeat("x", 16<<10)+"\r\n\r\n")
		if answer.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
			t.Error(answer.Status)
		}
	})
	t.Run("too slow", func(t *testing.T) {
		conn := r.dial(t)
		if _, err := io.WriteString(conn, "GET /healthz HTTP/1.1\r\nHost: a\r\nX-Slow: "); err != nil {
			t.Fatal(err)
		}
		// The deadline of dial is far above the server's patience.
		if rest, err := io.ReadAll(conn); err != nil || strings.Contains(string(rest), "200 OK") {
			t.Errorf("%q, %v", rest, err)
		}
	})
}

func TestDoor(t *testing.T) {
	r := serve(t, nil)
	door := control.RoundTripper(r.vault.Dir)
	for _, row := range []struct {
		name, base, header, value string
		status                    int
	}{
		{"as a command asks", control.BaseURL, "", "", 200},
		{"by another name", "http://127.0.0.1", "", "", 403},
		{"by a name with a port", control.BaseURL + ":80", "", "", 403},
		{"with an origin", control.BaseURL, "Origin", "null", 403},
		{"with a referrer", control.BaseURL, "Referer", "http://deedkeep/", 403},
		{"by a browser", control.BaseURL, "Sec-Fetch-Mode", "no-cors", 403},
	} {
		t.Run(row.name, func(t *testing.T) {
			ask, err := http.NewRequestWithContext(t.Context(), http.MethodGet, row.base+"/control/status", nil)
			if err != nil {
				t.Fatal(err)
			}
			if row.header != "" {
				ask.Header.Set(row.header, row.value)
			}
			answer, err := door.RoundTrip(ask)
			if err != nil {
				t.Fatal(err)
			}
			if err := answer.Body.Close(); err != nil || answer.StatusCode != row.status {
				t.Error(answer.Status, err)
			}
		})
	}
	c := control.NewClient(door)
	status, err := c.Status(t.Context())
	if err != nil || !status.Running || status.Listen == nil || *status.Listen != r.address {
		t.Errorf("%+v, %v", status, err)
	}
}

// An upload in progress when the server is asked to stop completes, new requests are
// rejected in the meantime, and the control socket works until the end.
func TestStopFinishesWhatIsUnderWay(t *testing.T) {
	r := serve(t, nil)
	content := vaulttest.PDF(3, "in flight")
	rest, body := io.Pipe()
	uploaded := make(chan error, 1)
	first := newOnce()
	go func() {
		c := client.New("http://"+r.address, r.key, nil)
		up, err := c.Upload(context.Background(), nil, []client.Upload{{Filename: "Deed.pdf", Reader: first.tell(rest)}})
		if err == nil && (len(up.Files) != 1 || up.Files[0].FileSize != int64(len(content))) {
			err = fmt.Errorf("%+v", up)
		}
		uploaded <- err
	}()
	if _, err := body.Write(content[:10]); err != nil {
		t.Fatal(err)
	}
	<-first.read // the server has asked for the body
	r.end()
	waitFor(t, func() bool {
		answer, body := r.raw(t, "GET", "GET /v1/order-fields HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer "+r.key+"\r\n\r\n")
		if answer.StatusCode == http.StatusOK {
			return false
		}
		if answer.StatusCode != http.StatusServiceUnavailable || answer.Header.Get("Retry-After") == "" || !answer.Close ||
			answer.Header.Get("X-Request-Id") == "" || answer.Header.Get("X-Error-Code") != "unavailable" || !strings.Contains(body, "The service is stopping") {
			t.Errorf("%v %s", answer, body)
		}
		return true
	})
	if _, err := control.NewClient(control.RoundTripper(r.vault.Dir)).Status(t.Context()); err != nil {
		t.Errorf("the door while stopping: %v", err)
	}
	_, err := body.Write(content[10:])
	if err = errors.Join(err, body.Close(), <-uploaded, r.stopped(t)); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(filepath.Join(r.vault.Dir, "control.sock")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("control.sock stayed: %v", err)
	}
}

func TestStopCutsAfterTheGrace(t *testing.T) {
	r := serve(t, func(c *config.Config) { c.Timeouts.Grace = 50 * time.Millisecond })
	conn := r.dial(t)
	if _, err := fmt.Fprintf(conn, "POST /v1/orders HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: 99\r\nExpect: 100-continue\r\n\r\n", r.key); err != nil {
		t.Fatal(err)
	}
	if answer, err := http.ReadResponse(bufio.NewReader(conn), nil); err != nil || answer.StatusCode != http.StatusContinue {
		t.Fatal(answer, err)
	}
	r.end()
	start := time.Now()
	if err := r.stopped(t); err != nil {
		t.Error(err)
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
}

func TestAddressInUse(t *testing.T) {
	r := serve(t, nil)
	opts := options(t, func(c *config.Config) { c.Listen = r.address })
	err := server.Serve(t.Context(), opts)
	if err == nil || !strings.Contains(err.Error(), "--listen") {
		t.Error(err)
	}
	if _, err := os.Lstat(filepath.Join(opts.Vault.Dir, "control.sock")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it opened the door: %v", err)
	}
}

// A thousand keys are created through the control socket while API clients use the vault.
func TestKeysUnderLoad(t *testing.T) {
	r := serve(t, nil)
	door := control.NewClient(control.RoundTripper(r.vault.Dir))
	public := client.New("http://"+r.address, r.key, nil)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var load, makers sync.WaitGroup
	for i := range 2 {
		load.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				if _, err := public.CreateOrder(ctx, client.OrderDraft{OrderNumber: fmt.Sprintf("%d-%d", i, n)}); err != nil && ctx.Err() == nil {
					t.Error(err)
					return
				}
			}
		})
	}
	const each, all = 125, 1000
	texts := make([][]string, all/each)
	for i := range texts {
		makers.Go(func() {
			for range each {
				made, err := door.CreateKey(t.Context(), keyDraft(i))
				if err != nil {
					t.Error(err)
					return
				}
				texts[i] = append(texts[i], made.Key)
			}
		})
	}
	makers.Wait()
	cancel()
	load.Wait()
	seen := map[string]bool{}
	for _, list := range texts {
		for _, key := range list {
			seen[key] = true
		}
	}
	if len(seen) != all {
		t.Fatalf("%d keys", len(seen))
	}
	for _, list := range texts {
		if _, err := client.New("http://"+r.address, list[len(list)-1], nil).OrderFields(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

func TestRevokedAtOnce(t *testing.T) {
	r := serve(t, nil)
	door := control.NewClient(control.RoundTripper(r.vault.Dir))
	made, err := door.CreateKey(t.Context(), keyDraft(1))
	if err != nil {
		t.Fatal(err)
	}
	c := client.New("http://"+r.address, made.Key, nil)
	if _, err := c.OrderFields(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := door.RevokeKey(t.Context(), made.Data.ID); err != nil {
		t.Fatal(err)
	}
	_, err = c.OrderFields(t.Context())
	if refused, ok := errors.AsType[*client.Error](err); !ok || refused.Status != http.StatusUnauthorized {
		t.Errorf("the request after the revocation: %v", err)
	}
}

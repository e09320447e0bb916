package ui_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"deedkeep/app/apitypes"
	"deedkeep/app/auth"
	"deedkeep/app/encode"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/secret"
	"deedkeep/app/ui"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

// testServer serves the pages of a new vault on a real HTTP server.
type testServer struct {
	vault     *instance.Instance
	clock     *vaulttest.Clock
	dir       string
	scheme    string // scheme of the server's address
	links     *secret.Links
	server    *httptest.Server
	log       bytes.Buffer // read only after the server is closed
	secrets   []string     // text that must not appear in the log
	limitBody page.BodyLimiter
	restarts  atomic.Int32 // how often an administrator restarted the server
}

// newTestServer returns a server with one administrator, whose name is Owner.
func newTestServer(t *testing.T) *testServer {
	t.Helper()
	h := newEmptyTestServer(t, nil)
	h.createUser(t, "Owner", model.RoleAdmin)
	return h
}

// newEmptyTestServer returns a server without users.
func newEmptyTestServer(t *testing.T, adjust func(*instance.Options)) *testServer {
	t.Helper()
	opts := vaulttest.Options(t)
	if adjust != nil {
		adjust(&opts)
	}
	h := &testServer{clock: vaulttest.NewClock(), dir: opts.Dir, scheme: "http://"}
	opts.Now = h.clock.Now
	h.vault = vaulttest.Open(t, opts)
	h.links = h.vault.Secrets.Links()
	log := slog.New(slog.NewTextHandler(&h.log, nil))
	pages, err := ui.New(ui.Options{
		App: h.vault, Links: h.links, Address: func(r *http.Request) string { return "192.0.2." + r.Header.Get("From") },
		Origin: func(r *http.Request) (string, error) { return h.scheme + r.Host, nil },
		Event:  encode.NewIDCodec(h.vault.Secrets).Event, SettingsFile: "/etc/deedkeep/own.yaml",
		Version: "9.9.9", Doctor: h.doctor, Run: "run1", Restart: func() { h.restarts.Add(1) },
		LimitBody: func(ctx context.Context, owner string, body io.ReadCloser, length int64,
			granted func(time.Duration)) (io.ReadCloser, func()) {
			if h.limitBody == nil {
				return body, func() {}
			}
			return h.limitBody(ctx, owner, body, length, granted)
		},
		MinRate: 1 << 10, Now: h.clock.Now, Log: log,
	})
	if err != nil {
		t.Fatalf("ui.New: %v", err)
	}
	h.server = httptest.NewServer(pages)
	t.Cleanup(func() {
		h.server.Close()
		for _, secret := range append(h.secrets, "/dl/", "/join/", "dk_live_", "Canary") {
			if strings.Contains(h.log.String(), secret) {
				t.Errorf("the log contains %s", secret)
			}
		}
	})
	return h
}

// createUser creates a user whose password is goodPassword.
func (ts *testServer) createUser(t *testing.T, name string, role model.Role) model.User {
	t.Helper()
	password := goodPassword
	_, user, err := ts.vault.Users.Create(t.Context(), model.Actor{Kind: "operator"},
		model.UserDraft{Name: name, Role: role, Password: &password})
	if err != nil {
		t.Fatalf("Users.Create: %v", err)
	}
	return user
}

// signIn signs a user in and returns the session token.
func (ts *testServer) signIn(t *testing.T, name, code string) string {
	t.Helper()
	session, err := ts.vault.Users.SignIn(t.Context(),
		auth.SignInDraft{Name: name, Password: goodPassword, Code: code, Address: "192.0.2.9", Device: "Firefox/140.0 Windows"})
	if err != nil {
		t.Fatalf("sign in %s: %v", name, err)
	}
	ts.secrets = append(ts.secrets, session.Token)
	return session.Token
}

// cookieFor signs a user in and returns the Cookie header.
func (ts *testServer) cookieFor(t *testing.T, name string) string {
	t.Helper()
	return "Cookie: deedkeep=" + ts.signIn(t, name, "")
}

// createSession creates a user with the given role and signs in.
func (ts *testServer) createSession(t *testing.T, name string, role model.Role) (token string, actor model.Actor) {
	t.Helper()
	ts.createUser(t, name, role)
	token = ts.signIn(t, name, "")
	actor, err := ts.vault.Sessions.Authenticate(t.Context(), token)
	if err != nil {
		t.Fatalf("Sessions.Authenticate: %v", err)
	}
	return token, actor
}

// doctor returns constant findings.
func (ts *testServer) doctor(context.Context) (apitypes.Doctor, error) {
	return apitypes.Doctor{Findings: []apitypes.Diagnosis{{Check: "clock", State: "ok", Message: "right"},
		{Check: "disk <1>", State: "bad", Message: "gone", Action: "buy one"}}}, nil
}

// upload stores a document and returns it.
func (ts *testServer) upload(t *testing.T, filename string, content []byte) model.File {
	t.Helper()
	staged, err := ts.vault.Files.Stage(t.Context())
	if err != nil {
		t.Fatalf("Files.Stage: %v", err)
	}
	defer staged.Discard()
	if err := staged.Add(filename, bytes.NewReader(content)); err != nil {
		t.Fatalf("stage file: %v", err)
	}
	uploaded, err := ts.vault.Files.Upload(t.Context(), model.Actor{Kind: "operator"}, model.UploadDraft{}, staged,
		vault.Idempotency[vault.AbstractWithFiles]{})
	if err != nil || len(uploaded.Files) != 1 {
		t.Fatalf("Files.Upload of %s = %+v, %v, want one file", filename, uploaded, err)
	}
	return uploaded.Files[0]
}

// signedLink returns a signed download link that is valid for five minutes.
func (ts *testServer) signedLink(file model.File) string {
	return ts.links.Sign(secret.Link{File: int64(file.ID), Filename: file.Filename, Expires: ts.clock.Now().Add(5 * time.Minute)})
}

// reply is a response with its body.
type reply struct {
	*http.Response
	body []byte
}

// send sends a request without changing the target or the headers.
func (ts *testServer) send(t testing.TB, method, target string, header ...string) reply {
	t.Helper()
	conn := ts.dial(t)
	defer conn.Close()
	lines := append([]string{"Host: vault.test", "Connection: close"}, header...)
	if _, err := fmt.Fprintf(conn, "%s %s HTTP/1.1\r\n%s\r\n\r\n", method, target, strings.Join(lines, "\r\n")); err != nil {
		t.Fatalf("write request: %v", err)
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method, URL: &url.URL{Path: target}})
	if err != nil {
		t.Fatalf("%s %s: %v", method, target, err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatalf("read response body: %v", err)
	}
	return newReply(response, body)
}

// unwrap matches a line break that a page template has only for its reader, or a value whose own
// line breaks count.
var unwrap = regexp.MustCompile(`(?s)\s*\n\s*|<textarea.*?</textarea>|<pre.*?</pre>|="([^"]* )?(lines|remarks)"[^<]*|="[^"]*"`)

// newReply returns a reply whose page has each element and sentence on one line.
func newReply(response *http.Response, body []byte) reply {
	if strings.HasPrefix(response.Header.Get("Content-Type"), "text/html") {
		body = unwrap.ReplaceAllFunc(body, func(match []byte) []byte {
			if len(bytes.TrimSpace(match)) > 0 {
				return match
			}
			return []byte(" ")
		})
	}
	return reply{response, body}
}

func (ts *testServer) dial(t testing.TB) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", ts.server.Listener.Addr().String())
	if err != nil {
		t.Fatalf("dial: %v", err)
	}
	if err := conn.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatalf("set deadline: %v", err)
	}
	return conn
}

// request sends a request and checks the response status.
func (ts *testServer) request(t testing.TB, want int, method, target string, header ...string) reply {
	t.Helper()
	got := ts.send(t, method, target, header...)
	if got.StatusCode != want {
		t.Errorf("%s %s: status %d, want %d\n%s", method, target, got.StatusCode, want, got.body)
	}
	return got
}

// checkHeaders checks that the response has the expected headers.
func (r reply) checkHeaders(t testing.TB, want map[string]string) {
	t.Helper()
	for name, value := range want {
		if got := r.Header.Get(name); got != value {
			t.Errorf("%s = %q, want %q", name, got, value)
		}
	}
}

// has checks that the response body contains all of the texts.
func (r reply) has(t testing.TB, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(string(r.body), text) {
			t.Errorf("page lacks %q:\n%s", text, r.main())
		}
	}
}

// lacks checks that the response body contains none of the texts.
func (r reply) lacks(t testing.TB, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if strings.Contains(string(r.body), text) {
			t.Errorf("page contains %q:\n%s", text, r.main())
		}
	}
}

// deleteBlob deletes a document's content from the disk to simulate a disk failure.
func (ts *testServer) deleteBlob(t *testing.T, file model.File) {
	t.Helper()
	if err := os.Remove(ts.blobPath(file)); err != nil {
		t.Fatalf("os.Remove: %v", err)
	}
}

func (ts *testServer) blobPath(file model.File) string {
	return filepath.Join(ts.dir, "blobs", file.Digest[:2], file.Digest)
}

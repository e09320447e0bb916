package contract

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"deedkeep/app/config"
	"deedkeep/app/control"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/server"
	"deedkeep/app/vaulttest"
)

// kinds are the types of keys in requests.
var kinds = []string{"full", "read", "events", "metrics", "expired", "revoked", "none", "garbage"}

// Small limits, which requests can exceed quickly.
const (
	maxJSON     = 32 << 10
	maxFile     = 64 << 10
	maxFiles    = 6
	maxParts    = 20
	maxAbstract = 12
)

// testServer is a vault with a complete server but without background work, so that every commit belongs to a request.
type testServer struct {
	vault *instance.Instance
	clock *vaulttest.Clock
	dir   string
	keys  map[string]string
	web   *httptest.Server
	conn  net.Conn
	from  *bufio.Reader
	log   *logBuffer
}

func open(t *testing.T, seed uint64) *testServer {
	t.Helper()
	h := &testServer{clock: vaulttest.NewClock(), keys: map[string]string{"none": "", "garbage": "dk_live_garbage"}, log: &logBuffer{}}
	set := vaulttest.Options(t)
	set.Now, set.Rand = h.clock.Now, &lockedRand{source: rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8), byte(seed >> 16),
		byte(seed >> 24)})}
	set.Settings.FileSize, set.Settings.FilesPerRequest, set.Settings.FilesPerAbstract = maxFile, maxFiles, maxAbstract
	set.OCRReader = new(vaulttest.FakeOCR)
	set.Log = slog.New(slog.NewTextHandler(h.log, nil))
	h.dir = set.Dir
	h.vault = vaulttest.Open(t, set)
	h.makeKeys(t)
	password := "a long walk to the courthouse"
	user := model.UserDraft{Name: "kim", Role: model.RoleAdmin, Password: &password}
	if _, _, err := h.vault.Users.Create(t.Context(), model.Actor{Kind: "operator"}, user); err != nil {
		t.Fatalf("create the user: %v", err)
	}
	c := config.Default()
	c.Data, c.Rate.FailingKeys = set.Dir, 0
	c.Limits.JSONBody, c.Limits.FormFields, c.Limits.Parts = maxJSON, maxJSON, maxParts
	c.Limits.FileSize, c.Limits.FilesPerRequest, c.Limits.RequestBody = maxFile, maxFiles, 8*maxFile
	handler, err := server.Handler(server.Options{Config: c, App: h.vault, Build: control.Build{Version: "test"}, Log: set.Log,
		Now: h.clock.Now})
	if err != nil {
		t.Fatalf("create the handler of the server: %v", err)
	}
	h.web = httptest.NewServer(handler)
	t.Cleanup(func() {
		h.closeConn()
		h.web.Close()
	})
	return h
}

func (ts *testServer) makeKeys(t *testing.T) {
	t.Helper()
	ts.vault.Events.EndFollowing() // otherwise, a stream wouldn't end
	ts.clock.Advance(-2 * time.Hour)
	end := ts.clock.Now().Add(time.Hour)
	for kind, ability := range map[string]string{
		"full": model.AbilityAPI, "read": model.AbilityRead, "events": model.AbilityEvents, "metrics": model.AbilityMetrics,
		"expired": model.AbilityAPI, "revoked": model.AbilityAPI,
	} {
		draft := model.KeyDraft{Name: kind, Abilities: []string{ability}}
		if kind == "expired" {
			draft.ExpiresAt = &end
		}
		text, key, err := ts.vault.Keys.Create(t.Context(), model.Actor{Kind: "operator"}, draft)
		if err == nil && kind == "revoked" {
			_, err = ts.vault.Keys.Revoke(t.Context(), model.Actor{Kind: "operator"}, key.ID)
		}
		if err != nil {
			t.Fatalf("create the %s key: %v", kind, err)
		}
		ts.keys[kind] = text
	}
	ts.clock.Advance(2 * time.Hour)
}

// commits returns the number of commits.
func (ts *testServer) commits() uint64 {
	n, err := ts.vault.Metrics(context.Background())
	if err != nil {
		panic(err)
	}
	return n.Commits.Changes.Count
}

// index waits until the search index is up to date.
func (ts *testServer) index(t *testing.T) {
	t.Helper()
	if _, err := ts.vault.Search.Await(t.Context(), func(uint64, uint64) {}); err != nil {
		t.Fatalf("wait for the search index: %v", err)
	}
}

// reply is a response with its decoded body.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// send sends a request on the open connection or on a new one.
func (ts *testServer) send(r *request) (*reply, error) {
	reused := ts.conn != nil
	got, err := ts.exchange(r)
	if err != nil && reused {
		ts.closeConn() // the server may have closed it since the last request
		got, err = ts.exchange(r)
	}
	if err != nil {
		ts.closeConn()
		return nil, fmt.Errorf("no response: %w", err)
	}
	return got, nil
}

// responseTimeout is the timeout of a response.
const responseTimeout = 20 * time.Second

func (ts *testServer) exchange(r *request) (*reply, error) {
	if ts.conn == nil {
		conn, err := net.Dial("tcp", ts.web.Listener.Addr().String())
		if err != nil {
			return nil, err
		}
		ts.conn, ts.from = conn, bufio.NewReader(conn)
	}
	if err := ts.conn.SetDeadline(time.Now().Add(responseTimeout)); err != nil {
		return nil, err
	}
	var sent sync.WaitGroup
	conn := ts.conn
	// A server may respond before it has read the request, and close. Only its response counts.
	sent.Go(func() { _, _ = conn.Write(r.wire(ts.keys[r.as])) })
	resp, err := http.ReadResponse(ts.from, &http.Request{Method: r.method})
	if err == nil && resp.StatusCode == http.StatusContinue {
		resp, err = http.ReadResponse(ts.from, &http.Request{Method: r.method})
	}
	if err != nil {
		ts.closeConn()
		sent.Wait()
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if resp.Close || err != nil {
		ts.closeConn()
	}
	sent.Wait()
	if err == nil && resp.Header.Get("Content-Encoding") == "gzip" && len(body) > 0 {
		var z *gzip.Reader
		if z, err = gzip.NewReader(bytes.NewReader(body)); err == nil {
			body, err = io.ReadAll(z)
		}
	}
	return &reply{resp.StatusCode, resp.Header, body}, err
}

func (ts *testServer) closeConn() {
	if ts.conn != nil {
		_ = ts.conn.Close() // the server may have closed it
		ts.conn = nil
	}
}

// onDisk returns the digests of the blobs on disk and the number of files in tmp.
func (ts *testServer) onDisk(t *testing.T) (digests map[string]bool, leftovers int) {
	t.Helper()
	digests = map[string]bool{}
	for _, dir := range []string{"blobs", "tmp", "uploads"} {
		err := filepath.WalkDir(filepath.Join(ts.dir, dir), func(path string, d fs.DirEntry, err error) error {
			switch {
			case os.IsNotExist(err) || err == nil && d.IsDir():
				return nil
			case err != nil:
				return err
			case dir != "blobs":
				leftovers++
				return nil
			}
			if _, err := hex.DecodeString(d.Name()); err != nil {
				return fmt.Errorf("name of %s is not a digest", path)
			}
			digests[d.Name()] = true
			return nil
		})
		if err != nil {
			t.Fatalf("list %s: %v", dir, err)
		}
	}
	return digests, leftovers
}

// lockedRand is a deterministic source of random bytes for concurrent use.
type lockedRand struct {
	mu     sync.Mutex
	source *rand.ChaCha8
}

func (l *lockedRand) Read(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.source.Read(p)
}

// logBuffer is a log for concurrent use.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

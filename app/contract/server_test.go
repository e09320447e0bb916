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

// kinds are the kinds of keys that are shown.
var kinds = []string{"full", "read", "events", "metrics", "expired", "revoked", "none", "garbage"}

// Limits small enough that what is above them is soon sent.
const (
	mostJSON     = 32 << 10
	mostFile     = 64 << 10
	mostFiles    = 6
	mostParts    = 20
	mostAbstract = 12
)

// house is a vault behind the whole server, without its work in the background: what
// is committed was asked for.
type house struct {
	vault *instance.Instance
	clock *vaulttest.Clock
	dir   string
	keys  map[string]string
	web   *httptest.Server
	conn  net.Conn
	from  *bufio.Reader
	log   *lines
}

func open(t *testing.T, seed uint64) *house {
	t.Helper()
	h := &house{clock: vaulttest.NewClock(), keys: map[string]string{"none": "", "garbage": "dk_live_garbage"}, log: &lines{}}
	set := vaulttest.Options(t)
	set.Now, set.Rand = h.clock.Now, &chance{source: rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8), byte(seed >> 16), byte(seed >> 24)})}
	set.Settings.FileSize, set.Settings.FilesPerRequest, set.Settings.FilesPerAbstract = mostFile, mostFiles, mostAbstract
	set.Log = slog.New(slog.NewTextHandler(h.log, nil))
	h.dir = set.Dir
	h.vault = vaulttest.Open(t, set)
	h.makeKeys(t)
	password := "a long walk to the courthouse"
	if _, _, err := h.vault.Users.Create(t.Context(), model.Actor{Kind: "operator"}, model.UserDraft{Name: "kim", Role: model.RoleAdmin, Password: &password}); err != nil {
		t.Fatal(err)
	}
	c := config.Default()
	c.Data, c.Rate.FailingKeys = set.Dir, 0
	c.Limits.JSONBody, c.Limits.FormFields, c.Limits.Parts = mostJSON, mostJSON, mostParts
	c.Limits.FileSize, c.Limits.FilesPerRequest, c.Limits.RequestBody = mostFile, mostFiles, 8*mostFile
	handler, err := server.Handler(server.Options{Config: c, Vault: h.vault, Build: control.Build{Version: "test"}, Log: set.Log, Now: h.clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	h.web = httptest.NewServer(handler)
	t.Cleanup(func() {
		h.hangUp()
		h.web.Close()
	})
	return h
}

func (h *house) makeKeys(t *testing.T) {
	t.Helper()
	h.clock.Advance(-2 * time.Hour)
	end := h.clock.Now().Add(time.Hour)
	for kind, ability := range map[string]string{
		"full": model.AbilityAPI, "read": model.AbilityRead, "events": model.AbilityEvents, "metrics": model.AbilityMetrics,
		"expired": model.AbilityAPI, "revoked": model.AbilityAPI,
	} {
		draft := model.KeyDraft{Name: kind, Abilities: []string{ability}}
		if kind == "expired" {
			draft.ExpiresAt = &end
		}
		text, key, err := h.vault.Keys.Create(t.Context(), model.Actor{Kind: "operator"}, draft)
		if err == nil && kind == "revoked" {
			_, err = h.vault.Keys.Revoke(t.Context(), model.Actor{Kind: "operator"}, key.ID)
		}
		if err != nil {
			t.Fatal(err)
		}
		h.keys[kind] = text
	}
	h.clock.Advance(2 * time.Hour)
}

// commits is how many there were.
func (h *house) commits() uint64 {
	n, err := h.vault.Metrics(context.Background())
	if err != nil {
		panic(err)
	}
	return n.Commits.Changes.Count
}

// index has the index of words know all there is.
func (h *house) index(t *testing.T) {
	t.Helper()
	if _, err := h.vault.Search.Await(t.Context(), func(uint64, uint64) {}); err != nil {
		t.Fatal(err)
	}
}

// reply is an answer with its body decoded.
type reply struct {
	status int
	header http.Header
	body   []byte
}

// send sends a request over the connection that is open, or a new one.
func (h *house) send(r *request) (*reply, error) {
	kept := h.conn != nil
	got, err := h.exchange(r)
	if err != nil && kept {
		h.hangUp() // it may have been closed between two requests
		got, err = h.exchange(r)
	}
	if err != nil {
		h.hangUp()
		return nil, fmt.Errorf("no answer: %w", err)
	}
	return got, nil
}

// patience is how long an answer may take.
const patience = 20 * time.Second

func (h *house) exchange(r *request) (*reply, error) {
	if h.conn == nil {
		conn, err := net.Dial("tcp", h.web.Listener.Addr().String())
		if err != nil {
			return nil, err
		}
		h.conn, h.from = conn, bufio.NewReader(conn)
	}
	if err := h.conn.SetDeadline(time.Now().Add(patience)); err != nil {
		return nil, err
	}
	var sent sync.WaitGroup
	conn := h.conn
	// A server that has heard enough may answer and close; what it said is what counts.
	sent.Go(func() { _, _ = conn.Write(r.wire(h.keys[r.as])) })
	answer, err := http.ReadResponse(h.from, &http.Request{Method: r.method})
	if err == nil && answer.StatusCode == http.StatusContinue {
		answer, err = http.ReadResponse(h.from, &http.Request{Method: r.method})
	}
	if err != nil {
		h.hangUp()
		sent.Wait()
		return nil, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if answer.Close || err != nil {
		h.hangUp()
	}
	sent.Wait()
	if err == nil && answer.Header.Get("Content-Encoding") == "gzip" && len(body) > 0 {
		var z *gzip.Reader
		if z, err = gzip.NewReader(bytes.NewReader(body)); err == nil {
			body, err = io.ReadAll(z)
		}
	}
	return &reply{answer.StatusCode, answer.Header, body}, err
}

func (h *house) hangUp() {
	if h.conn != nil {
		_ = h.conn.Close() // the other side may have closed it
		h.conn = nil
	}
}

// onDisk are the digests of the blobs that lie there, and how many files lie in tmp.
func (h *house) onDisk(t *testing.T) (digests map[string]bool, leftovers int) {
	t.Helper()
	digests = map[string]bool{}
	for _, dir := range []string{"blobs", "tmp", "uploads"} {
		err := filepath.WalkDir(filepath.Join(h.dir, dir), func(path string, d fs.DirEntry, err error) error {
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
				return fmt.Errorf("%s is no blob", path)
			}
			digests[d.Name()] = true
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return digests, leftovers
}

// chance is what looks like chance, for many goroutines.
type chance struct {
	mu     sync.Mutex
	source *rand.ChaCha8
}

func (c *chance) Read(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.source.Read(p)
}

// lines is a log that many goroutines write.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

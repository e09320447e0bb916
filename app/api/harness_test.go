package api_test

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"

	"deedkeep/app/api"
	"deedkeep/app/httpx"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/secret"
	"deedkeep/app/store"
	"deedkeep/app/vaulttest"
	closed "deedkeep/app/vaulttest/description"
)

// contract finds operations of openapi.yaml; it is read once.
var contract = sync.OnceValues(func() (routers.Router, error) {
	doc, err := closed.LoadStrict("openapi.yaml")
	if err != nil {
		return nil, err
	}
	return gorillamux.NewRouter(doc)
})

// setup is what a test may change before its house is opened.
type setup struct {
	vault     instance.Options
	api       api.Options
	workspace model.Workspace
	retired   []uint64          // templates
	secret    io.Reader         // what the secret is made of
	keys      map[string]string // of a house that was there before; nil: new ones
}

// house is a vault behind a real HTTP server, with keys of every sort.
type house struct {
	testing.TB
	vault  *instance.Instance
	clock  *vaulttest.Clock
	dir    string
	keys   map[string]string // by what they may: full, read, events, metrics, revoked, expired, bad
	server *httptest.Server
	router routers.Router
	log    *lines

	mu   sync.Mutex
	sent []string // what must not stand in the log
}

// open opens a house; at its end the vault is verified and the log is searched for
// what must not stand there.
func open(t testing.TB, changes ...func(*setup)) *house {
	t.Helper()
	h := &house{TB: t, clock: vaulttest.NewClock(), log: &lines{}}
	log := slog.New(slog.NewJSONHandler(h.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	s := setup{vault: vaulttest.Options(t), workspace: model.NewWorkspace(), secret: vaulttest.Rand()}
	s.vault.Now, s.vault.Log = h.clock.Now, log
	s.api = api.Options{
		Limits: api.Limits{JSON: 8 << 20, FormFields: 8 << 20, Parts: 1000, RequestBody: 100*(100<<20) + 64<<20, Stall: 30 * time.Second, MinRate: 1}, Memory: httpx.NewMemoryBudget(64<<20, 10*time.Second),
		FailingKeys: 60, LinkTTL: 5 * time.Minute, Now: h.clock.Now, Log: log,
	}
	for _, change := range changes {
		change(&s)
	}
	h.dir = s.vault.Dir
	h.furnish(s)
	h.vault = vaulttest.Open(t, s.vault)
	if h.keys = s.keys; h.keys == nil {
		h.keys = map[string]string{}
		h.makeKeys()
	}
	s.api.Vault = h.vault
	handler, err := api.New(s.api)
	h.must(err)
	h.router, err = contract()
	h.must(err)
	h.server = httptest.NewUnstartedServer(httpx.WithRequestID(handler, vaulttest.Rand()))
	h.server.Config.ErrorLog = slog.NewLogLogger(log.Handler(), slog.LevelDebug)
	h.server.Start()
	t.Cleanup(func() {
		h.server.Close()
		h.searchLog()
	})
	return h
}

func (h *house) must(err error) {
	h.Helper()
	if err != nil {
		h.Fatal(err)
	}
}

// furnish makes the database before the vault does, with the workspace of the test.
func (h *house) furnish(s setup) {
	h.Helper()
	h.must(os.Chmod(h.dir, 0o700))
	ring, _, err := secret.LoadKeys(filepath.Join(h.dir, "secret.key"), s.secret)
	h.must(err)
	db, err := store.Open(context.Background(), filepath.Join(h.dir, "vault.db"),
		store.Options{Now: h.clock.Now, Fingerprint: ring.Fingerprint(), Workspace: s.workspace})
	h.must(err)
	h.must(db.Update(context.Background(), nil, func(t *store.Tx) error {
		for _, id := range s.retired {
			template, err := t.Template(id)
			if err != nil {
				return err
			}
			template.Retired = true
			if err := t.PutTemplate(template); err != nil {
				return err
			}
		}
		return nil
	}))
	h.must(db.Close())
}

func (h *house) makeKeys() {
	h.Helper()
	h.clock.Advance(-2 * time.Hour)
	later := h.clock.Now().Add(time.Hour)
	actor := model.Actor{Kind: "operator"}
	for _, k := range []struct {
		sort, ability string
		expires       *time.Time
	}{
		{sort: "full", ability: model.AbilityAPI}, {sort: "read", ability: model.AbilityRead}, {sort: "events", ability: model.AbilityEvents},
		{sort: "metrics", ability: model.AbilityMetrics}, {sort: "revoked", ability: model.AbilityAPI},
		{sort: "expired", ability: model.AbilityAPI, expires: &later}, {sort: "other", ability: model.AbilityAPI},
	} {
		text, key, err := h.vault.Keys.Create(context.Background(), actor, model.KeyDraft{Name: k.sort, Abilities: []string{k.ability}, ExpiresAt: k.expires})
		h.must(err)
		if k.sort == "revoked" {
			_, err = h.vault.Keys.Revoke(context.Background(), actor, key.ID)
			h.must(err)
		}
		h.keys[k.sort] = text
	}
	stranger, err := secret.NewAPIKey(strings.NewReader(strings.Repeat("stranger", 8)))
	h.must(err)
	h.keys["bad"] = stranger
	h.clock.Advance(2 * time.Hour)
}

// remember keeps what of a request must not be found in the log.
func (h *house) remember(body string) {
	if len(body) > 64<<10 {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for line := range strings.SplitSeq(body, "\n") {
		if line = strings.TrimSpace(line); len(line) >= 12 && len(h.sent) < 2000 {
			h.sent = append(h.sent, line)
		}
	}
}

func (h *house) searchLog() {
	log := h.log.String()
	if !strings.Contains(log, `"msg":"request"`) {
		h.Error("the log has no line of a request")
	}
	for _, s := range append([]string{"dk_live_", "/dl/", "Bearer "}, h.sent...) {
		if strings.Contains(log, s) {
			h.Errorf("the log holds %q", s)
		}
	}
}

// count gives the number of files under a folder of the data directory.
func (h *house) count(folder string) (n int) {
	h.Helper()
	h.must(filepath.WalkDir(filepath.Join(h.dir, folder), func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			n++
		}
		return err
	}))
	return n
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

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

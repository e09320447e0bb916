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

	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"

	"deedkeep/app/api"
	"deedkeep/app/httpx"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/secret"
	"deedkeep/app/store"
	"deedkeep/app/vaulttest"
	"deedkeep/app/vaulttest/description"
)

const mediaExcel = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"

// loadRouter returns a router for the operations in openapi.yaml. It parses the file only
// once.
var loadRouter = sync.OnceValues(func() (routers.Router, error) {
	openapi3filter.RegisterBodyDecoder(mediaExcel, openapi3filter.FileBodyDecoder)
	openapi3filter.RegisterBodyDecoder(model.MIMEPDF, openapi3filter.FileBodyDecoder)
	openapi3filter.RegisterBodyDecoder(httpx.EventStreamMedia, openapi3filter.FileBodyDecoder)
	doc, err := description.LoadStrict("openapi.yaml")
	if err != nil {
		return nil, err
	}
	return gorillamux.NewRouter(doc)
})

// testConfig contains the settings that a test can change before its server starts.
type testConfig struct {
	vault     instance.Options
	api       api.Options
	workspace model.Workspace
	retired   []uint64          // IDs of the templates to retire
	secret    io.Reader         // source of randomness for the secret key
	keys      map[string]string // API keys of a copied data directory, by name; if nil, new keys are created
}

// testServer serves the API with a real HTTP server, a new data directory, and an API key
// of each type.
type testServer struct {
	testing.TB
	vault  *instance.Instance
	clock  *vaulttest.Clock
	dir    string
	keys   map[string]string // keys by name: full, read, events, metrics, revoked, expired, other, bad
	server *httptest.Server
	router routers.Router
	log    *logBuffer

	mu      sync.Mutex
	secrets []string // texts that must not appear in the log
}

// newTestServer starts a server. When the test ends, the cleanup checks that the log
// contains no secrets.
func newTestServer(t testing.TB, changes ...func(*testConfig)) *testServer {
	t.Helper()
	srv := &testServer{TB: t, clock: vaulttest.NewClock(), log: &logBuffer{}}
	log := slog.New(httpx.LogHandler(slog.NewJSONHandler(srv.log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	cfg := testConfig{vault: vaulttest.Options(t), workspace: model.NewWorkspace(), secret: vaulttest.Rand()}
	cfg.vault.Now, cfg.vault.Log = srv.clock.Now, log
	cfg.api = api.Options{
		Limits: api.Limits{JSON: 8 << 20, FormFields: 8 << 20, Parts: 1000, RequestBody: 100*(100<<20) + 64<<20,
			Stall: 30 * time.Second, MinRate: 1}, Memory: httpx.NewMemoryBudget(64<<20, 10*time.Second),
		FailingKeys: 60, LinkTTL: 5 * time.Minute, Now: srv.clock.Now, Log: log,
	}
	for _, change := range changes {
		change(&cfg)
	}
	srv.dir = cfg.vault.Dir
	srv.createDatabase(cfg)
	srv.vault = vaulttest.Open(t, cfg.vault)
	if srv.keys = cfg.keys; srv.keys == nil {
		srv.keys = map[string]string{}
		srv.createKeys()
	}
	cfg.api.App = srv.vault
	handler, err := api.New(cfg.api)
	srv.must(err)
	srv.router, err = loadRouter()
	srv.must(err)
	srv.server = httptest.NewUnstartedServer(httpx.WithRequestID(httpx.SlowClientGuard(handler, cfg.api.Limits.Stall), vaulttest.Rand()))
	srv.server.Config.ErrorLog = slog.NewLogLogger(log.Handler(), slog.LevelDebug)
	srv.server.Start()
	t.Cleanup(func() {
		srv.server.Close()
		srv.checkLog()
	})
	return srv
}

// must fails the test if err is not nil.
func (srv *testServer) must(err error) {
	srv.Helper()
	if err != nil {
		srv.Fatalf("unexpected error: %v", err)
	}
}

// createDatabase creates the database and the test's workspace.
func (srv *testServer) createDatabase(cfg testConfig) {
	srv.Helper()
	srv.must(os.Chmod(srv.dir, 0o700))
	ring, _, err := secret.LoadKeys(filepath.Join(srv.dir, "secret.key"), cfg.secret)
	srv.must(err)
	db, err := store.Open(context.Background(), filepath.Join(srv.dir, "vault.db"),
		store.Options{Now: srv.clock.Now, Fingerprint: ring.Fingerprint(), Workspace: cfg.workspace})
	srv.must(err)
	srv.must(db.Update(context.Background(), nil, func(t *store.Tx) error {
		for _, id := range cfg.retired {
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
	srv.must(db.Close())
}

func (srv *testServer) createKeys() {
	srv.Helper()
	srv.clock.Advance(-2 * time.Hour)
	later := srv.clock.Now().Add(time.Hour)
	actor := model.Actor{Kind: "operator"}
	for _, k := range []struct {
		name, ability string
		expires       *time.Time
	}{
		{name: "full", ability: model.AbilityAPI}, {name: "read", ability: model.AbilityRead}, {name: "events", ability: model.AbilityEvents},
		{name: "metrics", ability: model.AbilityMetrics}, {name: "revoked", ability: model.AbilityAPI},
		{name: "expired", ability: model.AbilityAPI, expires: &later}, {name: "other", ability: model.AbilityAPI},
	} {
		text, key, err := srv.vault.Keys.Create(context.Background(), actor,
			model.KeyDraft{Name: k.name, Abilities: []string{k.ability}, ExpiresAt: k.expires})
		srv.must(err)
		if k.name == "revoked" {
			_, err = srv.vault.Keys.Revoke(context.Background(), actor, key.ID)
			srv.must(err)
		}
		srv.keys[k.name] = text
	}
	unknown, err := secret.NewAPIKey(strings.NewReader(strings.Repeat("stranger", 8)))
	srv.must(err)
	srv.keys["bad"] = unknown
	srv.clock.Advance(2 * time.Hour)
}

// keepOutOfLog adds the lines of a request body to the secrets, which must not appear in
// the log.
func (srv *testServer) keepOutOfLog(body string) {
	if len(body) > 64<<10 {
		return
	}
	srv.mu.Lock()
	defer srv.mu.Unlock()
	for line := range strings.SplitSeq(body, "\n") {
		if line = strings.TrimSpace(line); len(line) >= 12 && len(srv.secrets) < 2000 {
			srv.secrets = append(srv.secrets, line)
		}
	}
}

func (srv *testServer) checkLog() {
	log := srv.log.String()
	if !strings.Contains(log, `"msg":"request"`) {
		srv.Error("the log has no line for a request")
	}
	for _, s := range append([]string{"dk_live_", "/dl/", "Bearer "}, srv.secrets...) {
		if strings.Contains(log, s) {
			srv.Errorf("the log contains %q", s)
		}
	}
}

// countFiles returns the number of files in a folder of the data directory, including its
// subfolders.
func (srv *testServer) countFiles(folder string) (n int) {
	srv.Helper()
	srv.must(filepath.WalkDir(filepath.Join(srv.dir, folder), func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			n++
		}
		return err
	}))
	return n
}

// logBuffer collects log output and is safe for concurrent use.
type logBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

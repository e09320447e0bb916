package metrics

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/prometheus/common/expfmt"
	prom "github.com/prometheus/common/model"

	"deedkeep/app/auth"
	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/jobs"
	"deedkeep/app/memory"
	"deedkeep/app/model"
	"deedkeep/app/sandbox"
	"deedkeep/app/search"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

// fixture returns the metrics of a vault with a few records.
func fixture(t *testing.T) *Metrics {
	t.Helper()
	opts := vaulttest.Options(t)
	v := vaulttest.Open(t, opts)
	staged, err := v.Files.Stage(t.Context())
	if err != nil {
		t.Fatalf("stage documents: %v", err)
	}
	defer staged.Discard()
	for name, content := range map[string]string{"deed.txt": "a deed", "deed.exe": "no deed"} {
		if err := staged.Add(name, strings.NewReader(content)); err != nil {
			t.Fatalf("stage %s: %v", name, err)
		}
	}
	operator := model.Actor{Kind: "operator"}
	if _, err := v.Files.Upload(t.Context(), operator, model.UploadDraft{}, staged, vault.Idempotency[vault.AbstractWithFiles]{}); err != nil {
		t.Fatalf("upload the documents: %v", err)
	}
	if _, err := v.Search.Records(t.Context(), operator, search.Query{Text: "deed"}); errs.KindOf(err) != errs.Unavailable {
		t.Fatalf("search without a search index: error %v, want Unavailable", err)
	}
	return New(Options{
		App: v, Sandbox: func() sandbox.Stats { return sandbox.Stats{Alive: 2, Started: 5, Killed: 3, Served: 40, Waiting: 1} },
		Memory: func() []memory.Processes {
			return []memory.Processes{{Type: "server", Count: 1, Usage: memory.Usage{Total: 70, Anonymous: 50}}, {Type: "ocr"}}
		},
		Version: "1.2.3", Commit: "abc", Now: opts.Now, Log: slog.New(slog.DiscardHandler),
		Forwarded:          func() (untrusted, unreadable uint64) { return 4, 2 },
		CertificateExpires: func() time.Time { return time.Unix(1_800_000_000, 0) },
	})
}

// sendRequests sends requests through Instrument to a handler with two routes.
func sendRequests(t *testing.T, m *Metrics) {
	t.Helper()
	h := m.Instrument(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/orders/77":
			r.Pattern = "POST /orders/{id}"
			w.Header().Set("X-Ignored-Fields", "dueDate")
			if _, err := io.Copy(w, r.Body); err != nil {
				t.Errorf("write the request body to the response: %v", err)
			}
		case "/panic":
			panic(http.ErrAbortHandler)
		default:
			w.WriteHeader(http.StatusForbidden)
		}
	}))
	for _, row := range []struct{ method, path, body string }{
		{"POST", "/orders/77", "five!"}, {"POST", "/orders/77", ""}, {"GET", "/Mary-Doe", ""}, {"BREW", "/Mary-Doe", ""}, {"GET", "/panic", ""},
	} {
		func() {
			defer func() { _ = recover() }() // the handler of /panic panics
			h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), row.method, row.path, strings.NewReader(row.body)))
		}()
	}
}

// A 5xx status doesn't count as an error if the client closed the connection before the response.
func TestClosedConnectionIsNotAnError(t *testing.T) {
	t.Parallel()
	m := fixture(t)
	h := m.Instrument(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Pattern = "GET /find/box"
		w.WriteHeader(http.StatusInternalServerError)
	}))
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, ctx := range []context.Context{canceled, canceled, t.Context()} {
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, http.MethodGet, "/find/box", nil))
	}
	text := read(t, m)
	for _, line := range []string{
		`deedkeep_http_requests_total{method="GET",route="/find/box",status="canceled"} 2`,
		`deedkeep_http_requests_total{method="GET",route="/find/box",status="5xx"} 1`,
		`deedkeep_http_refusals_total{code="500"} 1`,
	} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("metrics lack the line %s", line)
		}
	}
}

func TestMetricsPassLint(t *testing.T) {
	t.Parallel()
	m := fixture(t)
	sendRequests(t, m)
	problems, err := testutil.GatherAndLint(m.registry)
	if err != nil {
		t.Fatalf("lint the metrics: %v", err)
	}
	for _, p := range problems {
		if strings.HasPrefix(p.Metric, "deedkeep_") {
			t.Errorf("%s: %s", p.Metric, p.Text)
		}
	}
}

func TestTextHasAllMetrics(t *testing.T) {
	t.Parallel()
	m := fixture(t)
	sendRequests(t, m)
	text := read(t, m)
	for _, line := range []string{
		`deedkeep_build_info{commit="abc",version="1.2.3"} 1`,
		`deedkeep_vault_up 1`,
		`deedkeep_records{type="file"} 1`,
		`deedkeep_documents_uploaded_total 1`,
		`deedkeep_documents_uploaded_bytes_total 6`,
		`deedkeep_documents_rejected_total 1`,
		`deedkeep_processing_queue_length 1`,
		`deedkeep_processing_documents_total{outcome="done"} 0`,
		`deedkeep_ocr_waiting_documents 0`,
		`deedkeep_ocr_waiting_pages 0`,
		`deedkeep_ocr_pages_total{outcome="failed"} 0`,
		`deedkeep_sign_ins_total{outcome="code_needed"} 0`,
		`deedkeep_forwarded_headers_unused_total{reason="unreadable"} 2`,
		`deedkeep_forwarded_headers_unused_total{reason="untrusted"} 4`,
		`deedkeep_tls_certificate_expires_timestamp_seconds 1.8e+09`,
		`deedkeep_backup_last_success_timestamp_seconds 0`,
		`deedkeep_commit_changes_bucket{le="1"} 1`,
		`deedkeep_commit_duration_seconds_count 1`,
		`deedkeep_reader_processes 2`,
		`deedkeep_processes{process="ocr"} 0`,
		`deedkeep_process_memory_bytes{process="server"} 70`,
		`deedkeep_process_anonymous_memory_bytes{process="server"} 50`,
		`deedkeep_search_ready 0`,
		`deedkeep_search_failing 0`,
		`deedkeep_search_build_records 0`,
		`deedkeep_search_build_indexed_records 0`,
		`deedkeep_search_index_records 0`,
		`deedkeep_search_index_bytes 0`,
		`deedkeep_search_index_segments 0`,
		`deedkeep_search_requests_total{outcome="no_index"} 1`,
		`deedkeep_search_requests_total{outcome="found"} 0`,
		`deedkeep_search_duration_seconds_count 0`,
		`deedkeep_reader_processes_started_total 5`,
		`deedkeep_reader_tasks_total 40`,
		`deedkeep_http_requests_total{method="POST",route="/orders/{id}",status="2xx"} 2`,
		`deedkeep_http_requests_total{method="GET",route="none",status="4xx"} 1`,
		`deedkeep_http_requests_total{method="other",route="none",status="4xx"} 1`,
		`deedkeep_http_requests_total{method="GET",route="none",status="5xx"} 1`,
		`deedkeep_http_request_duration_seconds_count{method="POST",route="/orders/{id}"} 2`,
		`deedkeep_http_refusals_total{code="403"} 2`,
		`deedkeep_http_refusals_total{code="507"} 0`,
		`deedkeep_http_ignored_fields_total 2`,
		`deedkeep_http_requests_in_flight 0`,
		`deedkeep_http_request_body_bytes_total 5`,
		`deedkeep_http_response_body_bytes_total 5`,
		`go_goroutines `,
	} {
		if !strings.Contains("\n"+text, "\n"+line) {
			t.Errorf("metrics lack a line that starts with %q", line)
		}
	}
	for _, secret := range []string{"Mary", "dueDate", "deed.txt", "/77", "/panic"} {
		if strings.Contains(text, secret) {
			t.Errorf("metrics contain %q, want no names, paths, or fields of requests", secret)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
}

// dependentHelp matches a help text that can't be understood without the help of another metric.
var dependentHelp = regexp.MustCompile(`(?i)\b(if that|that index|in it|of it (is|does)|it consists|it does|these)\b`)

// Every series has a help text and a type, and the output of Text can be parsed.
func TestTextCanBeParsed(t *testing.T) {
	t.Parallel()
	parser := expfmt.NewTextParser(prom.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(read(t, fixture(t))))
	if err != nil {
		t.Fatalf("parse the metrics: %v", err)
	}
	count := 0
	for name, family := range families {
		if family.GetHelp() == "" {
			t.Errorf("help of %s is empty", name)
		}
		if strings.HasPrefix(name, "deedkeep_") {
			count++
			if found := dependentHelp.FindString(family.GetHelp()); found != "" {
				t.Errorf("help of %s contains %q, want help that needs no other text", name, found)
			}
		}
	}
	if count < 30 {
		t.Errorf("found %d families of deedkeep, want at least 30", count)
	}
}

// The help text and the guide explain every outcome. All metrics named in the guide exist.
func TestOutcomesAreExplained(t *testing.T) {
	t.Parallel()
	m := fixture(t)
	sendRequests(t, m) // HTTP metrics have no series before the first request
	text := read(t, m)
	guide, err := os.ReadFile(filepath.Join("..", "guides", "monitoring.md"))
	if err != nil {
		t.Fatalf("read the monitoring guide: %v", err)
	}
	for name, outcomes := range map[string][]string{
		"deedkeep_search_requests_total": search.Outcomes, "deedkeep_sign_ins_total": auth.SignInOutcomes,
		"deedkeep_processing_documents_total": jobs.Outcomes, "deedkeep_ocr_pages_total": jobs.PageOutcomes,
	} {
		_, help, _ := strings.Cut(text, "# HELP "+name+" ")
		help, _, _ = strings.Cut(help, "\n")
		_, rows, _ := strings.Cut(string(guide), "| "+name+" |")
		if end := strings.Index(rows, "\n| deedkeep_"); end >= 0 {
			rows = rows[:end]
		}
		for _, outcome := range outcomes {
			if !regexp.MustCompile(`\. "` + outcome + `": `).MatchString(help) {
				t.Errorf("help of %s doesn't explain the outcome %q: %s", name, outcome, help)
			}
			if !strings.Contains(rows, "`"+outcome+"`") {
				t.Errorf("guide doesn't explain the outcome %q of %s", outcome, name)
			}
		}
	}
	for _, name := range regexp.MustCompile(`\bdeedkeep_\w+`).FindAllString(string(guide), -1) {
		if !strings.Contains(text, "# TYPE "+strings.TrimSuffix(name, "_bucket")+" ") {
			t.Errorf("guide names %s, which is not a metric", name)
		}
	}
}

func TestTextIsCachedForASecond(t *testing.T) {
	t.Parallel()
	m := fixture(t)
	if first, second := read(t, m), read(t, m); first != second {
		t.Errorf("second text within a second differs from the first:\n%s\nwant\n%s", second, first)
	}
	m.at = m.at.Add(-maxAge)
	sendRequests(t, m)
	if text := read(t, m); !strings.Contains(text, `route="none"`) {
		t.Errorf("text after a second lacks the requests since then:\n%s", text)
	}
}

// If the vault returns an error, vault_up is 0 and the other metrics are still exported.
func TestVaultDown(t *testing.T) {
	t.Parallel()
	m := &Metrics{registry: prometheus.NewPedanticRegistry(), opts: Options{Now: time.Now}, lock: make(chan struct{}, 1)}
	down := func(context.Context) (n instance.Metrics, err error) { return n, errors.New("the disk is gone") }
	m.registry.MustRegister(&collector{Options{Now: time.Now, Log: slog.New(slog.DiscardHandler)}, down})
	newHTTPMetrics(m.registry)
	text := read(t, m)
	if !strings.Contains(text, "\ndeedkeep_vault_up 0\n") || strings.Contains(text, "deedkeep_records") ||
		!strings.Contains(text, "\ndeedkeep_http_requests_in_flight 0\n") {
		t.Errorf("metrics of a failing vault = %s, want deedkeep_vault_up 0, HTTP metrics, and no records", text)
	}
}

// Text returns when its context is canceled while another call waits for a slow vault.
func TestCanceledTextDoesNotWait(t *testing.T) {
	t.Parallel()
	m := &Metrics{registry: prometheus.NewPedanticRegistry(), opts: Options{Now: time.Now}, lock: make(chan struct{}, 1)}
	called, release := make(chan struct{}), make(chan struct{})
	slow := func(context.Context) (n instance.Metrics, err error) {
		called <- struct{}{}
		<-release
		return n, nil
	}
	m.registry.MustRegister(&collector{Options{Now: time.Now, Log: slog.New(slog.DiscardHandler)}, slow})
	first := make(chan error, 1)
	go func() {
		_, err := m.Text(t.Context())
		first <- err
	}()
	<-called
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.Text(canceled); !errors.Is(err, context.Canceled) {
		t.Errorf("Text with a canceled context: error %v, want %v", err, context.Canceled)
	}
	close(release)
	if err := <-first; err != nil {
		t.Errorf("Text that waited for the vault: %v", err)
	}
	if read(t, m) == "" {
		t.Error("Text after the slow call is empty, want metrics")
	}
}

func TestUnixSeconds(t *testing.T) {
	if got := unixSeconds(time.Time{}); got != 0 {
		t.Errorf("unixSeconds of the zero time = %v, want 0", got)
	}
	if got := unixSeconds(time.Unix(1780027500, 250e6)); got != 1780027500.25 {
		t.Errorf("unixSeconds = %v, want 1780027500.25", got)
	}
}

func read(t *testing.T, m *Metrics) string {
	t.Helper()
	text, err := m.Text(t.Context())
	if err != nil {
		t.Fatalf("read the metrics: %v", err)
	}
	return string(text)
}

// The text is cached for one second, measured with the clock in Options.
func TestTextCacheUsesTheClock(t *testing.T) {
	t.Parallel()
	m := fixture(t)
	now := m.opts.Now()
	m.opts.Now = func() time.Time { return now }
	first := read(t, m)
	sendRequests(t, m)
	if read(t, m) != first {
		t.Error("text changed while the clock stood still, want the cached text")
	}
	if now = now.Add(maxAge); read(t, m) == first {
		t.Error("text after a second is the cached one, want the new requests in it")
	}
}

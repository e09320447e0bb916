package server_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"deedkeep/app/api"
	"deedkeep/app/config"
	"deedkeep/app/model"
	"deedkeep/app/sandbox"
	"deedkeep/app/server"
)

func get200(t *testing.T, r *running, path string, lines ...string) string {
	t.Helper()
	request := fmt.Sprintf("GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n", path, r.address)
	for _, line := range lines {
		request += line + "\r\n"
	}
	answer, body := r.raw(t, "GET", request+"\r\n")
	if answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d %s", path, answer.StatusCode, body)
	}
	return body
}

// Metrics name routes by pattern and contain nothing about clients and records.
func TestMetricsTellRoutes(t *testing.T) {
	opts := options(t, func(c *config.Config) { c.Metrics.Loopback = true })
	opts.Sandbox = func() sandbox.Stats { return sandbox.Stats{Started: 3} }
	r := serveWith(t, opts)
	_, metricsKey, err := withKey(t, r, model.AbilityMetrics)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{
		"/v1/orders?county=Mary", "/v1/orders/secretid", "/api/v1//orders/", "/v1/nowhere/Mary", "/healthz", "/readyz", "/openapi.json", "/sign-in", "/Mary",
		"/dl/7/17/abc/Mary.pdf", "/assets/123/Mary.css", "/orders/Mary",
	} {
		r.raw(t, "GET", fmt.Sprintf("GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\nAuthorization: Bearer %s\r\n\r\n", path, r.address, r.key))
	}
	r.raw(t, "BREW", fmt.Sprintf("BREW /v1/orders HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", r.address))
	text := get200(t, r, "/metrics")
	for _, line := range []string{
		`deedkeep_http_requests_total{method="GET",route="/v1/orders",status="2xx"} 2`,
		`deedkeep_http_requests_total{method="GET",route="/v1/orders/{id}",status="4xx"} 1`,
		`deedkeep_http_requests_total{method="GET",route="/healthz",status="2xx"} 1`,
		`deedkeep_http_requests_total{method="GET",route="/readyz",status="2xx"} 1`,
		`deedkeep_http_requests_total{method="GET",route="/openapi.json",status="2xx"} 1`,
		`deedkeep_http_requests_total{method="GET",route="/sign-in",status="5xx"} 1`,
		`deedkeep_http_requests_total{method="GET",route="/dl/{file}/{expiry}/{signature}/{filename}",status="4xx"} 1`,
		`deedkeep_http_requests_total{method="GET",route="/assets/{version}/{name}",status="4xx"} 1`,
		`deedkeep_http_requests_total{method="GET",route="/orders/{id}",status="5xx"} 1`,
		`deedkeep_http_requests_total{method="GET",route="none",status="4xx"} 1`,
		`deedkeep_http_requests_total{method="other",route="none",status="4xx"} 1`,
		`deedkeep_http_requests_in_flight 1`,
		`deedkeep_build_info{commit="",version="test"} 1`,
		`deedkeep_reader_processes_started_total 3`,
	} {
		if !strings.Contains(text, "\n"+line+"\n") {
			t.Errorf("no line %s", line)
		}
	}
	for _, secret := range []string{"Mary", "secretid", r.key, metricsKey} {
		if strings.Contains(text, secret) {
			t.Errorf("it tells %q", secret)
		}
	}
	if t.Failed() {
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, "deedkeep_http_requests") {
				t.Log(line)
			}
		}
	}
	// Compressed as other answers are, and with a key from anywhere.
	if body := get200(t, r, "/metrics", "X-Forwarded-For: 192.0.2.1", "Authorization: Bearer "+metricsKey, "Accept-Encoding: gzip"); !strings.HasPrefix(body, "\x1f\x8b") {
		t.Errorf("%.40q", body)
	}
}

func withKey(t *testing.T, r *running, ability string) (model.Key, string, error) {
	t.Helper()
	text, key, err := r.vault.Keys.Create(t.Context(), model.Actor{Kind: "operator"}, model.KeyDraft{Name: ability, Abilities: []string{ability}})
	return key, text, err
}

// Unknown paths and methods don't create new series.
func TestMetricsAreBounded(t *testing.T) {
	opts := options(t, nil)
	series := func(handler http.Handler) int {
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), "GET", "/metrics", nil)
		r.RemoteAddr, r.Host = "127.0.0.1:9", "localhost"
		handler.ServeHTTP(w, r)
		if w.Code != http.StatusOK {
			t.Fatal(w.Code, w.Body)
		}
		return strings.Count(w.Body.String(), "\ndeedkeep_")
	}
	ask := func(n int) int {
		handler, err := server.Handler(opts)
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			for _, path := range []string{"/v1/orders/x%d", "/v1/x%d", "/x%d", "/orders/x%d", "/dl/x%d", "/assets/x%d", "/documents/%d/pages/%d"} {
				r := httptest.NewRequestWithContext(t.Context(), []string{"GET", "POST", fmt.Sprintf("M%d", i)}[i%3], fmt.Sprintf(strings.ReplaceAll(path, "%d", "%[1]d"), i), nil)
				r.Header.Set("X-Forwarded-For", fmt.Sprintf("192.0.2.%d", i))
				handler.ServeHTTP(httptest.NewRecorder(), r)
			}
		}
		return series(handler)
	}
	few := ask(3)
	if many := ask(300); many != few {
		t.Errorf("%d series after a few requests, %d after many", few, many)
	}
}

// A scrape walks no table: what it costs is bounded, and those that come together
// share it.
func TestMetricsCostLittle(t *testing.T) {
	opts := options(t, nil)
	handler, err := server.Handler(opts)
	if err != nil {
		t.Fatal(err)
	}
	took := make([]time.Duration, 0, 50)
	for range cap(took) {
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), "GET", api.MetricsPath, nil)
		r.RemoteAddr, r.Host = "127.0.0.1:9", "localhost"
		begun := time.Now()
		handler.ServeHTTP(w, r)
		took = append(took, time.Since(begun))
		if w.Code != http.StatusOK {
			t.Fatal(w.Code)
		}
	}
	slices.Sort(took)
	if median := took[len(took)/2]; median > 20*time.Millisecond {
		t.Errorf("the median of %d scrapes is %v", len(took), median)
	}
	t.Logf("median %v, longest %v", took[len(took)/2], took[len(took)-1])
}

// Requests through a proxy or for a host name need a key to read the metrics.
func TestMetricsNeedAKeyBehindAProxy(t *testing.T) {
	for _, row := range []struct {
		name string
		set  func(*config.Config)
		want int
	}{
		{"nothing is set", func(*config.Config) {}, http.StatusOK},
		{"a name", func(c *config.Config) { c.PublicURL = "https://vault.example.com" }, http.StatusUnauthorized},
		{"a proxy elsewhere", func(c *config.Config) { c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("192.0.2.1/32")} }, http.StatusUnauthorized},
		{"closed", func(c *config.Config) { c.Metrics.Loopback = false }, http.StatusUnauthorized},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := serve(t, func(c *config.Config) { c.Metrics.Loopback = true; row.set(c) })
			answer, body := r.raw(t, "GET", fmt.Sprintf("GET /metrics HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", r.address))
			if answer.StatusCode != row.want {
				t.Errorf("%d %s", answer.StatusCode, body)
			}
		})
	}
}

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

// get200 sends a GET request with additional header lines and returns the response body. The
// test fails if the status is not 200.
func get200(t *testing.T, r *running, path string, lines ...string) string {
	t.Helper()
	request := fmt.Sprintf("GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n", path, r.address)
	for _, line := range lines {
		request += line + "\r\n"
	}
	resp, body := r.raw(t, "GET", request+"\r\n")
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: got %d %s, want 200", path, resp.StatusCode, body)
	}
	return body
}

// Metrics are labeled with route patterns. They contain nothing about clients or records.
func TestMetricsNameRoutePatterns(t *testing.T) {
	opts := options(t, func(c *config.Config) { c.Metrics.Loopback = true })
	opts.Sandbox = func() sandbox.Stats { return sandbox.Stats{Started: 3} }
	r := serveWith(t, opts)
	metricsKey := createKey(t, r, model.AbilityMetrics)
	for _, path := range []string{
		"/v1/orders?county=Mary", "/v1/orders/secretid", "/api/v1//orders/", "/v1/nowhere/Mary", "/healthz", "/readyz", "/openapi.json",
		"/sign-in", "/Mary",
		"/dl/7/17/abc/Mary.pdf", "/assets/123/Mary.css", "/orders/Mary",
	} {
		r.raw(t, "GET", fmt.Sprintf("GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\nAuthorization: Bearer %s\r\n\r\n", path,
			r.address, r.key))
	}
	r.raw(t, "BREW", fmt.Sprintf("BREW /v1/orders HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", r.address))
	const alone = "\ndeedkeep_http_requests_in_flight 1\n"
	text := get200(t, r, "/metrics")
	// A client can have the response before the server counts the request as done.
	for deadline := time.Now().Add(time.Minute); !strings.Contains(text, alone) && time.Now().Before(deadline); {
		text = get200(t, r, "/metrics")
	}
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
			t.Errorf("metrics have no line %s", line)
		}
	}
	for _, secret := range []string{"Mary", "secretid", r.key, metricsKey} {
		if strings.Contains(text, secret) {
			t.Errorf("metrics contain %q", secret)
		}
	}
	if t.Failed() {
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, "deedkeep_http_requests") {
				t.Log(line)
			}
		}
	}
	// Metrics are compressed like other responses. With a key, they can be requested from any
	// address.
	body := get200(t, r, "/metrics", "X-Forwarded-For: 192.0.2.1", "Authorization: Bearer "+metricsKey, "Accept-Encoding: gzip")
	if !strings.HasPrefix(body, "\x1f\x8b") {
		t.Errorf("with Accept-Encoding: got %.40q, want gzip", body)
	}
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
			t.Fatalf("GET /metrics: got %d %s, want 200", w.Code, w.Body)
		}
		return strings.Count(w.Body.String(), "\ndeedkeep_")
	}
	seriesAfter := func(n int) int {
		handler, err := server.Handler(opts)
		if err != nil {
			t.Fatalf("server.Handler: %v", err)
		}
		for i := range n {
			method := []string{"GET", "POST", fmt.Sprintf("M%d", i)}[i%3]
			for _, path := range []string{"/v1/orders/x%d", "/v1/x%d", "/x%d", "/orders/x%d", "/dl/x%d", "/assets/x%d", "/documents/%d/pages/%d"} {
				r := httptest.NewRequestWithContext(t.Context(), method, fmt.Sprintf(strings.ReplaceAll(path, "%d", "%[1]d"), i), nil)
				r.Header.Set("X-Forwarded-For", fmt.Sprintf("192.0.2.%d", i))
				handler.ServeHTTP(httptest.NewRecorder(), r)
			}
		}
		return series(handler)
	}
	want := seriesAfter(3)
	if got := seriesAfter(300); got != want {
		t.Errorf("got %d series after 300 requests, want %d as after 3", got, want)
	}
}

// A scrape doesn't read any tables of the store, so its duration is bounded.
func TestMetricsAreFast(t *testing.T) {
	opts := options(t, nil)
	handler, err := server.Handler(opts)
	if err != nil {
		t.Fatalf("server.Handler: %v", err)
	}
	took := make([]time.Duration, 0, 50)
	for range cap(took) {
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), "GET", api.MetricsPath, nil)
		r.RemoteAddr, r.Host = "127.0.0.1:9", "localhost"
		start := time.Now()
		handler.ServeHTTP(w, r)
		took = append(took, time.Since(start))
		if w.Code != http.StatusOK {
			t.Fatalf("GET /metrics: got %d, want 200", w.Code)
		}
	}
	slices.Sort(took)
	if median := took[len(took)/2]; median > 20*time.Millisecond {
		t.Errorf("median of %d scrapes is %v, want at most 20ms", len(took), median)
	}
	t.Logf("median %v, longest %v", took[len(took)/2], took[len(took)-1])
}

// If a proxy or a host name is configured, requests for metrics need a key.
func TestMetricsNeedKeyWithProxy(t *testing.T) {
	for _, row := range []struct {
		name string
		set  func(*config.Config)
		want int
	}{
		{"defaults", func(*config.Config) {}, http.StatusOK},
		{"public_url", func(c *config.Config) { c.PublicURL = "https://vault.example.com" }, http.StatusUnauthorized},
		{"trusted proxy", func(c *config.Config) { c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("192.0.2.1/32")} },
			http.StatusUnauthorized},
		{"loopback disabled", func(c *config.Config) { c.Metrics.Loopback = false }, http.StatusUnauthorized},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := serve(t, func(c *config.Config) { c.Metrics.Loopback = true; row.set(c) })
			resp, body := r.raw(t, "GET", fmt.Sprintf("GET /metrics HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", r.address))
			if resp.StatusCode != row.want {
				t.Errorf("GET /metrics: got %d %s, want %d", resp.StatusCode, body, row.want)
			}
		})
	}
}

package api_test

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"testing"
)

const metricsText = "# HELP some_number Some number.\n# TYPE some_number gauge\nsome_number 1\n"

func withMetrics(local bool) func(*testConfig) {
	return func(cfg *testConfig) {
		cfg.api.FailingKeys, cfg.api.MetricsMedia, cfg.api.MetricsLocal = 0, "text/plain; version=0.0.4; charset=utf-8", local
		cfg.api.Metrics = func(context.Context) ([]byte, error) { return []byte(metricsText), nil }
	}
}

// checkMetrics sends a request to /metrics and checks the response. A 200 response must be
// plain text, and an error must be JSON.
func (srv *testServer) checkMetrics(t *testing.T, r call) {
	t.Helper()
	r.path = "/metrics"
	if r.method == "" {
		r.method = "GET"
	}
	if r.status == http.StatusOK {
		r.media, r.want = "text/plain; version=0.0.4; charset=utf-8", metricsText
	}
	if r.method == http.MethodHead {
		r.want = ""
	}
	srv.do(t, r)
}

func TestMetricsForKeys(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t, withMetrics(true))
	for as, want := range map[string]int{
		"metrics": 200, "full": 403, "read": 403, "events": 403, "": 401, "bad": 401, "expired": 401, "revoked": 401,
		"Authorization: Basic eA==": 401,
	} {
		t.Run(as, func(t *testing.T) {
			for _, method := range []string{"GET", "HEAD"} {
				srv.checkMetrics(t, call{name: as, as: as, method: method, status: want})
			}
		})
	}
	srv.checkMetrics(t, call{as: "metrics", method: "POST", status: 403})
	srv.checkMetrics(t, call{as: "full", method: "POST", status: 405})
	srv.checkMetrics(t, call{method: "POST", status: 401})
	srv.checkMetrics(t, call{method: "OPTIONS", status: 204})
	// The metrics are not available under other paths.
	srv.do(t, call{as: "full", method: "GET", path: "/v1/metrics", status: 404})
	srv.do(t, call{as: "metrics", method: "GET", path: "/v1/metrics", status: 403})
}

func TestMetricsWithoutKeyOnLoopback(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t, withMetrics(true))
	for _, host := range []string{"127.0.0.1:8080", "127.0.0.1", "localhost", "LOCALHOST:9", "[::1]:80", "[::1]", "127.9.9.9"} {
		srv.checkMetrics(t, call{name: host, header: []string{"Host: " + host}, status: 200})
	}
	srv.checkMetrics(t, call{method: "HEAD", header: []string{"Host: localhost"}, status: 200})
	srv.checkMetrics(t, call{method: "POST", header: []string{"Host: localhost"}, status: 401})
	for _, host := range []string{"vault.test", "localhost.example", "127.0.0.1.example", "10.0.0.1", "localhost."} {
		srv.checkMetrics(t, call{name: host, header: []string{"Host: " + host}, status: 401})
	}
	for _, line := range []string{
		"X-Forwarded-For: 192.0.2.1", "x-forwarded-for: 127.0.0.1", "X-Forwarded-For:", "X-Forwarded-Host: a",
		"X-Forwarded-Proto: https", "X-Forwarded: x", "Forwarded: for=127.0.0.1",
		"Via: 1.1 a", "X-Real-IP: 127.0.0.1", "X-Client-IP: 1.2.3.4", "CF-Connecting-IP: 1.2.3.4", "True-Client-IP: 1.2.3.4",
		"Origin: http://localhost:3000", "Referer: http://localhost:3000/", "Sec-Fetch-Site: cross-site",
	} {
		srv.checkMetrics(t, call{name: line, header: []string{"Host: localhost", line}, status: 401})
		srv.checkMetrics(t, call{name: line, as: "metrics", header: []string{"Host: localhost", line}, status: 200})
	}
	// If the request has a key, the key is checked. Requests to /v1 always require a key.
	srv.checkMetrics(t, call{as: "full", header: []string{"Host: localhost"}, status: 403})
	srv.checkMetrics(t, call{as: "bad", header: []string{"Host: localhost"}, status: 401})
	srv.checkMetrics(t, call{as: "Authorization:", header: []string{"Host: localhost"}, status: 401})
	srv.do(t, call{method: "GET", path: "/v1/orders", header: []string{"Host: localhost"}, status: 401})
	srv.do(t, call{method: "GET", path: "/v1/nowhere", header: []string{"Host: localhost"}, status: 401})
}

func TestMetricsRequireKeyBehindProxy(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t, withMetrics(false))
	srv.checkMetrics(t, call{header: []string{"Host: localhost"}, status: 401})
	srv.checkMetrics(t, call{as: "metrics", header: []string{"Host: localhost"}, status: 200})
	// Requests forwarded by a proxy can look like local requests.
	for name, change := range map[string]func(*testConfig){
		"trusted loopback proxy": func(cfg *testConfig) { cfg.api.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} },
		"trusted remote proxy":   func(cfg *testConfig) { cfg.api.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")} },
		"public address":         func(cfg *testConfig) { cfg.api.PublicURL = "https://vault.example" },
	} {
		t.Run(name, func(t *testing.T) {
			proxied := newTestServer(t, withMetrics(true), change)
			proxied.checkMetrics(t, call{name: name, header: []string{"Host: localhost"}, status: 401})
			proxied.checkMetrics(t, call{name: name, as: "metrics", header: []string{"Host: localhost"}, status: 200})
		})
	}
	withoutMetrics := newTestServer(t)
	withoutMetrics.checkMetrics(t, call{header: []string{"Host: localhost"}, status: 401})
}

func TestMetricsFail(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t, withMetrics(true), func(cfg *testConfig) {
		cfg.api.Metrics = func(context.Context) ([]byte, error) { return nil, errors.New("secret reason") }
	})
	srv.checkMetrics(t, call{as: "metrics", status: 500, want: messageBody("Server error.")})
}

// Failed key checks for /metrics and /v1 count toward the same limit.
func TestMetricsFailingKeys(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t, withMetrics(true), func(cfg *testConfig) { cfg.api.FailingKeys = 1 })
	srv.do(t, call{as: "bad", method: "GET", path: "/v1/orders", status: 401})
	srv.checkMetrics(t, call{as: "bad", status: 429})
	srv.checkMetrics(t, call{as: "metrics", status: 200})
}

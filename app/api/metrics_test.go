package api_test

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"testing"
)

const numbers = "# HELP some_number Some number.\n# TYPE some_number gauge\nsome_number 1\n"

func withMetrics(local bool) func(*setup) {
	return func(s *setup) {
		s.api.FailingKeys, s.api.MetricsMedia, s.api.MetricsLocal = 0, "text/plain; version=0.0.4; charset=utf-8", local
		s.api.Metrics = func(context.Context) ([]byte, error) { return []byte(numbers), nil }
	}
}

// scrape asks /metrics; what is answered with 200 is no JSON, and all the rest is.
func (h *house) scrape(t *testing.T, r row) {
	t.Helper()
	r.path = "/metrics"
	if r.method == "" {
		r.method = "GET"
	}
	if r.status == http.StatusOK {
		r.media, r.want = "text/plain; version=0.0.4; charset=utf-8", numbers
	}
	if r.method == http.MethodHead {
		r.want = ""
	}
	h.ask(t, r)
}

func TestMetricsForKeys(t *testing.T) {
	t.Parallel()
	h := open(t, withMetrics(true))
	for as, want := range map[string]int{
		"metrics": 200, "full": 403, "read": 403, "events": 403, "": 401, "bad": 401, "expired": 401, "revoked": 401, "Authorization: Basic eA==": 401,
	} {
		for _, method := range []string{"GET", "HEAD"} {
			h.scrape(t, row{name: as, as: as, method: method, status: want})
		}
	}
	h.scrape(t, row{as: "metrics", method: "POST", status: 403})
	h.scrape(t, row{as: "full", method: "POST", status: 405})
	h.scrape(t, row{method: "POST", status: 401})
	h.scrape(t, row{method: "OPTIONS", status: 204})
	// Other spellings are not there.
	h.ask(t, row{as: "full", method: "GET", path: "/v1/metrics", status: 404})
	h.ask(t, row{as: "metrics", method: "GET", path: "/v1/metrics", status: 403})
}

func TestMetricsOfThisMachine(t *testing.T) {
	t.Parallel()
	h := open(t, withMetrics(true))
	for _, host := range []string{"127.0.0.1:8080", "127.0.0.1", "localhost", "LOCALHOST:9", "[::1]:80", "[::1]", "127.9.9.9"} {
		h.scrape(t, row{name: host, header: []string{"Host: " + host}, status: 200})
	}
	h.scrape(t, row{method: "HEAD", header: []string{"Host: localhost"}, status: 200})
	h.scrape(t, row{method: "POST", header: []string{"Host: localhost"}, status: 401})
	for _, host := range []string{"vault.test", "localhost.example", "127.0.0.1.example", "10.0.0.1", "localhost."} {
		h.scrape(t, row{name: host, header: []string{"Host: " + host}, status: 401})
	}
	for _, line := range []string{
		"X-Forwarded-For: 192.0.2.1", "x-forwarded-for: 127.0.0.1", "X-Forwarded-For:", "X-Forwarded-Host: a", "X-Forwarded-Proto: https", "X-Forwarded: x", "Forwarded: for=127.0.0.1",
		"Via: 1.1 a", "X-Real-IP: 127.0.0.1", "X-Client-IP: 1.2.3.4", "CF-Connecting-IP: 1.2.3.4", "True-Client-IP: 1.2.3.4",
		"Origin: http://localhost:3000", "Referer: http://localhost:3000/", "Sec-Fetch-Site: cross-site",
	} {
		h.scrape(t, row{name: line, header: []string{"Host: localhost", line}, status: 401})
		h.scrape(t, row{name: line, as: "metrics", header: []string{"Host: localhost", line}, status: 200})
	}
	// A key that is shown counts, and nothing of /v1 is open.
	h.scrape(t, row{as: "full", header: []string{"Host: localhost"}, status: 403})
	h.scrape(t, row{as: "bad", header: []string{"Host: localhost"}, status: 401})
	h.scrape(t, row{as: "Authorization:", header: []string{"Host: localhost"}, status: 401})
	h.ask(t, row{method: "GET", path: "/v1/orders", header: []string{"Host: localhost"}, status: 401})
	h.ask(t, row{method: "GET", path: "/v1/nowhere", header: []string{"Host: localhost"}, status: 401})
}

func TestMetricsOfThisMachineCanBeClosed(t *testing.T) {
	t.Parallel()
	closed := open(t, withMetrics(false))
	closed.scrape(t, row{header: []string{"Host: localhost"}, status: 401})
	closed.scrape(t, row{as: "metrics", header: []string{"Host: localhost"}, status: 200})
	// Where there is a proxy, what it passes on may look like a request of this machine.
	for name, change := range map[string]func(*setup){
		"proxy here":      func(s *setup) { s.api.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} },
		"proxy elsewhere": func(s *setup) { s.api.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")} },
		"public address":  func(s *setup) { s.api.PublicURL = "https://vault.example" },
	} {
		proxied := open(t, withMetrics(true), change)
		proxied.scrape(t, row{name: name, header: []string{"Host: localhost"}, status: 401})
		proxied.scrape(t, row{name: name, as: "metrics", header: []string{"Host: localhost"}, status: 200})
	}
	none := open(t)
	none.scrape(t, row{header: []string{"Host: localhost"}, status: 401})
}

func TestMetricsFail(t *testing.T) {
	t.Parallel()
	h := open(t, withMetrics(true), func(s *setup) {
		s.api.Metrics = func(context.Context) ([]byte, error) { return nil, errors.New("secret reason") }
	})
	h.scrape(t, row{as: "metrics", status: 500, want: says("Server error.")})
}

// Failing keys are counted together with those of /v1.
func TestMetricsFailingKeys(t *testing.T) {
	t.Parallel()
	h := open(t, withMetrics(true), func(s *setup) { s.api.FailingKeys = 1 })
	h.ask(t, row{as: "bad", method: "GET", path: "/v1/orders", status: 401})
	h.scrape(t, row{as: "bad", status: 429})
	h.scrape(t, row{as: "metrics", status: 200})
}

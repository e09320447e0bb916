package api_test

import (
	"net/netip"
	"strings"
	"testing"

	"deedkeep/app/api"
)

func TestPaths(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	srv.do(t, uploadCall("full", 201, filePart("files", "a.pdf", pdf(1))))
	for _, path := range []string{
		"/v1/order-fields", "/api/v1/order-fields", "/v1/order-fields/", "//v1///order-fields//", "/api//v1/order-fields",
		"/v1/order-fields?x=1&x=2", "/v1/order%2Dfields",
	} {
		srv.do(t, call{as: "full", method: "GET", path: path, route: "/v1/order-fields", status: 200})
	}
	srv.do(t, call{as: "full", method: "POST", path: "/api/v1/orders//", route: "/v1/orders", header: []string{asJSON},
		body: `{"order_number":"T-1"}`, status: 201, want: bareOrder})
	srv.do(t, call{as: "full", method: "GET", path: "/api/v1/file-vault/files/1", route: "/v1/file-vault/files/1", status: 200,
		has: []string{`"download_url":"http://vault.test/v1/file-vault/files/1/download"`}})
	for _, path := range []string{
		"/v1", "/v1/", "/api/v1", "/v1/Order-Fields", "/V1/order-fields", "/v1/order-fields/x", "/v1%2Forder-fields",
		"/v1/file-vault%2ffolders", "/v1/file-vault%5Cfolders",
		`/v1/file-vault\folders`, "/v1/./order-fields", "/v1/x/../order-fields", "/v1/%2e%2e/v1/order-fields", "/v1/order-fields/.",
		"/v1/order-fields%00", "/v1/order-fields%2F",
		"/v1/abstracts/", "/v1/abstracts/aaaaaaaa", "/v1/abstracts/1", "/v1/file-vault", "/v1/api/v1/order-fields", "/v1/orders%3Fx",
		"/api/v1/api/v1/order-fields",
	} {
		if strings.Trim(path, "/") == "v1/abstracts" {
			continue // the path exists for POST; TestMethods covers it
		}
		t.Run(path, func(t *testing.T) {
			srv.do(t, call{as: "full", method: "GET", path: path, route: "/v1/\x00", status: 404, want: messageBody("Not found.")})
			srv.do(t, call{method: "GET", path: path, route: "/v1/\x00", status: 401})
		})
	}
}

func TestMethods(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	for _, c := range []struct{ path, allow string }{
		{"/v1/orders", "GET, HEAD, POST, OPTIONS"}, {"/v1/abstracts/", "GET, HEAD, POST, OPTIONS"}, {"/v1/trash", "GET, HEAD, OPTIONS"},
		{"/v1/order-fields", "GET, HEAD, OPTIONS"}, {"/api/v1/file-vault/folders", "GET, HEAD, POST, OPTIONS"},
		{"/v1/file-vault/files/1/download", "GET, HEAD, OPTIONS"}, {"/v1/abstracts/x/files", "POST, OPTIONS"},
	} {
		t.Run(c.path, func(t *testing.T) {
			for _, method := range []string{"DELETE", "PUT", "PATCH", "PROPFIND", "TRACE", "post"} {
				got := srv.do(t, call{as: "full", method: method, path: c.path, status: 405, want: messageBody("This method is not allowed here.")})
				sameAllow(t, got.Header.Get("Allow"), c.allow)
			}
			for _, as := range []string{"", "bad", "full"} {
				got := srv.do(t, call{as: as, method: "OPTIONS", path: c.path, status: 204})
				sameAllow(t, got.Header.Get("Allow"), c.allow)
				if len(got.body) != 0 || got.Header.Get("Access-Control-Allow-Origin") != "" {
					t.Errorf("OPTIONS response has the headers %v and body %q, want no CORS headers and no body", got.Header, got.body)
				}
			}
		})
	}
	srv.do(t, call{as: "full", method: "HEAD", path: "/v1/order-fields", status: 200})
	srv.do(t, call{as: "full", method: "HEAD", path: "/v1/nowhere", status: 404})
	srv.do(t, call{as: "full", method: "HEAD", path: "/v1/file-vault/upload", status: 405})
	srv.do(t, call{as: "full", method: "PUT", path: "/v1/abstracts/x", status: 405,
		headers: map[string]string{"Allow": "GET, HEAD, PATCH, DELETE, OPTIONS"}})
	got := srv.do(t, call{as: "full", method: "PATCH", path: "/v1/abstracts/x/order", status: 405})
	sameAllow(t, got.Header.Get("Allow"), "GET, HEAD, PUT, DELETE, OPTIONS")
}

// sameAllow compares two lists of methods, ignoring their order.
func sameAllow(t testing.TB, got, want string) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("Allow = %q, want %q", got, want)
	}
	for method := range strings.SplitSeq(want, ", ") {
		if !strings.Contains(", "+got+",", ", "+method+",") {
			t.Errorf("Allow = %q, want %q", got, want)
		}
	}
}

func TestHosts(t *testing.T) {
	t.Parallel()
	srv := newTestServer(t)
	srv.do(t, uploadCall("full", 201, filePart("files", "a.pdf", pdf(1))))
	for host, origin := range map[string]string{
		"vault.test": "http://vault.test", "VAULT.test:8443": "http://VAULT.test:8443", "[::1]:80": "http://[::1]:80",
		"10.0.0.1": "http://10.0.0.1", "my_host": "http://my_host",
	} {
		t.Run(host, func(t *testing.T) {
			srv.do(t, call{as: "full", method: "GET", path: "/v1/file-vault/files/1", header: []string{"Host: " + host}, status: 200,
				has: []string{`"download_url":"` + origin + `/v1/file-vault/`}})
		})
	}
	// Forwarding headers are ignored unless they come from a trusted proxy.
	srv.do(t, call{as: "full", method: "GET", path: "/v1/file-vault/files/1",
		header: []string{"X-Forwarded-Proto: https", "X-Forwarded-Host: evil.test"}, status: 200,
		has: []string{`"download_url":"http://vault.test/`}})
	for _, host := range []string{"", "vault.test:port", "vault.test:123456", "[::1", "a,b", "vault!test", "-x:80:80", "vault.test:"} {
		for _, as := range []string{"", "full"} {
			srv.do(t, call{as: as, method: "GET", path: "/v1/file-vault/files/1", header: []string{"Host: " + host}, status: 400,
				want: messageBody("The Host header is malformed.")})
		}
		srv.do(t, call{method: "OPTIONS", path: "/v1/orders", header: []string{"Host: " + host}, status: 400})
	}
}

func TestOwnAddress(t *testing.T) {
	t.Parallel()
	const path = "/v1/file-vault/files/1"
	for _, c := range []struct {
		name     string
		change   func(*api.Options)
		header   []string
		want     string
		rejected bool
	}{
		{name: "setting", change: func(o *api.Options) { o.PublicURL = "https://deeds.example/" }, want: "https://deeds.example/v1/"},
		{name: "setting and proxy", change: func(o *api.Options) {
			o.PublicURL, o.TrustedProxies = "https://deeds.example", []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
		}, header: []string{"X-Forwarded-Host: other.test"}, want: "https://deeds.example/v1/"},
		{name: "proxy", change: withTrustedProxy("127.0.0.0/8"),
			header: []string{"X-Forwarded-Proto: HTTPS", "X-Forwarded-Host: deeds.test:8443"}, want: "https://deeds.test:8443/v1/"},
		{name: "proxy without headers", change: withTrustedProxy("127.0.0.1/32"), want: "http://vault.test/v1/"},
		{name: "proxy with an invalid scheme", change: withTrustedProxy("127.0.0.1/32"), header: []string{"X-Forwarded-Proto: javascript"},
			want: "http://vault.test/v1/"},
		{name: "untrusted proxy", change: withTrustedProxy("10.0.0.0/8"), header: []string{"X-Forwarded-Host: evil.test"},
			want: "http://vault.test/v1/"},
		{name: "proxy with a malformed host", change: withTrustedProxy("127.0.0.1/32"),
			header: []string{"X-Forwarded-Host: evil.test/x"}, rejected: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			srv := newTestServer(t, func(cfg *testConfig) { c.change(&cfg.api) })
			srv.do(t, uploadCall("full", 201, filePart("files", "a.pdf", pdf(1))))
			if c.rejected {
				srv.do(t, call{as: "full", method: "GET", path: path, header: c.header, status: 400,
					want: messageBody("The Host header is malformed.")})
				return
			}
			srv.do(t, call{as: "full", method: "GET", path: path, header: c.header, status: 200,
				has: []string{`"download_url":"` + c.want + `file-vault/files/1/download"`}})
			got := srv.do(t, call{as: "full", method: "GET", path: path + "/download", header: c.header, status: 302})
			if want := strings.TrimSuffix(c.want, "v1/") + "dl/1/"; !strings.HasPrefix(got.Header.Get("Location"), want) {
				t.Errorf("Location = %q, want the prefix %q", got.Header.Get("Location"), want)
			}
		})
	}
}

func withTrustedProxy(network string) func(*api.Options) {
	return func(o *api.Options) { o.TrustedProxies = []netip.Prefix{netip.MustParsePrefix(network)} }
}

package server_test

import (
	"net/http"
	"net/netip"
	"os"
	"strings"
	"testing"

	"deedkeep/app/config"
)

// With allowed_hosts or public_url, the server rejects requests for other host names with 421.
// Without both, it accepts all names.
func TestAllowedHosts(t *testing.T) {
	hostname, err := os.Hostname()
	if err != nil {
		t.Fatalf("host name: %v", err)
	}
	servers := map[string]*running{
		"none":   serve(t, nil),
		"listed": serve(t, func(c *config.Config) { c.AllowedHosts = []string{"vault", "Deeds.example.com"} }),
		"public": serve(t, func(c *config.Config) { c.PublicURL = "https://vault.example.com:8443" }),
		"both": serve(t, func(c *config.Config) {
			c.AllowedHosts, c.PublicURL = []string{"vault"}, "https://vault.example.com"
			c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
		}),
	}
	const page = "<h1>Unknown server name</h1>"
	const json = `{"message":"The server doesn't accept this host name. Use the host in public_url, or add the name to allowed_hosts."}`
	for _, row := range []struct {
		server, path, host, headers string
		accepted                    bool
		body                        string // of a rejected request
	}{
		{"none", "/sign-in", "evil.example", "", true, ""},
		{"none", "/v1/orders", "evil.example", "", true, ""},
		{"listed", "/sign-in", "evil.example", "", false, page},
		{"listed", "/sign-in", "vault", "", true, ""},
		{"listed", "/sign-in", "VAULT.:8080", "", true, ""},
		{"listed", "/sign-in", "deeds.example.com", "", true, ""},
		{"listed", "/sign-in", "x.deeds.example.com", "", false, page},
		{"listed", "/sign-in", "vault.example.com", "", false, page},
		{"listed", "/sign-in", "localhost:1", "", true, ""},
		{"listed", "/sign-in", hostname, "", true, ""},
		{"listed", "/sign-in", "198.51.100.7:80", "", true, ""},
		{"listed", "/sign-in", "[2001:db8::7]:80", "", true, ""},
		{"listed", "/sign-in", "198.51.100.7.evil.example", "", false, page},
		{"listed", "/assets/x", "evil.example", "", false, page},
		{"listed", "/v1/orders", "evil.example", "", false, json},
		{"listed", "/api/v1/orders", "evil.example", "", false, json},
		{"listed", "/metrics", "evil.example", "", false, json},
		{"listed", "/openapi.json", "evil.example", "", false, json},
		{"listed", "/healthz", "evil.example", "", true, ""},
		{"listed", "/readyz", "evil.example", "", true, ""},
		{"listed", "/sign-in", "vault", "X-Forwarded-Host: evil.example\r\n", true, ""},
		{"public", "/sign-in", "vault.example.com", "", true, ""},
		{"public", "/v1/orders", "vault", "", false, json},
		{"both", "/sign-in", "vault", "", true, ""},
		{"both", "/sign-in", "vault.example.com", "", true, ""},
		{"both", "/sign-in", "evil.example", "", false, page},
		{"both", "/sign-in", "backend", "X-Forwarded-Host: vault.example.com\r\n", true, ""},
		{"both", "/sign-in", "vault", "X-Forwarded-Host: evil.example\r\n", false, page},
	} {
		t.Run(row.server+" "+row.path+" "+row.host+" "+strings.TrimSpace(row.headers), func(t *testing.T) {
			r := servers[row.server]
			headers := "Host: " + row.host + "\r\nAuthorization: Bearer " + r.key + "\r\n" + row.headers
			resp, body := r.raw(t, "GET", "GET "+row.path+" HTTP/1.1\r\n"+headers+"\r\n")
			if rejected := resp.StatusCode == http.StatusMisdirectedRequest; rejected == row.accepted {
				t.Fatalf("got %s, want 421: %v\n%s", resp.Status, !row.accepted, body)
			}
			if !row.accepted && !strings.Contains(body, row.body) {
				t.Errorf("got the body %s, want %s", body, row.body)
			}
			if code := resp.Header.Get("X-Error-Code"); row.body == json && code != "misdirected_request" {
				t.Errorf("X-Error-Code: got %q, want misdirected_request", code)
			}
			if id := resp.Header.Get("X-Request-Id"); len(id) != 20 {
				t.Errorf("X-Request-Id: got %q, want 20 characters", id)
			}
		})
	}
}

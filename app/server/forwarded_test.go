package server_test

import (
	"fmt"
	"net/http"
	"net/netip"
	"testing"

	"deedkeep/app/config"
	"deedkeep/app/control"
)

// The control socket reports which addresses sent forwarding headers that the server
// couldn't use, and how many.
func TestUnusableForwardedHeadersAreReported(t *testing.T) {
	for _, row := range []struct {
		name, trusted, header string
		want                  string // peer, number of untrusted headers, number of unreadable headers
	}{
		{"no trusted proxy", "10.0.0.1/32", "1.2.3.4", "127.0.0.1 1 0"},
		{"unreadable", "127.0.0.1/32", "unknown", "127.0.0.1 0 1"},
		{"with a port", "127.0.0.1/32", "[2001:db8::1]:4", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := serve(t, func(c *config.Config) { c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix(row.trusted)} })
			resp, _ := r.raw(t, http.MethodGet,
				"GET /healthz HTTP/1.1\r\nHost: vault.test\r\nX-Forwarded-For: "+row.header+"\r\nConnection: close\r\n\r\n")
			if resp.StatusCode != http.StatusOK {
				t.Fatalf("GET /healthz: got %s, want 200", resp.Status)
			}
			found, err := control.NewClient(control.RoundTripper(r.vault.Dir)).Checkup(t.Context())
			if err != nil {
				t.Fatalf("get checkup: %v", err)
			}
			got := ""
			for _, from := range found.Forwarded {
				got += fmt.Sprint(from.Peer, " ", from.Untrusted, " ", from.Unreadable)
			}
			if got != row.want {
				t.Errorf("Forwarded: got %q, want %q", got, row.want)
			}
		})
	}
}

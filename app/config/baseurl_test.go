package config

import "testing"

func TestOrigin(t *testing.T) {
	for _, row := range []struct{ public, address, want string }{
		{"", "127.0.0.1:8080", "http://127.0.0.1:8080"},
		{"", ":8080", "http://localhost:8080"},
		{"", "0.0.0.0:80", "http://localhost:80"},
		{"", "[::]:80", "http://localhost:80"},
		{"", "[::1]:8080", "http://[::1]:8080"},
		{"", "vault.lan:8080", "http://vault.lan:8080"},
		{"https://vault.example.com", "127.0.0.1:8080", "https://vault.example.com"},
	} {
		if got := (Config{PublicURL: row.public}).Origin(row.address); got != row.want {
			t.Errorf("Origin(%q) with public_url %q = %q, want %q", row.address, row.public, got, row.want)
		}
	}
	const want = "https://[::1]:8443"
	if got := (Config{TLS: TLS{SelfSigned: true}}).Origin("[::1]:8443"); got != want {
		t.Errorf("Origin with TLS = %q, want %q", got, want)
	}
}

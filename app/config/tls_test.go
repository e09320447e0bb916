package config

import (
	"net/netip"
	"strings"
	"testing"
)

func TestTLSSettings(t *testing.T) {
	for _, row := range []struct{ name, text, want string }{
		{"self-signed", "tls: {self_signed: true}\n", ""},
		{"own", "tls: {cert: c.pem, key: k.pem, redirect_listen: ':80'}\n", ""},
		{"one file for both", "tls: {cert: c.pem, key: c.pem}\n", ""},
		{"no HSTS", "tls: {cert: c.pem, key: c.pem, hsts: 0s}\n", ""},
		{"public https", "public_url: https://v.example.com\ntls: {self_signed: true}\n", ""},
		{"certificate alone", "tls:\n  cert: c.pem\n", "config.yaml:2: tls.cert: requires a key; set tls.key, too"},
		{"key alone", "tls:\n  key: k.pem\n", "config.yaml:2: tls.key: requires a certificate; set tls.cert, too"},
		{"both kinds", "tls:\n  cert: c.pem\n  key: k.pem\n  self_signed: true\n",
			"config.yaml:4: tls.self_signed: can't be combined with tls.cert; set only one"},
		{"nothing to redirect to", "tls:\n  redirect_listen: :80\n",
			"config.yaml:2: tls.redirect_listen: requires TLS; set tls.cert and tls.key, tls.self_signed, or tls.automatic"},
		{"no address to redirect from", "tls:\n  self_signed: true\n  redirect_listen: '80'\n",
			`config.yaml:3: tls.redirect_listen: "80" is not an address with a port; use 127.0.0.1:8080, or :8080 for all ` +
				`addresses of this machine`},
		{"redirect to itself", "tls:\n  self_signed: true\n  redirect_listen: 127.0.0.1:8080\n",
			"config.yaml:3: tls.redirect_listen: is the same as listen, which already redirects; remove this setting"},
		{"public http", "public_url: http://v.example.com\ntls: {self_signed: true}\n",
			"config.yaml:1: public_url: must begin with https://, because TLS is on"},
		{"automatic", "public_url: https://v.example.com\ntls: {automatic: true, email: it@example.com}\n", ""},
		{"automatic and self-signed", "public_url: https://v.example.com\ntls: {automatic: true, self_signed: true}\n",
			"config.yaml:2: tls.automatic: can't be combined with tls.cert or tls.self_signed; set only one"},
		{"automatic without a name", "tls: {automatic: true}\n", automaticNeedsName("config.yaml:1")},
		{"automatic for an address", "public_url: https://203.0.113.7\ntls: {automatic: true}\n", automaticNeedsName("config.yaml:2")},
		{"automatic for the office", "public_url: https://vault\ntls: {automatic: true}\n", automaticNeedsName("config.yaml:2")},
		{"email", "tls: {email: Bo <bo@example.com>}\n", `config.yaml:1: tls.email: "Bo <bo@example.com>" is not an email address`},
		{"authority", "tls: {acme_directory: 'http://ca.example.com'}\n",
			`config.yaml:1: tls.acme_directory: "http://ca.example.com" must be a URL that begins with https://`},
		{"no path", "tls: {cert: \"a\\nb\", key: k}\n", `config.yaml:1: tls.cert: "a\nb" is not a valid path`},
		{"HSTS too long", "tls: {hsts: 731d}\n", "config.yaml:1: tls.hsts: must be between 0s and 2y, not 731d"},
	} {
		t.Run(row.name, func(t *testing.T) {
			if _, got := loadFile(t, row.text, Source{}); got != row.want {
				t.Errorf("problems\n%s\nwant\n%s", got, row.want)
			}
		})
	}
}

// automaticNeedsName returns the problem of a line that sets tls.automatic without a public name.
func automaticNeedsName(line string) string {
	return line + ": tls.automatic: requires public_url with https:// and a name that everyone on the Internet can look up, " +
		"such as https://vault.example.com"
}

func TestWarnings(t *testing.T) {
	for _, row := range []struct {
		name, listen string
		change       func(*Config)
		want         string
	}{
		{"loopback", "127.0.0.1:8080", nil, ""},
		{"all of loopback", "127.3.2.1:8080", nil, ""},
		{"loopback of IPv6", "[::1]:8080", nil, ""},
		{"mapped loopback", "[::ffff:127.0.0.1]:8080", nil, ""},
		{"loopback by name", "LocalHost:8080", nil, ""},
		{"everywhere", ":8080", nil, "anyone on the network can read API keys"},
		{"everywhere, spelt out", "0.0.0.0:8080", nil, "anyone on the network can read API keys"},
		{"an address", "192.168.1.2:80", nil, "listen is 192.168.1.2:80 without TLS"},
		{"a name", "vault:80", nil, "anyone on the network can read API keys"},
		{"encrypted", ":8080", func(c *Config) { c.TLS.SelfSigned = true }, ""},
		{"own certificate", ":8080", func(c *Config) { c.TLS.Cert, c.TLS.Key = "c", "k" }, ""},
		{"behind a proxy elsewhere", ":8080",
			func(c *Config) { c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.7/32")} }, "allow only the proxy in the firewall"},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := Default()
			c.Listen = row.listen
			if row.change != nil {
				row.change(&c)
			}
			got := strings.Join(c.Warnings(), "\n")
			if (got == "") != (row.want == "") || !strings.Contains(got, row.want) {
				t.Errorf("Warnings = %q, want %q in them", got, row.want)
			}
		})
	}
}

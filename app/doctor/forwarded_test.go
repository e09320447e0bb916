package doctor

import (
	"testing"

	"deedkeep/app/apitypes"
	"deedkeep/app/config"
)

func TestForwarded(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		list apitypes.List[apitypes.Forwarded]
		text []string // text of each finding
	}{
		{"none", nil, nil},
		{"no trusted proxy", apitypes.List[apitypes.Forwarded]{{Peer: "127.0.0.1", Untrusted: 812}},
			[]string{"812 requests from 127.0.0.1 (not in trusted_proxies)"}},
		{"setting to add", apitypes.List[apitypes.Forwarded]{{Peer: "10.0.0.5", Untrusted: 9}, {Peer: "10.0.0.6", Untrusted: 1}},
			[]string{"trusted_proxies: [10.0.0.5];"}},
		{"unreadable", apitypes.List[apitypes.Forwarded]{{Peer: "10.0.0.5", Unreadable: 3, Example: "unknown"}},
			[]string{`from 10.0.0.5 (in trusted_proxies, for example "unknown")`}},
		{"both", apitypes.List[apitypes.Forwarded]{{Peer: "10.0.0.5", Untrusted: 3}, {Peer: "10.0.0.6", Unreadable: 2}},
			[]string{"3 requests from 10.0.0.5 (", "2 requests from 10.0.0.6"}},
		{"five proxies", apitypes.List[apitypes.Forwarded]{{Peer: "1.1.1.1", Untrusted: 5}, {Peer: "2.2.2.2", Untrusted: 4},
			{Peer: "3.3.3.3", Untrusted: 3}, {Peer: "4.4.4.4", Untrusted: 2}, {Peer: "5.5.5.5", Untrusted: 1}},
			[]string{"15 requests from 1.1.1.1, 2.2.2.2, 3.3.3.3, 2 more ("}},
	} {
		got := checkForwardedHeaders(&apitypes.Checkup{Status: apitypes.Status{Running: true}, Forwarded: row.list})
		if len(row.text) == 0 {
			row.text = []string{"no invalid forwarding headers"}
		}
		if len(got) != len(row.text) {
			t.Errorf("%s: got %+v, want %d findings", row.name, got, len(row.text))
			continue
		}
		state := Warn
		if row.list == nil {
			state = OK
		}
		for i, text := range row.text {
			check(t, row.name, got[i], state, text)
		}
	}
	if got := checkForwardedHeaders(&apitypes.Checkup{}); len(got) != 0 {
		t.Errorf("no server runs: got %+v, want nothing", got)
	}
}

func TestPublicURL(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ name, listen, url, state, text string }{
		{"set", ":8443", "https://vault.example.com", OK, "https://vault.example.com"},
		{"this machine alone", "127.0.0.1:8080", "", OK, "127.0.0.1:8080"},
		{"this machine alone, IPv6", "[::1]:8080", "", OK, "[::1]:8080"},
		{"all addresses", ":8443", "", Warn, "set public_url"},
		{"all addresses, nothing set", ":8443", "", Warn, "in allowed_hosts"},
		{"all addresses, IPv6", "[::]:8443", "", Warn, "set public_url"},
		{"one address", "10.0.0.4:8443", "", Warn, "10.0.0.4:8443"},
	} {
		c := config.Default()
		c.Listen, c.PublicURL = row.listen, row.url
		check(t, row.name, checkPublicURL(c), row.state, row.text)
	}
	c := config.Default()
	c.Listen, c.AllowedHosts = ":8443", []string{"vault"}
	check(t, "allowed_hosts", checkPublicURL(c), OK, "allowed_hosts limits these names")
}

package model

import (
	"net/netip"
	"testing"
)

func TestNetwork(t *testing.T) {
	for address, want := range map[string]string{
		"10.2.2.3":          "10.2.2.3/32",
		"::ffff:10.2.2.3":   "10.2.2.3/32",
		"2001:db8:1:2:3::4": "2001:db8:1:2::/64",
		"fe80::1%eth0":      "fe80::/64",
		"::1":               "::/64",
	} {
		if got := ClientNetwork(netip.MustParseAddr(address)); got.String() != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
	if got := ClientNetwork(netip.Addr{}); got.IsValid() {
		t.Errorf("no address: %s", got)
	}
}

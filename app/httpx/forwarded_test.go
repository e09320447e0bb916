package httpx_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	"deedkeep/app/httpx"
)

var proxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32"), netip.MustParsePrefix("2001:db8:ff::/48")}

// forwardedBy returns a request from peer that has one name header for each value.
func forwardedBy(peer, name string, values ...string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.RemoteAddr = peer
	for _, value := range values {
		r.Header.Add(name, value)
	}
	return r
}

// Proxies write the client address with or without a port.
func TestForwardedFor(t *testing.T) {
	t.Parallel()
	address := httpx.AddressResolver{TrustedProxies: proxies}.ClientAddrText
	const proxy = "127.0.0.1:4711"
	for _, row := range []struct {
		name, peer string
		header     []string
		want       string
	}{
		{"IPv4", proxy, []string{"1.2.3.4"}, "1.2.3.4"},
		{"IPv4 with a port", proxy, []string{"1.2.3.4:99"}, "1.2.3.4"},
		{"IPv6", proxy, []string{"2001:db8::1"}, "2001:db8::1"},
		{"IPv6 in brackets", proxy, []string{"[2001:db8::1]"}, "2001:db8::1"},
		{"IPv6 with a port", proxy, []string{"[2001:db8::1]:4"}, "2001:db8::1"},
		{"IPv4 in IPv6 with a port", proxy, []string{"[::ffff:1.2.3.4]:99"}, "1.2.3.4"},
		{"IPv6 with a zone", proxy, []string{"[fe80::1%eth0]:4"}, "fe80::1"},
		{"blanks around it", proxy, []string{" 1.2.3.4:99 "}, "1.2.3.4"},
		{"the last of several", proxy, []string{"9.9.9.9, 1.2.3.4:99"}, "1.2.3.4"},
		{"the last header", proxy, []string{"9.9.9.9", "1.2.3.4:99"}, "1.2.3.4"},
		{"through another proxy", proxy, []string{"1.2.3.4:99, [2001:db8:ff::7]:443"}, "1.2.3.4"},
		{"an empty element", proxy, []string{"1.2.3.4:99,"}, "1.2.3.4"},
		{"no address", proxy, []string{"1.2.3.4, unknown"}, "127.0.0.1"},
		{"no port", proxy, []string{"1.2.3.4:http"}, "127.0.0.1"},
		{"IPv4 in brackets", proxy, []string{"[1.2.3.4]:99"}, "127.0.0.1"},
		{"IPv4 in brackets, no port", proxy, []string{"[1.2.3.4]"}, "127.0.0.1"},
		{"an opening bracket alone", proxy, []string{"[2001:db8::1"}, "127.0.0.1"},
		{"a closing bracket alone", proxy, []string{"2001:db8::1]"}, "127.0.0.1"},
		{"nothing", proxy, nil, "127.0.0.1"},
		{"only proxies", proxy, []string{"127.0.0.1:1"}, "127.0.0.1"},
		{"not from a proxy", "192.0.2.7:4711", []string{"1.2.3.4:99"}, "192.0.2.7"},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := address(forwardedBy(row.peer, "X-Forwarded-For", row.header...)); got != row.want {
				t.Errorf("address for %q = %q, want %q", row.header, got, row.want)
			}
		})
	}
}

// Requests whose forwarding headers could not be used are counted by peer address.
func TestForwardedCounts(t *testing.T) {
	t.Parallel()
	const proxy, stranger = "127.0.0.1:4711", "192.0.2.7:4711"
	for _, row := range []struct {
		name, peer, header string
		value              string
		want               string // untrusted count, unreadable count, and example
	}{
		{"used", proxy, "X-Forwarded-For", "1.2.3.4:99", ""},
		{"no header", proxy, "Accept", "text/html", ""},
		{"no header, from a stranger", stranger, "Accept", "text/html", ""},
		{"no address", proxy, "X-Forwarded-For", "1.2.3.4, _hidden", `0 1 "_hidden"`},
		{"an invalid address before a valid one", proxy, "X-Forwarded-For", "_hidden, 1.2.3.4", ""},
		{"only RFC 7239", proxy, "Forwarded", "for=1.2.3.4", `0 1 "for=1.2.3.4"`},
		{"only the scheme", proxy, "X-Forwarded-Proto", "https", ""},
		{"a stranger's address", stranger, "X-Forwarded-For", "1.2.3.4", `1 0 ""`},
		{"a stranger's scheme", stranger, "X-Forwarded-Proto", "https", `1 0 ""`},
		{"a stranger's host", stranger, "X-Forwarded-Host", "vault.test", `1 0 ""`},
		{"a stranger's RFC 7239", stranger, "Forwarded", "for=1.2.3.4", `1 0 ""`},
		{"the control socket", "@", "X-Forwarded-For", "1.2.3.4", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			f := httpx.NewForwardingMonitor(proxies, time.Now)
			served := false
			h := f.Watch(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { served = true }))
			h.ServeHTTP(httptest.NewRecorder(), forwardedBy(row.peer, row.header, row.value))
			got := ""
			for _, from := range f.List() {
				got += fmt.Sprintf("%d %d %q", from.Untrusted, from.Unreadable, from.Example)
			}
			if got != row.want || !served {
				t.Errorf("counts = %q, served %v; want %q, served", got, served, row.want)
			}
		})
	}
}

// Requests from many new addresses don't evict the address with the most requests.
func TestForwardedIsBounded(t *testing.T) {
	t.Parallel()
	f := httpx.NewForwardingMonitor(nil, time.Now)
	h := f.Watch(http.NotFoundHandler())
	for i := range 300 {
		peers := []string{"127.0.0.1:4711", fmt.Sprintf("10.0.%d.%d:9", i/200, i%200)}
		for _, peer := range peers {
			h.ServeHTTP(httptest.NewRecorder(), forwardedBy(peer, "X-Forwarded-For", "1.2.3.4"))
		}
	}
	list := f.List()
	if len(list) != 64 || list[0].Peer != "127.0.0.1" || list[0].Untrusted != 300 {
		t.Errorf("got %d addresses, the first %+v; want 64, the first 127.0.0.1 with 300", len(list), list[0])
	}
	if untrusted, unreadable := f.Counts(); untrusted != 600 || unreadable != 0 {
		t.Errorf("got %d untrusted and %d unreadable, want 600 and 0", untrusted, unreadable)
	}
}

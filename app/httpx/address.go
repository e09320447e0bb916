package httpx

import (
	"net"
	"net/http"
	"net/netip"
	"regexp"
	"slices"
	"strings"
)

// AddressResolver determines the client's address and the server's own address for a request, even if there are
// reverse proxies. Forwarding headers are used only if the connection comes from one of TrustedProxies.
type AddressResolver struct {
	PublicURL      string // the server's own address; if "", it is taken from each request
	TrustedProxies []netip.Prefix
}

// Trusts reports whether ip is a trusted proxy.
func (a AddressResolver) Trusts(ip netip.Addr) bool {
	return slices.ContainsFunc(a.TrustedProxies, func(network netip.Prefix) bool { return network.Contains(ip.Unmap()) })
}

// Peer returns the remote address of the connection. It returns the zero Addr for the control socket.
func Peer(r *http.Request) netip.Addr {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return netip.Addr{}
	}
	return ip.Unmap().WithZone("")
}

const forwardedFor = "X-Forwarded-For"

// ClientAddr returns the address of the client. If the connection comes from a trusted proxy, that is the last hop in
// X-Forwarded-For that is not a trusted proxy. Otherwise, it is the peer's address.
func (a AddressResolver) ClientAddr(r *http.Request) netip.Addr {
	ip, _ := a.client(r)
	return ip
}

// ClientAddrText returns the address of the client as text. It returns "" for the zero Addr.
func (a AddressResolver) ClientAddrText(r *http.Request) string { return AddrText(a.ClientAddr(r)) }

// client returns the result of Client. If the search stopped at a malformed hop, it also returns the text of that
// hop.
func (a AddressResolver) client(r *http.Request) (ip netip.Addr, malformed string) {
	ip = Peer(r)
	if !ip.IsValid() || !a.Trusts(ip) {
		return ip, ""
	}
	hops := strings.Split(strings.Join(r.Header.Values(forwardedFor), ","), ",")
	for _, text := range slices.Backward(hops) {
		if text = strings.TrimSpace(text); text == "" {
			continue // empty list elements are ignored (RFC 9110, section 5.6.1.2)
		}
		hop, err := parseHop(text)
		if err != nil {
			return ip, text
		}
		if ip = hop; !a.Trusts(ip) {
			break
		}
	}
	return ip, ""
}

// parseHop parses an address in the forms that proxies use, with or without the client's port. An IPv6 address must
// be in brackets if it has a port.
func parseHop(text string) (netip.Addr, error) {
	if both, err := netip.ParseAddrPort(text); err == nil {
		return both.Addr().Unmap().WithZone(""), nil
	}
	if inner, ok := strings.CutPrefix(text, "["); ok {
		if inner, ok = strings.CutSuffix(inner, "]"); ok && strings.Contains(inner, ":") {
			text = inner
		}
	}
	ip, err := netip.ParseAddr(text)
	return ip.Unmap().WithZone(""), err
}

// AddrText returns ip as text. It returns "" for the zero Addr.
func AddrText(ip netip.Addr) string {
	if !ip.IsValid() {
		return ""
	}
	return ip.String()
}

var hostPattern = regexp.MustCompile(`^([A-Za-z0-9_]([A-Za-z0-9_.-]{0,252})|\[[0-9A-Fa-f:.]{2,45}\])(:[0-9]{1,5})?$`)

// Origin returns the server's own address as scheme and host, without a path. If PublicURL is not set, the address
// comes from the Host header, or from the X-Forwarded headers of a trusted proxy. Origin returns ErrHost if the host
// is malformed.
func (a AddressResolver) Origin(r *http.Request) (string, error) {
	if !hostPattern.MatchString(r.Host) {
		return "", ErrHost
	}
	if a.PublicURL != "" {
		return strings.TrimSuffix(a.PublicURL, "/"), nil
	}
	scheme, host := "http", r.Host
	if r.TLS != nil {
		scheme = "https"
	}
	if a.Trusts(Peer(r)) {
		if s := strings.ToLower(r.Header.Get("X-Forwarded-Proto")); s == "http" || s == "https" {
			scheme = s
		}
		if h := r.Header.Get("X-Forwarded-Host"); h != "" {
			if host = h; !hostPattern.MatchString(host) {
				return "", ErrHost
			}
		}
	}
	return scheme + "://" + host, nil
}

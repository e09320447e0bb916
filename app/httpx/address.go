package httpx

import (
	"net"
	"net/http"
	"net/netip"
	"regexp"
	"slices"
	"strings"
)

// AddressResolver determines the address of the client of a request, and the address that the client called, behind
// reverse proxies. Forwarding headers count only on connections from TrustedProxies.
type AddressResolver struct {
	PublicURL      string // own address; "" takes it from each request
	TrustedProxies []netip.Prefix
}

// Trusts reports whether ip is a trusted proxy.
func (a AddressResolver) Trusts(ip netip.Addr) bool {
	return slices.ContainsFunc(a.TrustedProxies, func(network netip.Prefix) bool { return network.Contains(ip.Unmap()) })
}

// Peer returns the address at the other end of the connection, or the zero Addr on the control socket.
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

// Client returns the address of the client: the last hop of X-Forwarded-For that is not a trusted proxy if the
// connection comes from one, otherwise the peer.
func (a AddressResolver) Client(r *http.Request) netip.Addr {
	ip, _ := a.client(r)
	return ip
}

// ClientText returns Client as text, "" for the zero Addr.
func (a AddressResolver) ClientText(r *http.Request) string { return AddrText(a.Client(r)) }

// client returns the result of Client and the malformed hop that ended the search, if any.
func (a AddressResolver) client(r *http.Request) (ip netip.Addr, malformed string) {
	ip = Peer(r)
	if !ip.IsValid() || !a.Trusts(ip) {
		return ip, ""
	}
	hops := strings.Split(strings.Join(r.Header.Values(forwardedFor), ","), ",")
	for _, text := range slices.Backward(hops) {
		if text = strings.TrimSpace(text); text == "" {
			continue // RFC 9110, section 5.6.1.2: empty list elements are ignored
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

// parseHop parses an address as proxies write it: alone or followed by the client's port. IPv6 is in brackets if a
// port follows, and may be without one.
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

// AddrText returns ip as text, "" for the zero Addr.
func AddrText(ip netip.Addr) string {
	if !ip.IsValid() {
		return ""
	}
	return ip.String()
}

var hostPattern = regexp.MustCompile(`^([A-Za-z0-9_]([A-Za-z0-9_.-]{0,252})|\[[0-9A-Fa-f:.]{2,45}\])(:[0-9]{1,5})?$`)

// Origin returns the server's own address as scheme and host, without a path: PublicURL, or else the address that the
// request, or a trusted proxy in front, says it was sent to.
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

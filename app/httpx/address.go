package httpx

import (
	"net"
	"net/http"
	"net/netip"
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

// CutPort splits the value of a Host header into host and port. The port is "" if there is none.
func CutPort(value string) (host, port string) {
	if at := strings.LastIndexByte(value, ':'); at > strings.LastIndexByte(value, ']') {
		return value[:at], value[at+1:]
	}
	return value, ""
}

const (
	digits    = "0123456789"
	hexDigits = digits + "abcdefABCDEF"
	hostChars = digits + "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-."
)

// IsHost reports whether value is a valid Host header: a name of up to 253 characters, an IPv4
// address, or an IPv6 address in brackets, with or without a port.
func IsHost(value string) bool {
	host, port := CutPort(value)
	if len(host) < len(value) && (port == "" || len(port) > 5 || strings.Trim(port, digits) != "") {
		return false
	}
	if inner, ok := strings.CutPrefix(host, "["); ok {
		inner, ok = strings.CutSuffix(inner, "]")
		return ok && len(inner) >= 2 && len(inner) <= 45 && strings.Trim(inner, hexDigits+":.") == ""
	}
	return host != "" && len(host) <= 253 && host[0] != '-' && host[0] != '.' && strings.Trim(host, hostChars) == ""
}

// Origin returns the server's own address as scheme and host, without a path. If PublicURL is not set, the address
// comes from the Host header, or from the X-Forwarded headers of a trusted proxy. Origin returns ErrHost if the host
// is malformed.
func (a AddressResolver) Origin(r *http.Request) (string, error) {
	if !IsHost(r.Host) {
		return "", ErrHost
	}
	if a.PublicURL != "" {
		return strings.TrimSuffix(a.PublicURL, "/"), nil
	}
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	if s := strings.ToLower(r.Header.Get("X-Forwarded-Proto")); (s == "http" || s == "https") && a.Trusts(Peer(r)) {
		scheme = s
	}
	host, err := a.Host(r)
	return scheme + "://" + host, err
}

// Host returns the host that the client asked for, with its port: the Host header, or X-Forwarded-Host from a trusted
// proxy. Host returns ErrHost if it is malformed.
func (a AddressResolver) Host(r *http.Request) (string, error) {
	host := r.Host
	if forwarded := r.Header.Get("X-Forwarded-Host"); forwarded != "" && a.Trusts(Peer(r)) {
		host = forwarded
	}
	if !IsHost(host) {
		return "", ErrHost
	}
	return host, nil
}

package api

import (
	"net"
	"net/http"
	"net/netip"
	"regexp"
	"slices"
	"strings"
)

// trusts reports whether the forwarding headers of an address are believed.
func (e *edge) trusts(ip netip.Addr) bool {
	return slices.ContainsFunc(e.TrustedProxies, func(network netip.Prefix) bool { return network.Contains(ip.Unmap()) })
}

// peer is the address at the other end of the connection; the zero Addr for the
// control door.
func peer(r *http.Request) netip.Addr {
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

// address is the client's: the last hop of X-Forwarded-For that is no trusted proxy,
// if the connection comes from one, else the peer's.
func (e *edge) address(r *http.Request) netip.Addr {
	ip, _ := e.client(r)
	return ip
}

// client is address, and the hop that ended the search because it could not be read.
func (e *edge) client(r *http.Request) (ip netip.Addr, unreadable string) {
	ip = peer(r)
	if !ip.IsValid() || !e.trusts(ip) {
		return ip, ""
	}
	hops := strings.Split(strings.Join(r.Header.Values(forwardedFor), ","), ",")
	for _, text := range slices.Backward(hops) {
		if text = strings.TrimSpace(text); text == "" {
			continue // as RFC 9110, section 5.6.1.2, has it
		}
		hop, err := readHop(text)
		if err != nil {
			return ip, text
		}
		if ip = hop; !e.trusts(ip) {
			break
		}
	}
	return ip, ""
}

// readHop reads an address as proxies write it: alone, or with the port of the
// client behind it; one of IPv6 in brackets then, and perhaps without a port too.
func readHop(text string) (netip.Addr, error) {
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

// text is "" for no address.
func text(ip netip.Addr) string {
	if !ip.IsValid() {
		return ""
	}
	return ip.String()
}

var hostText = regexp.MustCompile(`^([A-Za-z0-9_]([A-Za-z0-9_.-]{0,252})|\[[0-9A-Fa-f:.]{2,45}\])(:[0-9]{1,5})?$`)

// origin is the own address without a path: the setting, else what the request, or
// a trusted proxy in front, says it was called by.
func (e *edge) origin(r *http.Request) (string, error) {
	if !hostText.MatchString(r.Host) {
		return "", errHost
	}
	if e.PublicURL != "" {
		return strings.TrimSuffix(e.PublicURL, "/"), nil
	}
	scheme, host := "http", r.Host
	if r.TLS != nil {
		scheme = "https"
	}
	if e.trusts(peer(r)) {
		if s := strings.ToLower(r.Header.Get("X-Forwarded-Proto")); s == "http" || s == "https" {
			scheme = s
		}
		if h := r.Header.Get("X-Forwarded-Host"); h != "" {
			if host = h; !hostText.MatchString(host) {
				return "", errHost
			}
		}
	}
	return scheme + "://" + host, nil
}

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

// address is the client's: the last hop of X-Forwarded-For that is no trusted proxy,
// if the connection comes from one, else the peer's.
func (e *edge) address(r *http.Request) netip.Addr {
	ip := peer(r)
	if !ip.IsValid() || !e.trusts(ip) {
		return ip
	}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0; i-- {
		hop, err := netip.ParseAddr(strings.TrimSpace(hops[i]))
		if err != nil {
			break
		}
		if ip = hop.Unmap(); !e.trusts(ip) {
			break
		}
	}
	return ip
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

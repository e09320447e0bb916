package server

import (
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"deedkeep/app/api"
	"deedkeep/app/apitypes"
	"deedkeep/app/certificate"
	"deedkeep/app/config"
	"deedkeep/app/httpx"
)

const misdirected = "The server doesn't accept this host name. Use the host in public_url, or add the name to allowed_hosts."

// requireHost responds with 421 (RFC 9110, section 15.5.20) to requests for host names that the server isn't configured
// for. This way, another site can't point its own domain name at the server, and links can't begin with that name. The
// settings allowed_hosts and public_url contain the accepted names. The names of this machine and all IP addresses are
// accepted, too, because another site can't use them. If neither setting is set, requireHost accepts all names.
//
// Health checks work with any name. A malformed name is left to next, which responds with 400.
func requireHost(next http.Handler, c config.Config) http.Handler {
	if c.PublicURL == "" && len(c.AllowedHosts) == 0 {
		return next
	}
	addresses := httpx.AddressResolver{TrustedProxies: c.TrustedProxies}
	allowed := allowedHosts(c)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, err := addresses.Host(r)
		if err != nil || isHealthCheck(r.URL.Path) || isAllowedHost(allowed, host) {
			next.ServeHTTP(w, r)
			return
		}
		httpx.DrainBody(w, r)
		if isData(r.URL.Path) {
			httpx.WriteJSON(w, http.StatusMisdirectedRequest, apitypes.Failure{Message: misdirected})
			return
		}
		answerPage(w, http.StatusMisdirectedRequest, unknownName)
	})
}

func isHealthCheck(path string) bool { return path == "/healthz" || path == "/readyz" }

// isData reports whether clients of a path expect JSON instead of a page.
func isData(path string) bool {
	return api.Owns(path) || path == "/openapi.json" || path == api.MetricsPath
}

// allowedHosts returns the accepted host names, in lower case.
func allowedHosts(c config.Config) (hosts []string) {
	for _, host := range append(certificate.LocalNames(""), c.AllowedHosts...) {
		hosts = append(hosts, strings.ToLower(strings.TrimSuffix(host, ".")))
	}
	if address, err := url.Parse(c.PublicURL); err == nil && c.PublicURL != "" {
		hosts = append(hosts, strings.ToLower(strings.TrimSuffix(address.Hostname(), ".")))
	}
	return hosts
}

// isAllowedHost reports whether a host, with or without a port, is an IP address or one of the names.
func isAllowedHost(names []string, host string) bool {
	host, _ = httpx.CutPort(host)
	if _, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return true
	}
	return slices.Contains(names, strings.ToLower(strings.TrimSuffix(host, ".")))
}

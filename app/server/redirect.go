package server

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"deedkeep/app/api"
	"deedkeep/app/apitypes"
	"deedkeep/app/certificate"
	"deedkeep/app/config"
	"deedkeep/app/httpx"
)

const speaksHTTPS = "This address speaks https."

// redirect returns the handler for plain HTTP requests to a server with TLS. It redirects
// browsers to https. API clients get an error instead, because a redirected POST would lose
// its body, and their API key has already been sent in the clear. So do requests that a trusted
// proxy received over https, because redirecting them would cause a loop. If public_url isn't set,
// redirect redirects only to host names in allowed_hosts and those for which own returns true, and
// returns an error page for other names.
func redirect(c config.Config, address string, own func(host string) bool) http.Handler {
	_, ownPort, err := net.SplitHostPort(address)
	if err != nil {
		ownPort = ""
	}
	proxies := httpx.AddressResolver{TrustedProxies: c.TrustedProxies}
	return httpx.WithRequestID(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "close")
		page := r.Method == http.MethodGet || r.Method == http.MethodHead
		wasEncrypted := strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https") && proxies.Trusts(httpx.Peer(r))
		if !page || api.Owns(r.URL.Path) || !httpx.IsHost(r.Host) || !strings.HasPrefix(r.URL.RequestURI(), "/") || wasEncrypted {
			httpx.DrainBody(w, r)
			httpx.WriteJSON(w, http.StatusBadRequest, apitypes.Failure{Message: speaksHTTPS})
			return
		}
		host, _ := httpx.CutPort(r.Host)
		target := cmp.Or(c.PublicURL, "https://"+host)
		if c.PublicURL == "" && ownPort != "443" && ownPort != "" {
			target += ":" + ownPort
		}
		name := strings.TrimSuffix(strings.Trim(host, "[]"), ".")
		listed := slices.ContainsFunc(c.AllowedHosts, func(allowed string) bool { return strings.EqualFold(allowed, name) })
		if c.PublicURL == "" && !listed && !own(name) {
			httpx.DrainBody(w, r)
			answerPage(w, http.StatusBadRequest, unknownName)
			return
		}
		// #nosec G710 -- to public_url, or a name of this machine
		http.Redirect(w, r, target+r.URL.RequestURI(), http.StatusPermanentRedirect)
	}), rand.Reader)
}

// isOwn reports whether the certificate covers host, or host is a name or address of this
// machine.
func (li *listeners) isOwn(host string) bool {
	return li.certificate.Info().Covers(host) || slices.ContainsFunc(certificate.LocalNames(""), func(name string) bool {
		if ip, err := netip.ParseAddr(host); err == nil {
			return name == ip.Unmap().String()
		}
		return strings.EqualFold(name, host)
	})
}

// unknownName is the page that is returned for a request with an unknown host name.
// It doesn't have a style sheet or script, because a browser would load them from that host.
const unknownName = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Unknown server name – deedkeep</title>
</head>
<body>
<main>
<h1>Unknown server name</h1>
<p>This server doesn’t recognize the host name in the address that you opened.
Open the exact address that your administrator gave you, including https:// if it has that.</p>
<p>Administrators: if the name is correct, set <code>public_url</code> to this address in config.yaml,
or add the name to <code>allowed_hosts</code>. Then restart the server.</p>
</main>
</body>
</html>
`

func answerPage(w http.ResponseWriter, status int, page string) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("Cache-Control", "no-store")
	httpx.SetIsolationHeaders(h)
	w.WriteHeader(status)
	// An error means that the client is gone.
	_, _ = io.WriteString(w, page)
}

// withHSTS adds the Strict-Transport-Security header (RFC 6797), which makes browsers use only
// https for this host. It does nothing if the certificate is self-signed.
func withHSTS(next http.Handler, t config.TLS) http.Handler {
	if t.SelfSigned || t.HSTS == 0 {
		return next
	}
	value := fmt.Sprintf("max-age=%d", int64(t.HSTS.Seconds()))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Strict-Transport-Security", value)
		next.ServeHTTP(w, r)
	})
}

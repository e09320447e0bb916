package server

import (
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"time"

	"deedkeep/app/api"
	"deedkeep/app/apitypes"
	"deedkeep/app/certificate"
	"deedkeep/app/config"
	"deedkeep/app/httpx"
)

const speaksHTTPS = "This address speaks https."

// redirect returns the handler for plain HTTP requests to a server with TLS. It redirects
// browsers to https. API clients get an error instead, because a redirected POST would lose
// its body, and their API key has already been sent in the clear. If public_url isn't set,
// redirect redirects only to host names for which own returns true, and returns an error page
// for other names.
func redirect(c config.Config, address string, own func(host string) bool) http.Handler {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		port = ""
	}
	return httpx.WithRequestID(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "close")
		target := secureURL(c.PublicURL, r.Host, port) + r.URL.RequestURI()
		page := r.Method == http.MethodGet || r.Method == http.MethodHead
		if !page || api.Owns(r.URL.Path) || !hostText.MatchString(r.Host) || !strings.HasPrefix(r.URL.RequestURI(), "/") || wasEncrypted(c, r) {
			drainBody(w, r)
			respondJSON(w, http.StatusBadRequest, apitypes.Failure{Message: speaksHTTPS})
			return
		}
		if c.PublicURL == "" && !own(bareHost(r.Host)) {
			drainBody(w, r)
			answerPage(w, http.StatusBadRequest, unknownName)
			return
		}
		// #nosec G710 -- to public_url, or a name of this machine
		http.Redirect(w, r, target, http.StatusPermanentRedirect)
	}), rand.Reader)
}

// bareHost returns the host part of a Host header, without port, brackets, or trailing dot.
func bareHost(host string) string {
	return strings.TrimSuffix(strings.Trim(withoutPort.ReplaceAllString(host, ""), "[]"), ".")
}

// isOwn reports whether the certificate covers host, or host is a name or address of this
// machine.
func (f *listeners) isOwn(host string) bool {
	return f.certificate.Info().Covers(host) || slices.ContainsFunc(certificate.LocalNames(""), func(name string) bool {
		if ip, err := netip.ParseAddr(host); err == nil {
			return name == ip.Unmap().String()
		}
		return strings.EqualFold(name, host)
	})
}

// unknownName is the page that is returned for a plain HTTP request with an unknown host name.
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
<p>This server doesn’t know the name in the address that you opened, so it can’t send you to its secure page. Open the address that your administrator gave you, with https:// in front.</p>
<p>Administrators: if the name is right, set <code>public_url</code> to it in config.yaml and restart the server.</p>
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
	w.WriteHeader(status)
	// An error means that the client is gone.
	_, _ = io.WriteString(w, page)
}

// secureURL returns public_url or, if that isn't set, the https URL of host and port.
func secureURL(publicURL, host, port string) string {
	if publicURL != "" {
		return publicURL
	}
	host = withoutPort.ReplaceAllString(host, "")
	if port == "443" || port == "" {
		return "https://" + host
	}
	return "https://" + host + ":" + port
}

var (
	hostText    = regexp.MustCompile(`^([A-Za-z0-9_][A-Za-z0-9_.-]{0,252}|\[[0-9A-Fa-f:.]{2,45}\])(:[0-9]{1,5})?$`)
	withoutPort = regexp.MustCompile(`:[0-9]+$`)
)

// wasEncrypted reports whether a trusted proxy received the request over https. Redirecting
// such a request to https would cause a loop.
func wasEncrypted(c config.Config, r *http.Request) bool {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https") &&
		slices.ContainsFunc(c.TrustedProxies, func(p netip.Prefix) bool { return p.Contains(peer.Addr().Unmap().WithZone("")) })
}

// drainBody reads up to 1 MiB of the request body. If the connection were closed with unread
// data, the client might not get the response.
func drainBody(w http.ResponseWriter, r *http.Request) {
	if strings.EqualFold(r.Header.Get("Expect"), "100-continue") {
		return
	}
	// If this fails, the connection is closed anyway.
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(time.Second))
	_, _ = io.CopyN(io.Discard, r.Body, 1<<20)
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

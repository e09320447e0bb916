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
	"deedkeep/app/config"
	"deedkeep/app/wire"
)

const speaksHTTPS = "This address speaks https."

// redirect answers plain HTTP where https is spoken: whoever reads a page is sent
// there, a program is told (API.md, "TLS"): a redirected POST would lose its body, and
// a redirected key has been read on the way already.
func redirect(c config.Config, address string) http.Handler {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		port = ""
	}
	return api.Identify(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "close")
		target := secureURL(c.PublicURL, r.Host, port) + r.URL.RequestURI()
		page := r.Method == http.MethodGet || r.Method == http.MethodHead
		if !page || api.Owns(r.URL.Path) || !hostText.MatchString(r.Host) || !strings.HasPrefix(r.URL.RequestURI(), "/") || encryptedBefore(c, r) {
			drain(w, r)
			answerJSON(w, http.StatusBadRequest, wire.Failure{Message: speaksHTTPS})
			return
		}
		// #nosec G710 -- to the name that was asked, or the setting's: a caller sends nobody but himself elsewhere
		http.Redirect(w, r, target, http.StatusPermanentRedirect)
	}), rand.Reader)
}

// secureURL is public_url, or the host that was asked with the port of https.
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

// encryptedBefore says whether a trusted proxy has taken the encryption off: its
// caller would come back to the same place for ever.
func encryptedBefore(c config.Config, r *http.Request) bool {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https") &&
		slices.ContainsFunc(c.TrustedProxies, func(p netip.Prefix) bool { return p.Contains(peer.Addr().Unmap().WithZone("")) })
}

// drain reads some of a body that nobody wants, so that whoever sends it gets to read
// the answer.
func drain(w http.ResponseWriter, r *http.Request) {
	if strings.EqualFold(r.Header.Get("Expect"), "100-continue") {
		return
	}
	// Where it fails, the connection is closed with what is on it.
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(time.Second))
	_, _ = io.CopyN(io.Discard, r.Body, 1<<20)
}

// strict tells browsers to use https alone from now on (RFC 6797), where the
// certificate is one that they trust.
func strict(next http.Handler, t config.TLS) http.Handler {
	if t.SelfSigned || t.HSTS == 0 {
		return next
	}
	value := fmt.Sprintf("max-age=%d", int64(t.HSTS.Seconds()))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Strict-Transport-Security", value)
		next.ServeHTTP(w, r)
	})
}

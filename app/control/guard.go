package control

import (
	"crypto/subtle"
	"io"
	"net/http"
	"strings"
)

const (
	// Host is the only value of the Host header that Guard accepts. A web page that makes its own name resolve to
	// this machine (DNS rebinding) sends that name instead.
	Host = "deedkeep"
	// BaseURL is the base of request URLs for a client with RoundTripper.
	BaseURL = "http://" + Host

	tokenHeader = "Deedkeep-Control"
)

// Guard passes a request to h only if its Host is "deedkeep", it has none of the headers that browsers add (Origin,
// Referer, Sec-Fetch-*), and, unless token is empty, it has exactly that token. All others get a 403 with a JSON
// message.
func Guard(h http.Handler, token string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Host != Host || fromBrowser(r.Header) || !hasToken(r.Header, token) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, `{"message":"This door is for the deedkeep command on this machine."}`+"\n") // The client has gone.
			return
		}
		h.ServeHTTP(w, r)
	})
}

func fromBrowser(header http.Header) bool {
	for name := range header {
		if name == "Origin" || name == "Referer" || strings.HasPrefix(name, "Sec-Fetch-") {
			return true
		}
	}
	return false
}

func hasToken(header http.Header, token string) bool {
	if token == "" {
		return true
	}
	shown := header.Values(tokenHeader)
	return len(shown) == 1 && subtle.ConstantTimeCompare([]byte(shown[0]), []byte(token)) == 1
}

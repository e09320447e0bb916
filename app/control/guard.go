package control

import (
	"crypto/subtle"
	"io"
	"net/http"
	"strings"
)

const (
	// Host is the only name under which the door answers; a page that had its own name pointed at this machine
	// (DNS rebinding) sends that name instead.
	Host = "deedkeep"
	// BaseURL is what a client with RoundTripper puts in front of its paths.
	BaseURL = "http://" + Host

	tokenHeader = "Deedkeep-Control"
)

// Guard lets a request through to h only with the Host `deedkeep`, none of the headers that browsers add (Origin,
// Referer, Sec-Fetch-*) and, unless token is empty, exactly that token; all else is a 403 with a JSON message.
func Guard(h http.Handler, token string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Host != Host || fromBrowser(r.Header) || !hasToken(r.Header, token) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, `{"message":"This door is for the deedkeep command on this machine."}`+"\n") // Nobody left to tell.
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

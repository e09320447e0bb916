package control

import (
	"crypto/subtle"
	"io"
	"net/http"
	"strings"
)

const (
	// Host is the only value of the Host header that Guard accepts. If a web page makes its own host name resolve to
	// this machine (DNS rebinding), the browser sends that name instead.
	Host = "deedkeep"
	// BaseURL is the base URL of requests for a client that uses RoundTripper.
	BaseURL = "http://" + Host

	tokenHeader = "Deedkeep-Control"
)

// Guard passes a request to h only if its Host is "deedkeep" and it has none of the headers that browsers add
// (Origin, Referer, Sec-Fetch-*). Unless token is empty, the request must also have exactly that token. All other
// requests get a 403 with a JSON message.
func Guard(h http.Handler, token string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Host != Host || fromBrowser(r.Header) || !hasToken(r.Header, token) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusForbidden)
			_, _ = io.WriteString(w, `{"message":"The control socket is only for the deedkeep command on this machine."}`+"\n") // the client may be gone
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

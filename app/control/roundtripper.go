package control

import (
	"context"
	"net"
	"net/http"
)

// RoundTripper speaks HTTP to the server running on dataDir, at BaseURL and with its token; an error wraps ErrNoServer
// when there is none. Whoever got it closes its idle connections (http.Client.CloseIdleConnections).
func RoundTripper(dataDir string) http.RoundTripper { return roundTripper(defaultTransport(), dataDir) }

func roundTripper(f transport, dataDir string) http.RoundTripper {
	return &tokenTransport{
		Transport: newHTTPTransport(func(ctx context.Context) (net.Conn, error) { return f.dial(ctx, dataDir) }),
		token:     func() (string, error) { return f.token(dataDir) },
	}
}

// newHTTPTransport is one that dials the same place whatever the address, and uses no proxy of the environment.
func newHTTPTransport(dial func(context.Context) (net.Conn, error)) *http.Transport {
	return &http.Transport{
		DialContext:        func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) },
		DisableCompression: true,
	}
}

// tokenTransport reads the token anew for each request, so that it outlives a restart of the server.
type tokenTransport struct {
	*http.Transport
	token func() (string, error)
}

func (t *tokenTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	token, err := t.token()
	if err != nil {
		if r.Body != nil {
			_ = r.Body.Close() // Required of a RoundTripper; the token's error is the one that counts.
		}
		return nil, err
	}
	if token != "" {
		r = r.Clone(r.Context())
		r.Header.Set(tokenHeader, token)
	}
	return t.Transport.RoundTrip(r)
}

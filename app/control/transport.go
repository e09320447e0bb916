package control

import (
	"context"
	"net"
	"net/http"
)

// RoundTripper speaks HTTP to the server running on dataDir, at BaseURL and with its token; an error wraps ErrNobody
// when there is none. Whoever got it closes its idle connections (http.Client.CloseIdleConnections).
func RoundTripper(dataDir string) http.RoundTripper { return roundTripper(native(), dataDir) }

func roundTripper(f flavor, dataDir string) http.RoundTripper {
	return &tokenBearer{
		Transport: transport(func(ctx context.Context) (net.Conn, error) { return f.dial(ctx, dataDir) }),
		token:     func() (string, error) { return f.token(dataDir) },
	}
}

// transport is one that dials the same place whatever the address, and uses no proxy of the environment.
func transport(dial func(context.Context) (net.Conn, error)) *http.Transport {
	return &http.Transport{
		DialContext:        func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) },
		DisableCompression: true,
	}
}

// tokenBearer reads the token anew for each request, so that it outlives a restart of the server.
type tokenBearer struct {
	*http.Transport
	token func() (string, error)
}

func (t *tokenBearer) RoundTrip(r *http.Request) (*http.Response, error) {
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

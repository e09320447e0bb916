package control

import (
	"context"
	"net"
	"net/http"
)

// RoundTripper returns a transport that sends HTTP requests for BaseURL to the server running on dataDir. It adds the
// token to each request. Its errors wrap ErrNoServer if no server is running. The caller must close its idle
// connections (http.Client.CloseIdleConnections).
func RoundTripper(dataDir string) http.RoundTripper { return roundTripper(defaultTransport(), dataDir) }

// UnixRoundTripper returns a transport that sends HTTP requests for BaseURL to the Unix socket at path. The caller must
// close its idle connections.
func UnixRoundTripper(path string) http.RoundTripper {
	return newHTTPTransport(func(ctx context.Context) (net.Conn, error) { return new(net.Dialer).DialContext(ctx, "unix", path) })
}

func roundTripper(f transport, dataDir string) http.RoundTripper {
	return &tokenTransport{
		Transport: newHTTPTransport(func(ctx context.Context) (net.Conn, error) { return f.dial(ctx, dataDir) }),
		token:     func() (string, error) { return f.token(dataDir) },
	}
}

// newHTTPTransport returns a transport that uses dial for every address and ignores the proxy settings in the
// environment.
func newHTTPTransport(dial func(context.Context) (net.Conn, error)) *http.Transport {
	return &http.Transport{
		DialContext:        func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) },
		DisableCompression: true,
		WriteBufferSize:    64 << 10, // an import sends large documents; a write to net.Pipe waits for its reader
	}
}

// tokenTransport reads the token again for each request, so it keeps working after a server restart.
type tokenTransport struct {
	*http.Transport
	token func() (string, error)
}

func (t *tokenTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	token, err := t.token()
	if err != nil {
		if r.Body != nil {
			_ = r.Body.Close() // a RoundTripper must close the body; the token error is returned
		}
		return nil, err
	}
	if token != "" {
		r = r.Clone(r.Context())
		r.Header.Set(tokenHeader, token)
	}
	return t.Transport.RoundTrip(r)
}

package control

import (
	"context"
	"net"
	"net/http"
)

// RoundTripper returns a transport that sends HTTP requests for BaseURL, with the token, to the server running on
// dataDir. Its errors wrap ErrNoServer if there is none. The caller closes its idle connections
// (http.Client.CloseIdleConnections).
func RoundTripper(dataDir string) http.RoundTripper { return roundTripper(defaultTransport(), dataDir) }

func roundTripper(f transport, dataDir string) http.RoundTripper {
	return &tokenTransport{
		Transport: newHTTPTransport(func(ctx context.Context) (net.Conn, error) { return f.dial(ctx, dataDir) }),
		token:     func() (string, error) { return f.token(dataDir) },
	}
}

// newHTTPTransport returns a transport that uses dial for every address and no proxy of the environment.
func newHTTPTransport(dial func(context.Context) (net.Conn, error)) *http.Transport {
	return &http.Transport{
		DialContext:        func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) },
		DisableCompression: true,
	}
}

// tokenTransport reads the token for every request, so it keeps working after a restart of the server.
type tokenTransport struct {
	*http.Transport
	token func() (string, error)
}

func (t *tokenTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	token, err := t.token()
	if err != nil {
		if r.Body != nil {
			_ = r.Body.Close() // A RoundTripper must close it; the error of the token is reported.
		}
		return nil, err
	}
	if token != "" {
		r = r.Clone(r.Context())
		r.Header.Set(tokenHeader, token)
	}
	return t.Transport.RoundTrip(r)
}

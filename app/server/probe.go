package server

import (
	"crypto/rand"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"deedkeep/app/apitypes"
	"deedkeep/app/control"
	"deedkeep/app/httpx"
	"deedkeep/app/secret"
)

// probes serves temporary paths for the doctor, which tests the proxies between the public URL
// and the server by sending a request to such a path. A path is created through the control
// socket. It expires after probeLife or after its first request. The body of the request is
// discarded.
type probes struct {
	rand      io.Reader
	now       func() time.Time
	addresses httpx.AddressResolver
	stall     time.Duration

	mu   sync.Mutex
	open map[string]time.Time // expiration time by token
}

const (
	probePath = "/v1/doctor/"
	probeLife = 10 * time.Minute
	probeMax  = 200 << 20 // maximum size of a body, in bytes
	probeOpen = 16        // maximum number of open paths
)

func newProbes(opts Options) *probes {
	c := opts.Config
	return &probes{
		rand: rand.Reader, now: opts.Now, stall: c.Timeouts.Stall, open: map[string]time.Time{},
		addresses: httpx.AddressResolver{PublicURL: c.PublicURL, TrustedProxies: c.TrustedProxies},
	}
}

// intercept returns a handler that serves requests for open paths and passes all others to next.
func (p *probes) intercept(next http.Handler) http.Handler {
	own := httpx.WithRequestID(p, p.rand)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p.claim(r) {
			own.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// Open creates a path that accepts one request. It closes expired paths and, if too many are
// open, other ones.
func (p *probes) Open() (string, error) {
	token, err := secret.NewToken(p.rand)
	if err != nil {
		return "", err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	for old, end := range p.open {
		if now.After(end) || len(p.open) >= probeOpen {
			delete(p.open, old)
		}
	}
	p.open[token] = now.Add(probeLife)
	return probePath + token, nil
}

// claim reports whether r is a POST request to an open path. If so, it closes the path, because
// each path accepts only one request.
func (p *probes) claim(r *http.Request) bool {
	token, ok := strings.CutPrefix(r.URL.Path, probePath)
	if !ok || r.Method != http.MethodPost {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	end, open := p.open[token]
	delete(p.open, token)
	return open && p.now().Before(end)
}

// ServeHTTP reads the body of a request and responds with the number of bytes, the time between
// the first and the last of them, and the headers that proxies may have changed.
func (p *probes) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	result := apitypes.Probe{
		Host: r.Host, TLS: r.TLS != nil, ForwardedFor: r.Header.Get("X-Forwarded-For"), ForwardedHost: r.Header.Get("X-Forwarded-Host"),
		ForwardedProto: r.Header.Get("X-Forwarded-Proto"), Authorization: r.Header.Get("Authorization") != "",
	}
	var err error
	if result.Link, err = p.addresses.Origin(r); err != nil {
		httpx.WriteJSON(w, http.StatusBadRequest, apitypes.Failure{Message: "The Host header is not valid."})
		return
	}
	peer := httpx.Peer(r)
	result.Peer, result.Trusted = httpx.AddrText(peer), p.addresses.Trusts(peer)
	body := http.MaxBytesReader(w, httpx.NewBody(w, r, httpx.Limits{Stall: p.stall}), probeMax)
	var first, last time.Time
	for chunk := make([]byte, 64<<10); ; {
		n, err := body.Read(chunk)
		if n > 0 {
			last = time.Now()
			if first.IsZero() {
				first = last
			}
			result.Bytes += int64(n)
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			httpx.WriteJSON(w, http.StatusBadRequest, apitypes.Failure{Message: "The request body is incomplete."})
			return
		}
	}
	result.SpanMillis = last.Sub(first).Milliseconds()
	httpx.WriteJSON(w, http.StatusOK, result)
}

var _ control.Probes = (*probes)(nil)

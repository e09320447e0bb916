package server

import (
	"crypto/rand"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"deedkeep/app/apitypes"
	"deedkeep/app/control"
	"deedkeep/app/httpx"
	"deedkeep/app/secret"
)

// probes serves the paths that the doctor uses to test the proxies between the public
// address and the server. A path is created through the control socket and accepts one
// request within its lifetime. The body is discarded.
type probes struct {
	rand    io.Reader
	now     func() time.Time
	trusted []netip.Prefix
	stall   time.Duration
	origin  func(*http.Request) (string, error) // base URL of links

	mu   sync.Mutex
	open map[string]time.Time // expiry by token
}

const (
	probePath = "/v1/doctor/"
	probeLife = 10 * time.Minute
	probeMax  = 200 << 20 // bytes of a body
	probeOpen = 16        // open paths at the same time
)

func newProbes(opts Options) *probes {
	c := opts.Config
	return &probes{
		rand: rand.Reader, now: opts.Now, trusted: c.TrustedProxies, stall: c.Timeouts.Stall, open: map[string]time.Time{},
		origin: httpx.AddressResolver{PublicURL: c.PublicURL, TrustedProxies: c.TrustedProxies}.Origin,
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

// Open returns a new path.
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

// claim reports whether r is for an open path, and closes that path.
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

// ServeHTTP reads the body of a request and responds with what arrived, and how.
func (p *probes) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	result := apitypes.Probe{
		Host: r.Host, TLS: r.TLS != nil, ForwardedFor: r.Header.Get("X-Forwarded-For"), ForwardedHost: r.Header.Get("X-Forwarded-Host"),
		Proto: r.Header.Get("X-Forwarded-Proto"), Authorization: r.Header.Get("Authorization") != "",
	}
	var err error
	if result.Link, err = p.origin(r); err != nil {
		respondJSON(w, http.StatusBadRequest, apitypes.Failure{Message: "The Host header of the request is not valid."})
		return
	}
	if peer, err := netip.ParseAddrPort(r.RemoteAddr); err == nil {
		ip := peer.Addr().Unmap().WithZone("")
		result.Peer = ip.String()
		result.Trusted = slices.ContainsFunc(p.trusted, func(n netip.Prefix) bool { return n.Contains(ip) })
	}
	conn, body, chunk := http.NewResponseController(w), http.MaxBytesReader(w, r.Body, probeMax), make([]byte, 64<<10)
	var first, last time.Time
	for {
		// It fails only if there is no network connection, which then can't stall.
		_ = conn.SetReadDeadline(time.Now().Add(p.stall))
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
			respondJSON(w, http.StatusBadRequest, apitypes.Failure{Message: "The body broke off before its end."})
			return
		}
	}
	_ = conn.SetReadDeadline(time.Time{}) // as above
	result.SpanMillis = last.Sub(first).Milliseconds()
	respondJSON(w, http.StatusOK, result)
}

var _ control.Probes = (*probes)(nil)

package doctor

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"deedkeep/app/certificate"
	"deedkeep/app/client"
	"deedkeep/app/wire"
)

const probeSize = 100 << 20 // bytes: the largest file that SPEC.md allows

// probe sends 100 MB through whatever stands in front of the service, as a program
// would send a document, and judges what arrived.
func probe(ctx context.Context, opts Options) []wire.Diagnosis {
	path := ""
	err := opts.Ask(ctx, func(ctx context.Context, c *client.Client) (err error) {
		path, err = c.OpenProbe(ctx)
		return err
	})
	if err != nil {
		return []wire.Diagnosis{bad("through", "no probe was made: "+opts.Explain(err), `start the server ("deedkeep serve"), then ask again`)}
	}
	transport := opts.Transport
	if transport == nil {
		own := &http.Transport{
			Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, ResponseHeaderTimeout: 2 * time.Minute,
			TLSClientConfig: &tls.Config{RootCAs: roots(opts.Config.Data), MinVersion: tls.VersionTLS12},
		}
		defer own.CloseIdleConnections()
		transport = own
	}
	pause := cmp.Or(opts.Pause, 2*time.Second)
	size := cmp.Or(opts.Size, probeSize)
	body := &paused{Reader: io.LimitReader(rand.NewChaCha8([32]byte{}), size), at: size / 2, pause: pause}
	begun := time.Now()
	c := client.New(opts.Through, opts.Key, transport)
	got, err := c.SendProbe(ctx, path, body)
	took := time.Since(begun)
	if err != nil {
		return []wire.Diagnosis{judgeBroken(err, body.sent.Load(), took)}
	}
	all := []wire.Diagnosis{judgeProbe(got, size, took, pause)}
	all = append(all, judgeForwarding(got, opts))
	if opts.Key != "" {
		_, err := c.OrderFields(ctx)
		all = append(all, judgeKey(got, err))
	}
	return all
}

// roots are whom this machine trusts, and the certificate that was made here.
func roots(data string) *x509.CertPool {
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if made, err := os.ReadFile(filepath.Join(certificate.Dir(data), certificate.PublicFile)); err == nil {
		pool.AppendCertsFromPEM(made)
	}
	return pool
}

// paused stands still once in the middle, which shows whether somebody gathers the
// body before he hands it on.
type paused struct {
	io.Reader
	sent  atomic.Int64 // an answer may come while it is still read
	at    int64
	pause time.Duration
}

func (p *paused) Read(b []byte) (int, error) {
	if p.at > 0 && p.sent.Load() >= p.at {
		p.at = 0
		time.Sleep(p.pause)
	}
	n, err := p.Reader.Read(b)
	p.sent.Add(int64(n))
	return n, err
}

// judgeBroken says what a refusal on the way means.
func judgeBroken(err error, sent int64, took time.Duration) wire.Diagnosis {
	says := fmt.Sprintf("100 MB did not get through: after %s and %s: %v", wire.HumanSize(sent), took.Round(100*time.Millisecond), err)
	const room = "let the proxy pass 110 MB and more: nginx client_max_body_size 11g (a request may bring 100 files), IIS maxAllowedContentLength, Apache LimitRequestBody; Cloudflare's free plan ends at 100 MB"
	const patience = "let the proxy wait: nginx proxy_read_timeout and client_body_timeout 300s, and proxy_request_buffering off"
	refused, isAnswer := errors.AsType[*client.Error](err)
	switch {
	case isAnswer && refused.Status == http.StatusRequestEntityTooLarge:
		return bad("through", says, room)
	case isAnswer && (refused.Status == http.StatusRequestTimeout || refused.Status == http.StatusGatewayTimeout):
		return bad("through", says, patience)
	case isAnswer && refused.Status == http.StatusBadGateway:
		return bad("through", says, "the proxy does not reach the service: compare its upstream with the setting listen, http or https too")
	case isAnswer && refused.Status == http.StatusBadRequest && strings.Contains(refused.Message, "speaks https"):
		return bad("through", says, "the proxy speaks http to a service that speaks https: make its upstream https, or switch tls.* off and listen on 127.0.0.1")
	case isAnswer && (refused.Status == http.StatusUnauthorized || refused.Status == http.StatusNotFound):
		return bad("through", says, "another service answers there, or an old one of ours: compare the address, and pass every path on as it is")
	case isAnswer:
		return bad("through", says, "see the proxy's log for this answer")
	case sent > 0:
		return bad("through", says, room+"; and "+patience)
	}
	return bad("through", says, "see the address, its name in the DNS, its certificate and the firewall")
}

func judgeProbe(got wire.Probe, size int64, took, pause time.Duration) wire.Diagnosis {
	span := time.Duration(got.SpanMillis) * time.Millisecond
	says := fmt.Sprintf("%s got through in %s", wire.HumanSize(size), took.Round(100*time.Millisecond))
	switch {
	case got.Bytes != size:
		return bad("through", fmt.Sprintf("%d bytes of %d arrived", got.Bytes, size), "see the proxy's log")
	case span < pause/2:
		return warn("through", says+", but somebody on the way gathers the whole of it first: uploads take twice as long, and the proxy's disk holds documents",
			"nginx: proxy_request_buffering off; proxy_http_version 1.1")
	}
	return ok("through", says+", as it was sent")
}

// judgeForwarding sees whether callers keep their addresses, and links their scheme.
func judgeForwarding(got wire.Probe, opts Options) wire.Diagnosis {
	through, err := url.Parse(opts.Through)
	secure := err == nil && through.Scheme == "https"
	forwarded := got.ForwardedFor != "" || got.Proto != "" || got.ForwardedHost != ""
	hidden := secure && !got.TLS // somebody took the encryption off
	switch {
	case (forwarded || hidden) && !got.Trusted:
		return warn("proxy", fmt.Sprintf("there is one at %s, and it is not believed: all callers count as one, and links may begin with http://", got.Peer), "trusted_proxies: ["+got.Peer+"]")
	case hidden && got.Proto != "https" && opts.Config.PublicURL == "":
		return warn("proxy", "it does not say that its callers speak https: links in answers begin with http://", "nginx: proxy_set_header X-Forwarded-Proto $scheme; or set public_url")
	case got.Trusted && got.ForwardedFor == "":
		return warn("proxy", "it does not say who calls: all callers count as one", "nginx: proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for")
	case opts.Config.PublicURL == "" && err == nil && got.Host != through.Host && got.ForwardedHost != through.Host:
		return warn("proxy", fmt.Sprintf("it changes the name that was asked (%s) to %s: links in answers go there", through.Host, got.Host), "nginx: proxy_set_header Host $http_host; or set public_url")
	case forwarded || hidden:
		return ok("proxy", "the one at "+got.Peer+" says who calls, and is believed")
	}
	return ok("proxy", "none in between that shows")
}

func judgeKey(got wire.Probe, err error) wire.Diagnosis {
	switch {
	case !got.Authorization:
		return bad("key", "the Authorization header is taken off on the way", "let the proxy pass it on; its own password would have to go")
	case err != nil:
		return bad("key", "the key does not work there: "+err.Error(), `"deedkeep keys list" shows the keys`)
	}
	return ok("key", "it works there")
}

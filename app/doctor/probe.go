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
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"deedkeep/app/apitypes"
	"deedkeep/app/certificate"
	"deedkeep/app/client"
	"deedkeep/app/control"
)

const (
	probeSize    = 100 << 20 // size of the body in bytes: the default of limits.file_size
	probePause   = 2 * time.Second
	probeTimeout = 10 * time.Minute

	// The doctor always probes public_url, using these values. The body is larger than the default limit of nginx, and
	// the probe takes about a second.
	publicSize    = 2 << 20
	publicPause   = 500 * time.Millisecond
	publicTimeout = 10 * time.Second
)

// checkProxy probes the address in opts or, if there is none, public_url. It returns nil if there is nothing to probe.
func checkProxy(ctx context.Context, opts Options, found *apitypes.Checkup) []apitypes.Diagnosis {
	size, pause, patience := int64(probeSize), probePause, probeTimeout
	if opts.ProbeURL == "" {
		if opts.Config.PublicURL == "" || found == nil || !found.Status.Running {
			return nil
		}
		opts.ProbeURL, size, pause, patience = opts.Config.PublicURL, publicSize, publicPause, publicTimeout
	}
	opts.ProbeSize, opts.ProbePause, opts.ProbeTimeout = cmp.Or(opts.ProbeSize, size), cmp.Or(opts.ProbePause, pause),
		cmp.Or(opts.ProbeTimeout, patience)
	ctx, cancel := context.WithTimeout(ctx, opts.ProbeTimeout)
	defer cancel()
	return runProbe(ctx, opts)
}

// runProbe uploads a body like an API client, through any proxy in front of the server, and checks what the server
// received.
func runProbe(ctx context.Context, opts Options) []apitypes.Diagnosis {
	path := ""
	err := opts.WithClient(ctx, func(ctx context.Context, c *control.Client) (err error) {
		path, err = c.OpenProbe(ctx)
		return err
	})
	if err != nil {
		return []apitypes.Diagnosis{bad("through", "no probe was made: "+opts.Explain(err),
			`start the server ("deedkeep serve"), then ask again`)}
	}
	transport := opts.ProbeTransport
	if transport == nil {
		own := &http.Transport{
			Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, ResponseHeaderTimeout: 2 * time.Minute,
			TLSClientConfig: &tls.Config{RootCAs: rootCAs(opts.Config.Data), MinVersion: tls.VersionTLS12},
		}
		defer own.CloseIdleConnections()
		transport = own
	}
	body := &pausingReader{Reader: io.LimitReader(rand.NewChaCha8([32]byte{}), opts.ProbeSize), at: opts.ProbeSize / 2, pause: opts.ProbePause}
	begun := time.Now()
	c := client.New(opts.ProbeURL, opts.ProbeKey, transport)
	var got apitypes.Probe
	err = c.DoRaw(ctx, http.MethodPost, path, body, "application/octet-stream", &got)
	took := time.Since(begun)
	if err != nil {
		return []apitypes.Diagnosis{diagnoseFailedProbe(err, opts, body.sent.Load(), took)}
	}
	all := []apitypes.Diagnosis{diagnoseProbe(got, opts.ProbeSize, took, opts.ProbePause)}
	all = append(all, diagnoseForwarding(got, opts))
	if opts.ProbeKey != "" {
		err := c.Do(ctx, http.MethodGet, "/v1/order-fields", nil, &apitypes.OrderFields{})
		all = append(all, diagnoseKey(got, err))
	}
	return all
}

// rootCAs returns a pool with the system's certificate authorities and this server's self-signed certificate.
func rootCAs(data string) *x509.CertPool {
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if pem, err := os.ReadFile(filepath.Join(certificate.SelfSignedDir(data), certificate.CertFile)); err == nil {
		pool.AppendCertsFromPEM(pem)
	}
	return pool
}

// pausingReader pauses once, in the middle of the body. If the server doesn't notice the pause, a proxy has buffered
// the body before forwarding it.
type pausingReader struct {
	io.Reader
	sent  atomic.Int64 // atomic, because a response may arrive while Read is running
	at    int64
	pause time.Duration
}

func (p *pausingReader) Read(b []byte) (int, error) {
	if p.at > 0 && p.sent.Load() >= p.at {
		p.at = 0
		time.Sleep(p.pause)
	}
	n, err := p.Reader.Read(b)
	p.sent.Add(int64(n))
	return n, err
}

// diagnoseFailedProbe explains why a probe failed.
func diagnoseFailedProbe(err error, opts Options, sent int64, took time.Duration) apitypes.Diagnosis {
	says := fmt.Sprintf("%s did not get through %s: after %s and %s: %v",
		apitypes.HumanSize(opts.ProbeSize), opts.ProbeURL, apitypes.HumanSize(sent), took.Round(100*time.Millisecond), err)
	if found, ok := diagnoseConnection(err, opts.ProbeURL); ok {
		return found
	}
	const raiseLimit = "let the proxy pass 110 MB and more: nginx client_max_body_size 11g (a request may bring 100 files), " +
		"IIS maxAllowedContentLength, Apache LimitRequestBody; Cloudflare's free plan ends at 100 MB"
	const raiseTimeout = "let the proxy wait: nginx proxy_read_timeout and client_body_timeout 300s, and proxy_request_buffering off"
	failure, isResponse := errors.AsType[*client.Error](err)
	switch {
	case isResponse && failure.Status == http.StatusRequestEntityTooLarge:
		return bad("through", says, raiseLimit)
	case isResponse && (failure.Status == http.StatusRequestTimeout || failure.Status == http.StatusGatewayTimeout):
		return bad("through", says, raiseTimeout)
	case isResponse && failure.Status == http.StatusBadGateway:
		return bad("through", says, "the proxy does not reach the service: compare its upstream with the setting listen, http or https too")
	case isResponse && failure.Status == http.StatusBadRequest && strings.Contains(failure.Message, "speaks https"):
		return bad("through", says,
			"the proxy speaks http to a service that speaks https: make its upstream https, or switch tls.* off and listen on 127.0.0.1")
	case isResponse && failure.Status/100 == 3:
		return bad("through", says,
			"set public_url to the address that it leads to, and have clients use that: most lose the body of an upload when they are redirected")
	case isResponse && (failure.Status == http.StatusUnauthorized || failure.Status == http.StatusNotFound):
		return bad("through", says, "another service answers there, or an old one of ours: compare the address, and pass every path on as it is")
	case isResponse:
		return bad("through", says, "see the proxy's log for this answer")
	case errors.Is(err, context.DeadlineExceeded):
		return bad("through", fmt.Sprintf("%s did not get through %s within %s; %s were sent", apitypes.HumanSize(opts.ProbeSize),
			opts.ProbeURL, opts.ProbeTimeout, apitypes.HumanSize(sent)),
			"see whether the proxy reaches the server (its upstream), and its log; "+raiseTimeout)
	case sent > 0:
		return bad("through", says, raiseLimit+"; and "+raiseTimeout)
	}
	return bad("through", says, "see the address, its name in the DNS, its certificate and the firewall")
}

// diagnoseConnection explains why the connection failed. ok is false if the error may have another cause. If other
// machines may be able to connect, the finding is only a warning. For example, the public DNS name may not work inside
// the office, or the office may have its own certificate authority.
func diagnoseConnection(err error, address string) (found apitypes.Diagnosis, ok bool) {
	var (
		name    *net.DNSError
		dial    *net.OpError
		unknown x509.UnknownAuthorityError
		host    x509.HostnameError
		invalid x509.CertificateInvalidError
		plain   tls.RecordHeaderError
	)
	const fromOthers = "start the proxy, and check public_url, DNS, and the firewall; if it works from other machines, nothing to do"
	switch {
	case errors.As(err, &name):
		return warn("through", fmt.Sprintf("this machine doesn't find %s: %v", address, name), fromOthers), true
	case errors.As(err, &dial) && dial.Op == "dial":
		return warn("through", fmt.Sprintf("this machine doesn't reach %s: %v", address, dial), fromOthers), true
	case errors.As(err, &unknown):
		return warn("through", fmt.Sprintf("this machine doesn't trust the certificate of %s: %v", address, unknown),
			"let the proxy send the complete chain (nginx: fullchain.pem); "+
				"if your office has its own certificate authority, add it to those that this machine and your API clients trust"), true
	case errors.As(err, &host):
		return bad("through", fmt.Sprintf("the certificate of %s is for other names: %v", address, host),
			"get one with that name, or correct public_url"), true
	case errors.As(err, &invalid):
		return bad("through", fmt.Sprintf("the certificate of %s is not valid: %v", address, invalid),
			"renew it, and check that the proxy loads the new one; check the clock too"), true
	case errors.Is(err, http.ErrSchemeMismatch), errors.As(err, &plain):
		return bad("through", address+" does not speak https: the response is not encrypted",
			"set up TLS in the proxy, or correct the port or the scheme of public_url"), true
	}
	return apitypes.Diagnosis{}, false
}

func diagnoseProbe(got apitypes.Probe, size int64, took, pause time.Duration) apitypes.Diagnosis {
	span := time.Duration(got.SpanMillis) * time.Millisecond
	says := fmt.Sprintf("%s got through in %s", apitypes.HumanSize(size), took.Round(100*time.Millisecond))
	switch {
	case got.Bytes != size:
		return bad("through", fmt.Sprintf("%d bytes of %d arrived", got.Bytes, size), "see the proxy's log")
	case span < pause/2:
		return warn("through",
			says+", but somebody on the way gathers the whole of it first: uploads take twice as long, and the proxy's disk holds documents",
			"nginx: proxy_request_buffering off; proxy_http_version 1.1")
	}
	return ok("through", says+", as it was sent")
}

// diagnoseForwarding checks whether the server knows the addresses of clients and uses the right scheme in links.
func diagnoseForwarding(got apitypes.Probe, opts Options) apitypes.Diagnosis {
	through, err := url.Parse(opts.ProbeURL)
	secure := err == nil && through.Scheme == "https"
	forwarded := got.ForwardedFor != "" || got.Proto != "" || got.ForwardedHost != ""
	hidden := secure && !got.TLS // a proxy has terminated TLS
	own := strings.TrimSuffix(opts.Config.PublicURL, "/")
	switch {
	case own != "" && got.Link != "" && got.Link != own:
		return warn("proxy", fmt.Sprintf(
			"download_url and other links begin with %s, and public_url is %s: the server that runs has other settings",
			got.Link, own), "restart the server")
	case (forwarded || hidden) && !got.Trusted:
		return warn("proxy", fmt.Sprintf("there is one at %s, and it is not believed: all callers count as one, and links may begin with http://",
			got.Peer), "trusted_proxies: ["+got.Peer+"]")
	case hidden && got.Proto != "https" && opts.Config.PublicURL == "":
		return warn("proxy", "it does not say that its callers speak https: download_url and other links begin with http://",
			"nginx: proxy_set_header X-Forwarded-Proto $scheme; or set public_url")
	case got.Trusted && got.ForwardedFor == "":
		return warn("proxy", "it does not say who calls: all callers count as one",
			"nginx: proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for")
	case opts.Config.PublicURL == "" && err == nil && got.Host != through.Host && got.ForwardedHost != through.Host:
		return warn("proxy", fmt.Sprintf("it changes the name that was asked (%s) to %s: links in answers go there", through.Host,
			got.Host), "nginx: proxy_set_header Host $http_host; or set public_url")
	case forwarded || hidden:
		return ok("proxy", "the one at "+got.Peer+" says who calls, and is believed")
	}
	return ok("proxy", "none in between that shows")
}

func diagnoseKey(got apitypes.Probe, err error) apitypes.Diagnosis {
	switch {
	case !got.Authorization:
		return bad("key", "the Authorization header is taken off on the way", "let the proxy pass it on; its own password would have to go")
	case err != nil:
		return bad("key", "the key does not work there: "+err.Error(), `"deedkeep keys list" shows the keys`)
	}
	return ok("key", "it works there")
}

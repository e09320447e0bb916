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
		return []apitypes.Diagnosis{bad("through", "no test was sent: "+opts.Explain(err),
			`start the server ("deedkeep serve") and try again`)}
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
	message := fmt.Sprintf("sending %s to %s failed after %s and %s: %v",
		apitypes.HumanSize(opts.ProbeSize), opts.ProbeURL, apitypes.HumanSize(sent), took.Round(100*time.Millisecond), err)
	if found, ok := diagnoseConnection(err, opts.ProbeURL); ok {
		return found
	}
	const raiseLimit = "allow request bodies of at least 110 MB in the proxy: nginx client_max_body_size 11g (a request can have 100 files), " +
		"IIS maxAllowedContentLength, Apache LimitRequestBody; the limit of Cloudflare's free plan is 100 MB"
	const raiseTimeout = "raise the timeouts of the proxy: nginx proxy_read_timeout and client_body_timeout 300s, and proxy_request_buffering off"
	failure, isResponse := errors.AsType[*client.Error](err)
	switch {
	case isResponse && failure.Status == http.StatusRequestEntityTooLarge:
		return bad("through", message, raiseLimit)
	case isResponse && (failure.Status == http.StatusRequestTimeout || failure.Status == http.StatusGatewayTimeout):
		return bad("through", message, raiseTimeout)
	case isResponse && failure.Status == http.StatusBadGateway:
		return bad("through", message, "the proxy can't reach the server: compare its upstream address and scheme (http or https) with the setting listen")
	case isResponse && failure.Status == http.StatusBadRequest && strings.Contains(failure.Message, "speaks https"):
		return bad("through", message,
			"the proxy sends HTTP to an HTTPS server: use an https upstream, or turn off TLS and listen on 127.0.0.1")
	case isResponse && failure.Status/100 == 3:
		return bad("through", message,
			"set public_url to the target of the redirect and use it in all clients; most clients can't upload through a redirect")
	case isResponse && (failure.Status == http.StatusUnauthorized || failure.Status == http.StatusNotFound):
		return bad("through", message, "another server or an old version responds at this address: check the address, and forward all paths unchanged")
	case isResponse:
		return bad("through", message, "check the proxy's log for this response")
	case errors.Is(err, context.DeadlineExceeded):
		return bad("through", fmt.Sprintf("sending %s to %s took longer than %s; %s were sent", apitypes.HumanSize(opts.ProbeSize),
			opts.ProbeURL, opts.ProbeTimeout, apitypes.HumanSize(sent)),
			"check that the proxy can reach the server (its upstream), and check the proxy's log; "+raiseTimeout)
	case sent > 0:
		return bad("through", message, raiseLimit+"; and "+raiseTimeout)
	}
	return bad("through", message, "check the address, DNS, the certificate, and the firewall")
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
	const fromOthers = "start the proxy, and check public_url, DNS, and the firewall; if it works from other machines, you can ignore this"
	switch {
	case errors.As(err, &name):
		return warn("through", fmt.Sprintf("this machine can't resolve %s: %v", address, name), fromOthers), true
	case errors.As(err, &dial) && dial.Op == "dial":
		return warn("through", fmt.Sprintf("this machine can't reach %s: %v", address, dial), fromOthers), true
	case errors.As(err, &unknown):
		return warn("through", fmt.Sprintf("this machine doesn't trust the certificate of %s: %v", address, unknown),
			"configure the proxy to send the complete certificate chain (nginx: fullchain.pem); "+
				"if your office has its own certificate authority, add that authority to the trusted root certificates on this machine and in your API clients"), true
	case errors.As(err, &host):
		return bad("through", fmt.Sprintf("the certificate of %s is for another name: %v", address, host),
			"get a certificate for that name, or correct public_url"), true
	case errors.As(err, &invalid):
		return bad("through", fmt.Sprintf("the certificate of %s is not valid: %v", address, invalid),
			"renew the certificate, check that the proxy has loaded the new certificate, and check the clock"), true
	case errors.Is(err, http.ErrSchemeMismatch), errors.As(err, &plain):
		return bad("through", address+" doesn't use HTTPS: the response is not encrypted",
			"set up TLS in the proxy, or correct the port or scheme of public_url"), true
	}
	return apitypes.Diagnosis{}, false
}

func diagnoseProbe(got apitypes.Probe, size int64, took, pause time.Duration) apitypes.Diagnosis {
	span := time.Duration(got.SpanMillis) * time.Millisecond
	message := fmt.Sprintf("sent %s in %s", apitypes.HumanSize(size), took.Round(100*time.Millisecond))
	switch {
	case got.Bytes != size:
		return bad("through", fmt.Sprintf("only %d of %d bytes arrived", got.Bytes, size), "check the proxy's log")
	case span < pause/2:
		return warn("through",
			message+", but a proxy buffers complete uploads: uploads take twice as long, and the proxy stores documents on its own disk",
			"nginx: proxy_request_buffering off; proxy_http_version 1.1")
	}
	return ok("through", message+", without buffering")
}

// diagnoseForwarding checks whether the server knows the addresses of clients and uses the right scheme in links.
func diagnoseForwarding(got apitypes.Probe, opts Options) apitypes.Diagnosis {
	through, err := url.Parse(opts.ProbeURL)
	secure := err == nil && through.Scheme == "https"
	forwarded := got.ForwardedFor != "" || got.ForwardedProto != "" || got.ForwardedHost != ""
	hidden := secure && !got.TLS // a proxy has terminated TLS
	own := strings.TrimSuffix(opts.Config.PublicURL, "/")
	switch {
	case own != "" && got.Link != "" && got.Link != own:
		return warn("proxy", fmt.Sprintf(
			"download_url and other links begin with %s, but public_url is %s: the running server uses older settings",
			got.Link, own), "restart the server")
	case (forwarded || hidden) && !got.Trusted:
		return warn("proxy", fmt.Sprintf("the proxy at %s is not in trusted_proxies: all clients count as one, and links may begin with http://",
			got.Peer), "set trusted_proxies: ["+got.Peer+"]")
	case hidden && got.ForwardedProto != "https" && opts.Config.PublicURL == "":
		return warn("proxy", "the proxy doesn't send X-Forwarded-Proto: download_url and other links begin with http://",
			"nginx: proxy_set_header X-Forwarded-Proto $scheme; or set public_url")
	case got.Trusted && got.ForwardedFor == "":
		return warn("proxy", "the proxy doesn't send X-Forwarded-For: all clients count as one",
			"nginx: proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for")
	case opts.Config.PublicURL == "" && err == nil && got.Host != through.Host && got.ForwardedHost != through.Host:
		return warn("proxy", fmt.Sprintf("the proxy changes the host name from %s to %s, also in links", through.Host,
			got.Host), "nginx: proxy_set_header Host $http_host; or set public_url")
	case forwarded || hidden:
		return ok("proxy", "the proxy at "+got.Peer+" is trusted and sends the client address")
	}
	return ok("proxy", "no proxy detected")
}

func diagnoseKey(got apitypes.Probe, err error) apitypes.Diagnosis {
	switch {
	case !got.Authorization:
		return bad("key", "the proxy removes the Authorization header", "configure the proxy to forward this header, and turn off password protection in the proxy")
	case err != nil:
		return bad("key", "the API key doesn't work: "+err.Error(), `check the key with "deedkeep keys list"`)
	}
	return ok("key", "the API key works")
}

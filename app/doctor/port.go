package doctor

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"deedkeep/app/apitypes"
	"deedkeep/app/certificate"
	"deedkeep/app/config"
)

// checkPort checks whether the running server responds. If no server is running, it checks whether a server could
// listen on the configured address.
func checkPort(ctx context.Context, c config.Config, found *apitypes.Checkup) apitypes.Diagnosis {
	if found != nil && found.Status.Running && found.Status.Listen != nil {
		return checkHealth(ctx, *found.Status.Listen, found.Status.Certificate)
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", c.Listen)
	if err == nil {
		err = listener.Close()
	}
	if err != nil {
		return bad("port", fmt.Sprintf("no server is running, and none can start: %v", err),
			"stop the other program, or change the setting listen")
	}
	return ok("port", c.Listen+" is free; no server is running")
}

// checkHealth requests /healthz at the server's listen address, as a client on this machine would.
func checkHealth(ctx context.Context, listen string, cert *apitypes.Certificate) apitypes.Diagnosis {
	host, number, err := net.SplitHostPort(listen)
	if ip := net.ParseIP(host); err == nil && ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	url := "http://" + net.JoinHostPort(host, number) + "/healthz"
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	if cert != nil {
		url = "https" + strings.TrimPrefix(url, "http")
		transport.TLSClientConfig = pinCertificate(cert.Fingerprint)
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err == nil {
		var resp *http.Response
		if resp, err = transport.RoundTrip(req); err == nil {
			err = resp.Body.Close()
			if resp.StatusCode != http.StatusOK {
				err = errors.Join(err, errors.New(resp.Status))
			}
		}
	}
	if err != nil {
		return bad("port", fmt.Sprintf("the server is running, but %s doesn't respond: %v", url, err),
			"check the server log; another process may be using this address, or a firewall may be blocking it")
	}
	return ok("port", url+" responds")
}

// pinCertificate returns a TLS configuration that trusts only the certificate with the given fingerprint. The server
// reports the fingerprint over the control socket.
func pinCertificate(fingerprint string) *tls.Config {
	return &tls.Config{
		InsecureSkipVerify: true, // #nosec G402 -- VerifyConnection checks the fingerprint instead
		VerifyConnection: func(s tls.ConnectionState) error {
			if len(s.PeerCertificates) > 0 && certificate.Fingerprint(s.PeerCertificates[0]) == fingerprint {
				return nil
			}
			return errors.New("another server with a different certificate responds at this address")
		},
	}
}

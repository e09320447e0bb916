package certificate

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"log/slog"
	"net/http"
	"net/netip"
	"path/filepath"
	"slices"

	"github.com/caddyserver/certmagic"
	"go.uber.org/zap"
	_ "golang.org/x/crypto/x509roots/fallback" // the container image has no root certificates
)

// Source provides the current certificate. It is safe for concurrent use.
type Source interface {
	GetCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error) // for tls.Config
	Info() Info                                                    // description of the current certificate
	Close()
}

// Authority describes how a certificate authority issues certificates with ACME (RFC 8555).
type Authority struct {
	Directory string         // URL of its directory
	Email     string         // contact for the authority; "" for none
	Roots     *x509.CertPool // for the connection to the authority; nil: the ones of the system
	// The server must listen at these addresses already. The authority reaches them at ports 443 and 80.
	Listen   netip.AddrPort
	HTTPPort int // 0 if port 80 of this machine isn't used
}

// Automatic is a certificate for one public name. A certificate authority issues it, and Automatic
// renews it when a third of its lifetime is left. Until the first one is issued, connections get
// the self-signed certificate, so that the server can be reached.
type Automatic struct {
	name       string
	selfSigned *Reloader
	cache      *certmagic.Cache
	config     *certmagic.Config
	issuer     *certmagic.ACMEIssuer
	cancel     context.CancelFunc
	log        *slog.Logger
}

// ProtocolALPN is the TLS protocol with which a certificate authority checks who has the name (RFC 8737).
const ProtocolALPN = "acme-tls/1"

// OpenAutomatic loads the certificate of name or starts to obtain one in the background. Open's options
// configure the self-signed certificate. Its directory also stores what the authority issues.
func OpenAutomatic(name string, from Authority, opts Options) (*Automatic, error) {
	selfSigned, err := Open(opts)
	if err != nil {
		return nil, err
	}
	a := &Automatic{name: name, selfSigned: selfSigned, log: opts.Log}
	quiet := zap.NewNop() // onEvent logs
	a.cache = certmagic.NewCache(certmagic.CacheOptions{
		GetConfigForCert: func(certmagic.Certificate) (*certmagic.Config, error) { return a.config, nil }, Logger: quiet,
	})
	a.config = certmagic.New(a.cache, certmagic.Config{
		Storage: &certmagic.FileStorage{Path: filepath.Join(opts.Dir, "acme")}, OnEvent: a.onEvent, Logger: quiet,
		OCSP: certmagic.OCSPConfig{DisableStapling: true},
	})
	host := ""
	if ip := from.Listen.Addr(); !ip.IsUnspecified() {
		host = ip.String()
	}
	a.issuer = certmagic.NewACMEIssuer(a.config, certmagic.ACMEIssuer{
		CA: from.Directory, TestCA: from.Directory, Email: from.Email, Agreed: true, TrustedRoots: from.Roots,
		ListenHost: host, AltTLSALPNPort: int(from.Listen.Port()), AltHTTPPort: from.HTTPPort, DisableHTTPChallenge: from.HTTPPort == 0,
		DisableDistributedSolvers: true, Logger: quiet,
	})
	a.config.Issuers = []certmagic.Issuer{a.issuer}
	ctx, cancel := context.WithCancel(context.Background())
	a.cancel = cancel
	if err := a.config.ManageAsync(ctx, []string{name}); err != nil {
		a.Close()
		return nil, err
	}
	return a, nil
}

// Close ends the renewal.
func (a *Automatic) Close() {
	a.cancel()
	a.cache.Stop()
}

// GetCertificate implements tls.Config.GetCertificate. It also answers the checks of the authority.
func (a *Automatic) GetCertificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	if hello != nil && slices.Contains(hello.SupportedProtos, ProtocolALPN) {
		return a.config.GetCertificate(hello)
	}
	if issued := a.issued(); issued != nil {
		return issued, nil
	}
	return a.selfSigned.GetCertificate(hello)
}

func (a *Automatic) issued() *tls.Certificate {
	if all := a.cache.AllMatchingCertificates(a.name); len(all) > 0 {
		return &all[0].Certificate
	}
	return nil
}

// Info returns a description of the current certificate.
func (a *Automatic) Info() Info {
	if issued := a.issued(); issued != nil {
		return infoOf(issued.Leaf)
	}
	return a.selfSigned.Info()
}

// Challenges returns a handler that answers the checks of the authority at port 80 and passes
// other requests to next.
func (a *Automatic) Challenges(next http.Handler) http.Handler {
	return a.issuer.HTTPChallengeHandler(next)
}

// onEvent logs requests for a certificate and their results.
func (a *Automatic) onEvent(_ context.Context, event string, data map[string]any) error {
	switch event {
	case "cert_obtaining":
		a.log.Info("requesting a certificate", "name", a.name, "renewal", data["renewal"])
	case "cert_obtained":
		a.log.Info("certificate issued", "name", a.name)
	case "cert_failed":
		a.log.Error("the certificate authority issued no certificate; the server tries again", "name", a.name, "error", data["error"])
	}
	return nil
}

package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"deedkeep/app/apitypes"
	"deedkeep/app/certificate"
	"deedkeep/app/config"
)

// checkCertificate checks the configured certificate and the one that the running server
// uses.
func checkCertificate(c config.Config, found *apitypes.Checkup, now time.Time) apitypes.Diagnosis {
	if !c.TLS.Enabled() {
		return diagnoseNoTLS(c)
	}
	if found != nil && found.Status.Running && found.Status.Certificate == nil {
		return bad("certificate", "the settings ask for https, and the server that runs does not speak it", "restart it")
	}
	cert, key := c.TLS.Cert, c.TLS.Key
	if c.TLS.SelfSigned {
		cert = filepath.Join(certificate.SelfSignedDir(c.Data), certificate.CertAndKeyFile)
		key = cert
		if _, err := os.Stat(cert); errors.Is(err, fs.ErrNotExist) {
			return ok("certificate", "it is made at the next start")
		}
	}
	_, facts, err := certificate.Load(cert, key)
	if err != nil {
		return bad("certificate", err.Error(), "put a certificate and its key, both PEM, under the names of tls.cert and tls.key")
	}
	facts.SelfSigned = c.TLS.SelfSigned
	inUse := ""
	if found != nil && found.Status.Certificate != nil {
		inUse = found.Status.Certificate.Fingerprint
	}
	return diagnoseCertificate(facts, inUse, c.PublicURL, now)
}

func diagnoseNoTLS(c config.Config) apitypes.Diagnosis {
	const do = `see the settings tls.* ("deedkeep config example" explains them)`
	warnings := strings.Join(c.Warnings(), "; ")
	switch {
	case warnings == "":
		return ok("certificate", "none: "+c.Listen+" is reached from this machine alone")
	case len(c.TrustedProxies) > 0:
		return warn("certificate", warnings, do)
	}
	return bad("certificate", warnings, do)
}

func diagnoseCertificate(f certificate.Info, inUse, publicURL string, now time.Time) apitypes.Diagnosis {
	says := fmt.Sprintf("until %s, SHA-256 %s", f.NotAfter.In(now.Location()).Format(time.DateOnly), f.Fingerprint)
	renew := "get a new one and put it in the place of the old; it is read without a restart"
	if f.SelfSigned {
		renew = "it is renewed by itself 30 days before, while the server runs: restart it"
	}
	host := ""
	if address, err := url.Parse(publicURL); err == nil {
		host = address.Hostname()
	}
	switch {
	case now.After(f.NotAfter):
		return bad("certificate", says+": it has ended, and nobody connects", renew)
	case now.Before(f.NotBefore):
		return bad("certificate", says+": it is not good yet", "see to the clock")
	case host != "" && !f.Covers(host):
		return bad("certificate", fmt.Sprintf("%s: it is not for %s, the host of public_url", says, host),
			"get one with that name, or correct public_url")
	case f.NotAfter.Sub(now) < 14*day:
		return warn("certificate", says+": it ends soon", renew)
	case inUse != "" && inUse != f.Fingerprint:
		return warn("certificate", says+": the server still has another one", "it changes with the next connection; otherwise see the log")
	case f.SelfSigned:
		return ok("certificate", says+"; self-signed, for "+fmt.Sprint(f.Names))
	}
	return ok("certificate", says)
}

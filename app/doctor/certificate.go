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
		return bad("certificate", "TLS is set up, but the running server doesn't use it yet", "restart the server")
	}
	if c.TLS.Automatic {
		return checkAutomatic(c, found, now)
	}
	cert, key := c.TLS.Cert, c.TLS.Key
	if c.TLS.SelfSigned {
		cert = filepath.Join(certificate.SelfSignedDir(c.Data), certificate.CertAndKeyFile)
		key = cert
		if _, err := os.Stat(cert); errors.Is(err, fs.ErrNotExist) {
			return ok("certificate", "the server creates the certificate at its next start")
		}
	}
	_, facts, err := certificate.Load(cert, key)
	if err != nil {
		return bad("certificate", err.Error(), "check that tls.cert and tls.key refer to a certificate and its key, both in PEM format")
	}
	facts.SelfSigned = c.TLS.SelfSigned
	inUse := ""
	if found != nil && found.Status.Certificate != nil {
		inUse = found.Status.Certificate.Fingerprint
	}
	return diagnoseCertificate(facts, inUse, c.PublicURL, now)
}

// checkAutomatic checks the certificate of the running server if an authority issues it.
func checkAutomatic(c config.Config, found *apitypes.Checkup, now time.Time) apitypes.Diagnosis {
	if found == nil || found.Status.Certificate == nil {
		return ok("certificate", "the server gets the certificate from "+c.TLS.ACMEDirectory)
	}
	used := found.Status.Certificate
	if used.SelfSigned {
		return bad("certificate", c.TLS.ACMEDirectory+" has issued no certificate yet; the server uses a self-signed one",
			"look up the reason in the server log; the authority must reach this server at "+c.PublicURL+", at port 443 or 80")
	}
	facts := certificate.Info{
		Names: used.Names, NotBefore: used.NotBefore.Time, NotAfter: used.NotAfter.Time, Fingerprint: used.Fingerprint,
	}
	return diagnoseCertificate(facts, used.Fingerprint, c.PublicURL, now)
}

func diagnoseNoTLS(c config.Config) apitypes.Diagnosis {
	const action = `set up TLS (see the tls settings in "deedkeep config example")`
	warnings := strings.Join(c.Warnings(), "; ")
	switch {
	case warnings == "":
		return ok("certificate", "none; only this machine can connect to "+c.Listen)
	case len(c.TrustedProxies) > 0:
		return warn("certificate", warnings, action)
	}
	return bad("certificate", warnings, action)
}

func diagnoseCertificate(f certificate.Info, inUse, publicURL string, now time.Time) apitypes.Diagnosis {
	message := fmt.Sprintf("expires %s, SHA-256 %s", f.NotAfter.In(now.Location()).Format(time.DateOnly), f.Fingerprint)
	renew := "replace the certificate and key files; the server reloads them automatically"
	if f.SelfSigned {
		renew = "restart the server; a running server renews this certificate 30 days before it expires"
	}
	host := ""
	if address, err := url.Parse(publicURL); err == nil {
		host = address.Hostname()
	}
	problem := f.Problem(now)
	switch {
	case now.After(f.NotAfter):
		return bad("certificate", message+": "+problem+"; clients can't connect", renew)
	case now.Before(f.NotBefore):
		return bad("certificate", message+": "+problem, "check the clock of this machine")
	case host != "" && !f.Covers(host):
		return bad("certificate", fmt.Sprintf("%s: not valid for %s, the host in public_url", message, host),
			"get a certificate for that name, or correct public_url")
	case problem != "":
		return warn("certificate", message+": "+problem, renew)
	case inUse != "" && inUse != f.Fingerprint:
		return warn("certificate", message+": the server still uses another certificate", "the server loads the new certificate with the next connection; if not, check the server log")
	case f.SelfSigned:
		return ok("certificate", message+"; self-signed for "+strings.Join(f.Names, ", "))
	}
	return ok("certificate", message)
}

// Package certificate loads the certificate of the public address. The certificate is loaded from
// files, which are reloaded when they change, self-signed for use in the office network, or issued by
// a certificate authority with ACME.
//
// If a new certificate is invalid, the previous one stays in use and the error is logged. A
// self-signed certificate is renewed before it expires. Only the service's user account can read
// its key. The package doesn't handle client certificates.
package certificate

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"strings"
	"time"
)

// Info describes a certificate.
type Info struct {
	Names       []string // names that the certificate covers: DNS names, then IP addresses
	NotBefore   time.Time
	NotAfter    time.Time
	Fingerprint string // SHA-256 of the certificate, formatted as in browsers and OpenSSL (`AB:CD:…`)
	SelfSigned  bool   // created by a Reloader
}

// ExpiryWarning is how long before a certificate expires the warnings start.
const ExpiryWarning = 14 * 24 * time.Hour

// Problem returns what is wrong with the dates of the certificate, such as "expired", or "" if nothing is.
func (i Info) Problem(now time.Time) string {
	switch {
	case now.After(i.NotAfter):
		return "expired"
	case now.Before(i.NotBefore):
		return "not valid yet"
	case i.NotAfter.Sub(now) < ExpiryWarning:
		return "expires soon"
	}
	return ""
}

// Covers reports whether the certificate is valid for host, which is a DNS name or an IP address.
func (i Info) Covers(host string) bool {
	leaf := x509.Certificate{}
	for _, name := range i.Names {
		if ip := net.ParseIP(name); ip != nil {
			leaf.IPAddresses = append(leaf.IPAddresses, ip)
		} else {
			leaf.DNSNames = append(leaf.DNSNames, name)
		}
	}
	return leaf.VerifyHostname(host) == nil
}

// Load reads a certificate with its chain and its private key. Both are in PEM format, in two files
// or in the same one. The error names the files and the problem.
func Load(certFile, keyFile string) (tls.Certificate, Info, error) {
	pair, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		return tls.Certificate{}, Info{}, fmt.Errorf("certificate %s, key %s: %s", certFile, keyFile, strings.TrimPrefix(err.Error(), "tls: "))
	}
	return pair, infoOf(pair.Leaf), nil
}

// Fingerprint returns the SHA-256 of a certificate, formatted like Info.Fingerprint.
func Fingerprint(leaf *x509.Certificate) string {
	return strings.ReplaceAll(fmt.Sprintf("% X", sha256.Sum256(leaf.Raw)), " ", ":")
}

func infoOf(leaf *x509.Certificate) Info {
	f := Info{
		Names: append([]string{}, leaf.DNSNames...), NotBefore: leaf.NotBefore, NotAfter: leaf.NotAfter,
		Fingerprint: Fingerprint(leaf),
	}
	for _, ip := range leaf.IPAddresses {
		f.Names = append(f.Names, ip.String())
	}
	return f
}

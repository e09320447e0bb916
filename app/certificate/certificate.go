// Package certificate keeps the certificate of the public address: the firm's own,
// read again when its files change, or one that is made here for the office network.
//
// It promises that a certificate which cannot be used never takes the place of one
// that can, and that it says so aloud; that a made one is renewed before it ends;
// and that its key is written for the service's own user alone.
//
// It refuses to decide who is trusted: it speaks for the server, to whoever comes.
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

// Info are what a person wants to know of a certificate.
type Info struct {
	Names       []string // that it is good for: DNS names, then addresses
	NotBefore   time.Time
	NotAfter    time.Time
	Fingerprint string // SHA-256 of the certificate, `AB:CD:…` as browsers and openssl show it
	SelfSigned  bool   // made here
}

// Covers says whether the certificate is good for host, a name or an address.
func (f Info) Covers(host string) bool {
	leaf := x509.Certificate{}
	for _, name := range f.Names {
		if ip := net.ParseIP(name); ip != nil {
			leaf.IPAddresses = append(leaf.IPAddresses, ip)
		} else {
			leaf.DNSNames = append(leaf.DNSNames, name)
		}
	}
	return leaf.VerifyHostname(host) == nil
}

// Load opens a certificate with its chain and its key, both PEM, which may be one
// file; the error says which of them cannot be used and why.
func Load(certFile, keyFile string) (tls.Certificate, Info, error) {
	pair, err := tls.LoadX509KeyPair(certFile, keyFile)
	if err != nil {
		return tls.Certificate{}, Info{}, fmt.Errorf("certificate %s, key %s: %s", certFile, keyFile, strings.TrimPrefix(err.Error(), "tls: "))
	}
	return pair, factsOf(pair.Leaf), nil
}

// Fingerprint is the SHA-256 of a certificate, as in Facts.
func Fingerprint(leaf *x509.Certificate) string {
	return strings.ReplaceAll(fmt.Sprintf("% X", sha256.Sum256(leaf.Raw)), " ", ":")
}

func factsOf(leaf *x509.Certificate) Info {
	f := Info{
		Names: append([]string{}, leaf.DNSNames...), NotBefore: leaf.NotBefore, NotAfter: leaf.NotAfter,
		Fingerprint: Fingerprint(leaf),
	}
	for _, ip := range leaf.IPAddresses {
		f.Names = append(f.Names, ip.String())
	}
	return f
}

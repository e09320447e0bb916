package certificate

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"deedkeep/app/durable"
)

// Files of a self-signed certificate. The server reads CertAndKeyFile. It contains the certificate
// and the key, so that both always change together. CertFile is for importing on other machines.
//
//	tls/server.pem       0600  -----BEGIN CERTIFICATE----- … -----BEGIN PRIVATE KEY----- …
//	tls/certificate.pem  0644  -----BEGIN CERTIFICATE----- …
const (
	CertAndKeyFile = "server.pem"
	CertFile       = "certificate.pem"
)

// SelfSignedDir returns the directory that contains the self-signed certificate.
func SelfSignedDir(data string) string { return filepath.Join(data, "tls") }

const (
	// lifetime is one day less than the maximum that browsers accept (398 days).
	lifetime = 397 * 24 * time.Hour
	// renewBefore is how long before it expires a certificate is renewed.
	renewBefore = 30 * 24 * time.Hour
	// clockSkew is the tolerance for clocks on other machines that are behind.
	clockSkew = 24 * time.Hour
)

// LocalNames returns the names and addresses of this machine: its host name, localhost, its IP
// addresses, and the host of publicURL if that is set.
func LocalNames(publicURL string) []string {
	names := []string{"localhost"}
	add := func(name string) {
		if name = strings.ToLower(strings.TrimSuffix(name, ".")); name != "" && isASCII(name) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if host, err := os.Hostname(); err == nil {
		add(host)
	}
	if address, err := url.Parse(publicURL); err == nil {
		add(address.Hostname())
	}
	found, err := net.InterfaceAddrs()
	if err != nil {
		found = nil // without addresses, return the names
	}
	add("127.0.0.1")
	add("::1")
	for _, a := range found {
		// Skip link-local addresses: they need a zone, which certificates can't contain.
		if network, ok := a.(*net.IPNet); ok && !network.IP.IsLinkLocalUnicast() {
			add(network.IP.String())
		}
	}
	return names
}

// isASCII reports whether name consists of characters that a certificate name may contain (RFC
// 5280, section 4.2.1.6).
func isASCII(name string) bool {
	return !strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' })
}

// generate creates a certificate for names and writes it and its private key to dir.
func generate(dir string, names []string, now time.Time, rand io.Reader) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand)
	if err != nil {
		return fmt.Errorf("create private key: %w", err)
	}
	serial := make([]byte, 16)
	if _, err := io.ReadFull(rand, serial); err != nil {
		return fmt.Errorf("create serial number: %w", err)
	}
	serial[0] &= 0x7f // a serial number must be positive and at most 20 bytes long (RFC 5280, section 4.1.2.2)
	notBefore := now.Add(-clockSkew).UTC().Truncate(time.Second)
	template := &x509.Certificate{
		SerialNumber: new(big.Int).SetBytes(serial),
		Subject:      pkix.Name{CommonName: "deedkeep"},
		NotBefore:    notBefore, NotAfter: notBefore.Add(lifetime),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true, // not a CA certificate: anyone who steals the key can impersonate only this server
	}
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, name)
		}
	}
	der, err := x509.CreateCertificate(rand, template, template, &key.PublicKey, key)
	if err != nil {
		return fmt.Errorf("create certificate: %w", err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return fmt.Errorf("encode private key: %w", err)
	}
	public := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	pair := append(bytes.Clone(public), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER})...)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return errors.Join(
		durable.WriteFile(filepath.Join(dir, CertAndKeyFile), pair, 0o600),
		durable.WriteFile(filepath.Join(dir, CertFile), public, 0o644),
	)
}

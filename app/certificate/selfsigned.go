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

// The files in the folder of a certificate that was made here. The first is read by
// the server; certificate and key are one file, so that they change at once. The
// second is for people: what other machines may be told to trust.
//
//	tls/server.pem       0600  -----BEGIN CERTIFICATE----- … -----BEGIN PRIVATE KEY----- …
//	tls/certificate.pem  0644  -----BEGIN CERTIFICATE----- …
const (
	CertAndKeyFile = "server.pem"
	CertFile       = "certificate.pem"
)

// SelfSignedDir is the folder of a certificate that is made here, in a data directory.
func SelfSignedDir(data string) string { return filepath.Join(data, "tls") }

const (
	// life is the most that browsers take of a server's certificate (398 days), less one.
	life = 397 * 24 * time.Hour
	// renewal is how long before its end a certificate is made anew.
	renewal = 30 * 24 * time.Hour
	// skew is by how much another machine's clock may be late.
	skew = 24 * time.Hour
)

// LocalNames are the names and addresses by which this machine may be called: its
// host name, localhost, its addresses, and the host of publicURL unless that is empty.
func LocalNames(publicURL string) []string {
	names := []string{"localhost"}
	add := func(name string) {
		if name = strings.ToLower(strings.TrimSuffix(name, ".")); name != "" && isPlain(name) && !slices.Contains(names, name) {
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
		found = nil // the names remain
	}
	add("127.0.0.1")
	add("::1")
	for _, a := range found {
		// An address that holds on one cable only is written with that cable's name, which no certificate can have.
		if network, ok := a.(*net.IPNet); ok && !network.IP.IsLinkLocalUnicast() {
			add(network.IP.String())
		}
	}
	return names
}

// isPlain says whether name fits into a certificate, which holds ASCII (RFC 5280, section 4.2.1.6).
func isPlain(name string) bool {
	return !strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' })
}

// generate writes a new certificate for names into dir, and its key.
func generate(dir string, names []string, now time.Time, chance io.Reader) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), chance)
	if err != nil {
		return fmt.Errorf("make a key: %w", err)
	}
	serial := make([]byte, 16)
	if _, err := io.ReadFull(chance, serial); err != nil {
		return fmt.Errorf("make a serial number: %w", err)
	}
	serial[0] &= 0x7f // positive, in 20 bytes at most (RFC 5280, section 4.1.2.2)
	begin := now.Add(-skew).UTC().Truncate(time.Second)
	template := &x509.Certificate{
		SerialNumber: new(big.Int).SetBytes(serial),
		Subject:      pkix.Name{CommonName: "deedkeep"},
		NotBefore:    begin, NotAfter: begin.Add(life),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true, // no authority: whoever steals the key can play this server and no other
	}
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, name)
		}
	}
	der, err := x509.CreateCertificate(chance, template, template, &key.PublicKey, key)
	if err != nil {
		return fmt.Errorf("make a certificate: %w", err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return fmt.Errorf("write a key: %w", err)
	}
	public := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	pair := append(bytes.Clone(public), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})...)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return errors.Join(durable.WriteFile(filepath.Join(dir, CertAndKeyFile), pair, 0o600), durable.WriteFile(filepath.Join(dir, CertFile), public, 0o644))
}

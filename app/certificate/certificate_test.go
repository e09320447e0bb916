package certificate

import (
	"bytes"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// clock is a clock that the test controls.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func newClock() *clock { return &clock{time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)} }

func openSelfSigned(t *testing.T, dir string, c *clock, log *bytes.Buffer, requiredName string, names ...string) *Reloader {
	t.Helper()
	l, err := Open(Options{Dir: dir, Names: names, RequiredName: requiredName, Now: c.now, Rand: rand.Reader,
		Log: slog.New(slog.NewTextHandler(log, nil))})
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	return l
}

func TestSelfSignedCertificate(t *testing.T) {
	dir, c := filepath.Join(t.TempDir(), "tls"), newClock()
	info := openSelfSigned(t, dir, c, new(bytes.Buffer), "", "localhost", "vault.example.com", "127.0.0.1", "::1").Info()
	if !info.SelfSigned || !slices.Equal(info.Names, []string{"localhost", "vault.example.com", "127.0.0.1", "::1"}) {
		t.Errorf("Info = %+v, want a self-signed certificate for the four names", info)
	}
	if days := info.NotAfter.Sub(info.NotBefore).Hours() / 24; days != 397 || !info.NotBefore.Before(c.at) {
		t.Errorf("valid for %v days from %v, want 397 from before now", days, info.NotBefore)
	}
	for host, want := range map[string]bool{"localhost": true, "VAULT.example.com": true, "127.0.0.1": true, "::1": true,
		"[::1]": true, "127.0.0.2": false, "example.com": false, "": false} {
		if info.Covers(host) != want {
			t.Errorf("Covers(%q) = %v", host, !want)
		}
	}
	public, err := os.ReadFile(filepath.Join(dir, CertFile))
	if err != nil || bytes.Contains(public, []byte("PRIVATE")) {
		t.Fatalf("%s = %q, %v, want no private key", CertFile, public, err)
	}
	block, _ := pem.Decode(public)
	leaf, err := x509.ParseCertificate(block.Bytes)
	if err != nil || leaf.IsCA || infoOf(leaf).Fingerprint != info.Fingerprint || len(info.Fingerprint) != 95 {
		t.Errorf("IsCA = %v, fingerprint %s, %v, want no CA and %s", leaf.IsCA, infoOf(leaf).Fingerprint, err, info.Fingerprint)
	}
	if runtime.GOOS == "windows" {
		return
	}
	for name, mode := range map[string]os.FileMode{CertAndKeyFile: 0o600, CertFile: 0o644, ".": 0o700} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode().Perm() != mode {
			t.Errorf("mode of %s = %v, %v, want %v", name, info.Mode(), err, mode)
		}
	}
}

func TestSelfSignedIsRenewed(t *testing.T) {
	dir, c, log := t.TempDir(), newClock(), new(bytes.Buffer)
	first := openSelfSigned(t, dir, c, log, "", "localhost").Info()
	again := openSelfSigned(t, dir, c, log, "localhost", "localhost")
	if again.Info().Fingerprint != first.Fingerprint {
		t.Errorf("fingerprint after the second Open = %s, want %s", again.Info().Fingerprint, first.Fingerprint)
	}
	c.at = first.NotAfter.Add(-renewBefore)
	if pair, err := again.GetCertificate(nil); err != nil || infoOf(pair.Leaf).Fingerprint != first.Fingerprint {
		t.Errorf("certificate was renewed too early: %v", err)
	}
	if log.Len() != 0 {
		t.Errorf("log = %s, want an empty one", log)
	}
	c.at = c.at.Add(time.Minute)
	pair, err := again.GetCertificate(nil)
	if err != nil || infoOf(pair.Leaf).Fingerprint == first.Fingerprint || pair.Leaf.NotAfter.Before(first.NotAfter) {
		t.Errorf("certificate was not renewed: %v", err)
	}
	if !strings.Contains(log.String(), "level=WARN") || !strings.Contains(log.String(), again.Info().Fingerprint) || !again.Info().SelfSigned {
		t.Errorf("log = %s, want a warning with the fingerprint of the new self-signed certificate", log)
	}
	now := again.Info().Fingerprint
	if got := openSelfSigned(t, dir, c, log, "other.example.com", "localhost", "other.example.com").Info(); got.Fingerprint == now ||
		!got.Covers("other.example.com") {
		t.Errorf("after a new required name: Info = %+v, want a new certificate for it", got)
	}
}

func TestDamagedSelfSigned(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, CertAndKeyFile)
	if err := os.WriteFile(path, []byte("nothing"), 0o600); err != nil {
		t.Fatalf("write file: %v", err)
	}
	_, err := Open(Options{Dir: dir, Names: []string{"localhost"}, Now: time.Now, Rand: rand.Reader, Log: slog.New(slog.DiscardHandler)})
	if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "delete the file") {
		t.Errorf("Open = %v, want the path and the advice to delete it", err)
	}
}

// writeCertificate writes a certificate to cert.pem and its private key to key.pem in dir.
func writeCertificate(t *testing.T, dir string, at time.Time, name string) (cert, key string) {
	t.Helper()
	from := t.TempDir()
	if err := generate(from, []string{name}, at, rand.Reader); err != nil {
		t.Fatalf("generate: %v", err)
	}
	pair, err := os.ReadFile(filepath.Join(from, CertAndKeyFile))
	if err != nil {
		t.Fatalf("read file: %v", err)
	}
	split := bytes.Index(pair, []byte("-----BEGIN PRIVATE"))
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for path, content := range map[string][]byte{cert: pair[:split], key: pair[split:]} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatalf("write file: %v", err)
		}
		// Set the modification time explicitly because the clock resolution could hide the change.
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatalf("set times: %v", err)
		}
	}
	return cert, key
}

func TestReloadsChangedFiles(t *testing.T) {
	dir, c, log := t.TempDir(), newClock(), new(bytes.Buffer)
	cert, key := writeCertificate(t, dir, c.at, "a.example.com")
	l, err := Open(Options{Cert: cert, Key: key, Now: c.now, Log: slog.New(slog.NewTextHandler(log, nil))})
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	serves := func(name string) bool {
		t.Helper()
		c.at = c.at.Add(checkInterval)
		pair, err := l.GetCertificate(nil)
		return err == nil && pair.Leaf.VerifyHostname(name) == nil
	}
	if !serves("a.example.com") || l.Info().SelfSigned {
		t.Fatalf("Info = %+v, want a.example.com, not self-signed", l.Info())
	}
	writeCertificate(t, dir, c.at.Add(time.Second), "b.example.com")
	if !serves("b.example.com") || !strings.Contains(log.String(), "level=WARN") {
		t.Errorf("log = %s, want a warning and the new certificate in use", log)
	}
	log.Reset()
	if err := os.WriteFile(key, []byte("half"), 0o600); err != nil {
		t.Fatalf("write file: %v", err)
	}
	for range 3 {
		if !serves("b.example.com") {
			t.Error("the previous certificate is not in use while the key is invalid, want it used")
		}
	}
	if n := strings.Count(log.String(), "level=ERROR"); n != 1 || !strings.Contains(log.String(), key) {
		t.Errorf("logged %d errors, want 1 with the path: %s", n, log)
	}
	log.Reset()
	if err := os.Remove(cert); err != nil {
		t.Fatalf("remove file: %v", err)
	}
	if !serves("b.example.com") || !strings.Contains(log.String(), "level=ERROR") {
		t.Errorf("after the certificate was deleted: log = %s, want an error and the previous certificate in use", log)
	}
	writeCertificate(t, dir, c.at.Add(-2*lifetime), "ended.example.com")
	if !serves("b.example.com") || !strings.Contains(log.String(), "expired on") {
		t.Errorf("after an expired certificate: log = %s, want the valid one in use and the date in the log", log)
	}
	writeCertificate(t, dir, c.at.Add(2*time.Second), "c.example.com")
	if !serves("c.example.com") {
		t.Errorf("log = %s, want the repaired certificate in use", log)
	}
}

func TestOpenRejectsFiles(t *testing.T) {
	dir, c := t.TempDir(), newClock()
	cert, key := writeCertificate(t, dir, c.at, "a.example.com")
	_, other := writeCertificate(t, t.TempDir(), c.at, "a.example.com")
	for name, row := range map[string]struct{ cert, key, want string }{
		"no certificate": {filepath.Join(dir, "absent"), key, "absent"},
		"no key":         {cert, filepath.Join(dir, "absent"), "absent"},
		"swapped":        {key, cert, "certificate"},
		"other key":      {cert, other, "private key does not match public key"},
		"directory":      {dir, key, dir},
		"empty key":      {cert, os.DevNull, "key"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Open(Options{Cert: row.cert, Key: row.key, Now: c.now, Log: slog.New(slog.DiscardHandler)}); err == nil ||
				!strings.Contains(err.Error(), row.want) {
				t.Errorf("%s: Open = %v, want %q", name, err, row.want)
			}
		})
	}
}

func TestWarnsBeforeExpiry(t *testing.T) {
	dir, c, log := t.TempDir(), newClock(), new(bytes.Buffer)
	cert, key := writeCertificate(t, dir, c.at, "a.example.com")
	l, err := Open(Options{Cert: cert, Key: key, Now: c.now, Log: slog.New(slog.NewTextHandler(log, nil))})
	if err != nil || log.Len() != 0 {
		t.Fatalf("Open = %v, log %s, want an empty log", err, log)
	}
	c.at = l.Info().NotAfter.Add(-ExpiryWarning)
	for range 25 { // hours
		if _, err := l.GetCertificate(nil); err != nil {
			t.Fatalf("GetCertificate: %v", err)
		}
		c.at = c.at.Add(time.Hour)
	}
	if n := strings.Count(log.String(), "expires soon"); n != 2 {
		t.Errorf("logged %d warnings in 25 hours, want 2: %s", n, log)
	}
}

func TestProblem(t *testing.T) {
	at := newClock().at
	info := Info{NotBefore: at, NotAfter: at.Add(90 * 24 * time.Hour)}
	for after, want := range map[time.Duration]string{
		-time.Hour: "not valid yet", time.Hour: "", 76*24*time.Hour - time.Hour: "", 76*24*time.Hour + time.Hour: "expires soon",
		90*24*time.Hour + time.Hour: "expired",
	} {
		if got := info.Problem(at.Add(after)); got != want {
			t.Errorf("Problem after %v = %q, want %q", after, got, want)
		}
	}
}

func TestLocalNames(t *testing.T) {
	names := LocalNames("https://Vault.Example.com:8443")
	for _, want := range []string{"localhost", "127.0.0.1", "::1", "vault.example.com"} {
		if !slices.Contains(names, want) {
			t.Errorf("LocalNames: %s is not in %v", want, names)
		}
	}
	for _, name := range names {
		if !isASCII(name) || strings.Contains(name, "%") || strings.Contains(name, "/") {
			t.Errorf("LocalNames returned %q, want only names that a certificate can contain", name)
		}
	}
	if slices.Contains(LocalNames("https://büro.example"), "büro.example") {
		t.Error("LocalNames returned a non-ASCII name, want none")
	}
}

// TestHandshake connects with a client that trusts only the self-signed certificate.
func TestHandshake(t *testing.T) {
	dir := t.TempDir()
	l := openSelfSigned(t, dir, &clock{time.Now()}, new(bytes.Buffer), "", "localhost", "127.0.0.1")
	public, err := os.ReadFile(filepath.Join(dir, CertFile))
	if err != nil {
		t.Fatalf("read file: %v", err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(public)
	client, server := net.Pipe()
	handshake := make(chan error, 1)
	go func() { handshake <- tls.Server(server, &tls.Config{GetCertificate: l.GetCertificate}).Handshake() }()
	if err := tls.Client(client, &tls.Config{RootCAs: roots, ServerName: "127.0.0.1"}).Handshake(); err != nil {
		t.Errorf("Handshake: %v", err)
	}
	if err := <-handshake; err != nil {
		t.Errorf("handshake of the server: %v", err)
	}
}

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

// clock is a time that a test moves.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func begin() *clock { return &clock{time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)} }

func made(t *testing.T, dir string, c *clock, log *bytes.Buffer, must string, names ...string) *Reloader {
	t.Helper()
	l, err := Open(Options{Dir: dir, Names: names, RequiredName: must, Now: c.now, Rand: rand.Reader, Log: slog.New(slog.NewTextHandler(log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestMadeCertificate(t *testing.T) {
	dir, c := filepath.Join(t.TempDir(), "tls"), begin()
	facts := made(t, dir, c, new(bytes.Buffer), "", "localhost", "vault.example.com", "127.0.0.1", "::1").Info()
	if !facts.SelfSigned || !slices.Equal(facts.Names, []string{"localhost", "vault.example.com", "127.0.0.1", "::1"}) {
		t.Errorf("%+v", facts)
	}
	if days := facts.NotAfter.Sub(facts.NotBefore).Hours() / 24; days != 397 || !facts.NotBefore.Before(c.at) {
		t.Errorf("%v days from %v", days, facts.NotBefore)
	}
	for host, want := range map[string]bool{"localhost": true, "VAULT.example.com": true, "127.0.0.1": true, "::1": true, "[::1]": true, "127.0.0.2": false, "example.com": false, "": false} {
		if facts.Covers(host) != want {
			t.Errorf("covers %q: %v", host, !want)
		}
	}
	public, err := os.ReadFile(filepath.Join(dir, CertFile))
	if err != nil || bytes.Contains(public, []byte("PRIVATE")) {
		t.Fatalf("%s, %v", public, err)
	}
	block, _ := pem.Decode(public)
	leaf, err := x509.ParseCertificate(block.Bytes)
	if err != nil || leaf.IsCA || factsOf(leaf).Fingerprint != facts.Fingerprint || len(facts.Fingerprint) != 95 {
		t.Errorf("%v, %v, %s", leaf.IsCA, err, facts.Fingerprint)
	}
	if runtime.GOOS == "windows" {
		return
	}
	for name, mode := range map[string]os.FileMode{CertAndKeyFile: 0o600, CertFile: 0o644, ".": 0o700} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
}

func TestMadeOnceAndRenewed(t *testing.T) {
	dir, c, log := t.TempDir(), begin(), new(bytes.Buffer)
	first := made(t, dir, c, log, "", "localhost").Info()
	again := made(t, dir, c, log, "localhost", "localhost")
	if again.Info().Fingerprint != first.Fingerprint {
		t.Error("made anew at the second start")
	}
	c.at = first.NotAfter.Add(-renewal)
	if pair, err := again.GetCertificate(nil); err != nil || factsOf(pair.Leaf).Fingerprint != first.Fingerprint {
		t.Errorf("renewed before its time: %v", err)
	}
	if log.Len() != 0 {
		t.Errorf("logged %s", log)
	}
	c.at = c.at.Add(time.Minute)
	pair, err := again.GetCertificate(nil)
	if err != nil || factsOf(pair.Leaf).Fingerprint == first.Fingerprint || pair.Leaf.NotAfter.Before(first.NotAfter) {
		t.Errorf("not renewed: %v", err)
	}
	if !strings.Contains(log.String(), "level=WARN") || !strings.Contains(log.String(), again.Info().Fingerprint) || !again.Info().SelfSigned {
		t.Errorf("logged %s", log)
	}
	now := again.Info().Fingerprint
	if got := made(t, dir, c, log, "other.example.com", "localhost", "other.example.com").Info(); got.Fingerprint == now || !got.Covers("other.example.com") {
		t.Errorf("public_url has another host: %+v", got)
	}
}

func TestMadeIsDamaged(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, CertAndKeyFile)
	if err := os.WriteFile(path, []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Open(Options{Dir: dir, Names: []string{"localhost"}, Now: time.Now, Rand: rand.Reader, Log: slog.New(slog.DiscardHandler)})
	if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "delete it") {
		t.Error(err)
	}
}

// own puts a certificate and its key under the names of the firm's.
func own(t *testing.T, dir string, at time.Time, name string) (cert, key string) {
	t.Helper()
	from := t.TempDir()
	if err := generate(from, []string{name}, at, rand.Reader); err != nil {
		t.Fatal(err)
	}
	pair, err := os.ReadFile(filepath.Join(from, CertAndKeyFile))
	if err != nil {
		t.Fatal(err)
	}
	split := bytes.Index(pair, []byte("-----BEGIN PRIVATE"))
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for path, content := range map[string][]byte{cert: pair[:split], key: pair[split:]} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		// Changed within the clock's grain, it must be seen all the same.
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}

func TestOwnIsReadAgain(t *testing.T) {
	dir, c, log := t.TempDir(), begin(), new(bytes.Buffer)
	cert, key := own(t, dir, c.at, "a.example.com")
	l, err := Open(Options{Cert: cert, Key: key, Now: c.now, Log: slog.New(slog.NewTextHandler(log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	serves := func(name string) bool {
		t.Helper()
		c.at = c.at.Add(lookEvery)
		pair, err := l.GetCertificate(nil)
		return err == nil && pair.Leaf.VerifyHostname(name) == nil
	}
	if !serves("a.example.com") || l.Info().SelfSigned {
		t.Fatalf("%+v", l.Info())
	}
	own(t, dir, c.at.Add(time.Second), "b.example.com")
	if !serves("b.example.com") || !strings.Contains(log.String(), "level=WARN") {
		t.Errorf("the new one is not used: %s", log)
	}
	log.Reset()
	if err := os.WriteFile(key, []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if !serves("b.example.com") {
			t.Error("an unreadable key ended the one of before")
		}
	}
	if n := strings.Count(log.String(), "level=ERROR"); n != 1 || !strings.Contains(log.String(), key) {
		t.Errorf("told %d times: %s", n, log)
	}
	log.Reset()
	if err := os.Remove(cert); err != nil {
		t.Fatal(err)
	}
	if !serves("b.example.com") || !strings.Contains(log.String(), "level=ERROR") {
		t.Errorf("a certificate that is gone: %s", log)
	}
	own(t, dir, c.at.Add(-2*life), "ended.example.com")
	if !serves("b.example.com") || !strings.Contains(log.String(), "it ended on") {
		t.Errorf("one that has ended took the place of one that has not: %s", log)
	}
	own(t, dir, c.at.Add(2*time.Second), "c.example.com")
	if !serves("c.example.com") {
		t.Errorf("mended, it is not used: %s", log)
	}
}

func TestOwnThatCannotBeUsed(t *testing.T) {
	dir, c := t.TempDir(), begin()
	cert, key := own(t, dir, c.at, "a.example.com")
	_, other := own(t, t.TempDir(), c.at, "a.example.com")
	for name, row := range map[string]struct{ cert, key, want string }{
		"no certificate":   {filepath.Join(dir, "absent"), key, "absent"},
		"no key":           {cert, filepath.Join(dir, "absent"), "absent"},
		"turned round":     {key, cert, "certificate"},
		"another's key":    {cert, other, "private key does not match public key"},
		"a directory":      {dir, key, dir},
		"a key of nothing": {cert, os.DevNull, "key"},
	} {
		if _, err := Open(Options{Cert: row.cert, Key: row.key, Now: c.now, Log: slog.New(slog.DiscardHandler)}); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestEndIsTold(t *testing.T) {
	dir, c, log := t.TempDir(), begin(), new(bytes.Buffer)
	cert, key := own(t, dir, c.at, "a.example.com")
	l, err := Open(Options{Cert: cert, Key: key, Now: c.now, Log: slog.New(slog.NewTextHandler(log, nil))})
	if err != nil || log.Len() != 0 {
		t.Fatal(err, log)
	}
	c.at = l.Info().NotAfter.Add(-soon)
	for range 25 { // hours
		if _, err := l.GetCertificate(nil); err != nil {
			t.Fatal(err)
		}
		c.at = c.at.Add(time.Hour)
	}
	if n := strings.Count(log.String(), "ends soon"); n != 2 {
		t.Errorf("told %d times in a day: %s", n, log)
	}
}

func TestLocalNames(t *testing.T) {
	names := LocalNames("https://Vault.Example.com:8443")
	for _, want := range []string{"localhost", "127.0.0.1", "::1", "vault.example.com"} {
		if !slices.Contains(names, want) {
			t.Errorf("%s is not in %v", want, names)
		}
	}
	for _, name := range names {
		if !isPlain(name) || strings.Contains(name, "%") || strings.Contains(name, "/") {
			t.Errorf("%q", name)
		}
	}
	if slices.Contains(LocalNames("https://büro.example"), "büro.example") {
		t.Error("a name that no certificate can hold")
	}
}

// A client that trusts the made certificate speaks with a server that has it.
func TestHandshake(t *testing.T) {
	dir := t.TempDir()
	l := made(t, dir, &clock{time.Now()}, new(bytes.Buffer), "", "localhost", "127.0.0.1")
	public, err := os.ReadFile(filepath.Join(dir, CertFile))
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(public)
	near, far := net.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- tls.Server(far, &tls.Config{GetCertificate: l.GetCertificate}).Handshake() }()
	if err := tls.Client(near, &tls.Config{RootCAs: roots, ServerName: "127.0.0.1"}).Handshake(); err != nil {
		t.Error(err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

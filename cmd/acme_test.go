package cmd

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/letsencrypt/pebble/v2/ca"
	"github.com/letsencrypt/pebble/v2/db"
	"github.com/letsencrypt/pebble/v2/va"
	"github.com/letsencrypt/pebble/v2/wfe"
	"github.com/miekg/dns"
)

// acmeAuthority is a certificate authority for tests. It looks up all names as 127.0.0.1.
type acmeAuthority struct {
	directory string
	rootFile  string         // certificate of its own address
	issued    *x509.CertPool // what it issues is valid with this root
}

// startAuthority starts an authority that checks who has a name at the given ports.
func startAuthority(t *testing.T, tlsPort, httpPort int) acmeAuthority {
	t.Helper()
	t.Setenv("PEBBLE_VA_NOSLEEP", "1")
	t.Setenv("PEBBLE_WFE_NONCEREJECT", "0")
	quiet := log.New(io.Discard, "", 0)
	store := db.NewMemoryStore()
	issuer := ca.New(quiet, store, "", "ecdsa", 0, 1, map[string]ca.Profile{"default": {ValidityPeriod: 90 * 24 * 3600}})
	checks := va.New(quiet, httpPort, tlsPort, false, startDNS(t), store)
	front := wfe.New(quiet, store, checks, issuer, nil, false, false, 1, 1)
	server := httptest.NewTLSServer(front.Handler())
	t.Cleanup(server.Close)
	a := acmeAuthority{directory: server.URL + wfe.DirectoryPath, rootFile: filepath.Join(t.TempDir(), "root.pem"), issued: x509.NewCertPool()}
	root := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(a.rootFile, root, 0o600); err != nil {
		t.Fatalf("write file: %v", err)
	}
	a.issued.AppendCertsFromPEM(issuer.GetRootCert(0).PEM())
	return a
}

// startDNS starts a name server that says 127.0.0.1 for all names. It returns its address.
func startDNS(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("listen: %v", err)
	}
	server := &dns.Server{Listener: listener, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, question *dns.Msg) {
		answer := new(dns.Msg).SetReply(question)
		if q := question.Question[0]; q.Qtype == dns.TypeA {
			answer.Answer = []dns.RR{&dns.A{
				Hdr: dns.RR_Header{Name: q.Name, Rrtype: dns.TypeA, Class: dns.ClassINET}, A: net.IPv4(127, 0, 0, 1),
			}}
		}
		_ = w.WriteMsg(answer) // the test fails without an answer
	})}
	go func() { _ = server.ActivateAndServe() }() // ends with the listener
	t.Cleanup(func() { _ = server.Shutdown() })
	return listener.Addr().String()
}

// freePort returns a port that no program uses.
func freePort(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("listen: %v", err)
	}
	defer func() { _ = listener.Close() }()
	return listener.Addr().(*net.TCPAddr).Port
}

// The server gets a certificate from an authority that reaches it at one port, uses the self-signed
// one until then, and has the issued one immediately after a restart.
func TestAutomaticCertificate(t *testing.T) {
	const name = "vault.example.com"
	for _, row := range []struct {
		title              string
		reachTLS, reachWeb bool
	}{{"at the TLS port", true, false}, {"at the redirecting port", false, true}, {"at no port", false, false}} {
		t.Run(row.title, func(t *testing.T) {
			port, web := freePort(t), freePort(t)
			seen := map[bool]int{true: port, false: freePort(t)}[row.reachTLS]
			seenWeb := map[bool]int{true: web, false: freePort(t)}[row.reachWeb]
			authority := startAuthority(t, seen, seenWeb)
			data := t.TempDir()
			file := fmt.Sprintf("public_url: https://%s\ntls: {automatic: true, acme_directory: '%s', redirect_listen: '127.0.0.1:%d'}\n",
				name, authority.directory, web)
			if err := os.WriteFile(filepath.Join(data, "config.yaml"), []byte(file), 0o600); err != nil {
				t.Fatalf("write file: %v", err)
			}
			settings := []string{"SSL_CERT_FILE=" + authority.rootFile, fmt.Sprintf("DEEDKEEP_LISTEN=127.0.0.1:%d", port)}
			p := startServer(t, data, settings...)
			dial := func() (*x509.Certificate, error) {
				conn, err := tls.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port), &tls.Config{ServerName: name, RootCAs: authority.issued})
				if err != nil {
					return nil, err
				}
				defer func() { _ = conn.Close() }()
				return conn.ConnectionState().PeerCertificates[0], nil
			}
			if !row.reachTLS && !row.reachWeb {
				waitFor(t, "diagnosis", func() bool {
					got := runCLI(t.Context(), t, nil, "doctor", "--data", data)
					return strings.Contains(got.out, "has issued no certificate yet")
				})
				if _, err := dial(); err == nil || !strings.Contains(err.Error(), "unknown authority") {
					t.Errorf("dial = %v, want the self-signed certificate", err)
				}
				return
			}
			waitFor(t, "certificate", func() bool { _, err := dial(); return err == nil })
			first, err := dial()
			if err != nil || first.VerifyHostname(name) != nil {
				t.Fatalf("dial = %v, %v, want a certificate for %s", first, err, name)
			}
			client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: authority.issued, ServerName: name}}}
			res, err := client.Get(fmt.Sprintf("https://127.0.0.1:%d/healthz", port))
			if err != nil || res.StatusCode != http.StatusOK {
				t.Fatalf("GET /healthz = %v, %v, want 200", res, err)
			}
			_ = res.Body.Close()
			p.signal(t, os.Interrupt)
			if code := p.waitExit(t); code != 0 {
				t.Errorf("exit code = %d, want 0", code)
			}
			startServer(t, data, settings...)
			if second, err := dial(); err != nil || !second.Equal(first) {
				t.Errorf("after a restart: %v, %v, want the same certificate immediately", second, err)
			}
		})
	}
}

func waitFor(t *testing.T, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !done(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("no %s after a minute", what)
		}
	}
}

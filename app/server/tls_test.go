package server_test

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deedkeep/app/certificate"
	"deedkeep/app/client"
	"deedkeep/app/config"
	"deedkeep/app/control"
	"deedkeep/app/server"
	"deedkeep/app/vaulttest"
)

// ownCertificate creates a certificate like one that a firm supplies. It returns the path of
// the file, which also contains the key, and the roots that trust it.
func ownCertificate(t *testing.T, dir string, now func() time.Time) (path string, roots *x509.CertPool) {
	t.Helper()
	if _, err := certificate.Open(certificate.Options{
		Dir: dir, Names: []string{"localhost", "127.0.0.1"}, Now: now, Rand: rand.Reader, Log: slog.New(slog.DiscardHandler),
	}); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, certificate.CertAndKeyFile), trust(t, dir)
}

// trust returns roots with the self-signed certificate in dir.
func trust(t *testing.T, dir string) *x509.CertPool {
	t.Helper()
	public, err := os.ReadFile(filepath.Join(dir, certificate.CertFile))
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(public) {
		t.Fatalf("no certificate in %s", public)
	}
	return roots
}

func selfSigned(c *config.Config) { c.TLS.SelfSigned = true }

// transport returns a transport that trusts only roots and offers HTTP/2.
func transport(t *testing.T, roots *x509.CertPool) *http.Transport {
	t.Helper()
	tr := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true}
	t.Cleanup(tr.CloseIdleConnections)
	return tr
}

func get(t *testing.T, tr http.RoundTripper, url string) *http.Response {
	t.Helper()
	ask, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := tr.RoundTrip(ask)
	if err != nil {
		t.Fatal(err)
	}
	if err := answer.Body.Close(); err != nil {
		t.Fatal(err)
	}
	return answer
}

func TestSelfSigned(t *testing.T) {
	r := serve(t, selfSigned)
	if r.answering.Certificate == nil || !r.answering.Certificate.SelfSigned || r.answering.URL() != "https://"+r.address {
		t.Fatalf("%+v", r.answering)
	}
	tr := transport(t, trust(t, certificate.SelfSignedDir(r.vault.Dir)))
	answer := get(t, tr, "https://"+r.address+"/healthz")
	if answer.StatusCode != http.StatusOK || answer.ProtoMajor != 1 || answer.TLS.Version < tls.VersionTLS12 {
		t.Errorf("%s %s", answer.Proto, answer.Status)
	}
	if h := answer.Header.Get("Strict-Transport-Security"); h != "" {
		t.Errorf("it binds browsers to a certificate that they do not trust: %q", h)
	}
	sum := sha256.Sum256(answer.TLS.PeerCertificates[0].Raw)
	want := strings.ReplaceAll(fmt.Sprintf("% X", sum[:]), " ", ":")
	status, err := control.NewClient(control.RoundTripper(r.vault.Dir)).Status(t.Context())
	if err != nil || status.Certificate == nil || status.Certificate.Fingerprint != want || r.answering.Certificate.Fingerprint != want {
		t.Errorf("fingerprint %s, status says %+v, %v", want, status.Certificate, err)
	}
	c := client.New("https://"+r.address, r.key, tr)
	content := append(vaulttest.PDF(1, "encrypted"), bytes.Repeat([]byte("x"), 3<<20)...)
	up, err := c.Upload(t.Context(), nil, []client.Upload{{Filename: "Deed.pdf", Reader: bytes.NewReader(content)}})
	if err != nil || len(up.Files) != 1 || !strings.HasPrefix(up.Files[0].DownloadURL, "https://"+r.address+"/") {
		t.Fatalf("%+v, %v", up, err)
	}
	got, err := c.Download(t.Context(), up.Files[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	back, err := io.ReadAll(got)
	if err = errors.Join(err, got.Close()); err != nil || !bytes.Equal(back, content) {
		t.Errorf("%d bytes, %v", len(back), err)
	}
	if _, err := tls.Dial("tcp", r.address, &tls.Config{InsecureSkipVerify: true, MaxVersion: tls.VersionTLS11, MinVersion: tls.VersionTLS10}); err == nil {
		t.Error("it speaks TLS 1.1")
	}
}

func TestOwnCertificate(t *testing.T) {
	dir := t.TempDir()
	path, roots := ownCertificate(t, dir, time.Now)
	r := serve(t, func(c *config.Config) { c.TLS.Cert, c.TLS.Key, c.TLS.HSTS = path, path, time.Hour })
	for _, url := range []string{"/", "/nothing", "/healthz", "/v1/orders", "/dl/x"} {
		answer := get(t, transport(t, roots), "https://"+r.address+url)
		if h := answer.Header.Get("Strict-Transport-Security"); h != "max-age=3600" {
			t.Errorf("%s: %q", url, h)
		}
	}
	old := get(t, transport(t, roots), "https://"+r.address+"/healthz").TLS.PeerCertificates[0]
	// The firm's certificate is renewed while it is in use.
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	_, renewed := ownCertificate(t, dir, time.Now)
	both := roots.Clone()
	public, err := os.ReadFile(filepath.Join(dir, certificate.CertFile))
	if err != nil || !both.AppendCertsFromPEM(public) {
		t.Fatal(err)
	}
	waitFor(t, func() bool {
		return !get(t, transport(t, both), "https://"+r.address+"/healthz").TLS.PeerCertificates[0].Equal(old)
	})
	// One that cannot be read leaves it in use.
	if err := os.WriteFile(path, []byte("half a certif"), 0o600); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(2500 * time.Millisecond); time.Now().Before(end); time.Sleep(500 * time.Millisecond) {
		get(t, transport(t, renewed), "https://"+r.address+"/healthz")
	}
}

func TestCertificateThatCannotBeUsed(t *testing.T) {
	opts := options(t, func(c *config.Config) { c.TLS.Cert, c.TLS.Key = "absent.pem", "absent.key" })
	if err := server.Serve(t.Context(), opts); err == nil || !strings.Contains(err.Error(), "tls.*") || !strings.Contains(err.Error(), "absent.pem") {
		t.Error(err)
	}
	if _, err := os.Lstat(filepath.Join(opts.Vault.Dir, "control.sock")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it opened the door: %v", err)
	}
}

func TestPlainOnTheSamePort(t *testing.T) {
	r := serve(t, func(c *config.Config) {
		selfSigned(c)
		c.TLS.RedirectListen = "127.0.0.1:0"
		c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
	})
	_, port, err := net.SplitHostPort(r.address)
	if err != nil {
		t.Fatal(err)
	}
	named := serve(t, func(c *config.Config) {
		selfSigned(c)
		c.PublicURL = "https://vault.example.com"
	})
	office, err := os.Hostname() // of this machine
	if err != nil {
		t.Fatal(err)
	}
	const unknown = "a page"
	for _, row := range []struct {
		name, method, target, host, more string
		status                           int
		location                         string
	}{
		{"page", "GET", "/", "localhost:1", "", 308, "https://localhost:" + port + "/"},
		{"page without a port", "GET", "/", "localhost", "", 308, "https://localhost:" + port + "/"},
		{"page, other letters, a dot behind it", "GET", "/", "LocalHost.", "", 308, "https://LocalHost.:" + port + "/"},
		{"page, head", "HEAD", "/a?b=c%20d", office, "", 308, "https://" + office + ":" + port + "/a?b=c%20d"},
		{"page by address", "GET", "/", "127.0.0.1:80", "", 308, "https://127.0.0.1:" + port + "/"},
		{"page by IPv6", "GET", "/", "[::1]", "", 308, "https://[::1]:" + port + "/"},
		{"page by IPv6 in another spelling", "GET", "/", "[0:0:0:0:0:0:0:1]:80", "", 308, "https://[0:0:0:0:0:0:0:1]:" + port + "/"},
		{"page by another name", "GET", "/", "evil.example", "", 400, unknown},
		{"page by another name, head", "HEAD", "/", "evil.example:80", "", 400, unknown},
		{"page by a name under an own one", "GET", "/", "evil.localhost", "", 400, unknown},
		{"page by a name that begins like an own one", "GET", "/", "localhost.evil.example", "", 400, unknown},
		{"page by another address", "GET", "/", "198.51.100.7", "", 400, unknown},
		{"page by another IPv6", "GET", "/", "[2001:db8::7]", "", 400, unknown},
		{"v1 by another name", "GET", "/v1/orders", "evil.example", "", 400, ""},
		{"page of two slashes", "GET", "//evil.example/x", office, "", 308, "https://" + office + ":" + port + "//evil.example/x"},
		{"link", "GET", "/dl/x?s=1", office, "", 308, "https://" + office + ":" + port + "/dl/x?s=1"},
		{"form", "POST", "/sign-in", office, "Content-Length: 3\r\n", 400, ""},
		{"v1", "GET", "/v1/orders", office, "Authorization: Bearer x\r\n", 400, ""},
		{"v1, head", "HEAD", "/v1/orders", office, "", 400, ""},
		{"v1, post", "POST", "/v1/orders", office, "Content-Type: application/json\r\nContent-Length: 3\r\n", 400, ""},
		{"v1 under its other name", "GET", "/api/v1/orders", office, "", 400, ""},
		{"v1 with more slashes", "GET", "//v1//orders", office, "", 400, ""},
		{"v1, upload that waits", "POST", "/v1/file-vault/upload", office, "Content-Length: 3\r\nExpect: 100-continue\r\n", 400, ""},
		{"no host", "GET", "/", "a b", "", 400, ""},
		{"host with a path", "GET", "/", "evil.example/x", "", 400, ""},
		{"options of all", "OPTIONS", "*", office, "", 400, ""},
		{"proxy that took it off", "GET", "/", office, "X-Forwarded-Proto: https\r\n", 400, ""},
		{"proxy that was asked plainly", "GET", "/", office, "X-Forwarded-Proto: http\r\n", 308, "https://" + office + ":" + port + "/"},
	} {
		for where, address := range map[string]string{"same port": r.address, "redirect_listen": r.answering.Redirect} {
			t.Run(row.name+", "+where, func(t *testing.T) {
				body := ""
				if strings.Contains(row.more, "Content-Length") && !strings.Contains(row.more, "Expect") {
					body = "{ }"
				}
				at := &running{address: address}
				answer, text := at.raw(t, row.method, row.method+" "+row.target+" HTTP/1.1\r\nHost: "+row.host+"\r\n"+row.more+"\r\n"+body)
				if row.location == unknown {
					shown := row.method == "HEAD" || strings.Contains(text, "<h1>Unknown server name</h1>") && strings.Contains(text, "<code>public_url</code>")
					if answer.StatusCode != row.status || !shown || answer.Header.Get("Content-Type") != "text/html; charset=utf-8" || answer.Header.Get("Location") != "" {
						t.Errorf("got %d %v %q, want %d and a page that names public_url", answer.StatusCode, answer.Header, text, row.status)
					}
					return
				}
				if answer.StatusCode != row.status || answer.Header.Get("Location") != row.location {
					t.Errorf("got %d %q, want %d %q", answer.StatusCode, answer.Header.Get("Location"), row.status, row.location)
				}
				// net/http refuses what is no host itself.
				if row.status == 400 && row.method != "HEAD" && !strings.HasPrefix(text, "400 Bad Request") && strings.TrimSpace(text) != `{"message":"This address speaks https."}` {
					t.Errorf("%q", text)
				}
				if code := answer.Header.Get("X-Error-Code"); row.status == 400 && code != "malformed_request" && answer.Header.Get("X-Request-Id") != "" {
					t.Errorf("X-Error-Code is %q", code)
				}
				if answer.Header.Get("Strict-Transport-Security") != "" || !answer.Close {
					t.Errorf("%v", answer.Header)
				}
			})
		}
	}
	if answer, _ := named.raw(t, "GET", "GET /a HTTP/1.1\r\nHost: other\r\n\r\n"); answer.Header.Get("Location") != "https://vault.example.com/a" {
		t.Errorf("with public_url: %v", answer.Header)
	}
}

// An API client that sends a document over plain HTTP gets the reason why it is rejected.
func TestPlainUploadReadsTheAnswer(t *testing.T) {
	r := serve(t, selfSigned)
	_, err := client.New("http://"+r.address, r.key, nil).CreateOrder(t.Context(), client.OrderDraft{OrderNumber: "1", Address: strings.Repeat("x", 500_000)})
	if refused, ok := errors.AsType[*client.Error](err); !ok || refused.Status != 400 || refused.Message != "This address speaks https." {
		t.Error(err)
	}
}

func TestFirstBytes(t *testing.T) {
	r := serve(t, func(c *config.Config) {
		selfSigned(c)
		c.Timeouts.Header = 300 * time.Millisecond
	})
	for _, row := range []struct {
		name, bytes string
		want        string // how the answer begins; "": it is closed without one
	}{
		{"nothing", "", ""},
		{"a handshake that stops", "\x16", ""},
		{"a handshake that stops in its head", "\x16\x03\x01\x02", ""},
		{"a handshake of nonsense", "\x16\x16\x16\x16\x16\x16\x16\x16", ""},
		{"SSL of 1995", "\x80\x2e\x01\x00\x02", "HTTP/1.1 400"},
		{"zeros", "\x00\x00\x00\x00\r\n\r\n", "HTTP/1.1 400"},
		{"another protocol", "SSH-2.0-client\r\n", "HTTP/1.1 400"},
		{"HTTP/2 without TLS", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "HTTP/1.1 "},
		{"a method that stops", "GE", ""},
		{"an empty line first", "\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.1 "},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			conn := r.dial(t)
			if _, err := io.WriteString(conn, row.bytes); err != nil {
				t.Fatal(err)
			}
			// It ends by the server's patience, well before dial's deadline.
			begun := time.Now()
			rest, err := io.ReadAll(conn)
			if errors.Is(err, os.ErrDeadlineExceeded) || time.Since(begun) > 8*time.Second {
				t.Fatalf("it is held open: %v", err)
			}
			if !strings.HasPrefix(string(rest), row.want) || row.want == "" && strings.HasPrefix(string(rest), "HTTP/1.1 200") {
				t.Errorf("%q", rest)
			}
		})
	}
	t.Run("plain, a byte at a time", func(t *testing.T) {
		conn := r.dial(t)
		for _, b := range []byte("GET /x HTTP/1.1\r\nHost: localhost\r\n\r\n") {
			if _, err := conn.Write([]byte{b}); err != nil {
				t.Fatal(err)
			}
		}
		if answer, err := http.ReadResponse(bufio.NewReader(conn), nil); err != nil || answer.StatusCode != 308 {
			t.Error(answer, err)
		}
	})
	t.Run("TLS, a byte at a time", func(t *testing.T) {
		conn := tls.Client(dribble{r.dial(t)}, &tls.Config{RootCAs: trust(t, certificate.SelfSignedDir(r.vault.Dir)), ServerName: "localhost"})
		if _, err := io.WriteString(conn, "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		if answer, err := http.ReadResponse(bufio.NewReader(conn), nil); err != nil || answer.StatusCode != 200 {
			t.Error(answer, err)
		}
	})
}

// dribble writes a byte at a time.
type dribble struct{ net.Conn }

func (d dribble) Write(p []byte) (int, error) {
	for i := range p {
		if _, err := d.Conn.Write(p[i : i+1]); err != nil {
			return i, err
		}
	}
	return len(p), nil
}

// The minimum rate of uploads applies to TLS too.
func TestStalledUnderTLS(t *testing.T) {
	r := serve(t, func(c *config.Config) {
		selfSigned(c)
		c.Timeouts.Stall = 200 * time.Millisecond
	})
	conn := tls.Client(r.dial(t), &tls.Config{RootCAs: trust(t, certificate.SelfSignedDir(r.vault.Dir)), ServerName: "localhost"})
	if _, err := fmt.Fprintf(conn, "POST /v1/orders HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{", r.key); err != nil {
		t.Fatal(err)
	}
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || answer.StatusCode != http.StatusRequestTimeout {
		t.Error(answer, err)
	}
}

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
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deedkeep/app/certificate"
	"deedkeep/app/config"
	"deedkeep/app/control"
	"deedkeep/app/model"
	"deedkeep/app/server"
	"deedkeep/app/vaulttest"
	"deedkeep/app/vaulttest/client"
)

// ownCertificate creates a certificate like one that a firm would supply. It returns the path
// of a file that contains the certificate and its key, and a pool with the root that trusts it.
func ownCertificate(t *testing.T, dir string, now func() time.Time) (path string, roots *x509.CertPool) {
	t.Helper()
	if _, err := certificate.Open(certificate.Options{
		Dir: dir, Names: []string{"localhost", "127.0.0.1"}, Now: now, Rand: rand.Reader, Log: slog.New(slog.DiscardHandler),
	}); err != nil {
		t.Fatalf("open certificate: %v", err)
	}
	return filepath.Join(dir, certificate.CertAndKeyFile), trust(t, dir)
}

// trust returns a pool that contains the self-signed certificate in dir.
func trust(t *testing.T, dir string) *x509.CertPool {
	t.Helper()
	public, err := os.ReadFile(filepath.Join(dir, certificate.CertFile))
	if err != nil {
		t.Fatalf("read file: %v", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(public) {
		t.Fatalf("no certificate in %s", public)
	}
	return roots
}

func selfSigned(c *config.Config) { c.TLS.SelfSigned = true }

// transport returns a transport that trusts only the given roots and supports HTTP/2.
func transport(t *testing.T, roots *x509.CertPool) *http.Transport {
	t.Helper()
	tr := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}, ForceAttemptHTTP2: true}
	t.Cleanup(tr.CloseIdleConnections)
	return tr
}

// get sends a GET request and returns the response with its body closed.
func get(t *testing.T, tr http.RoundTripper, address string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatalf("create request: %v", err)
	}
	resp, err := tr.RoundTrip(req)
	if err != nil {
		t.Fatalf("send request: %v", err)
	}
	if err := resp.Body.Close(); err != nil {
		t.Fatalf("close body: %v", err)
	}
	return resp
}

func TestSelfSignedCertificate(t *testing.T) {
	r := serve(t, selfSigned)
	if r.addresses.Certificate == nil || !r.addresses.Certificate.SelfSigned || r.addresses.URL() != "https://"+r.address {
		t.Fatalf("got addresses %+v, want https with a self-signed certificate", r.addresses)
	}
	tr := transport(t, trust(t, certificate.SelfSignedDir(r.vault.Dir)))
	resp := get(t, tr, "https://"+r.address+"/healthz")
	if resp.StatusCode != http.StatusOK || resp.ProtoMajor != 1 || resp.TLS.Version < tls.VersionTLS12 {
		t.Errorf("GET /healthz: got %s %s with TLS version %x, want 200 with HTTP/1.1 and TLS 1.2 or later", resp.Proto, resp.Status,
			resp.TLS.Version)
	}
	if h := resp.Header.Get("Strict-Transport-Security"); h != "" {
		t.Errorf("Strict-Transport-Security with an untrusted certificate: got %q, want none", h)
	}
	sum := sha256.Sum256(resp.TLS.PeerCertificates[0].Raw)
	want := strings.ReplaceAll(fmt.Sprintf("% X", sum[:]), " ", ":")
	status, err := control.NewClient(control.RoundTripper(r.vault.Dir)).Status(t.Context())
	if err != nil || status.Certificate == nil || status.Certificate.Fingerprint != want || r.addresses.Certificate.Fingerprint != want {
		t.Errorf("Status: got certificate %+v, %v, want fingerprint %s", status.Certificate, err, want)
	}
	c := client.New("https://"+r.address, r.key, tr)
	content := append(vaulttest.PDF(1, "encrypted"), bytes.Repeat([]byte("x"), 3<<20)...)
	uploaded, err := c.Upload(t.Context(), nil, []client.Upload{{Filename: "Deed.pdf", Reader: bytes.NewReader(content)}})
	if err != nil || len(uploaded.Files) != 1 || !strings.HasPrefix(uploaded.Files[0].DownloadURL, "https://"+r.address+"/") {
		t.Fatalf("upload: got %+v, %v, want one file with an https URL", uploaded, err)
	}
	download, err := c.Download(t.Context(), uploaded.Files[0].ID)
	if err != nil {
		t.Fatalf("download: %v", err)
	}
	got, err := io.ReadAll(download)
	if err = errors.Join(err, download.Close()); err != nil || !bytes.Equal(got, content) {
		t.Errorf("download: got %d bytes, %v, want the %d bytes of the upload", len(got), err, len(content))
	}
	if _, err := tls.Dial("tcp", r.address, &tls.Config{
		InsecureSkipVerify: true, MaxVersion: tls.VersionTLS11, MinVersion: tls.VersionTLS10,
	}); err == nil {
		t.Error("dial with TLS 1.1: got no error")
	}
}

// A certificate supplied by the firm is used, with HSTS. The server loads the renewed
// certificate but ignores a damaged one.
func TestSuppliedCertificate(t *testing.T) {
	dir := t.TempDir()
	path, roots := ownCertificate(t, dir, time.Now)
	r := serve(t, func(c *config.Config) { c.TLS.Cert, c.TLS.Key, c.TLS.HSTS = path, path, time.Hour })
	for _, target := range []string{"/", "/nothing", "/healthz", "/v1/orders", "/dl/x"} {
		resp := get(t, transport(t, roots), "https://"+r.address+target)
		if h := resp.Header.Get("Strict-Transport-Security"); h != "max-age=3600" {
			t.Errorf("GET %s: got Strict-Transport-Security %q, want max-age=3600", target, h)
		}
	}
	old := get(t, transport(t, roots), "https://"+r.address+"/healthz").TLS.PeerCertificates[0]
	if err := os.Remove(path); err != nil {
		t.Fatalf("remove file: %v", err)
	}
	_, renewed := ownCertificate(t, dir, time.Now)
	both := roots.Clone()
	public, err := os.ReadFile(filepath.Join(dir, certificate.CertFile))
	if err != nil || !both.AppendCertsFromPEM(public) {
		t.Fatalf("read renewed certificate: %v", err)
	}
	waitFor(t, func() bool {
		return !get(t, transport(t, both), "https://"+r.address+"/healthz").TLS.PeerCertificates[0].Equal(old)
	})
	if err := os.WriteFile(path, []byte("half a certif"), 0o600); err != nil {
		t.Fatalf("write file: %v", err)
	}
	for deadline := time.Now().Add(2500 * time.Millisecond); time.Now().Before(deadline); time.Sleep(500 * time.Millisecond) {
		get(t, transport(t, renewed), "https://"+r.address+"/healthz")
	}
}

// If the certificate file is missing, the error names the setting and the control socket isn't
// created.
func TestMissingCertificate(t *testing.T) {
	opts := options(t, func(c *config.Config) { c.TLS.Cert, c.TLS.Key = "absent.pem", "absent.key" })
	if err := server.Serve(t.Context(), opts); err == nil || !strings.Contains(err.Error(), "tls.*") ||
		!strings.Contains(err.Error(), "absent.pem") {
		t.Errorf("Serve = %v, want an error that names tls.* and the file", err)
	}
	if _, err := os.Lstat(filepath.Join(opts.App.Dir, "control.sock")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("stat control.sock: got %v, want os.ErrNotExist", err)
	}
}

// A plain HTTP request for a page of this server is redirected to https. Other plain HTTP
// requests are rejected.
func TestPlainHTTP(t *testing.T) {
	r := serve(t, func(c *config.Config) {
		selfSigned(c)
		c.TLS.RedirectListen = "127.0.0.1:0"
		c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
	})
	_, port, err := net.SplitHostPort(r.address)
	if err != nil {
		t.Fatalf("split address: %v", err)
	}
	named := serve(t, func(c *config.Config) {
		selfSigned(c)
		c.PublicURL = "https://vault.example.com"
	})
	hostname, err := os.Hostname()
	if err != nil {
		t.Fatalf("host name: %v", err)
	}
	const unknown = "the page for an unknown server name"
	for _, row := range []struct {
		name, method, target, host, headers string
		status                              int
		location                            string
	}{
		{"page", "GET", "/", "localhost:1", "", 308, "https://localhost:" + port + "/"},
		{"page without a port", "GET", "/", "localhost", "", 308, "https://localhost:" + port + "/"},
		{"page, capital letters and a final dot", "GET", "/", "LocalHost.", "", 308, "https://LocalHost.:" + port + "/"},
		{"page, head", "HEAD", "/a?b=c%20d", hostname, "", 308, "https://" + hostname + ":" + port + "/a?b=c%20d"},
		{"page by address", "GET", "/", "127.0.0.1:80", "", 308, "https://127.0.0.1:" + port + "/"},
		{"page by IPv6", "GET", "/", "[::1]", "", 308, "https://[::1]:" + port + "/"},
		{"page by IPv6 in another spelling", "GET", "/", "[0:0:0:0:0:0:0:1]:80", "", 308, "https://[0:0:0:0:0:0:0:1]:" + port + "/"},
		{"page by another name", "GET", "/", "evil.example", "", 400, unknown},
		{"page by another name, head", "HEAD", "/", "evil.example:80", "", 400, unknown},
		{"page by a subdomain of localhost", "GET", "/", "evil.localhost", "", 400, unknown},
		{"page by a name with the prefix localhost", "GET", "/", "localhost.evil.example", "", 400, unknown},
		{"page by another address", "GET", "/", "198.51.100.7", "", 400, unknown},
		{"page by another IPv6", "GET", "/", "[2001:db8::7]", "", 400, unknown},
		{"v1 by another name", "GET", "/v1/orders", "evil.example", "", 400, ""},
		{"page of two slashes", "GET", "//evil.example/x", hostname, "", 308, "https://" + hostname + ":" + port + "//evil.example/x"},
		{"link", "GET", "/dl/x?s=1", hostname, "", 308, "https://" + hostname + ":" + port + "/dl/x?s=1"},
		{"form", "POST", "/sign-in", hostname, "Content-Length: 3\r\n", 400, ""},
		{"v1", "GET", "/v1/orders", hostname, "Authorization: Bearer x\r\n", 400, ""},
		{"v1, head", "HEAD", "/v1/orders", hostname, "", 400, ""},
		{"v1, post", "POST", "/v1/orders", hostname, "Content-Type: application/json\r\nContent-Length: 3\r\n", 400, ""},
		{"v1 with its prefix /api", "GET", "/api/v1/orders", hostname, "", 400, ""},
		{"v1 with repeated slashes", "GET", "//v1//orders", hostname, "", 400, ""},
		{"v1, upload with Expect", "POST", "/v1/file-vault/upload", hostname, "Content-Length: 3\r\nExpect: 100-continue\r\n", 400, ""},
		{"invalid host", "GET", "/", "a b", "", 400, ""},
		{"host with a path", "GET", "/", "evil.example/x", "", 400, ""},
		{"options of the server", "OPTIONS", "*", hostname, "", 400, ""},
		{"proxy that terminates TLS", "GET", "/", hostname, "X-Forwarded-Proto: https\r\n", 400, ""},
		{"proxy without TLS", "GET", "/", hostname, "X-Forwarded-Proto: http\r\n", 308, "https://" + hostname + ":" + port + "/"},
	} {
		for where, address := range map[string]string{"same port": r.address, "redirect_listen": r.addresses.Redirect} {
			t.Run(row.name+", "+where, func(t *testing.T) {
				body := ""
				if strings.Contains(row.headers, "Content-Length") && !strings.Contains(row.headers, "Expect") {
					body = "{ }"
				}
				at := &running{address: address}
				resp, text := at.raw(t, row.method, row.method+" "+row.target+" HTTP/1.1\r\nHost: "+row.host+"\r\n"+row.headers+"\r\n"+body)
				if row.location == unknown {
					shown := row.method == "HEAD" || strings.Contains(text, "<h1>Unknown server name</h1>") &&
						strings.Contains(text, "<code>public_url</code>")
					if resp.StatusCode != row.status || !shown || resp.Header.Get("Content-Type") != "text/html; charset=utf-8" ||
						resp.Header.Get("Location") != "" {
						t.Errorf("got %d %v %q, want %d and a page that names public_url", resp.StatusCode, resp.Header, text, row.status)
					}
					return
				}
				if resp.StatusCode != row.status || resp.Header.Get("Location") != row.location {
					t.Errorf("got %d %q, want %d %q", resp.StatusCode, resp.Header.Get("Location"), row.status, row.location)
				}
				// net/http rejects an invalid host before it calls a handler.
				rejected := strings.HasPrefix(text, "400 Bad Request") || strings.TrimSpace(text) == `{"message":"This address speaks https."}`
				if row.status == 400 && row.method != "HEAD" && !rejected {
					t.Errorf("got body %q, want the message that the address requires HTTPS", text)
				}
				if code := resp.Header.Get("X-Error-Code"); row.status == 400 && code != "malformed_request" && resp.Header.Get("X-Request-Id") != "" {
					t.Errorf("X-Error-Code: got %q, want malformed_request", code)
				}
				if resp.Header.Get("Strict-Transport-Security") != "" || !resp.Close {
					t.Errorf("got headers %v, want Connection: close and no Strict-Transport-Security", resp.Header)
				}
			})
		}
	}
	if resp, _ := named.raw(t, "GET", "GET /a HTTP/1.1\r\nHost: other\r\n\r\n"); resp.Header.Get("Location") != "https://vault.example.com/a" {
		t.Errorf("with public_url: got headers %v, want Location https://vault.example.com/a", resp.Header)
	}
	listed := serve(t, func(c *config.Config) {
		selfSigned(c)
		c.AllowedHosts = []string{"deeds.example.com"}
	})
	for host, status := range map[string]int{"Deeds.example.com": 308, "evil.example": 400} {
		if resp, _ := listed.raw(t, "GET", "GET /a HTTP/1.1\r\nHost: "+host+"\r\n\r\n"); resp.StatusCode != status {
			t.Errorf("with allowed_hosts, %s: got %s, want %d", host, resp.Status, status)
		}
	}
}

// On a TLS port, the cookies of a sign-in are for HTTPS only, even if a trusted proxy says that the
// browser doesn't use it.
func TestCookiesOnTLSPort(t *testing.T) {
	r := serve(t, func(c *config.Config) {
		selfSigned(c)
		c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
	})
	const password = "a long walk to the courthouse"
	ownerPassword := password
	draft := model.UserDraft{Name: "owner", Role: model.RoleAdmin, Password: &ownerPassword}
	if _, _, err := r.vault.Users.Create(t.Context(), model.Actor{Kind: "operator"}, draft); err != nil {
		t.Fatalf("create user: %v", err)
	}
	tr := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} // #nosec G402 -- the certificate is self-signed
	defer tr.CloseIdleConnections()
	form := url.Values{"name": {"owner"}, "password": {password}}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://"+r.address+"/sign-in", strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatalf("create request: %v", err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("X-Forwarded-Proto", "http")
	resp, err := tr.RoundTrip(req)
	if err != nil {
		t.Fatalf("sign in: %v", err)
	}
	if err := resp.Body.Close(); err != nil {
		t.Fatalf("close body: %v", err)
	}
	cookies := resp.Cookies()
	if resp.StatusCode != http.StatusSeeOther || len(cookies) != 1 {
		t.Fatalf("sign in: got %s with cookies %v, want 303 and one", resp.Status, cookies)
	}
	if !cookies[0].Secure || cookies[0].Name != "__Host-deedkeep" {
		t.Errorf("cookie: got %s, want Secure and the name __Host-deedkeep", cookies[0])
	}
}

// An API client that sends a large request over plain HTTP can still read the error response.
func TestPlainUploadReadsResponse(t *testing.T) {
	r := serve(t, selfSigned)
	draft := client.OrderDraft{OrderNumber: "1", Address: strings.Repeat("x", 500_000)}
	_, err := client.New("http://"+r.address, r.key, nil).CreateOrder(t.Context(), draft)
	if apiErr, ok := errors.AsType[*client.Error](err); !ok || apiErr.Status != 400 || apiErr.Message != "This address speaks https." {
		t.Errorf("CreateOrder: got %v, want a client.Error with status 400", err)
	}
}

// The first byte of a connection determines whether it is TLS or plain HTTP. Connections with
// another protocol or an incomplete request are closed, with or without an error response.
func TestFirstBytes(t *testing.T) {
	r := serve(t, func(c *config.Config) {
		selfSigned(c)
		c.Timeouts.Header = 300 * time.Millisecond
	})
	for _, row := range []struct {
		name, bytes string
		want        string // prefix of the response; "" if the connection is closed without a response
	}{
		{"nothing", "", ""},
		{"a handshake that stops", "\x16", ""},
		{"a handshake that stops in its header", "\x16\x03\x01\x02", ""},
		{"an invalid handshake", "\x16\x16\x16\x16\x16\x16\x16\x16", ""},
		{"SSL 2.0", "\x80\x2e\x01\x00\x02", "HTTP/1.1 400"},
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
				t.Fatalf("write: %v", err)
			}
			// The server's timeout closes the connection well before the deadline set by dial.
			start := time.Now()
			rest, err := io.ReadAll(conn)
			if errors.Is(err, os.ErrDeadlineExceeded) || time.Since(start) > 8*time.Second {
				t.Fatalf("connection is still open after 8 seconds: %v", err)
			}
			if !strings.HasPrefix(string(rest), row.want) || row.want == "" && strings.HasPrefix(string(rest), "HTTP/1.1 200") {
				t.Errorf("got %q, want prefix %q", rest, row.want)
			}
		})
	}
	t.Run("plain, a byte at a time", func(t *testing.T) {
		conn := r.dial(t)
		for _, b := range []byte("GET /x HTTP/1.1\r\nHost: localhost\r\n\r\n") {
			if _, err := conn.Write([]byte{b}); err != nil {
				t.Fatalf("write to conn: %v", err)
			}
		}
		if resp, err := http.ReadResponse(bufio.NewReader(conn), nil); err != nil || resp.StatusCode != 308 {
			t.Errorf("read response: got %v, %v, want status 308", resp, err)
		}
	})
	t.Run("TLS, a byte at a time", func(t *testing.T) {
		conn := tls.Client(byteWriter{r.dial(t)}, &tls.Config{RootCAs: trust(t, certificate.SelfSignedDir(r.vault.Dir)), ServerName: "localhost"})
		if _, err := io.WriteString(conn, "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
			t.Fatalf("write: %v", err)
		}
		if resp, err := http.ReadResponse(bufio.NewReader(conn), nil); err != nil || resp.StatusCode != 200 {
			t.Errorf("read response: got %v, %v, want status 200", resp, err)
		}
	})
}

// byteWriter writes one byte at a time.
type byteWriter struct{ net.Conn }

func (w byteWriter) Write(p []byte) (int, error) {
	for i := range p {
		if _, err := w.Conn.Write(p[i : i+1]); err != nil {
			return i, err
		}
	}
	return len(p), nil
}

// The minimum upload rate also applies to TLS connections.
func TestStalledUploadWithTLS(t *testing.T) {
	r := serve(t, func(c *config.Config) {
		selfSigned(c)
		c.Timeouts.Stall = 200 * time.Millisecond
	})
	conn := tls.Client(r.dial(t), &tls.Config{RootCAs: trust(t, certificate.SelfSignedDir(r.vault.Dir)), ServerName: "localhost"})
	if _, err := fmt.Fprintf(conn, "POST /v1/orders HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer %s\r\n"+
		"Content-Type: application/json\r\nContent-Length: 99\r\n\r\n{", r.key); err != nil {
		t.Fatalf("write: %v", err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || resp.StatusCode != http.StatusRequestTimeout {
		t.Errorf("read response: got %v, %v, want status 408", resp, err)
	}
}

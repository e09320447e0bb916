package server_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"deedkeep/app/apitypes"
	"deedkeep/app/config"
	"deedkeep/app/control"
	"deedkeep/app/doctor"
	"deedkeep/app/vaulttest/client"
)

// The doctor detects how proxies between the public URL and the server change requests.
func TestProbeThroughProxies(t *testing.T) {
	const size = 1 << 20
	r := serve(t, func(c *config.Config) { c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")} })
	backend, err := url.Parse("http://" + r.address)
	if err != nil {
		t.Fatalf("parse URL: %v", err)
	}
	forward := func(change func(*httputil.ProxyRequest)) http.Handler {
		return &httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) {
			p.SetURL(backend)
			p.SetXForwarded()
			p.Out.Host = p.In.Host
			if change != nil {
				change(p)
			}
		}}
	}
	good := forward(nil)
	for _, row := range []struct {
		name  string
		proxy http.Handler
		tls   bool
		want  map[string]string // by check: state and part of the message
	}{
		{"good", good, false, map[string]string{"through": "ok without buffering", "proxy": "ok is trusted and sends the client address", "key": "ok works"}},
		{"good, https", good, true, map[string]string{"through": "ok without buffering", "proxy": "ok is trusted and sends the client address", "key": "ok works"}},
		{"buffers the body", http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			body, err := io.ReadAll(req.Body)
			if err != nil {
				return // the client closed the connection
			}
			req.Body = io.NopCloser(bytes.NewReader(body))
			good.ServeHTTP(w, req)
		}), false, map[string]string{"through": "warn proxy_request_buffering", "proxy": "ok is trusted and sends the client address"}},
		{"small bodies only", http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			_, _ = io.CopyN(io.Discard, req.Body, size/4) // the test doesn't depend on this read
			w.WriteHeader(http.StatusRequestEntityTooLarge)
		}), false, map[string]string{"through": "bad client_max_body_size"}},
		{"closes the connection", http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
			_, _ = io.CopyN(io.Discard, req.Body, size/4) // the test doesn't depend on this read
			panic(http.ErrAbortHandler)
		}), false, map[string]string{"through": "bad client_max_body_size"}},
		{"bad gateway", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }), false,
			map[string]string{"through": "bad upstream"}},
		{"no X-Forwarded-Proto", forward(func(p *httputil.ProxyRequest) { p.Out.Header.Del("X-Forwarded-Proto") }), true,
			map[string]string{"through": "ok", "proxy": "warn X-Forwarded-Proto"}},
		{"removes Authorization", forward(func(p *httputil.ProxyRequest) { p.Out.Header.Del("Authorization") }), false,
			map[string]string{"through": "ok", "key": "bad Authorization"}},
		{"changes the host", forward(func(p *httputil.ProxyRequest) {
			p.Out.Host = "vault.internal"
			p.Out.Header.Del("X-Forwarded-Host")
		}), false, map[string]string{"proxy": "warn proxy_set_header Host"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			proxyServer := httptest.NewUnstartedServer(row.proxy)
			proxyServer.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
			if row.tls {
				proxyServer.StartTLS()
			} else {
				proxyServer.Start()
			}
			defer proxyServer.Close()
			found := diagnose(t, r, proxyServer.URL, proxyServer.Client().Transport)
			for check, want := range row.want {
				state, words, _ := strings.Cut(want, " ")
				if f := found[check]; f.State != state || !strings.Contains(f.Message+f.Action, words) {
					t.Errorf("diagnosis of %q: got %+v, want %q", check, f, want)
				}
			}
		})
	}
	if list, err := client.New("http://"+r.address, r.key, nil).Folders(t.Context()); err != nil {
		t.Errorf("list folders: got %v, %v", list, err)
	}
	status, err := control.NewClient(control.RoundTripper(r.vault.Dir)).Status(t.Context())
	if err != nil || status.Files != 0 || status.Bytes != 0 {
		t.Errorf("status after the probes: got %+v, %v, want no files", status, err)
	}
}

// diagnose runs the doctor for the proxy at baseURL and returns its diagnoses by check.
func diagnose(t *testing.T, r *running, baseURL string, transport http.RoundTripper) map[string]apitypes.Diagnosis {
	t.Helper()
	c := config.Default()
	c.Data, c.Listen = r.vault.Dir, r.address
	report, err := doctor.Run(t.Context(), doctor.Options{
		Config: c, Now: time.Now, Log: slog.New(slog.DiscardHandler), Explain: func(err error) string { return err.Error() },
		CheckAssets:    func() error { return errors.New("not in this test") },
		FileSystemType: func(string) (string, bool, error) { return "disk", false, nil },
		WithClient: func(ctx context.Context, fn func(context.Context, *control.Client) error) error {
			return fn(ctx, control.NewClient(control.RoundTripper(r.vault.Dir)))
		},
		ProbeURL: baseURL, ProbeKey: r.key, ProbeTransport: transport, ProbeSize: 1 << 20, ProbePause: 800 * time.Millisecond,
	})
	if err != nil {
		t.Fatalf("run doctor: %v", err)
	}
	return byCheck(t, report)
}

// byCheck returns the diagnoses of a report, keyed by check.
func byCheck(t *testing.T, report apitypes.Doctor) map[string]apitypes.Diagnosis {
	t.Helper()
	found := map[string]apitypes.Diagnosis{}
	for _, f := range report.Findings {
		found[f.Check] = f
	}
	if f := found["engine"]; f.State != doctor.Bad || report.OK {
		t.Errorf("diagnosis of \"engine\": got %+v with OK=%v, want state bad and OK=false", f, report.OK)
	}
	return found
}

// A probe path created through the control socket accepts one request. Other paths return
// 404.
func TestProbePaths(t *testing.T) {
	r := serve(t, nil)
	ctl := control.NewClient(control.RoundTripper(r.vault.Dir))
	public := client.New("http://"+r.address, r.key, nil)
	path, err := ctl.OpenProbe(t.Context())
	if err != nil {
		t.Fatalf("open probe: %v", err)
	}
	if resp, body := r.raw(t, "GET", "GET "+path+" HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer "+r.key+"\r\n\r\n"); resp.StatusCode != 404 {
		t.Errorf("GET of a probe path: got %v %s, want 404", resp.Status, body)
	}
	got, err := sendProbe(t.Context(), public, path, strings.NewReader("12345"))
	if err != nil || got.Bytes != 5 || got.Trusted || !got.Authorization || got.Peer != "127.0.0.1" {
		t.Errorf("sendProbe: got %+v, %v, want 5 bytes from the untrusted peer 127.0.0.1, with a key", got, err)
	}
	for name, path := range map[string]string{"used": path, "guessed": "/v1/doctor/" + strings.Repeat("A", 43), "empty": "/v1/doctor/"} {
		t.Run(name, func(t *testing.T) {
			_, err := sendProbe(t.Context(), public, path, strings.NewReader("12345"))
			if apiErr, ok := errors.AsType[*client.Error](err); !ok || apiErr.Status != 404 {
				t.Errorf("sendProbe: got %v, want a client.Error with status 404", err)
			}
		})
	}
	if err := public.Do(t.Context(), http.MethodPost, "/control/probe", nil, &apitypes.ProbeOpened{}); err == nil {
		t.Error("POST /control/probe at the public address succeeded, want an error")
	}
	path, err = ctl.OpenProbe(t.Context())
	if err != nil {
		t.Fatalf("open probe: %v", err)
	}
	if _, err := sendProbe(t.Context(), public, path, io.LimitReader(zeros{}, 201<<20)); err == nil {
		t.Error("sendProbe of 201 MB: got no error")
	}
}

// zeros is an endless reader of zero bytes.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// The doctor probes public_url with 2 MB and a time limit. If a setting of the proxy is
// wrong, the diagnosis names it.
func TestDoctorProbesPublicURL(t *testing.T) {
	var proxy atomic.Pointer[http.Handler]
	proxyServer := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter,
		req *http.Request) {
		(*proxy.Load()).ServeHTTP(w, req)
	}))
	proxyServer.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	proxyServer.StartTLS()
	defer proxyServer.Close()
	r := serve(t, func(c *config.Config) {
		c.PublicURL, c.TrustedProxies = proxyServer.URL, []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
	})
	backend, err := url.Parse("http://" + r.address)
	if err != nil {
		t.Fatalf("parse URL: %v", err)
	}
	forward := func(drop ...string) http.Handler {
		return &httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) {
			p.SetURL(backend)
			p.SetXForwarded()
			for _, name := range drop {
				p.Out.Header.Del(name)
			}
		}}
	}
	done := make(chan struct{})
	defer close(done)
	trust := proxyServer.Client().Transport
	for _, row := range []struct {
		name      string
		proxy     http.Handler
		transport http.RoundTripper
		publicURL string // "" for the server's own URL, "-" for none
		timeout   time.Duration
		want      map[string]string // by check: state and part of the message; "" if there must be no diagnosis
	}{
		{"good", forward(), trust, "", 0, map[string]string{"through": "ok sent 2 MB", "proxy": "ok is trusted and sends the client address"}},
		{"limits bodies to 1 MB", http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			_, _ = io.CopyN(io.Discard, req.Body, 1<<20) // the test doesn't depend on this read
			w.WriteHeader(http.StatusRequestEntityTooLarge)
		}), trust, "", 0, map[string]string{"through": "bad client_max_body_size", "proxy": ""}},
		{"sends no response", http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
			select {
			case <-req.Context().Done():
			case <-done:
			}
		}), trust, "", 300 * time.Millisecond,
			map[string]string{"through": "bad took longer than 300ms", "proxy": ""}},
		{"no X-Forwarded-For", forward("X-Forwarded-For"), trust, "", 0, map[string]string{"through": "ok", "proxy": "warn X-Forwarded-For"}},
		{"no X-Forwarded-Proto, but a public_url", forward("X-Forwarded-Proto"), trust, "", 0, map[string]string{"proxy": "ok"}},
		{"redirects", http.RedirectHandler("https://vault.example.com/", http.StatusMovedPermanently), trust, "", 0,
			map[string]string{"through": "bad to https://vault.example.com/"}},
		{"untrusted certificate", forward(), nil, "", 0, map[string]string{"through": "warn complete certificate chain"}},
		{"https URL of an http server", forward(), nil, "https://" + r.address, 0, map[string]string{"through": "bad doesn't use HTTPS"}},
		{"no server", forward(), trust, "https://127.0.0.1:1", 0, map[string]string{"through": "warn can't reach https://127.0.0.1:1"}},
		{"server runs with other settings", forward(), trust, strings.Replace(proxyServer.URL, "127.0.0.1", "localhost", 1), 0,
			map[string]string{"proxy": "warn restart the server"}},
		{"no public_url", forward(), trust, "-", 0, map[string]string{"through": "", "proxy": ""}},
	} {
		t.Run(row.name, func(t *testing.T) {
			proxy.Store(&row.proxy)
			c := config.Default()
			c.Data, c.Listen, c.PublicURL = r.vault.Dir, r.address, strings.TrimSuffix(cmp.Or(row.publicURL, proxyServer.URL), "-")
			transport := row.transport
			if trusting, ok := transport.(*http.Transport); ok { // the httptest certificate is for example.com
				trusting = trusting.Clone()
				trusting.TLSClientConfig.ServerName = "example.com"
				defer trusting.CloseIdleConnections()
				transport = trusting
			}
			report, err := doctor.Run(t.Context(), doctor.Options{
				Config: c, Now: time.Now, Log: slog.New(slog.DiscardHandler), Explain: func(err error) string { return err.Error() },
				CheckAssets:    func() error { return errors.New("not in this test") },
				FileSystemType: func(string) (string, bool, error) { return "disk", false, nil },
				WithClient: func(ctx context.Context, fn func(context.Context, *control.Client) error) error {
					return fn(ctx, control.NewClient(control.RoundTripper(r.vault.Dir)))
				},
				ProbeTransport: transport, ProbePause: 1, ProbeTimeout: row.timeout,
			})
			if err != nil {
				t.Fatalf("run doctor: %v", err)
			}
			found := byCheck(t, report)
			for check, want := range row.want {
				f, ok := found[check]
				state, words, _ := strings.Cut(want, " ")
				if ok != (want != "") || f.State != state || !strings.Contains(f.Message+" -> "+f.Action, words) {
					t.Errorf("diagnosis of %q: got %+v, want %q", check, f, want)
				}
			}
		})
	}
}

// sendProbe sends content to the public address, using a path of the control socket.
func sendProbe(ctx context.Context, c *client.Client, path string, content io.Reader) (apitypes.Probe, error) {
	var body apitypes.Probe
	err := c.DoRaw(ctx, http.MethodPost, path, content, "application/octet-stream", &body)
	return body, err
}

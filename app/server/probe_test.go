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
	"deedkeep/app/client"
	"deedkeep/app/config"
	"deedkeep/app/control"
	"deedkeep/app/doctor"
)

// The doctor reports what proxies between the public address and the server do.
func TestProbeThroughProxies(t *testing.T) {
	const size = 1 << 20
	r := serve(t, func(c *config.Config) { c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")} })
	behind, err := url.Parse("http://" + r.address)
	if err != nil {
		t.Fatal(err)
	}
	forward := func(change func(*httputil.ProxyRequest)) http.Handler {
		return &httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) {
			p.SetURL(behind)
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
		want  map[string]string // by check, its state and words
	}{
		{"good", good, false, map[string]string{"through": "ok as it was sent", "proxy": "ok believed", "key": "ok works"}},
		{"good, https", good, true, map[string]string{"through": "ok as it was sent", "proxy": "ok believed", "key": "ok works"}},
		{"gathers the body", http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			whole, err := io.ReadAll(req.Body)
			if err != nil {
				return // the one who sends has gone
			}
			req.Body = io.NopCloser(bytes.NewReader(whole))
			good.ServeHTTP(w, req)
		}), false, map[string]string{"through": "warn proxy_request_buffering", "proxy": "ok believed"}},
		{"small bodies only", http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			_, _ = io.CopyN(io.Discard, req.Body, size/4) // It refuses whatever came.
			w.WriteHeader(http.StatusRequestEntityTooLarge)
		}), false, map[string]string{"through": "bad client_max_body_size"}},
		{"hangs up", http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
			_, _ = io.CopyN(io.Discard, req.Body, size/4) // It hangs up whatever came.
			panic(http.ErrAbortHandler)
		}), false, map[string]string{"through": "bad client_max_body_size"}},
		{"nobody behind", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }), false,
			map[string]string{"through": "bad upstream"}},
		{"says no scheme", forward(func(p *httputil.ProxyRequest) { p.Out.Header.Del("X-Forwarded-Proto") }), true,
			map[string]string{"through": "ok", "proxy": "warn X-Forwarded-Proto"}},
		{"takes the key", forward(func(p *httputil.ProxyRequest) { p.Out.Header.Del("Authorization") }), false,
			map[string]string{"through": "ok", "key": "bad Authorization"}},
		{"another name", forward(func(p *httputil.ProxyRequest) {
			p.Out.Host = "vault.internal"
			p.Out.Header.Del("X-Forwarded-Host")
		}), false, map[string]string{"proxy": "warn proxy_set_header Host"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			front := httptest.NewUnstartedServer(row.proxy)
			front.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
			if row.tls {
				front.StartTLS()
			} else {
				front.Start()
			}
			defer front.Close()
			found := look(t, r, front.URL, front.Client().Transport)
			for check, want := range row.want {
				state, words, _ := strings.Cut(want, " ")
				if f := found[check]; f.State != state || !strings.Contains(f.Message+f.Action, words) {
					t.Errorf("%+v, want %s", f, want)
				}
			}
		})
	}
	list, err := client.New("http://"+r.address, r.key, nil).Folders(t.Context())
	if err != nil {
		t.Error(list, err)
	}
	status, err := control.NewClient(control.RoundTripper(r.vault.Dir)).Status(t.Context())
	if err != nil || status.Files != 0 || status.Bytes != 0 {
		t.Errorf("it kept something: %+v, %v", status, err)
	}
}

// look returns the doctor's diagnoses of the proxy.
func look(t *testing.T, r *running, through string, transport http.RoundTripper) map[string]apitypes.Diagnosis {
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
		ProbeURL: through, ProbeKey: r.key, ProbeTransport: transport, ProbeSize: 1 << 20, ProbePause: 800 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	return byCheck(t, report)
}

func byCheck(t *testing.T, report apitypes.Doctor) map[string]apitypes.Diagnosis {
	t.Helper()
	found := map[string]apitypes.Diagnosis{}
	for _, f := range report.Findings {
		found[f.Check] = f
	}
	if f := found["engine"]; f.State != doctor.Bad || report.OK {
		t.Errorf("%+v", f)
	}
	return found
}

// A path from the control socket accepts one body, and no other path is accepted.
func TestProbePaths(t *testing.T) {
	r := serve(t, nil)
	door := control.NewClient(control.RoundTripper(r.vault.Dir))
	public := client.New("http://"+r.address, r.key, nil)
	path, err := door.OpenProbe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if answer, body := r.raw(t, "GET", "GET "+path+" HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer "+r.key+"\r\n\r\n"); answer.StatusCode != 404 {
		t.Errorf("%v %s", answer.Status, body)
	}
	if got, err := public.SendProbe(t.Context(), path, strings.NewReader("12345")); err != nil || got.Bytes != 5 || got.Trusted || !got.Authorization || got.Peer != "127.0.0.1" {
		t.Errorf("%+v, %v", got, err)
	}
	for name, at := range map[string]string{"used": path, "guessed": "/v1/doctor/" + strings.Repeat("A", 43), "empty": "/v1/doctor/"} {
		_, err := public.SendProbe(t.Context(), at, strings.NewReader("12345"))
		if refused, ok := errors.AsType[*client.Error](err); !ok || refused.Status != 404 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := public.Do(t.Context(), http.MethodPost, "/control/probe", nil, &apitypes.ProbeOpened{}); err == nil {
		t.Error("POST /control/probe at the public address succeeded, want an error")
	}
	path, err = door.OpenProbe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := public.SendProbe(t.Context(), path, io.LimitReader(zeros{}, 201<<20)); err == nil {
		t.Error("it takes any number of bytes")
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// The doctor tests public_url automatically, with 2 MB and a time limit, and names the wrong
// setting of the proxy.
func TestDoctorTriesPublicURL(t *testing.T) {
	var proxy atomic.Pointer[http.Handler]
	front := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) { (*proxy.Load()).ServeHTTP(w, req) }))
	front.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	front.StartTLS()
	defer front.Close()
	r := serve(t, func(c *config.Config) {
		c.PublicURL, c.TrustedProxies = front.URL, []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
	})
	behind, err := url.Parse("http://" + r.address)
	if err != nil {
		t.Fatal(err)
	}
	forward := func(drop ...string) http.Handler {
		return &httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) {
			p.SetURL(behind)
			p.SetXForwarded()
			for _, name := range drop {
				p.Out.Header.Del(name)
			}
		}}
	}
	ended := make(chan struct{})
	defer close(ended)
	trust := front.Client().Transport
	for _, row := range []struct {
		name      string
		proxy     http.Handler
		transport http.RoundTripper
		public    string // "": that of the server
		patience  time.Duration
		want      map[string]string // by check, its state and words; "": it is not there
	}{
		{"good", forward(), trust, "", 0, map[string]string{"through": "ok 2 MB got through", "proxy": "ok is believed"}},
		{"bodies of 1 MB at most", http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			_, _ = io.CopyN(io.Discard, req.Body, 1<<20) // It refuses whatever came.
			w.WriteHeader(http.StatusRequestEntityTooLarge)
		}), trust, "", 0, map[string]string{"through": "bad client_max_body_size", "proxy": ""}},
		{"hangs", http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
			select {
			case <-req.Context().Done():
			case <-ended:
			}
		}), trust, "", 300 * time.Millisecond, map[string]string{"through": "bad within 300ms", "proxy": ""}},
		{"doesn't say who calls", forward("X-Forwarded-For"), trust, "", 0, map[string]string{"through": "ok", "proxy": "warn X-Forwarded-For"}},
		{"says no scheme, which public_url makes up for", forward("X-Forwarded-Proto"), trust, "", 0, map[string]string{"proxy": "ok"}},
		{"redirects", http.RedirectHandler("https://vault.example.com/", http.StatusMovedPermanently), trust, "", 0, map[string]string{"through": "bad to https://vault.example.com/"}},
		{"a certificate of its own", forward(), nil, "", 0, map[string]string{"through": "warn complete chain"}},
		{"https where http is", forward(), nil, "https://" + r.address, 0, map[string]string{"through": "bad does not speak https"}},
		{"nothing there", forward(), trust, "https://127.0.0.1:1", 0, map[string]string{"through": "warn doesn't reach https://127.0.0.1:1"}},
		{"a server with other settings", forward(), trust, strings.Replace(front.URL, "127.0.0.1", "localhost", 1), 0, map[string]string{"proxy": "warn restart the server"}},
		{"no public_url", forward(), trust, "-", 0, map[string]string{"through": "", "proxy": ""}},
	} {
		t.Run(row.name, func(t *testing.T) {
			proxy.Store(&row.proxy)
			c := config.Default()
			c.Data, c.Listen, c.PublicURL = r.vault.Dir, r.address, strings.TrimSuffix(cmp.Or(row.public, front.URL), "-")
			transport := row.transport
			if own, ok := transport.(*http.Transport); ok { // the certificate of the test is for another name
				own = own.Clone()
				own.TLSClientConfig.ServerName = "example.com"
				defer own.CloseIdleConnections()
				transport = own
			}
			report, err := doctor.Run(t.Context(), doctor.Options{
				Config: c, Now: time.Now, Log: slog.New(slog.DiscardHandler), Explain: func(err error) string { return err.Error() },
				CheckAssets:    func() error { return errors.New("not in this test") },
				FileSystemType: func(string) (string, bool, error) { return "disk", false, nil },
				WithClient: func(ctx context.Context, fn func(context.Context, *control.Client) error) error {
					return fn(ctx, control.NewClient(control.RoundTripper(r.vault.Dir)))
				},
				ProbeTransport: transport, ProbePause: 1, ProbeTimeout: row.patience,
			})
			if err != nil {
				t.Fatal(err)
			}
			found := byCheck(t, report)
			for check, want := range row.want {
				f, there := found[check]
				state, words, _ := strings.Cut(want, " ")
				if there != (want != "") || f.State != state || !strings.Contains(f.Message+" -> "+f.Action, words) {
					t.Errorf("%s: got %+v, want %q", check, f, want)
				}
			}
		})
	}
}

// Package server is the roof: listeners, what is mounted where, start and stop.
package server

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"golang.org/x/net/netutil"

	"deedkeep/app/api"
	"deedkeep/app/config"
	"deedkeep/app/local"
	"deedkeep/app/title"
	"deedkeep/app/ui"
	"deedkeep/app/vault"
	"deedkeep/app/wire"
)

// Options of Serve.
type Options struct {
	Config  config.Config
	Vault   *vault.Vault // opened; Serve starts and does not close it
	Build   api.Build
	Log     *slog.Logger
	Now     func() time.Time
	Started func(address string) // called once when it answers
}

// Serve answers on the configured address and on the control door until ctx ends,
// then finishes what is under way within the grace time.
func Serve(ctx context.Context, opts Options) error {
	public, err := Handler(opts)
	if err != nil {
		return err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", opts.Config.Listen)
	if err != nil {
		return err
	}
	address := listener.Addr().String()
	door, err := local.Open(opts.Vault.Dir(), rand.Reader)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	control := local.Guard(api.Control(api.ControlOptions{
		Vault: opts.Vault, Build: opts.Build, Listen: address, StartedAt: opts.Now(), Log: opts.Log,
	}), door.Token)
	opts.Vault.Start(opts.Config.Sweep.Every)
	if opts.Started != nil {
		opts.Started(address)
	}
	limited := netutil.LimitListener(listener, opts.Config.Limits.Connections)
	return run(ctx, opts, []service{
		{limited, newServer(opts, public)},
		{door, newServer(opts, control)},
	})
}

type service struct {
	listener net.Listener
	server   *http.Server
}

// run serves until ctx ends or one of the services fails, and stops them all.
func run(ctx context.Context, opts Options, services []service) error {
	failed := make(chan error, len(services))
	var running sync.WaitGroup
	for _, s := range services {
		running.Go(func() {
			if err := s.server.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
				failed <- err
			}
		})
	}
	var err error
	select {
	case <-ctx.Done():
		opts.Log.Info("stopping", "grace", opts.Config.Timeouts.Grace.String())
	case err = <-failed:
	}
	// The ended context is why we stop; what is under way gets its own time.
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), opts.Config.Timeouts.Grace)
	defer cancel()
	for _, s := range services {
		running.Go(func() {
			if s.server.Shutdown(grace) != nil {
				opts.Log.Warn("cut off what was under way", "error", s.server.Close())
			}
		})
	}
	running.Wait()
	return err
}

func newServer(opts Options, h http.Handler) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: opts.Config.Timeouts.Header,
		IdleTimeout:       opts.Config.Timeouts.Idle,
		MaxHeaderBytes:    int(opts.Config.Limits.HeaderBytes),
		ErrorLog:          slog.NewLogLogger(opts.Log.Handler(), slog.LevelDebug),
	}
}

// Handler mounts everything that is served on the public address. It is no
// http.ServeMux: that one redirects paths which /v1 takes as they are.
func Handler(opts Options) (http.Handler, error) {
	c := opts.Config
	proxies := make([]string, 0, len(c.TrustedProxies))
	for _, network := range c.TrustedProxies {
		proxies = append(proxies, network.String())
	}
	v1, err := api.New(api.Options{
		Vault: opts.Vault, PublicURL: c.PublicURL, TrustedProxies: proxies, Origins: c.CORS.Origins,
		Limits: api.Limits{
			JSON: int64(c.Limits.JSONBody), FormFields: int64(c.Limits.FormFields), Parts: c.Limits.Parts,
			RequestBody: int64(c.Limits.RequestBodyMax()), Stall: c.Timeouts.Stall, MinRate: int64(c.Timeouts.MinRate),
		},
		FailingKeys: c.Rate.FailingKeys, Requests: c.Rate.Requests, LinkTTL: c.Links.TTL, Now: opts.Now, Log: opts.Log,
	})
	if err != nil {
		return nil, err
	}
	pages, err := ui.New(ui.Options{Files: opts.Vault.Files, Links: opts.Vault.Secrets.Links(), MinRate: int64(c.Timeouts.MinRate), Now: opts.Now, Log: opts.Log})
	if err != nil {
		return nil, err
	}
	describe, err := api.Describe(c.PublicURL, proxies)
	if err != nil {
		return nil, err
	}
	mux := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case api.Owns(r.URL.Path):
			v1.ServeHTTP(w, r)
		case r.URL.Path == "/openapi.json":
			describe.ServeHTTP(w, r)
		case r.URL.Path == "/healthz":
			health(w, r, nil)
		case r.URL.Path == "/readyz":
			health(w, r, opts.Vault.Ready(r.Context()))
		default:
			pages.ServeHTTP(w, r)
		}
	})
	return api.Identify(mux, rand.Reader), nil
}

// health answers whether the process is alive, or what keeps it from working.
func health(w http.ResponseWriter, r *http.Request, problem error) {
	status, body := http.StatusOK, any(wire.Health{Status: "ok"})
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		status, body = http.StatusMethodNotAllowed, wire.Failure{Message: "This method is not allowed here."}
	case problem != nil:
		status, body = http.StatusServiceUnavailable, wire.Failure{Message: reason(problem)}
		w.Header().Set("Retry-After", "10")
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	// A prober that has gone needs no answer.
	_ = json.NewEncoder(w).Encode(body)
}

// reason is a problem's sentence, if it has one for people.
func reason(problem error) string {
	var named *title.Error
	if errors.As(problem, &named) {
		return named.Message
	}
	return "The vault cannot be read."
}

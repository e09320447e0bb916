// Package server runs the HTTP server: listeners, TLS, routing, startup, and shutdown.
package server

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"deedkeep/app/api"
	"deedkeep/app/apitypes"
	"deedkeep/app/certificate"
	"deedkeep/app/config"
	"deedkeep/app/control"
	"deedkeep/app/encode"
	"deedkeep/app/errs"
	"deedkeep/app/httpx"
	"deedkeep/app/instance"
	"deedkeep/app/memory"
	"deedkeep/app/metrics"
	"deedkeep/app/sandbox"
	"deedkeep/app/ui"
)

// Options configure Serve and Handler.
type Options struct {
	Config       config.Config
	SettingsFile string             // the settings file in use, or the path to create one at
	App          *instance.Instance // an open vault; Serve starts it but doesn't close it
	Build        control.Build
	Log          *slog.Logger
	Now          func() time.Time
	OnStarted    func(Addresses)                                // called once, when the server accepts requests
	Restart      func()                                         // restarts the server; may be nil
	RestartError string                                         // why the last restart didn't apply the stored settings, or ""
	Doctor       func(context.Context) (apitypes.Doctor, error) // runs the diagnostics for administrators; may be nil
	Memory       func() []memory.Processes                      // returns the memory of all processes; may be nil
	Sandbox      func() sandbox.Stats                           // returns the sandbox worker counts for /metrics; may be nil
}

// Addresses holds the addresses and the certificate of a running server.
type Addresses struct {
	Address     string            // host and port
	Redirect    string            // host and port of tls.redirect_listen; "" if not set
	Certificate *certificate.Info // nil without TLS
}

// URL returns the base URL of the server.
func (a Addresses) URL() string {
	if a.Certificate != nil {
		return "https://" + a.Address
	}
	return "http://" + a.Address
}

// Serve runs the server on the configured addresses and the control socket until ctx is
// canceled. Then it waits up to timeouts.grace for the requests in progress. The control socket
// is closed last, so commands can use it until then.
func Serve(ctx context.Context, opts Options) error {
	opts.Log = slog.New(httpx.LogHandler(opts.Log.Handler()))
	forwarded := httpx.NewForwardingMonitor(opts.Config.TrustedProxies, opts.Now)
	limiter := newConnLimiter(opts.Config.Limits, opts.Config.Timeouts, opts.Config.TrustedProxies)
	var front listeners
	public, err := handler(opts, forwarded, limiter.disconnectSlowest, front.certificateExpires)
	if err != nil {
		return err
	}
	probes := newProbes(opts)
	idle := newIdleTrimmer(opts)
	front, err = openListeners(ctx, opts, idle.watch(probes.intercept(public)), limiter)
	if err != nil {
		return err
	}
	if front.certificate != nil {
		defer front.certificate.Close()
	}
	controlSocket, err := control.Listen(opts.App.Dir, rand.Reader)
	if err != nil {
		return errors.Join(err, front.close())
	}
	answering := front.addresses()
	controlHandler := control.Guard(control.NewHandler(control.HandlerOptions{
		App: opts.App, Build: opts.Build, Listen: answering.Address, Origin: opts.Config.Origin(answering.Address), Certificate: front.certificateInfo,
		Probes: probes, Forwarded: forwarded, Memory: opts.Memory, StartedAt: opts.Now(), Log: opts.Log, Rand: rand.Reader,
	}), controlSocket.Token)
	opts.App.Start(opts.Config.Sweep.Every)
	var background sync.WaitGroup
	defer background.Wait()
	working, stop := context.WithCancel(ctx)
	defer stop()
	background.Go(func() { idle.run(working) })
	if opts.OnStarted != nil {
		opts.OnStarted(answering)
	}
	return run(ctx, opts, front.drain, append(front.services, service{controlSocket, newServer(opts, controlHandler)}))
}

type service struct {
	listener net.Listener
	server   *http.Server
}

// shutdownTimeout limits how long each service may take to close after the grace period. That is
// enough for a response in progress and for every command on the control socket except a
// verification. Interrupting a verification is harmless, because it changes nothing.
const shutdownTimeout = time.Second

// run serves until ctx is canceled or a service fails, and then stops the services in sequence.
func run(ctx context.Context, opts Options, g *drainer, services []service) error {
	ended := make(chan error, len(services))
	for _, s := range services {
		go func() { ended <- s.server.Serve(s.listener) }()
	}
	var err error
	running := len(services)
	select {
	case <-ctx.Done():
		opts.Log.Info("stopping", "grace", opts.Config.Timeouts.Grace.String())
	case err = <-ended:
		running--
	}
	// Pause uploads so that they don't use up the grace period. They resume after the next
	// start.
	opts.App.Uploads.Pause()
	opts.App.Events.EndFollowing()
	g.close(opts.Config.Timeouts.Grace)
	for _, s := range services {
		s.stop(ctx, opts.Log)
	}
	for range running {
		if served := <-ended; !errors.Is(served, http.ErrServerClosed) {
			err = errors.Join(err, served)
		}
	}
	return err
}

func (s service) stop(ctx context.Context, log *slog.Logger) {
	// ctx is already canceled, so the requests in progress get their own timeout.
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	if s.server.Shutdown(grace) != nil {
		log.Warn("requests in progress canceled", "error", s.server.Close())
	}
}

func newServer(opts Options, h http.Handler) *http.Server {
	return &http.Server{
		Handler: awaitReceived(httpx.CloseOnPanic(h, opts.Log)),
		// This timeout also limits the TLS handshake.
		ReadHeaderTimeout: opts.Config.Timeouts.Header,
		IdleTimeout:       opts.Config.Timeouts.Idle,
		MaxHeaderBytes:    64 << 10,
		ConnState:         trackState,
		ConnContext:       withConn,
		ErrorLog:          slog.NewLogLogger(opts.Log.Handler(), slog.LevelDebug),
		// Without this, net/http would respond to "OPTIONS *" without a request ID.
		DisableGeneralOptionsHandler: true,
	}
}

// memoryWait is how long a request may wait for the memory to read its body.
const memoryWait = 10 * time.Second

// stallInMemory replaces timeouts.stall, if that is longer, for requests that have memory reserved.
const stallInMemory = 10 * time.Second

// Handler returns the handler for all requests to the public address. It doesn't use
// http.ServeMux, because that would redirect some paths that are valid in /v1.
func Handler(opts Options) (http.Handler, error) {
	opts.Log = slog.New(httpx.LogHandler(opts.Log.Handler()))
	return handler(opts, httpx.NewForwardingMonitor(opts.Config.TrustedProxies, opts.Now), func() {}, nil)
}

// handler returns the handler for the public address. It calls full when it has no memory for a request or a response.
// expires returns when the certificate expires; it may be nil.
func handler(opts Options, forwarded *httpx.ForwardingMonitor, full func(), expires func() time.Time) (http.Handler, error) {
	c := opts.Config
	addresses := httpx.AddressResolver{PublicURL: c.PublicURL, TrustedProxies: c.TrustedProxies}
	bodies := httpx.NewMemoryBudget(int64(c.Limits.BodiesInMemory), memoryWait)
	bodies.Full = full
	responses := httpx.ResponseMemory{Max: int64(c.Limits.BodiesInMemory) / 4, Full: full}
	numbers := metrics.New(metrics.Options{
		App: opts.App, Sandbox: opts.Sandbox, Version: opts.Build.Version, Commit: opts.Build.Commit, Now: opts.Now, Log: opts.Log,
		Forwarded: forwarded.Counts, Memory: opts.Memory, CertificateExpires: expires,
	})
	v1, err := api.New(api.Options{
		App: opts.App, PublicURL: c.PublicURL, TrustedProxies: c.TrustedProxies, Origins: c.CORS.Origins,
		Limits: api.Limits{
			JSON: int64(c.Limits.JSONBody), FormFields: int64(c.Limits.FormFields), Parts: c.Limits.Parts,
			RequestBody: int64(c.Limits.MaxRequestBody()), Stall: c.Timeouts.Stall, MinRate: int64(c.Timeouts.MinRate),
			StallInMemory: stallInMemory,
		},
		Memory: bodies, FailingKeys: c.Rate.FailingKeys, Requests: c.Rate.Requests, LinkTTL: c.Links.TTL,
		Metrics: numbers.Text, MetricsMedia: metrics.MediaType, MetricsLocal: c.Metrics.Loopback, Now: opts.Now, Log: opts.Log,
	})
	if err != nil {
		return nil, err
	}
	pages, err := ui.New(ui.Options{
		App: opts.App, Links: opts.App.Secrets.Links().WithMaxTTL(c.Links.TTL),
		Address: addresses.ClientAddrText, Origin: addresses.Origin, Event: encode.NewIDCodec(opts.App.Secrets).Event,
		Restart: opts.Restart, RestartError: opts.RestartError, Run: strconv.FormatInt(opts.Now().UnixNano(), 36),
		SettingsFile: opts.SettingsFile, Version: opts.Build.String(), Doctor: opts.Doctor,
		FormBytes: int64(c.Limits.FormFields), LimitBody: bodies.LimitBody, BodyBytes: int64(c.Limits.MaxRequestBody()), Parts: c.Limits.Parts,
		MinRate: int64(c.Timeouts.MinRate), Stall: c.Timeouts.Stall, Now: opts.Now, Log: opts.Log,
	})
	if err != nil {
		return nil, err
	}
	describe := api.Describe(addresses)
	healthy := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { health(w, r, "", nil) })
	ready := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		room, problem := opts.App.Readiness(r.Context())
		health(w, r, room.StillWorks(apitypes.HumanSize), problem)
	})
	mux := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch path := r.URL.Path; {
		case api.Owns(path), path == api.MetricsPath:
			v1.ServeHTTP(w, r)
		case path == "/openapi.json":
			bodiless(w, r, describe)
		case path == "/healthz":
			bodiless(w, r, healthy)
		case path == "/readyz":
			bodiless(w, r, ready)
		default:
			pages.ServeHTTP(w, r)
		}
	})
	guarded := httpx.SlowClientGuard(requireHost(mux, c), c.Timeouts.Stall)
	return httpx.WithRequestID(responses.Limit(numbers.Instrument(forwarded.Watch(guarded))), rand.Reader), nil
}

// bodiless calls a handler that doesn't read the request body. If the request has a body, the
// connection is closed afterward.
func bodiless(w http.ResponseWriter, r *http.Request, next http.Handler) {
	r.Pattern = r.URL.Path // bounded, because callers pass only fixed paths
	if r.ContentLength != 0 {
		w.Header().Set("Connection", "close")
	}
	next.ServeHTTP(w, r)
}

// health responds with status "ok" or, if problem is not nil, with 503 and the reason. stillWorks
// is a sentence for a disk that is full or nearly full, or "".
func health(w http.ResponseWriter, r *http.Request, stillWorks string, problem error) {
	status, body := http.StatusOK, any(apitypes.Health{Status: "ok"})
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		status, body = http.StatusMethodNotAllowed, apitypes.Failure{Message: "This method is not allowed here."}
	case problem != nil:
		status, body = http.StatusServiceUnavailable, apitypes.Failure{Message: strings.TrimSpace(reason(problem) + " " + stillWorks)}
		w.Header().Set("Retry-After", "10")
	case stillWorks != "":
		body = apitypes.LimitedHealth{Status: "ok", Message: stillWorks}
	}
	httpx.WriteJSON(w, status, body)
}

// reason returns the message of problem if it is an *errs.Error, or a general message otherwise.
func reason(problem error) string {
	var named *errs.Error
	if errors.As(problem, &named) {
		return named.Message
	}
	return "The database can't be read."
}

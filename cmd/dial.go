package cmd

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"syscall"
	"time"

	"deedkeep/app/config"
	"deedkeep/app/control"
	"deedkeep/app/errs"
	"deedkeep/app/instance"
)

// withClient runs fn with a client of the control API: of the server that runs on the
// data directory or, if none runs, of a handler in this process that opens the vault. fn
// may run twice if the server stops in between, so it must not print before its first
// request succeeds.
func (s *shell) withClient(ctx context.Context, fn func(context.Context, *control.Client) error) error {
	return s.connect(ctx, false, fn)
}

// withClientAndSandbox is like withClient for commands that upload documents. If no
// server runs, sandbox workers of this process inspect them.
func (s *shell) withClientAndSandbox(ctx context.Context, fn func(context.Context, *control.Client) error) error {
	return s.connect(ctx, true, fn)
}

func (s *shell) connect(ctx context.Context, withSandbox bool, fn func(context.Context, *control.Client) error) error {
	c, err := s.load()
	if err != nil {
		return err
	}
	if err := s.callServer(ctx, c, fn); !errors.Is(err, control.ErrNoServer) {
		return err
	}
	err = s.callInProcess(ctx, c, withSandbox, fn)
	if errs.KindOf(err) != errs.Locked {
		return err
	}
	// A server that was starting may hold the lock of the vault. Its control socket may
	// be open by now.
	if retryErr := s.callServer(ctx, c, fn); !errors.Is(retryErr, control.ErrNoServer) {
		return retryErr
	}
	return err
}

// callServer runs fn with a client of the running server. The error wraps
// control.ErrNoServer if there is none; no request was sent then.
func (s *shell) callServer(ctx context.Context, c config.Config, fn func(context.Context, *control.Client) error) error {
	transport := control.RoundTripper(c.Data)
	defer (&http.Client{Transport: transport}).CloseIdleConnections()
	err := fn(ctx, s.newClient(transport))
	if errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, io.EOF) {
		return &errs.Error{Kind: errs.Locked, Message: "the server stopped before it answered; look whether it was done", Err: err}
	}
	return err
}

func (s *shell) newClient(transport http.RoundTripper) *control.Client {
	return control.NewClient(transport).AsOperator(cmp.Or(s.operator, operatorName()))
}

// callInProcess opens the vault in this process and serves the control API from memory.
func (s *shell) callInProcess(ctx context.Context, c config.Config, withSandbox bool, fn func(context.Context, *control.Client) error) (err error) {
	if err := s.becomeOwner(c); err != nil {
		return err
	}
	log := s.logger(c, slog.LevelWarn)
	opts := instance.Options{Dir: c.Data, Settings: vaultSettings(c), Now: time.Now, Rand: rand.Reader, Log: log}
	if withSandbox {
		pool := openSandbox(c, log)
		defer func() { err = errors.Join(err, pool.Close()) }()
		opts.Reader = pool
	}
	v, err := instance.Open(ctx, opts)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, v.Close()) }()
	listener := control.ListenMemory()
	server := &http.Server{
		Handler:           control.NewHandler(control.HandlerOptions{Vault: v, Build: build(), Origin: c.Origin(c.Listen), Log: log, Rand: rand.Reader}),
		ReadHeaderTimeout: c.Timeouts.Header,
	}
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	err = fn(ctx, s.newClient(listener.RoundTripper()))
	if closeErr := server.Close(); closeErr != nil {
		err = errors.Join(err, fmt.Errorf("close the door: %w", closeErr))
	}
	if serveErr := <-done; !errors.Is(serveErr, http.ErrServerClosed) {
		err = errors.Join(err, serveErr)
	}
	return err
}

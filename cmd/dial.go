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

// withClient runs fn with a client of the control API. If a server is running on the data
// directory, the client connects to it. Otherwise, this process opens the vault and handles
// the requests itself. If the server stops in the meantime, fn may be called twice, so it
// must not print anything before its first request succeeds.
func (s *shell) withClient(ctx context.Context, fn func(context.Context, *control.Client) error) error {
	return s.connect(ctx, false, fn)
}

// connect is like withClient. If no server is running and withSandbox is set, this process
// starts sandbox workers to inspect the documents that fn uploads.
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
	// A server that is starting may hold the lock of the vault. By now, its control socket
	// may be open.
	if retryErr := s.callServer(ctx, c, fn); !errors.Is(retryErr, control.ErrNoServer) {
		return retryErr
	}
	return err
}

// callServer runs fn with a client of the running server. If no server is running, it sends
// nothing and returns an error that wraps control.ErrNoServer.
func (s *shell) callServer(ctx context.Context, c config.Config, fn func(context.Context, *control.Client) error) error {
	transport := control.RoundTripper(c.Data)
	defer (&http.Client{Transport: transport}).CloseIdleConnections()
	err := fn(ctx, s.newClient(transport))
	if errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, io.EOF) {
		return &errs.Error{Kind: errs.Locked, Message: "the server stopped before responding; check whether the change was saved", Err: err}
	}
	return err
}

func (s *shell) newClient(transport http.RoundTripper) *control.Client {
	return control.NewClient(transport).AsOperator(cmp.Or(s.operator, operatorName()))
}

// callInProcess opens the vault in this process and runs fn with a client that is connected
// to it in memory.
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
		err = errors.Join(err, fmt.Errorf("close control listener: %w", closeErr))
	}
	if serveErr := <-done; !errors.Is(serveErr, http.ErrServerClosed) {
		err = errors.Join(err, serveErr)
	}
	return err
}

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

	"deedkeep/app/client"
	"deedkeep/app/config"
	"deedkeep/app/control"
	"deedkeep/app/errs"
	"deedkeep/app/instance"
)

// withClient runs fn with a client of the control door: of the server that runs on the
// data directory, or, where none does, of the same handler over the vault that is
// opened here. fn cannot tell which; it asks before it prints.
func (s *shell) withClient(ctx context.Context, fn func(context.Context, *client.Client) error) error {
	return s.connect(ctx, false, fn)
}

// withClientAndSandbox is ask for a command that files documents: where no server runs, they
// are opened by children of this process.
func (s *shell) withClientAndSandbox(ctx context.Context, fn func(context.Context, *client.Client) error) error {
	return s.connect(ctx, true, fn)
}

func (s *shell) connect(ctx context.Context, reads bool, fn func(context.Context, *client.Client) error) error {
	c, err := s.load()
	if err != nil {
		return err
	}
	if err := s.callServer(ctx, c, fn); !errors.Is(err, control.ErrNoServer) {
		return err
	}
	err = s.callInProcess(ctx, c, reads, fn)
	if errs.KindOf(err) != errs.Locked {
		return err
	}
	// A server that was just starting has the vault; by now its door may be open.
	if again := s.callServer(ctx, c, fn); !errors.Is(again, control.ErrNoServer) {
		return again
	}
	return err
}

// callServer wraps local.ErrNobody when no server runs; then nothing was asked.
func (s *shell) callServer(ctx context.Context, c config.Config, fn func(context.Context, *client.Client) error) error {
	transport := control.RoundTripper(c.Data)
	defer (&http.Client{Transport: transport}).CloseIdleConnections()
	err := fn(ctx, s.newClient(transport))
	if errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, io.EOF) {
		return &errs.Error{Kind: errs.Locked, Message: "the server stopped before it answered; look whether it was done", Err: err}
	}
	return err
}

func (s *shell) newClient(transport http.RoundTripper) *client.Client {
	return client.New(client.ControlBaseURL, "", transport).AsOperator(cmp.Or(s.operator, operatorName()))
}

// callInProcess opens the vault and answers itself, in memory.
func (s *shell) callInProcess(ctx context.Context, c config.Config, reads bool, fn func(context.Context, *client.Client) error) (err error) {
	if err := s.becomeOwner(c); err != nil {
		return err
	}
	log := s.logger(c, slog.LevelWarn)
	opts := instance.Options{Dir: c.Data, Settings: vaultSettings(c), Now: time.Now, Rand: rand.Reader, Log: log}
	if reads {
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
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	err = fn(ctx, s.newClient(listener.RoundTripper()))
	if closed := server.Close(); closed != nil {
		err = errors.Join(err, fmt.Errorf("close the door: %w", closed))
	}
	if served := <-ended; !errors.Is(served, http.ErrServerClosed) {
		err = errors.Join(err, served)
	}
	return err
}

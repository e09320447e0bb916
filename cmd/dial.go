package cmd

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"syscall"
	"time"

	"deedkeep/app/config"
	"deedkeep/app/control"
	"deedkeep/app/errs"
	"deedkeep/app/instance"
	"deedkeep/app/integrity"
)

// withClient runs fn with a client of the control API. If a server is running on the data
// directory, the client connects to it. Otherwise, this process opens the vault and handles
// the requests itself. If the server stops in the meantime, fn may be called twice, so it
// must not print anything before its first request succeeds.
func (s *shell) withClient(ctx context.Context, fn func(context.Context, *control.Client) error) error {
	return s.connect(ctx, vaultAccess{}, fn)
}

// vaultAccess is what a command needs of a vault that it opens itself.
type vaultAccess struct {
	WithSandbox bool // start sandbox workers to inspect the documents that the command uploads
	Create      bool // create the vault if there is none
}

// connect is like withClient. If no server is running, access says how this process opens the vault.
func (s *shell) connect(ctx context.Context, access vaultAccess, fn func(context.Context, *control.Client) error) error {
	c, err := s.load(ctx, nil)
	if err != nil {
		return err
	}
	if err := s.callServer(ctx, c, fn); !errors.Is(err, control.ErrNoServer) {
		return err
	}
	err = s.callInProcess(ctx, c, access, fn)
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
	return s.call(ctx, control.RoundTripper(c.Data), fn)
}

// call runs fn with a client that uses the transport. Its error says so if the other process
// ends before it responds.
func (s *shell) call(ctx context.Context, transport http.RoundTripper, fn func(context.Context, *control.Client) error) error {
	defer (&http.Client{Transport: transport}).CloseIdleConnections()
	client := control.NewClient(transport).AsOperator(cmp.Or(s.operator, operatorName()))
	err := fn(ctx, client)
	if errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, io.EOF) {
		return &errs.Error{Kind: errs.Locked, Message: "the server stopped before responding; check whether the change was saved", Err: err}
	}
	return err
}

// callInProcess opens the vault in this process, or in a process of its owner if this process
// runs as root, and runs fn with a client that is connected to it.
func (s *shell) callInProcess(ctx context.Context, c config.Config, access vaultAccess, fn func(context.Context, *control.Client) error) (err error) {
	if err := integrity.CheckOwner(c.Data); err != nil {
		return err
	}
	if owner, other := otherOwner(c.Data); other {
		return s.callAsOwner(ctx, c, owner, access, fn)
	}
	v, err := s.openVault(ctx, c, access)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, v.Close()) }()
	listener := control.ListenMemory()
	stop := v.serve(listener)
	err = s.call(ctx, listener.RoundTripper(), fn)
	return errors.Join(err, stop())
}

// storedSettings returns the settings that are stored in a data directory. It asks the server that is running there, or
// reads the database. If another process has it open, storedSettings tries again for the duration wait, because that may
// be a server that is starting.
func storedSettings(ctx context.Context, dir string, wait time.Duration) (map[string]string, error) {
	transport := control.RoundTripper(dir)
	defer (&http.Client{Transport: transport}).CloseIdleConnections()
	for deadline := time.Now().Add(wait); ; {
		stored, err := control.NewClient(transport).Settings(ctx)
		if !errors.Is(err, control.ErrNoServer) {
			return stored, err
		}
		stored, err = instance.StoredSettings(dir)
		if errs.KindOf(err) != errs.Locked || ctx.Err() != nil || time.Now().After(deadline) {
			return stored, err
		}
	}
}

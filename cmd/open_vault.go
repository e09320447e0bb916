package cmd

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"deedkeep/app/config"
	"deedkeep/app/control"
	"deedkeep/app/errs"
	"deedkeep/app/instance"
)

// openedVault is a vault that a command has opened because no server is running.
type openedVault struct {
	*instance.Instance
	config  config.Config
	log     *slog.Logger
	sandbox io.Closer // nil without sandbox workers
}

// openVault opens the vault in this process.
func (s *shell) openVault(ctx context.Context, c config.Config, access vaultAccess) (*openedVault, error) {
	log := s.logger(c, slog.LevelWarn)
	v := &openedVault{config: c, log: log}
	opts := instance.Options{
		Dir: c.Data, Create: access.Create, Settings: vaultSettings(c), Now: time.Now, Rand: rand.Reader, Log: log,
		Load: func(map[string]string) (config.Config, error) { return c, nil }, // it includes what is stored
	}
	if access.WithSandbox {
		pool := openSandbox(c, log)
		opts.Reader, v.sandbox = pool, pool
	}
	var err error
	if v.Instance, err = instance.Open(ctx, opts); err != nil {
		return nil, errors.Join(err, v.closeSandbox())
	}
	return v, nil
}

func (v *openedVault) closeSandbox() error {
	if v.sandbox == nil {
		return nil
	}
	return v.sandbox.Close()
}

func (v *openedVault) Close() error { return errors.Join(v.Instance.Close(), v.closeSandbox()) }

// serve serves the control API on the listener until stop is called.
func (v *openedVault) serve(listener net.Listener) (stop func() error) {
	server := &http.Server{
		Handler: control.NewHandler(control.HandlerOptions{
			App: v.Instance, Build: build(), Origin: v.config.Origin(v.config.Listen), Log: v.log, Rand: rand.Reader,
		}),
		ReadHeaderTimeout: v.config.Timeouts.Header,
	}
	done := make(chan error, 1)
	go func() { done <- server.Serve(listener) }()
	return func() error {
		err := server.Close()
		if err != nil {
			err = fmt.Errorf("close control listener: %w", err)
		}
		if serveErr := <-done; !errors.Is(serveErr, http.ErrServerClosed) {
			err = errors.Join(err, serveErr)
		}
		return err
	}
}

// ownerProcessArg is the first argument of the process that callAsOwner starts.
const ownerProcessArg = "open-vault-as-owner"

// isOwnerProcess reports whether this process was started by callAsOwner.
func isOwnerProcess(args []string) bool { return len(args) > 1 && args[1] == ownerProcessArg }

// ownerProcess is the first line that a process of the vault's owner reads from standard
// input. It gets the settings from root, because its user may not be able to read them.
type ownerProcess struct {
	Config config.Config
	Access vaultAccess
}

// opened is the line that this process writes to standard output: nothing, or the error of
// opening the vault.
type opened struct {
	Failed          bool
	Kind            errs.Kind
	Message         string
	Damaged, Absent bool // instance.ErrDamaged, instance.ErrNoVault
}

func (o opened) err() error {
	if !o.Failed {
		return nil
	}
	var cause error
	switch {
	case o.Damaged:
		cause = instance.ErrDamaged
	case o.Absent:
		cause = instance.ErrNoVault
	}
	return &errs.Error{Kind: o.Kind, Message: o.Message, Err: cause}
}

// callAsOwner starts a process of the vault's owner that opens the vault, and runs fn with a
// client that is connected to it.
func (s *shell) callAsOwner(ctx context.Context, c config.Config, owner account, access vaultAccess,
	fn func(context.Context, *control.Client) error) (err error) {
	if c.Data, err = filepath.Abs(c.Data); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "deedkeep") // only this user can read it
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, "socket")
	end, err := s.startAsOwner(ctx, c, owner, access, path)
	if err != nil {
		return err
	}
	s.runAs = owner.name
	s.messagef("the data directory is open as %s, the owner of %s", owner.name, c.Data)
	err = s.call(ctx, control.UnixRoundTripper(path), fn)
	return errors.Join(err, end())
}

// startAsOwner starts a process of the vault's owner and waits until it has opened the vault.
// It serves the control API on a socket at path until end is called or ctx is canceled.
func (s *shell) startAsOwner(ctx context.Context, c config.Config, owner account, access vaultAccess, path string) (
	end func() error, err error) {
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, listener.Close()) }()
	listener.SetUnlinkOnClose(false) // the process keeps listening at path
	socket, err := listener.File()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, socket.Close()) }()
	program, err := ownProgram()
	if err != nil {
		return nil, err
	}
	process := exec.Command(program, ownerProcessArg) //nolint:gosec,noctx // our own program; end stops it
	process.Args[0] = "deedkeep"
	process.Stderr, process.ExtraFiles = os.Stderr, []*os.File{socket}
	runAs(process, owner)
	in, err := process.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := process.Start(); err != nil {
		return nil, switchFailed(c.Data, owner, err)
	}
	closeInput := sync.OnceValue(in.Close)
	stopWatching := context.AfterFunc(ctx, func() { _ = closeInput() })
	end = func() error {
		stopWatching()
		return errors.Join(closeInput(), process.Wait())
	}
	var result opened
	if err = json.NewEncoder(in).Encode(ownerProcess{Config: c, Access: access}); err == nil {
		err = json.NewDecoder(out).Decode(&result)
	}
	if err != nil {
		return nil, errors.Join(ctx.Err(), fmt.Errorf("start a process as %s: %w", owner.name, err), end())
	}
	if result.Failed {
		return nil, errors.Join(result.err(), end())
	}
	return end, nil
}

// ownProgram returns a path of this program. On Linux, the owner of the vault can start it even
// without permission to read its directory.
func ownProgram() (string, error) {
	const link = "/proc/self/exe"
	if _, err := os.Stat(link); err == nil {
		return link, nil
	}
	return os.Executable()
}

// runOwnerProcess opens the vault with the settings on standard input, reports the result on
// standard output, and serves the control API on the inherited socket until standard input
// is closed. It returns the exit code.
func runOwnerProcess(stdin io.Reader, stdout, stderr io.Writer) int {
	signal.Ignore(os.Interrupt, syscall.SIGTERM) // the process of root decides when this one ends
	s := newShell(stdin, stdout, stderr)
	if err := s.serveOwnerProcess(bufio.NewReader(stdin)); err != nil {
		s.messagef("%s", message(err))
		return exitFailed
	}
	return exitDone
}

func (s *shell) serveOwnerProcess(in *bufio.Reader) (err error) {
	line, err := in.ReadBytes('\n')
	if err != nil {
		return err
	}
	var input ownerProcess
	if err := json.Unmarshal(line, &input); err != nil {
		return err
	}
	socket := os.NewFile(3, "control socket")
	listener, err := net.FileListener(socket)
	if err != nil {
		return err
	}
	if err := socket.Close(); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	inputClosed := make(chan struct{})
	go func() {
		defer close(inputClosed)
		_, _ = io.Copy(io.Discard, in) // until the process of root ends or closes its end
		cancel()
	}()
	v, err := s.openVault(ctx, input.Config, input.Access)
	if err != nil {
		return json.NewEncoder(s.out).Encode(opened{
			Failed: true, Kind: errs.KindOf(err), Message: message(err),
			Damaged: errors.Is(err, instance.ErrDamaged), Absent: errors.Is(err, instance.ErrNoVault),
		})
	}
	defer func() { err = errors.Join(err, v.Close()) }()
	stop := v.serve(listener)
	if err = json.NewEncoder(s.out).Encode(opened{}); err == nil {
		<-inputClosed
	}
	return errors.Join(err, stop())
}

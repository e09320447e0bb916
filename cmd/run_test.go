package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"deedkeep/app/backup/archive"
	"deedkeep/app/client"
	"deedkeep/web"
)

// result is what one command line came to.
type result struct {
	code          int
	out, messages string
}

func testShell() (*shell, *bytes.Buffer, *bytes.Buffer) {
	out, messages := new(bytes.Buffer), new(bytes.Buffer)
	return &shell{
		in: strings.NewReader(""), out: out, messages: messages,
		checkAssets: func() error { return nil }, fileSystemType: func(string) (string, bool, error) { return "ext4", false, nil },
		isInteractive: func(io.Reader) bool { return false },
	}, out, messages
}

// runCLI runs a command line in this process, over a directory that is handed in.
func runCLI(ctx context.Context, t *testing.T, change func(*shell), args ...string) result {
	t.Helper()
	s, out, messages := testShell()
	if change != nil {
		change(s)
	}
	return result{s.run(ctx, args), out.String(), messages.String()}
}

func TestEveryCommandHasAnExample(t *testing.T) {
	s, _, _ := testShell()
	var visit func(*cobra.Command)
	visit = func(cmd *cobra.Command) {
		if cmd.HasParent() && !strings.Contains(cmd.Example, cmd.CommandPath()) {
			t.Errorf("%s: its example is %q", cmd.CommandPath(), cmd.Example)
		}
		if cmd.Short == "" {
			t.Errorf("%s says nothing about itself", cmd.CommandPath())
		}
		for _, part := range cmd.Commands() {
			visit(part)
		}
	}
	visit(s.root())
}

func TestMissingAssets(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d")
	got := runCLI(t.Context(), t, func(s *shell) { s.checkAssets = func() error { return web.ErrAssetsMissing } }, "serve", "--data", dir)
	if want := (result{1, "", "deedkeep: assets are missing: run \"go generate ./...\"\n"}); got != want {
		t.Errorf("%+v", got)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it made %s: %v", dir, err)
	}
	got = runCLI(t.Context(), t, func(s *shell) { s.checkAssets = func() error { return web.ErrAssetsMissing } }, "version")
	if got.code != 0 || !strings.Contains(got.out, "engines: missing") {
		t.Errorf("%+v", got)
	}
}

func TestNetworkFileSystem(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d")
	nfs := func(s *shell) { s.fileSystemType = func(string) (string, bool, error) { return "nfs", true, nil } }
	got := runCLI(t.Context(), t, nfs, "serve", "--data", dir)
	if got.code != exitUsage || !strings.Contains(got.messages, "network file system (nfs)") || !strings.Contains(got.messages, "disk.allow_network: true") {
		t.Errorf("%+v", got)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it made %s: %v", dir, err)
	}
	failing := func(s *shell) {
		s.fileSystemType = func(string) (string, bool, error) { return "", false, errors.New("no answer") }
	}
	if got := runCLI(t.Context(), t, failing, "serve", "--data", dir); got.code != exitFailed || got.messages != "deedkeep: data directory: no answer\n" {
		t.Errorf("%+v", got)
	}
	t.Setenv("DEEDKEEP_DISK_ALLOW_NETWORK", "true")
	t.Setenv("DEEDKEEP_LISTEN", "192.0.2.1:1") // an address that is not this machine's
	if got := runCLI(t.Context(), t, nfs, "serve", "--data", shortDataDir(t)); got.code != exitFailed || !strings.Contains(got.messages, "--listen") {
		t.Errorf("where it is allowed: %+v", got)
	}
}

// shortDataDir is a data directory in which the path of a socket fits.
func shortDataDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "dk") //nolint:usetesting // t.TempDir is too long for a socket
	if err != nil {
		t.Fatalf("create temporary directory: %v", err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("remove directory: %v", err)
		}
	})
	return filepath.Join(dir, "d")
}

func TestInterrupted(t *testing.T) {
	data := shortDataDir(t)
	if _, err := seedVault(data); err != nil {
		t.Fatalf("seed: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, args := range [][]string{{"status"}, {"verify"}, {"keys", "list"}, {"keys", "create", "x"}} {
		got := runCLI(ctx, t, nil, append(args, "--data", data)...)
		if want := (result{exitInterrupted, "", "deedkeep: interrupted\n"}); got != want {
			t.Errorf("%v: %+v", args, got)
		}
	}
	// A failure is not hidden by an interruption.
	if got := runCLI(ctx, t, nil, "keys", "revoke", "x"); got.code != exitUsage {
		t.Errorf("%+v", got)
	}
}

// fullWriter is a standard output that is full.
type fullWriter struct{}

func (fullWriter) Write([]byte) (int, error) { return 0, errors.New("no room") }

func TestOutputThatFails(t *testing.T) {
	for _, args := range [][]string{{"version"}, {"version", "--json"}, {"config", "check"}, {"config", "show"}} {
		got := runCLI(t.Context(), t, func(s *shell) { s.out = fullWriter{} }, append(args, "--data", t.TempDir())...)
		if got.code != exitFailed || got.messages != "deedkeep: no room\n" {
			t.Errorf("%v: %+v", args, got)
		}
	}
}

// What is in use elsewhere ends with 11, whether the server says so or the backups do.
func TestLockedElsewhere(t *testing.T) {
	for _, tt := range []struct {
		name string
		err  error
		code int
	}{
		{"the server's backup is being made", fmt.Errorf("backup: %w", &client.Error{Status: http.StatusLocked, Message: "A backup is already being made."}), exitLocked},
		{"the backups are being thinned out", fmt.Errorf("/mnt/b: %w: another backup command works on it", archive.ErrLocked), exitLocked},
		{"another refusal of the server", &client.Error{Status: http.StatusConflict, Message: "No."}, exitFailed},
	} {
		s, _, messages := testShell()
		if code := s.exitCode(t.Context(), tt.err); code != tt.code || messages.String() != "deedkeep: "+message(tt.err)+"\n" {
			t.Errorf("%s: code %d, %q", tt.name, code, messages)
		}
	}
}

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

// result contains the exit code and the output of a command line.
type result struct {
	code          int
	out, messages string
}

// testShell returns a shell with empty input, and the buffers for its output and messages.
func testShell() (*shell, *bytes.Buffer, *bytes.Buffer) {
	out, messages := new(bytes.Buffer), new(bytes.Buffer)
	return &shell{
		in: strings.NewReader(""), out: out, messages: messages,
		checkAssets: func() error { return nil }, fileSystemType: func(string) (string, bool, error) { return "ext4", false, nil },
		isInteractive: func(io.Reader) bool { return false },
	}, out, messages
}

// runCLI runs a command line in this process. change, if not nil, modifies the shell first.
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
			t.Errorf("%s: got example %q, want one with the command", cmd.CommandPath(), cmd.Example)
		}
		if cmd.Short == "" {
			t.Errorf("%s has no short description", cmd.CommandPath())
		}
		for _, sub := range cmd.Commands() {
			visit(sub)
		}
	}
	visit(s.root())
}

// If the binary was built without its generated assets, serve fails and creates nothing.
// Other commands work.
func TestMissingAssets(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d")
	withoutAssets := func(s *shell) { s.checkAssets = func() error { return web.ErrAssetsMissing } }
	got := runCLI(t.Context(), t, withoutAssets, "serve", "--data", dir)
	if want := (result{1, "", "deedkeep: assets are missing: run \"go generate ./...\"\n"}); got != want {
		t.Errorf("serve: got %+v, want %+v", got, want)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("stat %s: got %v, want os.ErrNotExist", dir, err)
	}
	got = runCLI(t.Context(), t, withoutAssets, "version")
	if got.code != 0 || !strings.Contains(got.out, "engines: missing") {
		t.Errorf("version: got %+v, want missing engines", got)
	}
}

// serve rejects a data directory on a network file system unless a setting allows it.
func TestNetworkFileSystem(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "d")
	nfs := func(s *shell) { s.fileSystemType = func(string) (string, bool, error) { return "nfs", true, nil } }
	got := runCLI(t.Context(), t, nfs, "serve", "--data", dir)
	if got.code != exitUsage || !strings.Contains(got.messages, "network file system (nfs)") ||
		!strings.Contains(got.messages, "disk.allow_network: true") {
		t.Errorf("serve on NFS: got %+v, want exit code %d and the setting that allows it", got, exitUsage)
	}
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("stat %s: got %v, want os.ErrNotExist", dir, err)
	}
	brokenFS := func(s *shell) {
		s.fileSystemType = func(string) (string, bool, error) { return "", false, errors.New("no answer") }
	}
	got = runCLI(t.Context(), t, brokenFS, "serve", "--data", dir)
	if got.code != exitFailed || got.messages != "deedkeep: check the file system of the data directory: no answer\n" {
		t.Errorf("serve with an unknown file system: got %+v, want exit code %d", got, exitFailed)
	}
	t.Setenv("DEEDKEEP_DISK_ALLOW_NETWORK", "true")
	t.Setenv("DEEDKEEP_LISTEN", "192.0.2.1:1") // not an address of this machine
	got = runCLI(t.Context(), t, nfs, "serve", "--data", shortDataDir(t))
	if got.code != exitFailed || !strings.Contains(got.messages, "--listen") {
		t.Errorf("serve on allowed NFS: got %+v, want the error of the address", got)
	}
}

// shortDataDir returns the path of a data directory that is short enough for a Unix socket.
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

// An interrupted command exits with exitInterrupted, unless it failed for another reason.
func TestInterrupted(t *testing.T) {
	data := shortDataDir(t)
	if _, err := seedVault(data); err != nil {
		t.Fatalf("create vault: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, args := range [][]string{{"status"}, {"verify"}, {"keys", "list"}, {"keys", "create", "x"}} {
		got := runCLI(ctx, t, nil, append(args, "--data", data)...)
		if want := (result{exitInterrupted, "", "deedkeep: interrupted\n"}); got != want {
			t.Errorf("%v: got %+v, want %+v", args, got, want)
		}
	}
	if got := runCLI(ctx, t, nil, "keys", "revoke"); got.code != exitUsage {
		t.Errorf("keys revoke: got %+v, want exit code %d", got, exitUsage)
	}
}

// fullWriter is a writer that always returns an error.
type fullWriter struct{}

func (fullWriter) Write([]byte) (int, error) { return 0, errors.New("no space") }

// If standard output can't be written, the command fails.
func TestOutputError(t *testing.T) {
	for _, args := range [][]string{{"version"}, {"version", "--json"}, {"config", "check"}, {"config", "show"}} {
		got := runCLI(t.Context(), t, func(s *shell) { s.out = fullWriter{} }, append(args, "--data", t.TempDir())...)
		if got.code != exitFailed || got.messages != "deedkeep: no space\n" {
			t.Errorf("%v: got %+v, want exit code %d and the error of the writer", args, got, exitFailed)
		}
	}
}

// If another process holds the lock, the exit code is exitLocked, whether the error comes
// from the server or the backup archive.
func TestExitCodeOfLock(t *testing.T) {
	for _, tt := range []struct {
		name string
		err  error
		code int
	}{
		{"backup of the server in progress", fmt.Errorf("backup: %w",
			&client.Error{Status: http.StatusLocked, Message: "A backup is already running."}), exitLocked},
		{"backup archive locked", fmt.Errorf("/mnt/b: %w: another backup command works on it", archive.ErrLocked), exitLocked},
		{"other error of the server", &client.Error{Status: http.StatusConflict, Message: "No."}, exitFailed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, _, messages := testShell()
			code := s.exitCode(t.Context(), tt.err)
			if want := "deedkeep: " + message(tt.err) + "\n"; code != tt.code || messages.String() != want {
				t.Errorf("exitCode(%v) = %d with %q, want %d with %q", tt.err, code, messages, tt.code, want)
			}
		})
	}
}

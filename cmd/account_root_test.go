//go:build root && unix

package cmd

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"deedkeep/app/vaulttest"
)

// If root runs a command, it switches to the user who owns the vault and leaves no files
// that belong to root. Run this test as root: go test -tags root ./cmd -run RootRunsAsOwner
func TestRootRunsAsOwner(t *testing.T) {
	const ownerID = 65534               // the user "nobody"
	base, err := os.MkdirTemp("", "dk") //nolint:usetesting // open to the other user
	if err != nil {
		t.Fatalf("create temporary directory: %v", err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(base); err != nil {
			t.Errorf("remove temporary directory: %v", err)
		}
	})
	// Copy the test binary, because only root can read its directory.
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatalf("read test binary: %v", err)
	}
	program, data := filepath.Join(base, "deedkeep"), filepath.Join(base, "data")
	scans, secret, output := filepath.Join(base, "scans"), filepath.Join(base, "secret"), filepath.Join(base, "output")
	must := func(errs ...error) {
		t.Helper()
		for _, err := range errs {
			if err != nil {
				t.Fatalf("set up files: %v", err)
			}
		}
	}
	must(os.Chmod(base, 0o755), os.WriteFile(program, self, 0o755)) // #nosec G302 G306 -- the other user runs it
	_, err = seedVault(data)
	must(err, os.Mkdir(scans, 0o755), os.Mkdir(secret, 0o700), os.Mkdir(output, 0o700)) // #nosec G301 -- the other user reads it
	must(os.WriteFile(filepath.Join(scans, "Deed.txt"), []byte("a deed"), 0o644))       // #nosec G306 -- the other user reads it
	must(os.WriteFile(filepath.Join(secret, "Deed.txt"), []byte("a deed"), 0o600))
	must(filepath.WalkDir(data, func(path string, _ os.DirEntry, err error) error {
		if err == nil {
			err = os.Lchown(path, ownerID, ownerID)
		}
		return err
	}))
	backups := filepath.Join(base, "backups")
	must(os.Mkdir(backups, 0o755), os.Chown(backups, ownerID, ownerID)) // #nosec G301 -- the other user writes it
	run := func(want int, message string, args ...string) string {
		t.Helper()
		c := exec.CommandContext(t.Context(), program, append(args, "--data", data)...)
		c.Env = append(os.Environ(), "SUDO_USER=kim", "DEEDKEEP_READER_CACHE="+vaulttest.CacheDir())
		out, err := c.CombinedOutput()
		if got := c.ProcessState.ExitCode(); got != want || !strings.Contains(string(out), message) {
			t.Fatalf("%q: got %d, %v, want %d and %q\n%s", args, got, err, want, message, out)
		}
		return string(out)
	}
	owner, err := user.LookupId(strconv.Itoa(ownerID))
	if err != nil {
		t.Fatalf("user.LookupId: %v", err)
	}
	openAsOwner := "the data directory is open as " + owner.Username + ", the owner of"
	deniedAsOwner := "the data directory is open as " + owner.Username + ", its owner, not as root"
	report, export := filepath.Join(output, "rejected.csv"), filepath.Join(output, "events.jsonl")
	for _, row := range []struct {
		want    int
		message string
		args    []string
	}{
		{0, openAsOwner, []string{"verify"}},
		{0, openAsOwner, []string{"keys", "create", "Scanner"}},
		{0, openAsOwner, []string{"import", scans}},
		{0, "kim", []string{"events", "list"}},
		{0, openAsOwner, []string{"backup", "create", "--to", backups}},
		{0, "0 deleted", []string{"backup", "prune", "--from", backups, "--keep-daily", "1"}},
		{0, "created backup", []string{"backup", "create", "--to", backups}}, // reads and replaces what prune wrote
		{0, "running as nobody", []string{"backup", "drill", "--from", backups}},
		{1, deniedAsOwner, []string{"backup", "create", "--to", filepath.Join(secret, "backup")}},
		{0, "1 imported", []string{"import", secret, "--folder", "Secret", "--report", report}}, // root can read and write its own files
		{0, openAsOwner, []string{"events", "export", "-o", export}},
		{0, openAsOwner, []string{"events", "verify", "--export", export}},
	} {
		run(row.want, row.message, row.args...)
	}
	// The owner of the data directory can't make root overwrite another file.
	link := filepath.Join(data, "rejected.csv")
	must(os.Symlink(export, link), os.Lchown(link, ownerID, ownerID))
	before, err := os.ReadFile(export)
	must(err)
	run(1, "rejected.csv is a symbolic link that belongs to another user", "import", scans, "--report", link)
	if after, err := os.ReadFile(export); err != nil || !bytes.Equal(after, before) {
		t.Errorf("file of root behind a link: got %d bytes, %v, want the %d before", len(after), err, len(before))
	}
	for _, path := range []string{report, export} {
		if info, err := os.Stat(path); err != nil || info.Size() == 0 {
			t.Errorf("output file of root: got %v, want %s with content", err, path)
		}
	}
	must(filepath.WalkDir(data, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if at, ok := info.Sys().(*syscall.Stat_t); err == nil && (!ok || at.Uid != ownerID || at.Gid != ownerID) {
			t.Errorf("%s belongs to %+v, want user %d", path, info.Sys(), ownerID)
		}
		return err
	}))
	if out := run(0, "", "status"); strings.Contains(out, "denied") {
		t.Errorf("status: got %s, want no \"denied\"", out)
	}
}

// If vault.db and the data directory belong to different users, no command opens the vault
// and the server doesn't start. The error has the command that fixes it. The command leaves
// no output file behind and doesn't change an earlier one.
func TestVaultOfAnotherOwnerIsDenied(t *testing.T) {
	const ownerID = 65534
	for _, row := range []struct {
		name                string
		directory, database int
	}{{"vault.db of root", ownerID, 0}, {"directory of root", 0, ownerID}} {
		t.Run(row.name, func(t *testing.T) {
			data := shortDataDir(t)
			base := filepath.Dir(data)
			scans, report := filepath.Join(base, "scans"), filepath.Join(base, "rejected.csv")
			if _, err := seedVault(data); err != nil {
				t.Fatalf("create vault: %v", err)
			}
			err := errors.Join(os.Chmod(base, 0o755), os.Chown(data, row.directory, row.directory),
				os.Chown(filepath.Join(data, "vault.db"), row.database, row.database),
				os.Mkdir(scans, 0o700), os.WriteFile(filepath.Join(scans, "Deed.txt"), []byte("a deed"), 0o600))
			if err != nil {
				t.Fatalf("set up files: %v", err)
			}
			for _, args := range [][]string{
				{"verify"}, {"serve", "--listen", "127.0.0.1:0"}, {"events", "export", "-o", filepath.Join(base, "events.jsonl")},
				{"import", scans, "--report", report}, {"keys", "create", "Scanner"}, {"doctor"},
			} {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // a server that starts would run forever
				defer cancel()
				c := exec.CommandContext(ctx, "deedkeep", append(args, "--data", data)...) // switches its own user
				c.Env = append(os.Environ(), "DEEDKEEP_READER_CACHE="+vaulttest.CacheDir())
				out, _ := c.CombinedOutput() // the exit code is checked instead
				text := string(out)
				code := c.ProcessState.ExitCode()
				if code != 1 || !strings.Contains(text, "chown -R nobody: "+data) || strings.Contains(text, "chown -R root") {
					t.Errorf("%q: got exit code %d, want 1 and chown -R nobody\n%s", args, code, text)
				}
			}
			entries, err := os.ReadDir(base)
			if err != nil || len(entries) != 2 {
				t.Errorf("files left behind: got %v, %v, want only the data directory and the scans", entries, err)
			}
		})
	}
}

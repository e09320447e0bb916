//go:build root && unix

package cmd

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

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
	scans, secret := filepath.Join(base, "scans"), filepath.Join(base, "secret")
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
	must(err, os.Mkdir(scans, 0o755), os.Mkdir(secret, 0o700))                    // #nosec G301 -- the other user reads it
	must(os.WriteFile(filepath.Join(scans, "Deed.txt"), []byte("a deed"), 0o644)) // #nosec G306 -- the other user reads it
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
	const deniedAsOwner = "this command runs as nobody, the owner of the vault, not as root"
	for _, row := range []struct {
		want    int
		message string
		args    []string
	}{
		{0, "running as nobody, the owner of", []string{"verify"}},
		{0, "running as nobody", []string{"keys", "create", "Scanner"}},
		{0, "running as nobody", []string{"import", scans}},
		{0, "kim", []string{"events", "list"}},
		{0, "running as nobody", []string{"backup", "create", "--to", backups}},
		{0, "running as nobody", []string{"backup", "drill", "--from", backups}},
		{1, deniedAsOwner, []string{"backup", "create", "--to", filepath.Join(secret, "backup")}},
		{1, deniedAsOwner, []string{"import", secret}},
	} {
		run(row.want, row.message, row.args...)
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

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

// Root's commands on a vault of another user run as that user, and leave nothing of
// root's: go test -tags root ./cmd -run Account (as root).
func TestRootRunsAsOwner(t *testing.T) {
	const nobody = 65534
	base, err := os.MkdirTemp("", "dk") //nolint:usetesting // open to the other user
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(base); err != nil {
			t.Error(err)
		}
	})
	// A copy: the test binary lies in a folder that only root can read.
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	program, data, scans, secret := filepath.Join(base, "deedkeep"), filepath.Join(base, "data"), filepath.Join(base, "scans"), filepath.Join(base, "secret")
	each := func(errs ...error) {
		t.Helper()
		for _, err := range errs {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	each(os.Chmod(base, 0o755), os.WriteFile(program, self, 0o755)) // #nosec G302 G306 -- the other user runs it
	_, err = seedVault(data)
	each(err, os.Mkdir(scans, 0o755), os.WriteFile(filepath.Join(scans, "Deed.txt"), []byte("a deed"), 0o644), os.Mkdir(secret, 0o700), os.WriteFile(filepath.Join(secret, "Deed.txt"), []byte("a deed"), 0o600)) // #nosec G301 G306 -- the other user reads it
	each(filepath.WalkDir(data, func(path string, _ os.DirEntry, err error) error {
		if err == nil {
			err = os.Lchown(path, nobody, nobody)
		}
		return err
	}))
	backups := filepath.Join(base, "backups")
	each(os.Mkdir(backups, 0o755), os.Chown(backups, nobody, nobody)) // #nosec G301 -- the other user writes it
	run := func(want int, says string, args ...string) string {
		t.Helper()
		c := exec.CommandContext(t.Context(), program, append(args, "--data", data)...)
		c.Env = append(os.Environ(), "SUDO_USER=kim", "DEEDKEEP_READER_CACHE="+vaulttest.CacheDir())
		out, err := c.CombinedOutput()
		if got := c.ProcessState.ExitCode(); got != want || !strings.Contains(string(out), says) {
			t.Fatalf("%q: got %d, %v, want %d and %q\n%s", args, got, err, want, says, out)
		}
		return string(out)
	}
	for _, row := range []struct {
		want int
		says string
		args []string
	}{
		{0, "running as nobody, the owner of", []string{"verify"}},
		{0, "running as nobody", []string{"keys", "create", "Scanner"}},
		{0, "running as nobody", []string{"import", scans}},
		{0, "kim", []string{"events", "list"}},
		{0, "running as nobody", []string{"backup", "create", "--to", backups}},
		{0, "running as nobody", []string{"backup", "drill", "--from", backups}},
		{1, "this command runs as nobody, who owns the vault, not as root", []string{"backup", "create", "--to", filepath.Join(secret, "backup")}},
		{1, "this command runs as nobody, who owns the vault, not as root", []string{"import", secret}},
	} {
		run(row.want, row.says, row.args...)
	}
	each(filepath.WalkDir(data, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if at, ok := info.Sys().(*syscall.Stat_t); err == nil && (!ok || at.Uid != nobody || at.Gid != nobody) {
			t.Errorf("%s belongs to %+v, want user %d", path, info.Sys(), nobody)
		}
		return err
	}))
	if out := run(0, "", "status"); strings.Contains(out, "denied") {
		t.Errorf("status says %s", out)
	}
}

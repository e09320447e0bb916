//go:build root && linux

package cmd

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"deedkeep/app/vaulttest"
)

// What only reads works as a command on a disk that takes no byte, and in a directory
// where the user may not write: go test -tags root ./cmd -run Unwritable (as root).
func TestCommandsOnAnUnwritableDisk(t *testing.T) {
	const nobody = 65534
	base, err := os.MkdirTemp("", "dk") //nolint:usetesting // open to the other user
	if err != nil {
		t.Fatalf("create temporary directory: %v", err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(base); err != nil {
			t.Errorf("remove directory: %v", err)
		}
	})
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatalf("read file: %v", err)
	}
	program, disk := filepath.Join(base, "deedkeep"), filepath.Join(base, "disk")
	data, aside, backups := filepath.Join(disk, "data"), filepath.Join(disk, "tmp"), filepath.Join(base, "backups")
	each := func(errs ...error) {
		t.Helper()
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
	}
	each(os.Chmod(base, 0o755), os.WriteFile(program, self, 0o755), os.Mkdir(disk, 0o755), os.Mkdir(backups, 0o700), os.Chown(backups, nobody, nobody)) // #nosec G302 G306 G301 -- the other user runs it
	each(syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=8m"))
	t.Cleanup(func() { each(syscall.Unmount(disk, syscall.MNT_DETACH)) })
	_, err = seedVault(data)
	each(err, os.Mkdir(aside, 0o777))
	own := func(uid int, files, folders os.FileMode) {
		t.Helper()
		each(filepath.WalkDir(data, func(path string, d os.DirEntry, err error) error {
			if err != nil {
				return err
			}
			mode := files
			if d.IsDir() {
				mode = folders
			}
			return errors.Join(os.Lchown(path, uid, uid), os.Chmod(path, mode))
		}))
	}
	run := func(ctx context.Context, want int, says string, args ...string) {
		t.Helper()
		c := exec.CommandContext(ctx, program, append(args, "--data", data)...)
		c.Env = append(os.Environ(), "TMPDIR="+aside, "DEEDKEEP_READER_CACHE="+vaulttest.CacheDir())
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		out, _ := c.CombinedOutput()
		if got := c.ProcessState.ExitCode(); got != want || !strings.Contains(string(out), says) {
			t.Errorf("%q: got %d, want %d and %q\n%s", args, got, want, says, out)
		}
	}
	reads := func(name string) {
		t.Helper()
		run(t.Context(), 0, "all is well", "verify")
		run(t.Context(), 0, `"kind":"key.created"`, "events", "export")
		run(t.Context(), 0, "", "events", "verify")
		run(t.Context(), 0, "name", "templates", "export")
		run(t.Context(), 0, "", "fields", "export")
		run(t.Context(), 0, "seed", "keys", "list")
		run(t.Context(), 0, "", "backup", "create", "--to", filepath.Join(backups, name))
		run(t.Context(), 0, "", "backup", "verify", "--from", filepath.Join(backups, name))
	}
	const refused = "can't be written to"
	t.Run("full", func(t *testing.T) {
		own(nobody, 0o600, 0o700)
		ballast, err := os.Create(filepath.Join(aside, "ballast"))
		for err == nil {
			_, err = ballast.Write(make([]byte, 4096))
		}
		if !errors.Is(err, syscall.ENOSPC) {
			t.Fatal(err)
		}
		reads("full")
		each(ballast.Close(), os.Remove(ballast.Name()))
	})
	t.Run("a directory of another user", func(t *testing.T) {
		own(0, 0o644, 0o755)
		reads("other")
		run(t.Context(), exitFailed, refused, "keys", "create", "Scanner")
	})
	t.Run("read-only", func(t *testing.T) {
		own(nobody, 0o600, 0o700)
		each(syscall.Mount("", disk, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))
		reads("fixed")
		run(t.Context(), exitFailed, refused, "keys", "create", "Scanner")
		each(syscall.Mount("", disk, "", syscall.MS_REMOUNT, ""))
	})
}

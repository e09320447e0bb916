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
	"deedkeep/app/vaulttest/blockdev"
)

// Read-only commands work on a full disk, on a read-only file system, and in a directory that
// the user can't write to. Run this test as root: go test -tags root ./cmd -run Unwritable
func TestCommandsOnUnwritableDisk(t *testing.T) {
	const otherUser = 65534             // "nobody"
	base, err := os.MkdirTemp("", "dk") //nolint:usetesting // the other user needs access
	if err != nil {
		t.Fatalf("create temporary directory: %v", err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(base); err != nil {
			t.Errorf("remove directory: %v", err)
		}
	})
	binary, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatalf("read file: %v", err)
	}
	program, disk := filepath.Join(base, "deedkeep"), filepath.Join(base, "disk")
	data, tmpDir, backups := filepath.Join(disk, "data"), filepath.Join(disk, "tmp"), filepath.Join(base, "backups")
	must := func(errs ...error) {
		t.Helper()
		if err := errors.Join(errs...); err != nil {
			t.Fatalf("set up: %v", err)
		}
	}
	must(os.Chmod(base, 0o755), os.WriteFile(program, binary, 0o755), os.Mkdir(disk, 0o755)) // #nosec G302 G306 G301 -- the other user runs it
	must(os.Mkdir(backups, 0o700), os.Chown(backups, otherUser, otherUser))
	must(syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=8m"))
	t.Cleanup(func() { must(syscall.Unmount(disk, syscall.MNT_DETACH)) })
	_, err = seedVault(data)
	must(err, os.Mkdir(tmpDir, 0o777))
	chown := func(uid int, files, folders os.FileMode) {
		t.Helper()
		must(filepath.WalkDir(data, func(path string, d os.DirEntry, err error) error {
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
	run := func(ctx context.Context, want int, wantOutput string, args ...string) {
		t.Helper()
		c := exec.CommandContext(ctx, program, append(args, "--data", data)...)
		c.Env = append(os.Environ(), "TMPDIR="+tmpDir, "DEEDKEEP_READER_CACHE="+vaulttest.CacheDir())
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: otherUser, Gid: otherUser}}
		out, _ := c.CombinedOutput()
		if got := c.ProcessState.ExitCode(); got != want || !strings.Contains(string(out), wantOutput) {
			t.Errorf("deedkeep %s: got exit code %d, want %d and %q\n%s", strings.Join(args, " "), got, want, wantOutput, out)
		}
	}
	checkReadCommands := func(name string) {
		t.Helper()
		run(t.Context(), 0, "OK: ", "verify")
		run(t.Context(), 0, `"kind":"key.created"`, "events", "export")
		run(t.Context(), 0, "", "events", "verify")
		run(t.Context(), 0, "name", "templates", "export")
		run(t.Context(), 0, "", "fields", "export")
		run(t.Context(), 0, "seed", "keys", "list")
		run(t.Context(), 0, "", "backup", "create", "--to", filepath.Join(backups, name))
		run(t.Context(), 0, "", "backup", "verify", "--from", filepath.Join(backups, name))
	}
	const notWritable = "can't be written to"
	t.Run("full", func(t *testing.T) {
		chown(otherUser, 0o600, 0o700)
		ballast, err := os.Create(filepath.Join(tmpDir, "ballast"))
		for err == nil {
			_, err = ballast.Write(make([]byte, 4096))
		}
		if !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("fill disk: got %v, want ENOSPC", err)
		}
		checkReadCommands("full")
		must(ballast.Close(), os.Remove(ballast.Name()))
	})
	t.Run("directory of another user", func(t *testing.T) {
		chown(0, 0o644, 0o755)
		checkReadCommands("other")
		run(t.Context(), exitFailed, notWritable, "keys", "create", "Scanner")
	})
	t.Run("read-only", func(t *testing.T) {
		chown(otherUser, 0o600, 0o700)
		must(syscall.Mount("", disk, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))
		checkReadCommands("read-only")
		run(t.Context(), exitFailed, notWritable, "keys", "create", "Scanner")
		must(syscall.Mount("", disk, "", syscall.MS_REMOUNT, ""))
	})
}

// After an error of its journal, ext4 denies every change, but the directory still seems to be writable. Commands that
// read, and a backup to another disk, work nevertheless.
func TestCommandsOnAbortedDisk(t *testing.T) {
	disk := blockdev.NewPlain(t, 64<<20)
	disk.Mkfs(t, "ext4")
	data, backups := filepath.Join(disk.Mount(t), "data"), t.TempDir()
	if _, err := seedVault(data); err != nil {
		t.Fatalf("seed vault: %v", err)
	}
	disk.Abort(t)
	for _, tt := range []struct {
		args       []string
		want       int
		wantOutput string
	}{
		{[]string{"verify"}, 0, "OK: "},
		{[]string{"status"}, 0, "documents "},
		{[]string{"backup", "create", "--to", backups}, 0, ""},
		{[]string{"backup", "verify", "--from", backups}, 0, ""},
		{[]string{"events", "export"}, 0, `"kind":"key.created"`},
		{[]string{"keys", "create", "Scanner"}, exitFailed, "can't be written to"},
	} {
		c := exec.CommandContext(t.Context(), "deedkeep", append(tt.args, "--data", data)...)
		c.Env = append(os.Environ(), "DEEDKEEP_READER_CACHE="+vaulttest.CacheDir())
		out, _ := c.CombinedOutput()
		if got := c.ProcessState.ExitCode(); got != tt.want || !strings.Contains(string(out), tt.wantOutput) {
			t.Errorf("deedkeep %s: got exit code %d, want %d and %q\n%s", strings.Join(tt.args, " "), got, tt.want, tt.wantOutput, out)
		}
	}
}

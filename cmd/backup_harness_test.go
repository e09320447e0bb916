//go:build harness

// Tests that kill backup, restore, and prune at random moments. A partial result must never
// be visible, and the next run must complete the work.
//
//	go test -tags harness ./cmd -run 'Test(Backup|Restore|Prune)Killed'
//
//	DEEDKEEP_TEST_KILLS   number of kills per command; default 20
package cmd_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"deedkeep/app/apitypes"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

// backupHarness is a harness with a vault of its own and a directory of backups.
type backupHarness struct {
	*harness
	kills     int    // number of kills per test
	midway    int    // kills before the command completed
	backups   string // the backup directory
	documents int    // number of documents in the vault
}

func newBackupHarness(t *testing.T) *backupHarness {
	t.Helper()
	a := &backupHarness{harness: newHarness(t, ""), kills: 20}
	if text := os.Getenv("DEEDKEEP_TEST_KILLS"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			t.Fatalf("DEEDKEEP_TEST_KILLS: got %q, want a positive number", text)
		}
		a.kills = n
	}
	a.dir, a.backups = filepath.Join(t.TempDir(), "d"), filepath.Join(t.TempDir(), "b")
	return a
}

// uploadBatch adds up to 50 documents to the vault. No server may have it open.
func (a *backupHarness) uploadBatch(count int) {
	a.t.Helper()
	ctx := context.Background()
	v, err := instance.Open(ctx, instance.Options{
		Dir: a.dir, Create: true, Settings: vaulttest.Settings(), Reader: vaulttest.Reader{}, Now: time.Now, Rand: rand.Reader,
		Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		a.t.Fatalf("open vault: %v", err)
	}
	staging, err := v.Files.Stage(ctx)
	if err != nil {
		a.t.Fatalf("stage upload: %v", err)
	}
	for range count {
		a.documents++
		salt := fmt.Sprintf("%d %s", a.documents, strings.Repeat("x", 20_000))
		err = errors.Join(err, staging.Add("Deed.pdf", strings.NewReader(string(vaulttest.PDF(1, salt)))))
		if a.documents%50 == 0 || err != nil {
			break
		}
	}
	_, uploadErr := v.Files.Upload(
		ctx, model.Actor{Kind: "operator"}, model.UploadDraft{}, staging, vault.Idempotency[vault.AbstractWithFiles]{})
	staging.Discard()
	if err := errors.Join(err, uploadErr, v.Close()); err != nil {
		a.t.Fatalf("upload documents: %v", err)
	}
}

// upload adds count documents to the vault. No server may have it open.
func (a *backupHarness) upload(count int) {
	for want := a.documents + count; a.documents < want; {
		a.uploadBatch(want - a.documents)
	}
}

// runCommand runs a command that must exit with the code want, and returns its standard
// output and standard error.
func (a *backupHarness) runCommand(want int, args ...string) (out, messages string) {
	a.t.Helper()
	run := exec.Command(a.program, args...)
	stderr := new(strings.Builder)
	run.Stderr = stderr
	stdout, err := run.Output()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		a.t.Fatalf("run command: %v", err)
	}
	if code := run.ProcessState.ExitCode(); code != want {
		a.t.Fatalf("%v: got exit code %d, want %d\n%s%s", args, code, want, stdout, stderr)
	}
	return string(stdout), stderr.String()
}

// runAndKill runs a command that usually takes the duration, and kills it at a random
// moment of that. It reports whether the command was killed before it completed.
func (a *backupHarness) runAndKill(duration time.Duration, args ...string) (midway bool) {
	a.t.Helper()
	run := exec.Command(a.program, args...)
	if err := run.Start(); err != nil {
		a.t.Fatalf("start command: %v", err)
	}
	time.Sleep(time.Duration(a.rng.Int64N(int64(duration) + 1)))
	_ = run.Process.Kill() // the process may have exited
	_ = run.Wait()         // ProcessState has the outcome
	if run.ProcessState.ExitCode() == 0 {
		return false
	}
	a.midway++
	return true
}

// timeCommand runs a command and returns how long it took.
func (a *backupHarness) timeCommand(args ...string) time.Duration {
	a.t.Helper()
	start := time.Now()
	a.runCommand(0, args...)
	return time.Since(start)
}

// verifyBackups verifies every byte of a directory of backups.
func (a *backupHarness) verifyBackups(dir string) (r apitypes.BackupVerify) {
	a.t.Helper()
	out, _ := a.runCommand(0, "backup", "verify", "--from", dir, "--data", a.dir, "--json")
	if err := json.Unmarshal([]byte(out), &r); err != nil || !r.OK {
		a.t.Fatalf("backup verify: got %s, %v, want OK", out, err)
	}
	return r
}

// reportKills prints the number of kills, and fails if fewer than a quarter of them came
// before the command completed.
func (a *backupHarness) reportKills(command string) {
	fmt.Printf("%s: kills=%d midway=%d lost=0\n", command, a.kills, a.midway)
	if a.midway < a.kills/4 {
		a.t.Errorf("got %d of %d kills before the command completed, want at least %d", a.midway, a.kills, a.kills/4)
	}
}

func TestBackupKilled(t *testing.T) {
	a := newBackupHarness(t)
	a.upload(300)
	duration := a.timeCommand("backup", "create", "--to", a.backups, "--data", a.dir)
	complete := a.verifyBackups(a.backups).Snapshots
	for range a.kills {
		a.upload(100)
		if !a.runAndKill(duration, "backup", "create", "--to", a.backups, "--data", a.dir) {
			complete++
		}
		r := a.verifyBackups(a.backups)
		// A backup that was killed between its last rename and its exit is complete.
		if r.Snapshots != complete && r.Snapshots != complete+1 {
			t.Fatalf("got %d snapshots, want %d or %d", r.Snapshots, complete, complete+1)
		}
		complete = r.Snapshots
	}
	a.runCommand(0, "backup", "create", "--to", a.backups, "--data", a.dir)
	if r := a.verifyBackups(a.backups); r.Snapshots != complete+1 || r.Orphans+r.Leftovers != 0 || int(r.Blobs) != a.documents {
		t.Errorf("got %+v, want %d snapshots and %d documents", r, complete+1, a.documents)
	}
	a.reportKills("backup")
}

func TestRestoreKilled(t *testing.T) {
	a := newBackupHarness(t)
	a.upload(400)
	a.runCommand(0, "backup", "create", "--to", a.backups, "--data", a.dir)
	to := filepath.Join(t.TempDir(), "r")
	restore := []string{"restore", "latest", "--from", a.backups, "--data", to}
	duration := a.timeCommand(restore...)
	for range a.kills {
		if err := os.RemoveAll(to); err != nil {
			t.Fatalf("remove directory: %v", err)
		}
		for range 3 { // each run resumes the one that was killed before
			if !a.runAndKill(duration, restore...) {
				break
			}
			a.checkPartialRestore(to)
		}
		if _, err := os.Stat(filepath.Join(to, "restore.json")); err == nil || errors.Is(err, fs.ErrNotExist) && a.hasNoDatabase(to) {
			a.runCommand(0, restore...)
		}
		var r apitypes.Verify
		out, _ := a.runCommand(0, "verify", "--data", to, "--json")
		if err := json.Unmarshal([]byte(out), &r); err != nil || !r.OK || int(r.Files) != a.documents {
			t.Fatalf("verify: got %s, %v, want OK and %d files", out, err, a.documents)
		}
	}
	a.reportKills("restore")
}

// hasNoDatabase reports whether a directory has no vault.db.
func (a *backupHarness) hasNoDatabase(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "vault.db"))
	return err != nil
}

// checkPartialRestore checks that no command opens a data directory whose restore was
// interrupted.
func (a *backupHarness) checkPartialRestore(dir string) {
	a.t.Helper()
	_, marked := os.Stat(filepath.Join(dir, "restore.json"))
	switch {
	case marked == nil:
		_, messages := a.runCommand(1, "serve", "--listen", "127.0.0.1:0", "--data", dir)
		if !strings.Contains(messages, "half restored") {
			a.t.Errorf("serve: got %q, want \"half restored\"", messages)
		}
		a.runCommand(1, "status", "--data", dir)
	case !a.hasNoDatabase(dir): // killed after its last write
		a.runCommand(0, "verify", "--data", dir)
	}
}

func TestPruneKilled(t *testing.T) {
	a := newBackupHarness(t)
	for range 8 {
		a.upload(50)
		a.runCommand(0, "backup", "create", "--to", a.backups, "--data", a.dir)
	}
	a.addOrphans(600)
	pruned := filepath.Join(t.TempDir(), "p")
	prune := []string{"backup", "prune", "--keep-daily", "1", "--from", pruned, "--data", a.dir}
	a.copyBackups(pruned)
	duration := a.timeCommand(prune...)
	for range a.kills {
		a.copyBackups(pruned)
		a.runAndKill(duration, prune...)
		if r := a.verifyBackups(pruned); r.Snapshots < 1 || r.Snapshots > 8 {
			t.Fatalf("after a kill: got %+v, want 1 to 8 snapshots", r)
		}
		a.runCommand(0, prune...)
		if r := a.verifyBackups(pruned); r.Snapshots != 1 || r.Orphans+r.Leftovers != 0 || int(r.Blobs) != a.documents {
			t.Fatalf("after prune: got %+v, want one snapshot with %d documents", r, a.documents)
		}
	}
	a.reportKills("prune")
}

// addOrphans adds count files that no snapshot references to the backup directory, as
// removed snapshots leave them.
func (a *backupHarness) addOrphans(count int) {
	a.t.Helper()
	for n := range count {
		name := fmt.Sprintf("%064x", n+1)
		path := filepath.Join(a.backups, "blobs", "00", name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(name), 0o600)); err != nil {
			a.t.Fatalf("write orphan: %v", err)
		}
	}
}

// copyBackups replaces a directory with a copy of the backup directory.
func (a *backupHarness) copyBackups(to string) {
	a.t.Helper()
	if err := errors.Join(os.RemoveAll(to), os.CopyFS(to, os.DirFS(a.backups))); err != nil {
		a.t.Fatalf("copy backups: %v", err)
	}
}

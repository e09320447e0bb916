//go:build harness

// These tests kill the commands backup, restore, and prune at random moments while they
// run. A partial result must never be visible, and the next run must complete the work.
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

// backupHarness is a harness with its own vault and a directory for backups.
type backupHarness struct {
	*harness
	kills     int           // number of kills per test
	killed    int           // number of runs that were killed
	completed int           // number of runs that completed before they were to be killed
	usual     time.Duration // how long the last run took that was not killed
	backups   string        // the backup directory
	documents int           // number of documents in the vault
}

// newBackupHarness builds the binary and chooses the paths of the vault and the backups.
func newBackupHarness(t *testing.T) *backupHarness {
	t.Helper()
	h := &backupHarness{harness: newHarness(t), kills: 20}
	if text := os.Getenv("DEEDKEEP_TEST_KILLS"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			t.Fatalf("DEEDKEEP_TEST_KILLS: got %q, want a positive number", text)
		}
		h.kills = n
	}
	h.dir, h.backups = filepath.Join(t.TempDir(), "d"), filepath.Join(t.TempDir(), "b")
	return h
}

// uploadBatch adds up to 50 documents to the vault. No server may be running on the vault.
func (h *backupHarness) uploadBatch(count int) {
	h.t.Helper()
	ctx := context.Background()
	v, err := instance.Open(ctx, instance.Options{
		Dir: h.dir, Create: true, Settings: vaulttest.Settings(), Reader: vaulttest.Reader{}, Now: time.Now, Rand: rand.Reader,
		Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		h.t.Fatalf("open vault: %v", err)
	}
	staging, err := v.Files.Stage(ctx)
	if err != nil {
		h.t.Fatalf("stage upload: %v", err)
	}
	for range count {
		h.documents++
		salt := fmt.Sprintf("%d %s", h.documents, strings.Repeat("x", 20_000))
		err = errors.Join(err, staging.Add("Deed.pdf", strings.NewReader(string(vaulttest.PDF(1, salt)))))
		if h.documents%50 == 0 || err != nil {
			break
		}
	}
	_, uploadErr := v.Files.Upload(
		ctx, model.Actor{Kind: "operator"}, model.UploadDraft{}, staging, vault.Idempotency[vault.AbstractWithFiles]{})
	staging.Discard()
	if err := errors.Join(err, uploadErr, v.Close()); err != nil {
		h.t.Fatalf("upload documents: %v", err)
	}
}

// upload adds count documents to the vault. No server may be running on the vault.
func (h *backupHarness) upload(count int) {
	for want := h.documents + count; h.documents < want; {
		h.uploadBatch(want - h.documents)
	}
}

// runCommand runs a command and returns its standard output and standard error. The test
// fails if the exit code is not want.
func (h *backupHarness) runCommand(want int, args ...string) (out, messages string) {
	h.t.Helper()
	run := exec.Command(h.program, args...)
	stderr := new(strings.Builder)
	run.Stderr = stderr
	stdout, err := run.Output()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		h.t.Fatalf("run command: %v", err)
	}
	if code := run.ProcessState.ExitCode(); code != want {
		h.t.Fatalf("%v: got exit code %d, want %d\n%s%s", args, code, want, stdout, stderr)
	}
	return string(stdout), stderr.String()
}

// killing reports whether the test must kill more runs. The test fails if too many runs
// completed.
func (h *backupHarness) killing() bool {
	h.t.Helper()
	if h.completed > 10*h.kills {
		h.t.Fatalf("got %d runs killed and %d completed, want %d killed", h.killed, h.completed, h.kills)
	}
	return h.killed < h.kills
}

// runAndKill runs a command and kills it at a random time within the duration of the last
// run that was not killed. It reports whether this run was killed.
func (h *backupHarness) runAndKill(args ...string) bool {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Duration(h.rng.Int64N(int64(h.usual))+1))
	defer cancel()
	run := exec.CommandContext(ctx, h.program, args...)
	output := new(strings.Builder)
	run.Stdout, run.Stderr = output, output
	start := time.Now()
	err := run.Run()
	switch state := run.ProcessState; {
	case state != nil && state.Success():
		h.usual = time.Since(start)
		h.completed++
		return false
	case ctx.Err() == nil || state != nil && state.Exited():
		h.t.Fatalf("%v: got %v, want success or killed\n%s", args, err, output)
	}
	h.killed++
	return true
}

// timeCommand runs a command and stores how long it took.
func (h *backupHarness) timeCommand(args ...string) {
	h.t.Helper()
	start := time.Now()
	h.runCommand(0, args...)
	h.usual = time.Since(start)
}

// verifyBackups verifies every byte of the backups in a directory. The test fails if any
// are damaged.
func (h *backupHarness) verifyBackups(dir string) (r apitypes.BackupVerify) {
	h.t.Helper()
	out, _ := h.runCommand(0, "backup", "verify", "--from", dir, "--data", h.dir, "--json")
	if err := json.Unmarshal([]byte(out), &r); err != nil || !r.OK {
		h.t.Fatalf("backup verify: got %s, %v, want OK", out, err)
	}
	return r
}

// reportKills prints the number of kills.
func (h *backupHarness) reportKills(command string) {
	fmt.Printf("%s: killed=%d completed=%d lost=0\n", command, h.killed, h.completed)
}

func TestBackupKilled(t *testing.T) {
	h := newBackupHarness(t)
	h.upload(300)
	h.timeCommand("backup", "create", "--to", h.backups, "--data", h.dir)
	complete := h.verifyBackups(h.backups).Snapshots
	for h.killing() {
		h.upload(100)
		if !h.runAndKill("backup", "create", "--to", h.backups, "--data", h.dir) {
			complete++
		}
		r := h.verifyBackups(h.backups)
		// If a backup was killed between its last rename and its exit, it is complete.
		if r.Snapshots != complete && r.Snapshots != complete+1 {
			t.Fatalf("got %d snapshots, want %d or %d", r.Snapshots, complete, complete+1)
		}
		complete = r.Snapshots
	}
	h.runCommand(0, "backup", "create", "--to", h.backups, "--data", h.dir)
	if r := h.verifyBackups(h.backups); r.Snapshots != complete+1 || r.Orphans+r.Leftovers != 0 || int(r.Blobs) != h.documents {
		t.Errorf("got %+v, want %d snapshots and %d documents", r, complete+1, h.documents)
	}
	h.reportKills("backup")
}

func TestRestoreKilled(t *testing.T) {
	h := newBackupHarness(t)
	h.upload(400)
	h.runCommand(0, "backup", "create", "--to", h.backups, "--data", h.dir)
	to := filepath.Join(t.TempDir(), "r")
	restore := []string{"restore", "latest", "--from", h.backups, "--data", to}
	h.timeCommand(restore...)
	for h.killing() {
		if err := os.RemoveAll(to); err != nil {
			t.Fatalf("remove directory: %v", err)
		}
		for range 3 { // each run resumes the run that was killed before it
			if !h.runAndKill(restore...) {
				break
			}
			h.checkPartialRestore(to)
		}
		if _, err := os.Stat(filepath.Join(to, "restore.json")); err == nil || errors.Is(err, fs.ErrNotExist) && h.hasNoDatabase(to) {
			h.runCommand(0, restore...)
		}
		var r apitypes.Verify
		out, _ := h.runCommand(0, "verify", "--data", to, "--json")
		if err := json.Unmarshal([]byte(out), &r); err != nil || !r.OK || int(r.Files) != h.documents {
			t.Fatalf("verify: got %s, %v, want OK and %d files", out, err, h.documents)
		}
	}
	h.reportKills("restore")
}

// hasNoDatabase reports whether a directory has no vault.db.
func (h *backupHarness) hasNoDatabase(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "vault.db"))
	return err != nil
}

// checkPartialRestore checks that commands don't open a data directory whose restore was
// interrupted.
func (h *backupHarness) checkPartialRestore(dir string) {
	h.t.Helper()
	_, marked := os.Stat(filepath.Join(dir, "restore.json"))
	switch {
	case marked == nil:
		_, messages := h.runCommand(1, "serve", "--listen", "127.0.0.1:0", "--data", dir)
		if !strings.Contains(messages, "contains an unfinished restore") {
			h.t.Errorf("serve: got %q, want \"contains an unfinished restore\"", messages)
		}
		h.runCommand(1, "status", "--data", dir)
	case !h.hasNoDatabase(dir): // the restore was killed after its last write
		h.runCommand(0, "verify", "--data", dir)
	}
}

func TestPruneKilled(t *testing.T) {
	h := newBackupHarness(t)
	for range 8 {
		h.upload(50)
		h.runCommand(0, "backup", "create", "--to", h.backups, "--data", h.dir)
	}
	h.addOrphans(600)
	pruned := filepath.Join(t.TempDir(), "p")
	prune := []string{"backup", "prune", "--keep-daily", "1", "--from", pruned, "--data", h.dir}
	h.copyBackups(pruned)
	h.timeCommand(prune...)
	for h.killing() {
		h.copyBackups(pruned)
		h.runAndKill(prune...)
		if r := h.verifyBackups(pruned); r.Snapshots < 1 || r.Snapshots > 8 {
			t.Fatalf("after a kill: got %+v, want 1 to 8 snapshots", r)
		}
		h.runCommand(0, prune...)
		if r := h.verifyBackups(pruned); r.Snapshots != 1 || r.Orphans+r.Leftovers != 0 || int(r.Blobs) != h.documents {
			t.Fatalf("after prune: got %+v, want one snapshot with %d documents", r, h.documents)
		}
	}
	h.reportKills("prune")
}

// addOrphans adds count files to the backup directory that no snapshot references, like
// those that remain when snapshots are removed.
func (h *backupHarness) addOrphans(count int) {
	h.t.Helper()
	for n := range count {
		name := fmt.Sprintf("%064x", n+1)
		path := filepath.Join(h.backups, "blobs", "00", name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(name), 0o600)); err != nil {
			h.t.Fatalf("write orphan: %v", err)
		}
	}
}

// copyBackups replaces the directory at path to with a copy of the backup directory.
func (h *backupHarness) copyBackups(to string) {
	h.t.Helper()
	if err := errors.Join(os.RemoveAll(to), os.CopyFS(to, os.DirFS(h.backups))); err != nil {
		h.t.Fatalf("copy backups: %v", err)
	}
}

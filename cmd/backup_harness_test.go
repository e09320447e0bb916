//go:build harness

// Backups under the axe (PROMISES.md, row 5): backup, restore and prune are killed at
// any moment, over and over; nothing half made is ever visible, and the next one goes
// on.
//
//	go test -tags harness ./cmd -run Axe
//
//	DEEDKEEP_TEST_KILLS   how many kills of each; 20 when not set
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

// backupHarness is a harness over a vault of its own, a directory of backups, and what is told
// of the kills.
type backupHarness struct {
	*harness
	kills, midway int
	backups       string
	documents     int
}

func newBackupHarness(t *testing.T) *backupHarness {
	t.Helper()
	a := &backupHarness{harness: newHarness(t, ""), kills: 20}
	if text := os.Getenv("DEEDKEEP_TEST_KILLS"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			t.Fatalf("DEEDKEEP_TEST_KILLS is %q", text)
		}
		a.kills = n
	}
	a.dir, a.backups = filepath.Join(t.TempDir(), "d"), filepath.Join(t.TempDir(), "b")
	return a
}

// uploadBatch puts documents into the vault, which nobody else has open.
func (a *backupHarness) uploadBatch(count int) {
	a.t.Helper()
	ctx := context.Background()
	v, err := instance.Open(ctx, instance.Options{
		Dir: a.dir, Create: true, Settings: vaulttest.Settings(), Reader: vaulttest.Reader{}, Now: time.Now, Rand: rand.Reader, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		a.t.Fatal(err)
	}
	tray, err := v.Files.Stage(ctx)
	if err != nil {
		a.t.Fatal(err)
	}
	for range count {
		a.documents++
		salt := fmt.Sprintf("%d %s", a.documents, strings.Repeat("x", 20_000))
		err = errors.Join(err, tray.Add("Deed.pdf", strings.NewReader(string(vaulttest.PDF(1, salt)))))
		if a.documents%50 == 0 || err != nil {
			break
		}
	}
	_, failed := v.Files.Upload(ctx, model.Actor{Kind: "operator"}, model.UploadDraft{}, tray, vault.Idempotency[vault.AbstractWithFiles]{})
	tray.Discard()
	if err := errors.Join(err, failed, v.Close()); err != nil {
		a.t.Fatal(err)
	}
}

func (a *backupHarness) upload(count int) {
	for want := a.documents + count; a.documents < want; {
		a.uploadBatch(want - a.documents)
	}
}

// runCommand runs a command to its end.
func (a *backupHarness) runCommand(want int, args ...string) (out, messages string) {
	a.t.Helper()
	run := exec.Command(a.program, args...)
	said := new(strings.Builder)
	run.Stderr = said
	raw, err := run.Output()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		a.t.Fatal(err)
	}
	if code := run.ProcessState.ExitCode(); code != want {
		a.t.Fatalf("%v: exit code %d, want %d\n%s%s", args, code, want, raw, said)
	}
	return string(raw), said.String()
}

// runAndKill runs a command and kills it at some moment of the time that it takes.
func (a *backupHarness) runAndKill(whole time.Duration, args ...string) (midway bool) {
	a.t.Helper()
	run := exec.Command(a.program, args...)
	if err := run.Start(); err != nil {
		a.t.Fatal(err)
	}
	time.Sleep(time.Duration(a.rng.Int64N(int64(whole) + 1)))
	_ = run.Process.Kill() // it may have ended
	_ = run.Wait()         // its state tells
	if run.ProcessState.ExitCode() == 0 {
		return false
	}
	a.midway++
	return true
}

func (a *backupHarness) timeCommand(args ...string) time.Duration {
	a.t.Helper()
	begun := time.Now()
	a.runCommand(0, args...)
	return time.Since(begun)
}

// verifyBackups verifies a directory of backups, every byte.
func (a *backupHarness) verifyBackups(dir string) (r apitypes.BackupVerify) {
	a.t.Helper()
	out, _ := a.runCommand(0, "backup", "verify", "--from", dir, "--data", a.dir, "--json")
	if err := json.Unmarshal([]byte(out), &r); err != nil || !r.OK {
		a.t.Fatalf("%s, %v", out, err)
	}
	return r
}

func (a *backupHarness) reportKills(what string) {
	fmt.Printf("%s: kills=%d midway=%d lost=0\n", what, a.kills, a.midway)
	if a.midway < a.kills/4 {
		a.t.Errorf("only %d of %d kills came midway", a.midway, a.kills)
	}
}

func TestBackupKilled(t *testing.T) {
	a := newBackupHarness(t)
	a.upload(300)
	whole := a.timeCommand("backup", "create", "--to", a.backups, "--data", a.dir)
	complete := a.verifyBackups(a.backups).Snapshots
	for range a.kills {
		a.upload(100)
		if !a.runAndKill(whole, "backup", "create", "--to", a.backups, "--data", a.dir) {
			complete++
		}
		r := a.verifyBackups(a.backups)
		// Killed between its last rename and its last word, it was complete.
		if r.Snapshots != complete && r.Snapshots != complete+1 {
			t.Fatalf("%d snapshots, %d were made", r.Snapshots, complete)
		}
		complete = r.Snapshots
	}
	a.runCommand(0, "backup", "create", "--to", a.backups, "--data", a.dir)
	if r := a.verifyBackups(a.backups); r.Snapshots != complete+1 || r.Orphans+r.Leftovers != 0 || int(r.Blobs) != a.documents {
		t.Errorf("%+v, %d documents", r, a.documents)
	}
	a.reportKills("backup")
}

func TestRestoreKilled(t *testing.T) {
	a := newBackupHarness(t)
	a.upload(400)
	a.runCommand(0, "backup", "create", "--to", a.backups, "--data", a.dir)
	to := filepath.Join(t.TempDir(), "r")
	restore := []string{"restore", "latest", "--from", a.backups, "--data", to}
	whole := a.timeCommand(restore...)
	for range a.kills {
		if err := os.RemoveAll(to); err != nil {
			t.Fatal(err)
		}
		for range 3 { // cut off again and again
			if !a.runAndKill(whole, restore...) {
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
			t.Fatalf("%s, %v", out, err)
		}
	}
	a.reportKills("restore")
}

func (a *backupHarness) hasNoDatabase(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "vault.db"))
	return err != nil
}

// checkPartialRestore wants that nothing opens what is half there.
func (a *backupHarness) checkPartialRestore(dir string) {
	a.t.Helper()
	_, marked := os.Stat(filepath.Join(dir, "restore.json"))
	switch {
	case marked == nil:
		if _, said := a.runCommand(1, "serve", "--listen", "127.0.0.1:0", "--data", dir); !strings.Contains(said, "half restored") {
			a.t.Errorf("serve says %q", said)
		}
		a.runCommand(1, "status", "--data", dir)
	case !a.hasNoDatabase(dir): // killed after its last act
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
	try := filepath.Join(t.TempDir(), "p")
	prune := []string{"backup", "prune", "--keep-daily", "1", "--from", try, "--data", a.dir}
	a.copyBackups(try)
	whole := a.timeCommand(prune...)
	for range a.kills {
		a.copyBackups(try)
		a.runAndKill(whole, prune...)
		if r := a.verifyBackups(try); r.Snapshots < 1 || r.Snapshots > 8 {
			t.Fatalf("%+v", r)
		}
		a.runCommand(0, prune...)
		if r := a.verifyBackups(try); r.Snapshots != 1 || r.Orphans+r.Leftovers != 0 || int(r.Blobs) != a.documents {
			t.Fatalf("%+v, %d documents", r, a.documents)
		}
	}
	a.reportKills("prune")
}

// addOrphans lays down what no snapshot names, as old snapshots leave it.
func (a *backupHarness) addOrphans(count int) {
	a.t.Helper()
	for n := range count {
		name := fmt.Sprintf("%064x", n+1)
		path := filepath.Join(a.backups, "blobs", "00", name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(name), 0o600)); err != nil {
			a.t.Fatal(err)
		}
	}
}

func (a *backupHarness) copyBackups(to string) {
	a.t.Helper()
	if err := errors.Join(os.RemoveAll(to), os.CopyFS(to, os.DirFS(a.backups))); err != nil {
		a.t.Fatal(err)
	}
}

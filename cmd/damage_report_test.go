package cmd

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deedkeep/app/apitypes"
)

// If a backup fails because it finds damage, the damage is reported by status, by doctor, and by
// later backups that contain an intact copy.
func TestCommandsReportDamage(t *testing.T) {
	data, backups := shortDataDir(t), t.TempDir()
	if _, err := seedVault(data); err != nil {
		t.Fatalf("create vault: %v", err)
	}
	run := func(want int, args ...string) result {
		t.Helper()
		got := runCLI(t.Context(), t, nil, append(args, "--data", data)...)
		if got.code != want {
			t.Errorf("%v: got exit code %d, want %d: %s %s", args, got.code, want, got.out, got.messages)
		}
		return got
	}
	status := func() (s apitypes.Status) {
		t.Helper()
		if err := json.Unmarshal([]byte(run(exitDone, "status", "--json").out), &s); err != nil {
			t.Fatalf("decode status: %v", err)
		}
		return s
	}
	run(exitDone, "backup", "create", "--to", backups)
	if got := run(exitDone, "status"); !strings.Contains(got.out, "none found") || !strings.Contains(got.out, "not started") {
		t.Errorf("status: got %s, want no damage and no scrub", got.out)
	}
	paths, err := filepath.Glob(filepath.Join(data, "blobs", "*", "*"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("list blobs: got %v, %v, want files", paths, err)
	}
	content, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatalf("read file: %v", err)
	}
	if err := os.Chmod(paths[0], 0o600); err != nil {
		t.Fatalf("change file mode: %v", err)
	}
	if err := os.WriteFile(paths[0], content[1:], 0o600); err != nil {
		t.Fatalf("write file: %v", err)
	}
	run(exitDone, "backup", "create", "--to", backups) // the damage isn't known yet, and this backup contains the intact copy
	run(exitFailed, "backup", "create", "--to", t.TempDir())
	if got := status(); len(got.Damaged) != 1 || got.Damaged[0].SHA256 != filepath.Base(paths[0]) {
		t.Fatalf("status: got damaged %+v, want %s", got.Damaged, filepath.Base(paths[0]))
	}
	if got := run(exitDone, "status"); !strings.Contains(got.out, "1 DAMAGED: document ") {
		t.Errorf("status: got %s, want one damaged file", got.out)
	}
	got := run(exitDone, "backup", "create", "--quiet", "--to", backups)
	if name := strings.TrimSpace(got.out); !strings.HasSuffix(name, "Z") || strings.ContainsAny(name, " \n") {
		t.Errorf("backup create --quiet: got %q, want only the name of the backup", got.out)
	}
	if !strings.Contains(got.messages, "damaged in the data directory, intact in this backup: document ") {
		t.Errorf("backup create: got %s, want the damaged file", got.messages)
	}
	got = runCLI(t.Context(), t, nil, "doctor", "--data", data)
	if !strings.Contains(got.out, "1 stored document is damaged") {
		t.Errorf("doctor: got %s, want one damaged document", got.out)
	}
}

// A document that can't be read isn't reported as damaged, and damage to a document names all records that have it.
func TestVerifyTellsUnreadableFromDamaged(t *testing.T) {
	data := shortDataDir(t)
	if _, err := seedVault(data); err != nil {
		t.Fatalf("create vault: %v", err)
	}
	scans := t.TempDir()
	if err := os.WriteFile(filepath.Join(scans, "Deed.txt"), []byte("an ordinary deed"), 0o600); err != nil {
		t.Fatalf("write document: %v", err)
	}
	for _, folder := range []string{"A", "B"} { // two records with the same content
		if got := runCLI(t.Context(), t, nil, "import", scans, "--folder", folder, "--data", data); got.code != exitDone {
			t.Fatalf("import: got %+v, want success", got)
		}
	}
	backups := t.TempDir()
	if got := runCLI(t.Context(), t, nil, "backup", "create", "--to", backups, "--data", data); got.code != exitDone {
		t.Fatalf("backup create: got %+v, want success", got)
	}
	digest := fmt.Sprintf("%x", sha256.Sum256([]byte("an ordinary deed")))
	path := filepath.Join(data, "blobs", digest[:2], digest)
	verify := func(verdict, class, advice string) {
		t.Helper()
		var report apitypes.Verify
		got := runCLI(t.Context(), t, nil, "verify", "--data", data)
		if got.code != exitDamage || !strings.Contains(got.out, "\n"+verdict+": ") || !strings.Contains(got.out, advice) {
			t.Errorf("verify: got %+v, want exit code %d, %q, and %q", got, exitDamage, verdict, advice)
		}
		got = runCLI(t.Context(), t, nil, "verify", "--json", "--data", data)
		if err := json.Unmarshal([]byte(got.out), &report); err != nil || len(report.Advice) != 1 || report.Advice[0].Class != class ||
			!strings.Contains(report.Advice[0].Text, advice) {
			t.Fatalf("verify --json: got %+v, %v, want advice of class %s", report, err, class)
		}
		records := 0
		for _, f := range report.Findings {
			if f.Class != class {
				t.Errorf("finding: got %+v, want class %s", f, class)
			}
			if f.Kind == "file" {
				records++
			}
		}
		if records != 2 {
			t.Errorf("findings: got %+v, want both records", report.Findings)
		}
	}
	if err := errors.Join(os.Remove(path), os.Symlink(path, path)); err != nil { // can't be opened, not even by root
		t.Fatalf("replace document: %v", err)
	}
	verify("DATA UNREADABLE", "unreadable", "chown")
	if err := errors.Join(os.Remove(path), os.WriteFile(path, []byte("an ordinary deex"), 0o600)); err != nil {
		t.Fatalf("damage document: %v", err)
	}
	verify("DOCUMENTS DAMAGED", "documents", "restore latest --file ID")
	p := startServer(t, data)
	if got := runCLI(t.Context(), t, nil, "verify", "--data", data); got.code != exitDamage {
		t.Errorf("verify: got %+v, want exit code %d\n%s", got, exitDamage, p.messages)
	}
	if got := runCLI(t.Context(), t, nil, "status", "--data", data); !strings.Contains(got.out, "2 DAMAGED: document 2, document 3") {
		t.Errorf("status: got %s, want both damaged records", got.out)
	}
	// A backup names both records as well.
	got := runCLI(t.Context(), t, nil, "backup", "create", "--to", backups, "--data", data)
	if got.code != exitDone || !strings.Contains(got.messages, "damaged in the data directory, intact in this backup: document 2, document 3 ") {
		t.Errorf("backup create: got %+v, want both damaged records", got)
	}
	got = runCLI(t.Context(), t, nil, "backup", "create", "--to", t.TempDir(), "--data", data)
	if got.code != exitFailed || !strings.Contains(got.messages, "documents 2, 3 are damaged") {
		t.Errorf("backup create elsewhere: got %+v, want exit code %d and both damaged records", got, exitFailed)
	}
}

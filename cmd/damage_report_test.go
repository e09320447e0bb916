package cmd

import (
	"encoding/json"
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
	if got := run(exitDone, "status"); !strings.Contains(got.out, "1 DAMAGED: file ") {
		t.Errorf("status: got %s, want one damaged file", got.out)
	}
	got := run(exitDone, "backup", "create", "--to", backups)
	if !strings.Contains(got.messages, "damaged in the vault, intact in this backup: file ") {
		t.Errorf("backup create: got %s, want the damaged file", got.messages)
	}
	got = runCLI(t.Context(), t, nil, "doctor", "--data", data)
	if !strings.Contains(got.out, "1 stored document is damaged") {
		t.Errorf("doctor: got %s, want one damaged document", got.out)
	}
}

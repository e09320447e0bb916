package cmd

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deedkeep/app/apitypes"
)

// What is known of damage is named in status, in doctor, and by a backup that keeps an
// older, intact copy; uploading the same bytes again ends it.
func TestDamageInCommands(t *testing.T) {
	data, to := shortDataDir(t), t.TempDir()
	if _, err := seedVault(data); err != nil {
		t.Fatalf("seed: %v", err)
	}
	run := func(want int, args ...string) result {
		t.Helper()
		got := runCLI(t.Context(), t, nil, append(args, "--data", data)...)
		if got.code != want {
			t.Errorf("%v: code %d, want %d: %s %s", args, got.code, want, got.out, got.messages)
		}
		return got
	}
	known := func() (s apitypes.Status) {
		t.Helper()
		if err := json.Unmarshal([]byte(run(exitDone, "status", "--json").out), &s); err != nil {
			t.Fatalf("decode JSON: %v", err)
		}
		return s
	}
	run(exitDone, "backup", "create", "--to", to)
	if got := run(exitDone, "status"); !strings.Contains(got.out, "none known") || !strings.Contains(got.out, "not started") {
		t.Errorf("got %s", got.out)
	}
	paths, err := filepath.Glob(filepath.Join(data, "blobs", "*", "*"))
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
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
	run(exitDone, "backup", "create", "--to", to) // no one knows it yet, and it has the older copy
	run(exitFailed, "backup", "create", "--to", t.TempDir())
	if got := known(); len(got.Damaged) != 1 || got.Damaged[0].SHA256 != filepath.Base(paths[0]) {
		t.Fatalf("got %+v", got.Damaged)
	}
	if got := run(exitDone, "status"); !strings.Contains(got.out, "1 DAMAGED: file ") {
		t.Errorf("got %s", got.out)
	}
	if got := run(exitDone, "backup", "create", "--to", to); !strings.Contains(got.messages, "damaged in the vault, intact in this backup: file ") {
		t.Errorf("got %s", got.messages)
	}
	if got := runCLI(t.Context(), t, nil, "doctor", "--data", data); !strings.Contains(got.out, "1 stored document is damaged") {
		t.Errorf("got %s", got.out)
	}
}

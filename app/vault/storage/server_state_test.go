package storage_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"deedkeep/app/instance"
	"deedkeep/app/vaulttest"
)

// After an unclean stop, Checkup returns a start time: that of the killed server if a command runs it, or that of the
// next server once it has started.
func TestCheckupUncleanStop(t *testing.T) {
	opts := vaulttest.Options(t)
	opts.Dir = t.TempDir()
	path := filepath.Join(opts.Dir, "serving.json")
	uncleanStop := func(asServer bool) time.Time {
		t.Helper()
		v, err := instance.Open(t.Context(), opts)
		if err != nil {
			t.Fatalf("instance.Open: %v", err)
		}
		if asServer {
			v.Start(time.Hour)
		}
		found, err := v.Checkup(t.Context())
		if err != nil {
			t.Fatalf("Checkup: %v", err)
		}
		if err := v.Close(); err != nil {
			t.Fatalf("Close: %v", err)
		}
		return found.UncleanStopAt
	}
	simulateKill := func() {
		t.Helper()
		if err := os.WriteFile(path, []byte(`{"started_at":"2026-04-01T10:00:00Z"}`), 0o600); err != nil {
			t.Fatalf("os.WriteFile: %v", err)
		}
	}
	if at := uncleanStop(true); !at.IsZero() {
		t.Errorf("unclean stop at the first start: got %v, want none", at)
	}
	if at := uncleanStop(true); !at.IsZero() {
		t.Errorf("unclean stop after a clean one: got %v, want none", at)
	}
	simulateKill()
	if at := uncleanStop(false); at.Format(time.DateOnly) != "2026-04-01" {
		t.Errorf("unclean stop in a command after a kill: got %v, want 2026-04-01", at)
	}
	at := uncleanStop(true)
	if at.IsZero() || at.Format(time.DateOnly) == "2026-04-01" {
		t.Errorf("unclean stop in a server after a kill: got %v, want the time of its start", at)
	}
	if again := uncleanStop(true); !again.Equal(at) {
		t.Errorf("unclean stop in the next server: got %v, want %v", again, at)
	}
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatalf("os.WriteFile: %v", err)
	}
	if at := uncleanStop(true); !at.IsZero() {
		t.Errorf("unclean stop with an unreadable state file: got %v, want none", at)
	}
}

// In an empty vault, MonthBytes is 0.
func TestCheckupEmptyVault(t *testing.T) {
	v := vaulttest.Open(t, vaulttest.Options(t))
	found, err := v.Checkup(t.Context())
	if err != nil || found.MonthBytes != 0 {
		t.Errorf("Checkup: got %+v, %v, want 0 bytes in the last month", found, err)
	}
}

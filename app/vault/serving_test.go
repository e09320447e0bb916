package vault_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"deedkeep/app/instance"
	"deedkeep/app/vaulttest"
)

// It is known when a server did not stop by itself, and that it did.
func TestCut(t *testing.T) {
	set := vaulttest.Options(t)
	set.Dir = t.TempDir()
	path := filepath.Join(set.Dir, "serving.json")
	cut := func(serves bool) time.Time {
		t.Helper()
		v, err := instance.Open(t.Context(), set)
		if err != nil {
			t.Fatal(err)
		}
		if serves {
			v.Start(time.Hour)
		}
		found, err := v.Checkup(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := v.Close(); err != nil {
			t.Fatal(err)
		}
		return found.UncleanStopAt
	}
	killed := func() {
		t.Helper()
		if err := os.WriteFile(path, []byte(`{"started_at":"2026-04-01T10:00:00Z"}`), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if at := cut(true); !at.IsZero() {
		t.Errorf("the first start: %v", at)
	}
	if at := cut(true); !at.IsZero() {
		t.Errorf("after a good stop: %v", at)
	}
	killed()
	if at := cut(false); at.Format(time.DateOnly) != "2026-04-01" {
		t.Errorf("a command after a kill: %v", at)
	}
	at := cut(true)
	if at.IsZero() || at.Format(time.DateOnly) == "2026-04-01" {
		t.Errorf("a server after a kill: %v", at)
	}
	if again := cut(true); !again.Equal(at) {
		t.Errorf("and the next: %v, was %v", again, at)
	}
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if at := cut(true); !at.IsZero() {
		t.Errorf("a note that cannot be read: %v", at)
	}
}

// What came in within thirty days counts, and nothing else.
func TestCheckup(t *testing.T) {
	v := vaulttest.Open(t, vaulttest.Options(t))
	found, err := v.Checkup(t.Context())
	if err != nil || found.MonthBytes != 0 {
		t.Errorf("%+v, %v", found, err)
	}
}

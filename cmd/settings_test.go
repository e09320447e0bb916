package cmd

import (
	"crypto/rand"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"deedkeep/app/config"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/vaulttest"
)

// storeSettings stores settings in a vault that no other process has open.
func storeSettings(t *testing.T, data string, values map[string]string) {
	t.Helper()
	v, err := instance.Open(t.Context(), instance.Options{Dir: data, Settings: vaulttest.Settings(), Reader: vaulttest.Reader{},
		Now: time.Now, Rand: rand.Reader, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatalf("instance.Open: %v", err)
	}
	err = v.Stored.Change(t.Context(), model.Actor{Kind: "operator"}, values, "")
	if err := errors.Join(err, v.Close()); err != nil {
		t.Fatalf("store settings: %v", err)
	}
}

// Commands and the server use stored settings. "config show" names their source, whether or not the server runs.
func TestStoredSettings(t *testing.T) {
	data := shortDataDir(t)
	if _, err := seedVault(data); err != nil {
		t.Fatalf("create vault: %v", err)
	}
	storeSettings(t, data, map[string]string{"limits.pdf_pages": "77", "trash.keep": "9d", "backup.to": filepath.Join(data, "blobs")})
	t.Setenv("DEEDKEEP_TRASH_KEEP", "8d")
	show := func(when string) {
		t.Helper()
		got := runCLI(t.Context(), t, nil, "config", "show", "--data", data)
		for _, want := range []string{"limits.pdf_pages 77 Settings page", "trash.keep 8d DEEDKEEP_TRASH_KEEP", "backup.to default"} {
			if !strings.Contains(strings.Join(strings.Fields(got.out), " ")+" ", " "+want+" ") {
				t.Errorf("config show %s: got %s%s, want %s", when, got.out, got.messages, want)
			}
		}
		got = runCLI(t.Context(), t, nil, "config", "check", "--data", data)
		if want := "WARNING: ignored: Settings page: backup.to: "; got.code != exitDone || !strings.Contains(got.messages, want) {
			t.Errorf("config check %s: got %+v, want %s", when, got, want)
		}
	}
	show("without a server")
	p := startServer(t, data)
	show("with a server")
	p.signal(t, os.Interrupt)
	if code := p.waitExit(t); code != exitDone {
		t.Errorf("serve: got exit code %d, want 0\n%s", code, p.messages)
	}
	if want := "WARNING: ignored: Settings page: backup.to: "; !strings.Contains(p.messages.String(), want) {
		t.Errorf("messages of the server: got %s, want %s", p.messages, want)
	}
}

// A folder for backups on the Settings page must be a complete path. In config.yaml, it may be relative to where the server
// starts.
func TestStoredBackupFolder(t *testing.T) {
	for _, row := range []struct{ to, want string }{
		{filepath.Join(t.TempDir(), "backups"), ""}, {"", ""},
		{"backups", "backup.to: must be a complete path"}, {"../../etc", "backup.to: must be a complete path"},
		{"./data/../x", "backup.to: must be a complete path"},
	} {
		c := config.Default()
		c.Data, c.Backup.To = t.TempDir(), row.to
		got := ""
		if problems := storedProblems(c); len(problems) > 0 {
			got = problems[0].String()
		}
		if (got == "") != (row.want == "") || !strings.Contains(got, row.want) {
			t.Errorf("storedProblems with %q: got %q, want %q", row.to, got, row.want)
		}
	}
}

// settingsFile returns the path of the settings file in use or, if there isn't one, the
// first path that was searched.
func TestSettingsFile(t *testing.T) {
	t.Setenv("DEEDKEEP_DATA", "")
	dir := t.TempDir()
	data, withFile, named := filepath.Join(dir, "data"), filepath.Join(dir, "filled"), filepath.Join(dir, "own.yaml")
	fileInData := filepath.Join(withFile, "config.yaml")
	if err := os.Mkdir(withFile, 0o700); err != nil {
		t.Fatalf("create directory: %v", err)
	}
	for _, path := range []string{named, fileInData} {
		if err := os.WriteFile(path, []byte("log: {level: warn}\n"), 0o600); err != nil {
			t.Fatalf("write file: %v", err)
		}
	}
	for _, row := range []struct {
		name   string
		args   []string
		want   string
		exists bool
	}{
		{"--config", []string{"--data", withFile, "--config", named}, named, true},
		{"config.yaml in the data directory", []string{"--data", withFile}, fileInData, true},
		{"no file", []string{"--data", data}, filepath.Join(data, "config.yaml"), false},
	} {
		t.Run(row.name, func(t *testing.T) {
			var s *shell
			got := runCLI(t.Context(), t, func(created *shell) { s = created }, append([]string{"config", "check"}, row.args...)...)
			if got.code != exitDone {
				t.Fatalf("config check: got exit code %d: %s", got.code, got.messages)
			}
			if path, exists, err := s.settingsFile(); err != nil || path != row.want || exists != row.exists {
				t.Errorf("settingsFile() = %q, %v, %v, want %q, %v", path, exists, err, row.want, row.exists)
			}
		})
	}
}

package cmd

import (
	"os"
	"path/filepath"
	"testing"
)

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

package cmd

import (
	"os"
	"path/filepath"
	"testing"
)

// Pages and the reminder after a backup name the file of the settings in force.
func TestSettingsFile(t *testing.T) {
	t.Setenv("DEEDKEEP_DATA", "")
	dir := t.TempDir()
	data, filled, own := filepath.Join(dir, "data"), filepath.Join(dir, "filled"), filepath.Join(dir, "own.yaml")
	inFilled := filepath.Join(filled, "config.yaml")
	if err := os.Mkdir(filled, 0o700); err != nil {
		t.Fatalf("create directory: %v", err)
	}
	for _, path := range []string{own, inFilled} {
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
		{"named", []string{"--data", filled, "--config", own}, own, true},
		{"in the data directory", []string{"--data", filled}, inFilled, true},
		{"none", []string{"--data", data}, filepath.Join(data, "config.yaml"), false},
	} {
		t.Run(row.name, func(t *testing.T) {
			var s *shell
			if got := runCLI(t.Context(), t, func(of *shell) { s = of }, append([]string{"config", "check"}, row.args...)...); got.code != exitDone {
				t.Fatalf("exit code %d: %s", got.code, got.messages)
			}
			if path, exists, err := s.settingsFile(); err != nil || path != row.want || exists != row.exists {
				t.Errorf("got %q, %v, %v; want %q, %v", path, exists, err, row.want, row.exists)
			}
		})
	}
}

package store

import (
	"maps"
	"path/filepath"
	"testing"
)

// The time zone that an older version stored counts as a setting until settings are stored.
func TestTimeZoneOfOlderVersions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "vault.db")
	s := open(t, path)
	check := func(want map[string]string) {
		t.Helper()
		if got, err := Read(t.Context(), s, (*Tx).Settings); err != nil || !maps.Equal(got, want) {
			t.Errorf("Settings: got %v, %v, want %v", got, err, want)
		}
	}
	check(nil)
	update(t, s, func(tx *Tx) error { return tx.putSetting(keyTimeZone, "America/Denver") })
	check(map[string]string{"time_zone": "America/Denver"})
	update(t, s, func(tx *Tx) error { return tx.PutSettings(map[string]string{"trash.keep": "9d"}) })
	check(map[string]string{"trash.keep": "9d"})
	if err := s.Close(); err != nil {
		t.Fatalf("Close: %v", err)
	}
	if got, err := ReadSettings(path); err != nil || got["trash.keep"] != "9d" {
		t.Errorf("ReadSettings: got %v, %v, want 9d", got, err)
	}
}

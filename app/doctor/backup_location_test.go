package doctor

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deedkeep/app/apitypes"
	"deedkeep/app/config"
)

// If the last backup is missing, the state is bad. If it is on the same disk as the data,
// the state is a warning.
func TestBackupLocation(t *testing.T) {
	c := config.Default()
	c.Data = t.TempDir()
	check(t, "none", checkBackupLocation(&apitypes.Checkup{}, c), OK, "no backup")
	to := filepath.Join(t.TempDir(), "b")
	found := &apitypes.Checkup{Status: apitypes.Status{LastBackup: &apitypes.Backup{To: to, Snapshot: "20261121T071500Z"}}}
	check(t, "not mounted", checkBackupLocation(found, c), Bad, "no backup found")
	body := fmt.Sprintf(`{"archive":"%032d","vault":"v","created_at":"2026-11-21T07:15:00Z","form":"plain","proof":""}`+"\n", 1)
	head := fmt.Sprintf("deedkeep-backup 1 %x\n%s", sha256.Sum256([]byte(body)), body)
	if err := errors.Join(os.MkdirAll(filepath.Join(to, "snapshots"), 0o700),
		os.WriteFile(filepath.Join(to, "deedkeep-backup"), []byte(head), 0o600)); err != nil {
		t.Fatalf("create backup location: %v", err)
	}
	check(t, "removed", checkBackupLocation(found, c), Bad, "the backup is not in the directory")
	manifest := "20261121T071500Z." + strings.Repeat("0", 64) + ".manifest"
	if err := os.WriteFile(filepath.Join(to, "snapshots", manifest), nil, 0o600); err != nil {
		t.Fatalf("write manifest: %v", err)
	}
	check(t, "there", checkBackupLocation(found, c), Warn, "same disk")
}

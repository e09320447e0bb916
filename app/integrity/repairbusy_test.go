package integrity_test

import (
	"sync"
	"testing"

	"deedkeep/app/backup"
	"deedkeep/app/vaulttest"
)

// A repair, a verification and a backup at the same time wait for each other: neither
// takes indexes that are being rebuilt for damage.
func TestRepairBesideVerifyAndBackup(t *testing.T) {
	t.Parallel()
	v, _ := vaulttest.OpenVerified(t, nil)
	vaulttest.UploadDocs(t, v, vaulttest.PDFDoc("1.pdf", "1"), vaulttest.PDFDoc("2.pdf", "2"))
	vaulttest.CreateOrder(t, v, "A-1")
	to := t.TempDir()
	for range 5 {
		var beside sync.WaitGroup
		beside.Go(func() {
			if r, err := v.Integrity.Repair(t.Context(), vaulttest.Operator, func(int, int) {}); err != nil || !r.Applied || r.FindingsBefore > 0 || !r.Report.OK() {
				t.Errorf("repair: got %+v, %v; want no findings", r, err)
			}
		})
		beside.Go(func() {
			if r, err := v.Integrity.Verify(t.Context(), func(int, int) {}); err != nil || !r.OK() {
				t.Errorf("verify: got %+v, %v; want no findings", r, err)
			}
		})
		beside.Go(func() {
			if _, err := v.Backups.Create(t.Context(), vaulttest.Operator, to, func(backup.Progress) {}); err != nil {
				t.Errorf("backup: got %v, want none", err)
			}
		})
		beside.Wait()
	}
}

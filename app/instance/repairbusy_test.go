package instance_test

import (
	"sync"
	"testing"

	"deedkeep/app/backup"
)

// A repair, a verification and a backup at the same time wait for each other: neither
// takes indexes that are being rebuilt for damage.
func TestRepairBesideVerifyAndBackup(t *testing.T) {
	t.Parallel()
	v, _ := opened(t, nil)
	uploadDocs(t, v, pdf("1.pdf", "1"), pdf("2.pdf", "2"))
	ordered(t, v, "A-1")
	to := t.TempDir()
	for range 5 {
		var beside sync.WaitGroup
		beside.Go(func() {
			if r, err := v.Integrity.Repair(t.Context(), clerk, func(int, int) {}); err != nil || !r.Applied || r.FindingsBefore > 0 || !r.Report.OK() {
				t.Errorf("repair: got %+v, %v; want no findings", r, err)
			}
		})
		beside.Go(func() {
			if r, err := v.Integrity.Verify(t.Context(), func(int, int) {}); err != nil || !r.OK() {
				t.Errorf("verify: got %+v, %v; want no findings", r, err)
			}
		})
		beside.Go(func() {
			if _, err := v.Backups.Create(t.Context(), clerk, to, func(backup.Progress) {}); err != nil {
				t.Errorf("backup: got %v, want none", err)
			}
		})
		beside.Wait()
	}
}

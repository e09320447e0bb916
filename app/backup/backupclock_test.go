package backup_test

import (
	"path/filepath"
	"testing"
	"time"

	"deedkeep/app/backup"
	"deedkeep/app/instance"
	"deedkeep/app/vaulttest"
)

// A clock that was ahead once holds up no planned backup.
func TestThePlanAfterAClockThatWasAhead(t *testing.T) {
	t.Parallel()
	clock := vaulttest.NewClock()
	to := filepath.Join(t.TempDir(), "b")
	v, _ := vaulttest.OpenVerified(t, func(o *instance.Options) {
		o.Now = clock.Now
		o.Settings.Backup = backup.Settings{To: to, Every: 24 * time.Hour}
	})
	clock.Advance(365 * 24 * time.Hour)
	v.Backups.RunIfDue(t.Context())
	clock.Advance(-365 * 24 * time.Hour)
	now := clock.Now()
	v.Backups.RunIfDue(t.Context())
	if s, err := v.Backups.State(); err != nil || s.LastGood == nil || s.LastGood.At.Sub(now).Abs() > time.Hour || s.Next.Sub(now) > 25*time.Hour {
		t.Errorf("%+v, %v", s, err)
	}
}

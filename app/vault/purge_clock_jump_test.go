package vault_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

// After the clock jumps far ahead, the purger waits a day before it purges, even across restarts. This applies to jumps
// while the server is running and while it is stopped. If the clock is corrected within a day, nothing is purged.
func TestPurgeWaitsAfterClockJump(t *testing.T) {
	t.Parallel()
	clock, log := vaulttest.NewClock(), new(bytes.Buffer)
	opts := vaulttest.Options(t)
	opts.Now, opts.Log = clock.Now, slog.New(slog.NewTextHandler(log, nil))
	v, err := instance.Open(t.Context(), opts)
	vaulttest.NoError(t, err)
	restart := func() {
		t.Helper()
		vaulttest.Close(t, v)
		v, err = instance.Open(t.Context(), opts)
		vaulttest.NoError(t, err)
	}
	purge := func(what string, want ...string) {
		t.Helper()
		vaulttest.NoError(t, v.RunPurgeOnce(t.Context()))
		if got := vaulttest.TrashList(t, v); strings.Join(got, ",") != strings.Join(want, ",") {
			t.Errorf("trash %s: got %q, want %q", what, got, want)
		}
	}
	vaulttest.CreateOrder(t, v, "A-1")
	vaulttest.NoError(t, v.Orders.Trash(t.Context(), vaulttest.Operator, 1, vault.Match{}))
	purge("before the jump", "order 1 A-1")
	clock.Advance(10 * vaulttest.TrashPeriod)
	purge("after a jump while the server runs", "order 1 A-1")
	restart()
	vaulttest.CreateOrder(t, v, "an event at the later time")
	purge("after a restart", "order 1 A-1")
	clock.Advance(-10 * vaulttest.TrashPeriod)
	purge("after the correction of the clock", "order 1 A-1")
	clock.Advance(25 * time.Hour)
	purge("a day after the correction", "order 1 A-1")
	_, _, err = v.Keys.Create(t.Context(), vaulttest.Operator, model.KeyDraft{Name: "an event at the correct time"})
	vaulttest.NoError(t, err)
	restart()
	clock.Advance(vaulttest.TrashPeriod)
	purge("after a jump before the start", "order 1 A-1")
	clock.Advance(23 * time.Hour)
	restart()
	purge("less than a day after the jump", "order 1 A-1")
	clock.Advance(time.Hour)
	restart()
	purge("a day after the jump")
	if n := strings.Count(log.String(), "far ahead"); n != 2 {
		t.Errorf("warnings about the clock: got %d, want 2, in the log:\n%s", n, log)
	}
	vaulttest.Close(t, v)
}

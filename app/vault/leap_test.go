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

// A clock that leaps ahead, under a server or before it starts, empties the trash not
// at once but after a day, over restarts too; one that is set right again, never.
func TestAClockFarAheadPurgesNothingForADay(t *testing.T) {
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
	turn := func(what string, want ...string) {
		t.Helper()
		vaulttest.NoError(t, v.RunPurgeOnce(t.Context()))
		if got := vaulttest.TrashList(t, v); strings.Join(got, ",") != strings.Join(want, ",") {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	vaulttest.CreateOrder(t, v, "A-1")
	vaulttest.NoError(t, v.Orders.Trash(t.Context(), vaulttest.Operator, 1, vault.Match{}))
	turn("before", "order 1 A-1")
	clock.Advance(10 * vaulttest.TrashKeep)
	turn("a leap under a server", "order 1 A-1")
	restart()
	vaulttest.CreateOrder(t, v, "an event of that time")
	turn("after a restart", "order 1 A-1")
	clock.Advance(-10 * vaulttest.TrashKeep)
	turn("set right", "order 1 A-1")
	clock.Advance(25 * time.Hour)
	turn("a day later", "order 1 A-1")
	_, _, err = v.Keys.Create(t.Context(), vaulttest.Operator, model.KeyDraft{Name: "an event of the right time"})
	vaulttest.NoError(t, err)
	restart()
	clock.Advance(vaulttest.TrashKeep)
	turn("a leap before the start", "order 1 A-1")
	clock.Advance(23 * time.Hour)
	restart()
	turn("not yet a day", "order 1 A-1")
	clock.Advance(time.Hour)
	restart()
	turn("a day after the leap")
	if n := strings.Count(log.String(), "far ahead"); n != 2 {
		t.Errorf("told %d times:\n%s", n, log)
	}
	vaulttest.Close(t, v)
}

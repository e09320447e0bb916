//go:build root && linux

package instance_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"deedkeep/app/instance"
	"deedkeep/app/store"
	"deedkeep/app/vaulttest"
	"deedkeep/app/vaulttest/blockdev"
)

// A power failure at any moment of a rollback leaves the upgraded database, or the copy with the entry of the rollback.
// The next call completes it, and no failure loses the document from before the upgrade.
//
// Run as root: go test -tags root ./app/instance -run PowerFailureDuringRollBack
func TestPowerFailureDuringRollBack(t *testing.T) {
	opts := upgradedVault(t, 1)
	disk := blockdev.New(t, 48<<20)
	disk.Mkfs(t, "ext4")
	at := func(mounted string) instance.Options {
		moved := opts
		moved.Dir = filepath.Join(mounted, "d")
		return moved
	}
	mounted := disk.Mount(t)
	if err := os.CopyFS(at(mounted).Dir, os.DirFS(opts.Dir)); err != nil {
		t.Fatalf("copy directory: %v", err)
	}
	disk.Unmount(t)
	mounted = disk.Mount(t)
	record := disk.Record(t)
	if r, err := instance.RollBack(t.Context(), at(mounted), true); err != nil || r.Lost != 1 {
		t.Fatalf("RollBack() = %+v, %v; want 1 lost entry", r, err)
	}
	record.Stop()
	replayer, rng := record.Replayer(t), rand.New(rand.NewPCG(1, 2))
	before, after := 0, 0
	for position := 0; position <= record.Len(); position++ {
		state, err := replayer.Replay(position, rng)
		if err != nil {
			t.Fatalf("replay %d: %v", position, err)
		}
		opts := at(state.Mount(t))
		if v, err := instance.Open(t.Context(), opts); err == nil {
			after++
			vaulttest.Close(t, v)
		} else {
			before++
		}
		r, err := instance.RollBack(t.Context(), opts, true)
		if err != nil {
			t.Errorf("position %d: RollBack() = %+v, %v; want the copy", position, r, err)
		}
		v := vaulttest.OpenUnchecked(t, opts)
		vaulttest.Verify(t, v)
		rolledBack, err := store.Read(t.Context(), v.Store, func(tx *store.Tx) (n int, err error) {
			events, err := tx.ListEvents(store.Query{Limit: 50})
			for _, e := range events.Items {
				if e.Kind == "vault.rolled_back" {
					n++
				}
			}
			return n, err
		})
		if err != nil || rolledBack != 1 {
			t.Errorf("position %d: got %d entries of a rollback, %v; want 1", position, rolledBack, err)
		}
		if v.StartGeneration(t.Context()) {
			t.Errorf("position %d: the server would delete the document without a record, want it not to", position)
		}
		vaulttest.Close(t, v)
		state.Unmount(t)
	}
	if before == 0 || after == 0 {
		t.Errorf("got %d states before the rollback and %d after it, want both", before, after)
	}
	t.Logf("%d writes and flushes: %d states before the rollback, %d after it", record.Len(), before, after)
}

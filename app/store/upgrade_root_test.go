//go:build root && linux

package store

import (
	"maps"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"deedkeep/app/vaulttest/blockdev"
)

// A power failure at any moment of an upgrade leaves the old state, or the new one with a complete copy of the old one.
// The next start then completes the upgrade.
//
// Run as root: go test -tags root ./app/store -run PowerFailureDuringUpgrade
func TestPowerFailureDuringUpgrade(t *testing.T) {
	disk := blockdev.New(t, 48<<20)
	disk.Mkfs(t, "ext4")
	const schema = Schema - 1
	dir := disk.Mount(t)
	path := filepath.Join(dir, "vault.db")
	before := writeFixture(t, path, schema)
	overwrite([]byte("an earlier copy"))(t, path+".before-0.1.0")
	disk.Unmount(t)
	disk.Mount(t)
	record := disk.Record(t)
	if _, _, err := openWith(t, path, func(*Options) {}); err != nil {
		t.Fatalf("upgrade: %v", err)
	}
	record.Stop()
	replayer, rng := record.Replayer(t), rand.New(rand.NewPCG(1, 2))
	name := "vault.db.before-" + fixtureLabel(schema)
	old, upgraded := 0, 0
	for position := 0; position <= record.Len(); position++ {
		for range 3 {
			state, err := replayer.Replay(position, rng)
			if err != nil {
				t.Fatalf("replay %d: %v", position, err)
			}
			dir := state.Mount(t)
			path := filepath.Join(dir, "vault.db")
			switch now := readAll(t, path); now["meta schema"] {
			case before["meta schema"]:
				old++
				if !maps.Equal(now, before) {
					t.Errorf("position %d: the old state has %d entries, want %d", position, len(now), len(before))
				}
			default:
				upgraded++
				if now := readAll(t, filepath.Join(dir, name)); !maps.Equal(now, before) {
					t.Errorf("position %d: upgraded with a copy of %d entries, want %d", position, len(now), len(before))
				}
			}
			if _, _, err := openWith(t, path, func(*Options) {}); err != nil {
				t.Errorf("position %d: open: %v", position, err)
			}
			if now := readAll(t, filepath.Join(dir, name)); !maps.Equal(now, before) {
				t.Errorf("position %d: after the next start, got a copy of %d entries, want %d", position, len(now), len(before))
			}
			state.Unmount(t)
		}
	}
	if old == 0 || upgraded == 0 {
		t.Errorf("got %d old states and %d upgraded ones, want both", old, upgraded)
	}
	t.Logf("%d writes and flushes: %d old states, %d upgraded ones", record.Len(), old, upgraded)
}

package archive

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestRetained(t *testing.T) {
	rows := []struct {
		name  string
		r     Retention
		names string // the ones that stay begin with +
	}{
		{"none", Retention{}, ""},
		{"newest is always kept", Retention{}, "20261119T010000Z 20261120T010000Z +20261121T010000Z"},
		{"the newest of each day", Retention{Daily: 2}, "20261119T230000Z 20261120T010000Z +20261120T230000Z 20261121T010000Z +20261121T020000Z"},
		{"days without snapshots do not count", Retention{Daily: 2}, "20260101T000000Z +20260601T000000Z +20261121T000000Z"},
		// 2026-11-16 is a Monday.
		{"weeks begin on Monday", Retention{Weekly: 2}, "20261114T000000Z +20261115T230000Z 20261116T000000Z +20261121T000000Z"},
		{"week across the new year", Retention{Weekly: 1}, "20261231T000000Z +20270102T000000Z"},
		{"months", Retention{Monthly: 3}, "20260801T000000Z +20260930T000000Z 20261001T000000Z +20261031T000000Z +20261121T000000Z"},
		{"combined", Retention{1, 2, 3}, "+20260930T000000Z +20261031T000000Z 20261108T000000Z +20261115T000000Z 20261120T000000Z +20261121T000000Z"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			var want []string
			made := map[string]time.Time{}
			for name := range strings.FieldsSeq(row.names) {
				name, stays := strings.CutPrefix(name, "+")
				if made[name], _ = ParseSnapshot(name); stays {
					want = append(want, name)
				}
			}
			if got := slices.Sorted(maps.Keys(row.r.Retained(made))); !slices.Equal(got, want) {
				t.Errorf("Retained = %v, want %v", got, want)
			}
		})
	}
}

func prune(t *testing.T, dir string, opts Options, r Retention) (PruneResult, error) {
	t.Helper()
	return openArchive(t, dir, opts).Prune(context.Background(), r, false, func(int64, int64) {})
}

// backUpDaily adds a snapshot per day, each with a document of its own and a common one.
func backUpDaily(t *testing.T, h *testVault, dir string, opts Options, days int) {
	t.Helper()
	for range days {
		h.now = h.now.Add(24 * time.Hour)
		h.docs = map[Digest][]byte{}
		h.addDocuments("the common deed", "the deed of "+h.now.String())
		h.backUp(t, dir, opts)
	}
}

func TestPrune(t *testing.T) {
	for name, opts := range allFormats(t) {
		t.Run(name, func(t *testing.T) {
			h := newTestVault()
			opts.Now = func() time.Time { return h.now }
			dir := filepath.Join(t.TempDir(), "b")
			backUpDaily(t, h, dir, opts, 5)
			dryRun, err := openArchive(t, dir, opts).Prune(context.Background(), Retention{Daily: 2}, true, func(int64, int64) {})
			if err != nil || len(dryRun.Removed) != 3 || dryRun.Blobs != 3 {
				t.Errorf("dry run = %+v, %v", dryRun, err)
			}
			if r := verifyAll(t, dir, opts); r.Snapshots != 5 || r.Blobs != 6 {
				t.Errorf("Verify after the dry run = %+v", r)
			}
			p, err := prune(t, dir, opts, Retention{Daily: 2})
			if err != nil || !slices.Equal(p.Kept, []string{"20261125T071500Z", "20261126T071500Z"}) || len(p.Removed) != 3 || p.Blobs != 3 || p.Bytes != dryRun.Bytes {
				t.Errorf("Prune = %+v, %v", p, err)
			}
			if r := verifyAll(t, dir, opts); len(r.Findings) != 0 || r.Snapshots != 2 || r.Blobs != 3 || r.Orphans+r.Leftovers != 0 {
				t.Errorf("Verify = %+v", r)
			}
			if err := h.checkSnapshot(dir, opts, Latest); err != nil {
				t.Errorf("checkSnapshot: %v", err)
			}
		})
	}
}

// TestPruneRejectsUnreadableManifest checks that nothing is removed if a retained
// manifest can't be read, because it may reference any document.
func TestPruneRejectsUnreadableManifest(t *testing.T) {
	opts := allFormats(t)["plain"]
	h := newTestVault()
	opts.Now = func() time.Time { return h.now }
	dir := filepath.Join(t.TempDir(), "b")
	backUpDaily(t, h, dir, opts, 3)
	before := readTree(t, dir)
	path := lastFile(t, dir, "snapshots/*.manifest")
	rewriteFile(t, path, changes["bit in the middle"])
	if _, err := prune(t, dir, opts, Retention{Daily: 1}); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "nothing was removed") {
		t.Errorf("prune = %v, want ErrDamaged", err)
	}
	rewriteFile(t, path, changes["bit in the middle"])
	release, err := openArchive(t, dir, opts).LockForReading()
	if err != nil {
		t.Fatalf("LockForReading: %v", err)
	}
	if _, err := prune(t, dir, opts, Retention{Daily: 1}); !errors.Is(err, ErrLocked) {
		t.Errorf("while somebody reads: %v", err)
	}
	release()
	after := readTree(t, dir)
	delete(after, readingName)
	delete(before, readingName)
	if !maps.Equal(before, after) {
		t.Error("files were removed, want none")
	}
}

// TestLeftovers checks that files of an interrupted writer are invisible, are counted,
// and are removed by the next writer.
func TestLeftovers(t *testing.T) {
	opts := allFormats(t)["plain"]
	h := newTestVault("a deed")
	opts.Now = func() time.Time { return h.now }
	dir := filepath.Join(t.TempDir(), "b")
	h.backUp(t, dir, opts)
	orphan := strings.Repeat("ef", 32)
	for _, path := range []string{"tmp/123", "snapshots/20261121T090000Z." + orphan + ".db", "blobs/ef/" + orphan} {
		path = filepath.Join(dir, filepath.FromSlash(path))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte("x"), 0o600)); err != nil {
			t.Fatalf("create directory: %v", err)
		}
	}
	if r := verifyAll(t, dir, opts); len(r.Findings) != 0 || r.Orphans != 1 || r.Leftovers != 2 || r.Snapshots != 1 {
		t.Errorf("Verify = %+v", r)
	}
	h.backUp(t, dir, opts)
	if r := verifyAll(t, dir, opts); r.Orphans != 1 || r.Leftovers != 0 {
		t.Errorf("Verify after another snapshot = %+v", r)
	}
	if p, err := prune(t, dir, opts, Retention{Daily: 1}); err != nil || p.Blobs != 1 {
		t.Errorf("Prune = %+v, %v", p, err)
	}
	if r := verifyAll(t, dir, opts); r.Orphans != 0 || r.Leftovers != 0 || len(r.Findings) != 0 {
		t.Errorf("Verify after Prune = %+v", r)
	}
}

// TestInterruptedBackUp checks that an interrupted backup leaves no visible snapshot and
// no orphans.
func TestInterruptedBackUp(t *testing.T) {
	opts := allFormats(t)["plain"]
	dir := filepath.Join(t.TempDir(), "b")
	h := newTestVault("a deed")
	h.backUp(t, dir, opts)
	h.addDocuments("b", "c", "d")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, _, err := h.tryBackUp(ctx, t, dir, opts); !errors.Is(err, context.Canceled) {
		t.Errorf("tryBackUp = %v, want context.Canceled", err)
	}
	if r := verifyAll(t, dir, opts); r.Snapshots != 1 || r.Orphans+r.Leftovers+len(r.Findings) != 0 {
		t.Errorf("Verify = %+v", r)
	}
}

// TestPruneAfterClockWasAhead checks a clock that was a year ahead for one snapshot:
// names continue from it, but retention uses the real times.
func TestPruneAfterClockWasAhead(t *testing.T) {
	opts := allFormats(t)["passphrase"]
	h := newTestVault("a deed")
	opts.Now = func() time.Time { return h.now }
	dir := filepath.Join(t.TempDir(), "b")
	h.now = h.now.AddDate(1, 0, 0)
	h.backUp(t, dir, opts)
	h.now = h.now.AddDate(-1, 0, 0)
	backUpDaily(t, h, dir, opts, 4)
	h.now = h.now.Add(time.Minute) // only the newest snapshot of a day is kept
	h.backUp(t, dir, opts)
	p, err := prune(t, dir, opts, Retention{Daily: 3})
	if want := []string{"20271121T071502Z", "20271121T071503Z", "20271121T071505Z"}; err != nil || !slices.Equal(p.Kept[len(p.Kept)-3:], want) || len(p.Kept) != 3 {
		t.Errorf("Prune = %+v, %v", p, err)
	}
	if err := h.checkSnapshot(dir, opts, Latest); err != nil {
		t.Errorf("checkSnapshot: %v", err)
	}
}

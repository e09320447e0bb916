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

	"deedkeep/app/blobstore"
)

func TestRetained(t *testing.T) {
	rows := []struct {
		name  string
		r     Retention
		names string // the names of retained snapshots start with "+"
	}{
		{"none", Retention{}, ""},
		{"newest is always kept", Retention{}, "20261119T010000Z 20261120T010000Z +20261121T010000Z"},
		{"newest of each day", Retention{Daily: 2}, "20261119T230000Z 20261120T010000Z +20261120T230000Z 20261121T010000Z +20261121T020000Z"},
		{"days without snapshots do not count", Retention{Daily: 2}, "20260101T000000Z +20260601T000000Z +20261121T000000Z"},
		// 2026-11-16 is a Monday.
		{"weeks begin on Monday", Retention{Weekly: 2}, "20261114T000000Z +20261115T230000Z 20261116T000000Z +20261121T000000Z"},
		{"week across the new year", Retention{Weekly: 1}, "20261231T000000Z +20270102T000000Z"},
		{"months", Retention{Monthly: 3}, "20260801T000000Z +20260930T000000Z 20261001T000000Z +20261031T000000Z +20261121T000000Z"},
		{"combined", Retention{1, 2, 3},
			"+20260930T000000Z +20261031T000000Z 20261108T000000Z +20261115T000000Z 20261120T000000Z +20261121T000000Z"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			var want []string
			snapshots := map[string]time.Time{}
			for name := range strings.FieldsSeq(row.names) {
				name, retained := strings.CutPrefix(name, "+")
				if snapshots[name], _ = ParseSnapshot(name); retained {
					want = append(want, name)
				}
			}
			if got := slices.Sorted(maps.Keys(row.r.Retained(snapshots))); !slices.Equal(got, want) {
				t.Errorf("Retained = %v, want %v", got, want)
			}
		})
	}
}

// prune prunes an archive.
func prune(t *testing.T, dir string, opts Options, r Retention) (PruneResult, error) {
	t.Helper()
	return openArchive(t, dir, opts).Prune(context.Background(), r, false, func(int64, int64) {})
}

// backUpDaily adds one snapshot per day. Each has a document that all have in common and
// a document of its own.
func backUpDaily(t *testing.T, h *testVault, dir string, opts Options, days int) {
	t.Helper()
	for range days {
		h.now = h.now.Add(24 * time.Hour)
		h.docs = map[blobstore.Digest][]byte{}
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
				t.Errorf("dry run = %+v, %v; want 3 snapshots and 3 documents to remove", dryRun, err)
			}
			if r := verifyAll(t, dir, opts); r.Snapshots != 5 || r.Blobs != 6 {
				t.Errorf("Verify after the dry run = %+v, want 5 snapshots of 6 documents", r)
			}
			p, err := prune(t, dir, opts, Retention{Daily: 2})
			kept := []string{"20261125T071500Z", "20261126T071500Z"}
			if err != nil || !slices.Equal(p.Kept, kept) || len(p.Removed) != 3 || p.Blobs != 3 || p.Bytes != dryRun.Bytes {
				t.Errorf("Prune = %+v, %v; want %v kept, and 3 snapshots and 3 documents of %d bytes removed", p, err, kept, dryRun.Bytes)
			}
			if r := verifyAll(t, dir, opts); len(r.Findings) != 0 || r.Snapshots != 2 || r.Blobs != 3 || r.Orphans+r.Leftovers != 0 {
				t.Errorf("Verify = %+v, want 2 snapshots of 3 documents, no findings, orphans, or leftovers", r)
			}
			if err := h.checkSnapshot(dir, opts, Latest); err != nil {
				t.Errorf("checkSnapshot: %v", err)
			}
		})
	}
}

// TestPruneRejectsUnreadableManifest checks that nothing is removed if a retained
// manifest can't be read, because it could reference any document.
func TestPruneRejectsUnreadableManifest(t *testing.T) {
	opts := allFormats(t)["plain"]
	h := newTestVault()
	opts.Now = func() time.Time { return h.now }
	dir := filepath.Join(t.TempDir(), "b")
	backUpDaily(t, h, dir, opts, 3)
	before := readTree(t, dir)
	path := lastFile(t, dir, "snapshots/*.manifest")
	rewriteFile(t, path, fileChanges["bit in the middle"])
	if _, err := prune(t, dir, opts, Retention{Daily: 1}); !errors.Is(err, ErrDamaged) ||
		!strings.Contains(err.Error(), "nothing was deleted") {
		t.Errorf("prune = %v, want ErrDamaged", err)
	}
	rewriteFile(t, path, fileChanges["bit in the middle"])
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
		t.Error("Prune changed files, want no change")
	}
}

// TestLeftovers checks that files left by an interrupted writer are invisible, are
// counted, and are removed by the next writer.
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
		t.Errorf("Verify = %+v, want 1 snapshot, 1 orphan, and 2 leftovers", r)
	}
	h.backUp(t, dir, opts)
	if r := verifyAll(t, dir, opts); r.Orphans != 1 || r.Leftovers != 0 {
		t.Errorf("Verify after another snapshot = %+v, want 1 orphan and no leftovers", r)
	}
	if p, err := prune(t, dir, opts, Retention{Daily: 1}); err != nil || p.Blobs != 1 {
		t.Errorf("Prune = %+v, %v; want 1 removed document", p, err)
	}
	if r := verifyAll(t, dir, opts); r.Orphans != 0 || r.Leftovers != 0 || len(r.Findings) != 0 {
		t.Errorf("Verify after Prune = %+v, want no orphans, leftovers, or findings", r)
	}
}

// TestInterruptedBackUp checks that an interrupted backup leaves no visible snapshot and
// no unreferenced blobs.
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
		t.Errorf("Verify = %+v, want 1 snapshot, no orphans, leftovers, or findings", r)
	}
}

// TestPruneAfterClockWasAhead checks snapshots created after one with a clock that was a
// year ahead. Their names continue from that snapshot, but retention uses the actual
// times.
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
	want := []string{"20271121T071502Z", "20271121T071503Z", "20271121T071505Z"}
	if err != nil || !slices.Equal(p.Kept, want) {
		t.Errorf("Prune = %+v, %v; want %v kept", p, err, want)
	}
	if err := h.checkSnapshot(dir, opts, Latest); err != nil {
		t.Errorf("checkSnapshot: %v", err)
	}
}

// A labeled snapshot stays until there is a newer one with a label, and can be found by its label.
func TestPruneKeepsLabeledSnapshot(t *testing.T) {
	for name, opts := range allFormats(t) {
		t.Run(name, func(t *testing.T) {
			h := newTestVault()
			opts.Now = func() time.Time { return h.now }
			dir := filepath.Join(t.TempDir(), "b")
			var labeled []string
			for _, label := range []string{"before-upgrade-0.2.0", "before-upgrade-0.3.0"} {
				h.label = label
				backUpDaily(t, h, dir, opts, 1)
				h.label = ""
				backUpDaily(t, h, dir, opts, 3)
				names, err := openArchive(t, dir, opts).Snapshots()
				if err != nil {
					t.Fatalf("list snapshots: %v", err)
				}
				labeled = append(labeled, names[len(names)-4])
				h.now = h.now.AddDate(1, 0, 0)
				backUpDaily(t, h, dir, opts, 1)
				p, err := prune(t, dir, opts, Retention{Daily: 1})
				if err != nil || len(p.Kept) != 2 || p.Kept[0] != labeled[len(labeled)-1] {
					t.Errorf("Prune = %+v, %v; want to keep %s and the newest", p, err, labeled)
				}
				if info, err := openArchive(t, dir, opts).Info(label); err != nil || info.Snapshot != labeled[len(labeled)-1] {
					t.Errorf("Info(%s) = %+v, %v; want %s", label, info, err, labeled)
				}
			}
			if labels, err := openArchive(t, dir, opts).Labels(); err != nil || len(labels) != 1 || labels[labeled[1]] != "before-upgrade-0.3.0" {
				t.Errorf("Labels = %v, %v; want only that of %s", labels, err, labeled[1])
			}
		})
	}
}

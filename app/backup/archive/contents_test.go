package archive

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// loseManifest deletes the manifest of a snapshot.
func loseManifest(t *testing.T, dir, snapshot string) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, snapsDir, snapshot+".*.manifest"))
	if err != nil || len(found) != 1 {
		t.Fatalf("manifests of %s = %v, %v; want one", snapshot, found, err)
	}
	if err := os.Remove(found[0]); err != nil {
		t.Fatalf("remove manifest: %v", err)
	}
}

// A snapshot that vanished is missing until the retention would have removed it, or until
// an administrator accepts the loss. Pruned snapshots are not missing.
func TestVanishedSnapshotIsMissing(t *testing.T) {
	for name, opts := range allFormats(t) {
		for _, day := range []string{"20261123", "20261126"} { // in the middle, and the newest
			t.Run(name+" "+day, func(t *testing.T) {
				h := newTestVault()
				opts.Now = func() time.Time { return h.now }
				dir := filepath.Join(t.TempDir(), "b")
				backUpDaily(t, h, dir, opts, 5)
				want := func(what string, names ...string) {
					t.Helper()
					if got, err := openArchive(t, dir, opts).Missing(); err != nil || !slices.Equal(got, names) {
						t.Errorf("%s: Missing() = %v, %v; want %v", what, got, err, names)
					}
					var found []string
					for _, f := range verifyAll(t, dir, opts).Findings {
						if strings.Contains(f.Problem, "deedkeep didn't delete it") {
							found = append(found, f.Subject)
						}
					}
					if !slices.Equal(found, names) {
						t.Errorf("%s: Verify found %v, want %v", what, found, names)
					}
				}
				want("nothing lost")
				lost := day + "T071500Z"
				loseManifest(t, dir, lost)
				want("one lost", lost)
				backUpDaily(t, h, dir, opts, 1)
				want("after another backup", lost)
				if _, err := prune(t, dir, opts, Retention{Daily: 6}); err != nil {
					t.Fatalf("Prune: %v", err)
				}
				want("after a prune that keeps the day", lost)
				backUpDaily(t, h, dir, opts, 6)
				if _, err := prune(t, dir, opts, Retention{Daily: 2}); err != nil {
					t.Fatalf("Prune: %v", err)
				}
				want("after a prune that doesn't keep the day")
				loseManifest(t, dir, h.now.Format("20060102")+"T071500Z")
				if err := openArchive(t, dir, opts).ForgetMissing(); err != nil {
					t.Fatalf("ForgetMissing: %v", err)
				}
				want("after ForgetMissing")
			})
		}
	}
}

// Without the list, or after an older version of deedkeep, nothing is missing. A damaged list
// is a finding, and the next snapshot replaces it.
func TestMissingWithoutContents(t *testing.T) {
	opts := allFormats(t)["plain"]
	h := newTestVault()
	opts.Now = func() time.Time { return h.now }
	dir := filepath.Join(t.TempDir(), "b")
	backUpDaily(t, h, dir, opts, 3)
	list := filepath.Join(dir, contentsName)
	for name, content := range map[string]string{"none": "", "of an older version": `{"snapshots":["20261101T071500Z","20261122T071500Z"]}`} {
		if err := errors.Join(os.Remove(list), os.WriteFile(list, []byte(content), 0o600)); err != nil {
			t.Fatalf("write list: %v", err)
		}
		if content == "" {
			if err := os.Remove(list); err != nil {
				t.Fatalf("remove list: %v", err)
			}
		}
		if r := verifyAll(t, dir, opts); len(r.Findings) > 0 {
			t.Errorf("list %s: findings = %v, want none", name, r.Findings)
		}
		if err := os.WriteFile(list, nil, 0o600); err != nil {
			t.Fatalf("write list: %v", err)
		}
	}
	if r := verifyAll(t, dir, opts); len(r.Findings) != 1 || !strings.Contains(r.Findings[0].Problem, contentsName) {
		t.Errorf("damaged list: findings = %v, want one", r.Findings)
	}
	backUpDaily(t, h, dir, opts, 1)
	if r := verifyAll(t, dir, opts); len(r.Findings) > 0 {
		t.Errorf("after the next snapshot: findings = %v, want none", r.Findings)
	}
}

// If a backup ends after its snapshot is complete and before the list is written, a snapshot that
// vanished is still missing, and the next backup doesn't forget it.
func TestMissingAfterInterruptedBackup(t *testing.T) {
	for name, opts := range allFormats(t) {
		t.Run(name, func(t *testing.T) {
			h := newTestVault()
			h.version = "v1.2.3"
			opts.Now = func() time.Time { return h.now }
			dir := filepath.Join(t.TempDir(), "b")
			list := filepath.Join(dir, contentsName)
			backUpDaily(t, h, dir, opts, 3)
			earlier, err := os.ReadFile(list)
			if err != nil {
				t.Fatalf("read list: %v", err)
			}
			backUpDaily(t, h, dir, opts, 1)
			if err := os.WriteFile(list, earlier, 0o600); err != nil {
				t.Fatalf("write list: %v", err)
			}
			want := []string{"20261123T071500Z"}
			loseManifest(t, dir, want[0])
			for _, when := range []string{"after the interruption", "after the next backup"} {
				if got, err := openArchive(t, dir, opts).Missing(); err != nil || !slices.Equal(got, want) {
					t.Errorf("%s: Missing() = %v, %v; want %v", when, got, err, want)
				}
				backUpDaily(t, h, dir, opts, 1)
			}
		})
	}
}

// The last snapshot before an upgrade stays for 90 days, because the old version restores
// only that one.
func TestPruneKeepsSnapshotBeforeUpgrade(t *testing.T) {
	at := time.Date(2026, 11, 21, 7, 15, 0, 0, time.UTC)
	created, schemas := map[string]time.Time{}, map[string]int{}
	for day, schema := range map[int]int{0: 7, 1: 8, 2: 8, 3: 9, 60: 9} {
		name := at.AddDate(0, 0, day).Format(snapshotLayout)
		created[name], schemas[name] = at.AddDate(0, 0, day), schema
	}
	names := slices.Sorted(maps.Keys(created))
	if got := beforeUpgrade(names, created, schemas); got != "20261123T071500Z" {
		t.Errorf("beforeUpgrade = %q, want the last with schema 8", got)
	}
	if got := beforeUpgrade(names[:3], created, schemas); got != "20261121T071500Z" {
		t.Errorf("beforeUpgrade = %q, want the one with schema 7", got)
	}
	late := at.AddDate(0, 0, 100).Format(snapshotLayout)
	created[late], schemas[late] = at.AddDate(0, 0, 100), 9
	if got := beforeUpgrade(append(names, late), created, schemas); got != "" {
		t.Errorf("beforeUpgrade after 98 days = %q, want none", got)
	}
	if got := beforeUpgrade(names[:1], created, schemas); got != "" {
		t.Errorf("beforeUpgrade of one schema = %q, want none", got)
	}
}

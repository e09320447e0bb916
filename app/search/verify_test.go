package search_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"deedkeep/app/vaulttest"
)

// damageIndex changes a byte in the middle of each segment file of the live index.
func damageIndex(t *testing.T, dir string) {
	t.Helper()
	damaged := 0
	for _, path := range indexFiles(t, dir) {
		if strings.HasSuffix(path, ".segment") {
			damaged++
			if err := vaulttest.FlipByte(0.5)(path); err != nil {
				t.Fatalf("damage segment: %v", err)
			}
		}
	}
	if damaged == 0 {
		t.Fatal("the index has no segments")
	}
}

// waitMerged waits until the files of the live index haven't changed for half a second, because nothing reports that all
// merges have ended.
func waitMerged(t *testing.T, dir string) {
	t.Helper()
	var before []string
	same := 0
	vaulttest.Eventually(t, "an unchanged index", func() bool {
		files := indexFiles(t, dir)
		if same++; !slices.Equal(files, before) {
			before, same = files, 0
		}
		time.Sleep(5 * time.Millisecond)
		return same > 100
	})
}

// An integrity check reports a damaged index, and a running server rebuilds it. A missing index is not
// reported.
func TestVerifyReadsIndex(t *testing.T) {
	t.Parallel()
	opts := vaulttest.Options(t)
	v := vaulttest.OpenUnchecked(t, opts)
	addSampleRecords(t, v)
	vaulttest.WaitIndexed(t, v)
	if r := vaulttest.VerifyReport(t, v); !r.OK() {
		t.Errorf("findings of an intact index = %+v, want none", r.Findings)
	}
	vaulttest.Close(t, v)

	damageIndex(t, opts.Dir)
	v = vaulttest.OpenUnchecked(t, opts)
	r := vaulttest.VerifyReport(t, v)
	if len(r.Findings) != 1 || r.Findings[0].Kind != "search" || !strings.Contains(r.Findings[0].Problem, "no document is lost") ||
		!strings.Contains(r.Findings[0].Problem, "deedkeep reindex") {
		t.Errorf("findings of a damaged index without a server = %+v, want one about the search index", r.Findings)
	}
	vaulttest.Close(t, v)

	if err := os.RemoveAll(filepath.Join(opts.Dir, "search")); err != nil {
		t.Fatalf("remove directory: %v", err)
	}
	v = vaulttest.OpenUnchecked(t, opts)
	if r := vaulttest.VerifyReport(t, v); !r.OK() {
		t.Errorf("findings of a missing index = %+v, want none", r.Findings)
	}
	v.Start(time.Hour)
	vaulttest.WaitTextsRebuilt(t, v)
	waitMerged(t, opts.Dir)
	damageIndex(t, opts.Dir)
	r = vaulttest.VerifyReport(t, v)
	if len(r.Findings) != 1 || !strings.Contains(r.Findings[0].Problem, "is rebuilding the search index") {
		t.Errorf("findings of a damaged index with a server = %+v, want one about the rebuild", r.Findings)
	}
	vaulttest.WaitIndexed(t, v)
	if r := vaulttest.VerifyReport(t, v); !r.OK() {
		t.Errorf("findings of a rebuilt index = %+v, want none", r.Findings)
	}
	wantHits(t, v, "26-0003", "order 4")
	vaulttest.Close(t, v)
}

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

// spoilIndex changes a byte in the middle of each file of an index that holds words.
func spoilIndex(t *testing.T, dir string) {
	t.Helper()
	spoiled := 0
	for _, path := range indexFiles(t, dir) {
		if strings.HasSuffix(path, ".segment") {
			spoiled++
			if err := vaulttest.FlipByte(0.5)(path); err != nil {
				t.Fatalf("vaulttest.FlipByte: %v", err)
			}
		}
	}
	if spoiled == 0 {
		t.Fatal("there is nothing to spoil")
	}
}

// merged waits until the files of an index have been the same for half a second: it has no
// sign that nothing is merged any more.
func merged(t *testing.T, dir string) {
	t.Helper()
	var before []string
	same := 0
	vaulttest.Eventually(t, "an index that stays as it is", func() bool {
		files := indexFiles(t, dir)
		if same++; !slices.Equal(files, before) {
			before, same = files, 0
		}
		time.Sleep(5 * time.Millisecond)
		return same > 100
	})
}

// A damaged index is a finding, without a server and with one, which makes it anew; one
// that is missing is none.
func TestVerifyReadsTheIndex(t *testing.T) {
	t.Parallel()
	opts := vaulttest.Options(t)
	v := vaulttest.OpenUnchecked(t, opts)
	furnished(t, v)
	vaulttest.WaitIndexed(t, v)
	if r := vaulttest.VerifyReport(t, v); !r.OK() {
		t.Errorf("whole: %+v", r.Findings)
	}
	shut(t, v)

	spoilIndex(t, opts.Dir)
	v = vaulttest.OpenUnchecked(t, opts)
	r := vaulttest.VerifyReport(t, v)
	if len(r.Findings) != 1 || r.Findings[0].Kind != "search" || !strings.Contains(r.Findings[0].Problem, "no document is lost") || !strings.Contains(r.Findings[0].Problem, "deedkeep reindex") {
		t.Errorf("damaged, without a server: %+v", r.Findings)
	}
	shut(t, v)

	if err := os.RemoveAll(filepath.Join(opts.Dir, "search")); err != nil {
		t.Fatalf("remove directory: %v", err)
	}
	v = vaulttest.OpenUnchecked(t, opts)
	if r := vaulttest.VerifyReport(t, v); !r.OK() {
		t.Errorf("missing: %+v", r.Findings)
	}
	v.Start(time.Hour)
	vaulttest.WaitTextsRebuilt(t, v)
	merged(t, opts.Dir)
	spoilIndex(t, opts.Dir)
	r = vaulttest.VerifyReport(t, v)
	if len(r.Findings) != 1 || !strings.Contains(r.Findings[0].Problem, "being made anew") {
		t.Errorf("damaged, beside a server: %+v", r.Findings)
	}
	vaulttest.WaitIndexed(t, v)
	if r := vaulttest.VerifyReport(t, v); !r.OK() {
		t.Errorf("made anew: %+v", r.Findings)
	}
	finds(t, v, "26-0003", "order 4")
	shut(t, v)
}

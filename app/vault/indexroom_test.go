package vault_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deedkeep/app/blob"
	"deedkeep/app/title"
	"deedkeep/app/vaulttest"
)

// The index stops growing above the reserve, where documents still have room, and says
// so; below twice the reserve nothing is merged either.
func TestTheIndexStopsAboveTheReserve(t *testing.T) {
	t.Parallel()
	v, opts := opened(t, nil)
	indexes(t, v)
	free, err := blob.DiskFree(opts.Dir)
	if err != nil {
		t.Fatal(err)
	}
	v.Reserve(free / 4 * 3)
	order(t, v, "A-1", "", "", elm("", "")) // there is room for it
	if _, err := v.IndexTurn(t.Context()); title.KindOf(err) != title.Full || !strings.Contains(err.Error(), "disk.reserve") {
		t.Errorf("said %v", err)
	}
	if v.RoomToMerge(0) {
		t.Error("a merge has room")
	}
	v.Reserve(free / 4)
	if v.RoomToMerge(int64(free/4*3)) || !v.RoomToMerge(int64(free/8)) {
		t.Error("a merge has room for what would take the reserve, or none for less")
	}
	indexes(t, v)
	finds(t, v, "A-1", "order 1")
}

// What should be a small file, and is a folder, is as good as torn.
func TestAFolderInPlaceOfAFile(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"current", "1/manifest"} {
		t.Run(strings.ReplaceAll(name, "/", " "), func(t *testing.T) {
			t.Parallel()
			opts := vaulttest.Options(t)
			v := closing(t, opts)
			order(t, v, "A-1", "", "", elm("", ""))
			indexes(t, v)
			shut(t, v)
			path := filepath.Join(opts.Dir, "search", filepath.FromSlash(name))
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			if err := os.MkdirAll(filepath.Join(path, "x"), 0o700); err != nil {
				t.Fatal(err)
			}
			for range 2 { // it is mended, and stays so
				v = closing(t, opts)
				indexes(t, v)
				finds(t, v, "A-1", "order 1")
				shut(t, v)
			}
			if entries, err := os.ReadDir(filepath.Join(opts.Dir, "search")); err != nil || len(entries) != 2 {
				t.Errorf("search holds %v, %v", entries, err)
			}
		})
	}
}

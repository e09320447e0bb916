package archive

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A link in the place of a folder leads to what is not ours: nothing is written to it,
// and nothing removed from it.
func TestALinkInPlaceOfAFolder(t *testing.T) {
	for _, folder := range []string{tmpDir, snapsDir, blobsDir, "shard"} {
		for name, opts := range forms(t) {
			t.Run(name+"/"+folder, func(t *testing.T) {
				dir, live := filepath.Join(t.TempDir(), "b"), filepath.Join(t.TempDir(), "live")
				h := newHouse("a deed")
				h.take(t, dir, opts)
				place := filepath.Join(dir, folder)
				if folder == "shard" {
					place = filepath.Dir(only(t, dir, "blobs/*/*"))
				}
				move(t, place, place+".was")
				copyTree(t, place+".was", live)
				// A document of the live data, with a name that a prune would take.
				shard := strings.Repeat("e", 64)
				for _, file := range []string{"document", shard, filepath.Join("ee", shard)} {
					path := filepath.Join(live, file)
					if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte("live"), 0o600)); err != nil {
						t.Fatal(err)
					}
				}
				if err := os.Symlink(live, place); err != nil {
					t.Fatal(err)
				}
				before := tree(t, live)
				h.docs = newHouse("another deed", "a third").docs
				for d, doc := range newHouse("a deed").docs {
					h.docs[d] = doc
				}
				_, _, err := h.try(context.Background(), t, dir, opts)
				if folder != "shard" && !errors.Is(err, ErrDamaged) {
					t.Errorf("backup: %v", err)
				}
				// opened before the link was laid, so to say
				a := &Archive{dir: dir, opts: opts, form: plain{}}
				if raw, err := os.ReadFile(filepath.Join(dir, headName)); err != nil {
					t.Fatal(err)
				} else if a.head, err = decodeHead(raw); err != nil {
					t.Fatal(err)
				}
				if a.form, err = a.head.form(opts); err != nil {
					t.Fatal(err)
				}
				_, err = a.Prune(context.Background(), Retention{}, false, func(int64, int64) {})
				if folder != "shard" && !errors.Is(err, ErrDamaged) {
					t.Errorf("prune: %v", err)
				}
				after := tree(t, live)
				for file, content := range before {
					if after[file] != content {
						t.Errorf("%s was removed or changed", file)
					}
				}
				if len(after) != len(before) {
					t.Errorf("%d files before, %d after", len(before), len(after))
				}
			})
		}
	}
}

// A folder that is only being made may not be a link either.
func TestALinkInPlaceOfAFolderOfANewArchive(t *testing.T) {
	opts := forms(t)["plain"]
	dir, live := t.TempDir(), t.TempDir()
	if err := os.Symlink(live, filepath.Join(dir, tmpDir)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := newHouse("a deed").try(context.Background(), t, dir, opts); !errors.Is(err, ErrDamaged) {
		t.Errorf("got %v", err)
	}
	if files := tree(t, live); len(files) != 0 {
		t.Errorf("%v", files)
	}
}

func TestALockThatIsALink(t *testing.T) {
	opts := forms(t)["plain"]
	dir, live := filepath.Join(t.TempDir(), "b"), filepath.Join(t.TempDir(), "elsewhere")
	h := newHouse("a deed")
	h.take(t, dir, opts)
	if err := errors.Join(os.Remove(filepath.Join(dir, lockName)), os.Symlink(live, filepath.Join(dir, lockName))); err != nil {
		t.Fatal(err)
	}
	if _, _, err := h.try(context.Background(), t, dir, opts); !errors.Is(err, ErrDamaged) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Lstat(live); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file was made elsewhere: %v", err)
	}
}

func TestALongHead(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, headName), make([]byte, headMost+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, Options{}); !errors.Is(err, ErrDamaged) {
		t.Errorf("got %v", err)
	}
}

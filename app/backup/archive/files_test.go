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

// TestLinkedFolderIsNotUsed checks that nothing is written or removed through a symlink that replaces a folder of the
// archive.
func TestLinkedFolderIsNotUsed(t *testing.T) {
	for _, folder := range []string{tmpDir, snapsDir, blobsDir, "shard"} {
		for name, opts := range allFormats(t) {
			t.Run(name+"/"+folder, func(t *testing.T) {
				dir, live := filepath.Join(t.TempDir(), "b"), filepath.Join(t.TempDir(), "live")
				h := newTestVault("a deed")
				h.backUp(t, dir, opts)
				path := filepath.Join(dir, folder)
				if folder == "shard" {
					path = filepath.Dir(firstFile(t, dir, "blobs/*/*"))
				}
				renameFile(t, path, path+".was")
				copyTree(t, path+".was", live)
				// Live data with a name that Prune would remove in an archive.
				shard := strings.Repeat("e", 64)
				for _, file := range []string{"document", shard, filepath.Join("ee", shard)} {
					path := filepath.Join(live, file)
					if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte("live"), 0o600)); err != nil {
						t.Fatalf("create directory: %v", err)
					}
				}
				if err := os.Symlink(live, path); err != nil {
					t.Fatalf("create symlink: %v", err)
				}
				before := readTree(t, live)
				h.docs = newTestVault("another deed", "a third").docs
				for d, doc := range newTestVault("a deed").docs {
					h.docs[d] = doc
				}
				_, _, err := h.tryBackUp(context.Background(), t, dir, opts)
				if folder != "shard" && !errors.Is(err, ErrDamaged) {
					t.Errorf("tryBackUp = %v, want ErrDamaged", err)
				}
				// Prune runs as if the symlink had been created after Open.
				a := &Archive{dir: dir, opts: opts, format: plainFormat{}}
				if raw, err := os.ReadFile(filepath.Join(dir, headerName)); err != nil {
					t.Fatalf("read file: %v", err)
				} else if a.header, err = decodeHeader(raw); err != nil {
					t.Fatalf("decodeHeader: %v", err)
				}
				if a.format, err = a.header.newFormat(opts); err != nil {
					t.Fatalf("newFormat: %v", err)
				}
				_, err = a.Prune(context.Background(), Retention{}, false, func(int64, int64) {})
				if folder != "shard" && !errors.Is(err, ErrDamaged) {
					t.Errorf("Prune = %v, want ErrDamaged", err)
				}
				after := readTree(t, live)
				for file, content := range before {
					if after[file] != content {
						t.Errorf("%s was removed or changed, want it untouched", file)
					}
				}
				if len(after) != len(before) {
					t.Errorf("linked folder has %d files before and %d after, want no change", len(before), len(after))
				}
			})
		}
	}
}

// TestCreateRejectsLinkedFolder checks that no archive is created if one of its folders
// is a symlink.
func TestCreateRejectsLinkedFolder(t *testing.T) {
	opts := allFormats(t)["plain"]
	dir, live := t.TempDir(), t.TempDir()
	if err := os.Symlink(live, filepath.Join(dir, tmpDir)); err != nil {
		t.Fatalf("create symlink: %v", err)
	}
	if _, _, err := newTestVault("a deed").tryBackUp(context.Background(), t, dir, opts); !errors.Is(err, ErrDamaged) {
		t.Errorf("tryBackUp = %v, want ErrDamaged", err)
	}
	if files := readTree(t, live); len(files) != 0 {
		t.Errorf("files in the linked folder = %v, want none", files)
	}
}

func TestLinkedLockIsRejected(t *testing.T) {
	opts := allFormats(t)["plain"]
	dir, live := filepath.Join(t.TempDir(), "b"), filepath.Join(t.TempDir(), "target")
	h := newTestVault("a deed")
	h.backUp(t, dir, opts)
	if err := errors.Join(os.Remove(filepath.Join(dir, lockName)), os.Symlink(live, filepath.Join(dir, lockName))); err != nil {
		t.Fatalf("remove file: %v", err)
	}
	if _, _, err := h.tryBackUp(context.Background(), t, dir, opts); !errors.Is(err, ErrDamaged) {
		t.Errorf("tryBackUp = %v, want ErrDamaged", err)
	}
	if _, err := os.Lstat(live); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("stat target of the symlink: %v, want that it doesn't exist", err)
	}
}

func TestOpenRejectsLongHeader(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, headerName), make([]byte, maxHeaderSize+1), 0o600); err != nil {
		t.Fatalf("write file: %v", err)
	}
	if _, err := Open(dir, Options{}); !errors.Is(err, ErrDamaged) {
		t.Errorf("Open = %v, want ErrDamaged", err)
	}
}

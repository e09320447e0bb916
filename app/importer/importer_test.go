package importer_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"deedkeep/app/importer"
)

// createTree creates files and folders in a temporary directory and returns the directory. The content of each file is
// its path. Paths that end in
//
// are folders.
func createTree(t *testing.T, paths ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, p := range paths {
		full := filepath.Join(dir, filepath.FromSlash(p))
		if strings.HasSuffix(p, "/") {
			if err := os.MkdirAll(full, 0o700); err != nil {
				t.Fatalf("create directory: %v", err)
			}
			continue
		}
		if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o700), os.WriteFile(full, []byte(p), 0o600)); err != nil {
			t.Fatalf("write file: %v", err)
		}
	}
	return dir
}

// walked returns the entries that a walk visits, sorted. Each consists of type, path, and size.
func walked(t *testing.T, dir string, avoid os.FileInfo) []string {
	t.Helper()
	var list []string
	err := importer.Walk(t.Context(), dir, avoid, func(e importer.Entry) error {
		kind := []string{"document", "skipped", "link", "special", "unreadable"}[e.Kind]
		list = append(list, fmt.Sprintf("%s %s %d", kind, e.Path(), e.Size))
		if (e.Err != nil) != (e.Kind == importer.Unreadable) {
			t.Errorf("error of %s = %v, want one only if it is unreadable", e.Path(), e.Err)
		}
		return nil
	})
	if err != nil {
		t.Fatalf("walk: %v", err)
	}
	slices.Sort(list)
	return list
}

func TestWalk(t *testing.T) {
	dir := createTree(t, "a.pdf", "b/c.pdf", "b/d/e.pdf", "empty/", ".DS_Store", "b/Thumbs.db", "b/desktop.INI", ".git/config",
		"b/~$deed.docx", "cafe\u0301.pdf", "= 1+1.pdf")
	want := []string{"document = 1+1.pdf 9", "document a.pdf 5", "document b/c.pdf 7", "document b/d/e.pdf 9", "document cafe\u0301.pdf 10",
		"skipped .DS_Store 0", "skipped .git 0", "skipped b/Thumbs.db 0", "skipped b/desktop.INI 0", "skipped b/~$deed.docx 0"}
	if got := walked(t, dir, nil); !slices.Equal(got, want) {
		t.Errorf("walk visited %q, want %q", got, want)
	}
	total, err := importer.Count(t.Context(), dir, nil)
	if err != nil || total != 5 {
		t.Errorf("Count = %d, %v, want 5 documents", total, err)
	}
}

// The data directory must not be imported into itself, no matter where in the tree it is.
func TestWalkSkipsDataDirectory(t *testing.T) {
	dir := createTree(t, "a.pdf", "b/data/vault.db", "b/data2/x.pdf")
	vault, err := os.Stat(filepath.Join(dir, "b", "data"))
	if err != nil {
		t.Fatalf("stat vault: %v", err)
	}
	want := []string{"document a.pdf 5", "document b/data2/x.pdf 13", "special b/data 0"}
	if got := walked(t, dir, vault); !slices.Equal(got, want) {
		t.Errorf("walk visited %q, want %q", got, want)
	}
}

func TestWalkWithoutFolder(t *testing.T) {
	dir := createTree(t, "a.pdf")
	for _, gone := range []string{filepath.Join(dir, "none"), filepath.Join(dir, "a.pdf")} {
		if err := importer.Walk(t.Context(), gone, nil, func(importer.Entry) error { return nil }); err == nil {
			t.Errorf("Walk(%s) succeeded, want an error", gone)
		}
	}
	if got := walked(t, t.TempDir(), nil); len(got) > 0 {
		t.Errorf("walk of an empty folder visited %q, want nothing", got)
	}
}

func TestWalkStopsOnError(t *testing.T) {
	dir := createTree(t, "a/1.pdf", "a/2.pdf", "b/3.pdf")
	errStop := errors.New("stop")
	visits := 0
	err := importer.Walk(t.Context(), dir, nil, func(importer.Entry) error { visits++; return errStop })
	if !errors.Is(err, errStop) || visits != 1 {
		t.Errorf("Walk made %d visits and returned %v, want 1 and %v", visits, err, errStop)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := importer.Count(ctx, dir, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("Count = %v, want %v", err, context.Canceled)
	}
}

// A document can be opened after the walk, unless it was replaced by something that is not a regular file.
func TestOpenAfterWalk(t *testing.T) {
	dir := createTree(t, "a/1.pdf", "a/2.pdf", "b/3.pdf")
	var entries []importer.Entry
	err := importer.Walk(t.Context(), dir, nil, func(e importer.Entry) error {
		e.Folder.Acquire()
		entries = append(entries, e)
		return nil
	})
	if err != nil || len(entries) != 3 {
		t.Fatalf("walk visited %d documents, %v, want 3", len(entries), err)
	}
	for _, e := range entries {
		if e.Name == "2.pdf" {
			path := filepath.Join(dir, "a", "2.pdf")
			if err := errors.Join(os.Remove(path), os.Mkdir(path, 0o700)); err != nil {
				t.Fatalf("replace file with directory: %v", err)
			}
			if _, err := e.Open(); err == nil {
				t.Error("Open of a folder succeeded, want an error")
			}
			e.Folder.Release()
			continue
		}
		file, err := e.Open()
		if err != nil {
			t.Fatalf("open entry: %v", err)
		}
		body, err := io.ReadAll(file)
		if err != nil || string(body) != e.Path() {
			t.Errorf("content of %s = %q, %v, want its path", e.Path(), body, err)
		}
		_ = file.Close()
		e.Folder.Release()
	}
}

// Paths in the tree are longer than system calls accept. Walk handles them and keeps few files open at a time.
func TestWalkDeep(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // the os package adds the prefix for long paths
	}
	const depth = 120 // 50 bytes per name, so paths exceed 4,096 bytes
	name := strings.Repeat("d", 49)
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatalf("open root: %v", err)
	}
	for range depth {
		if err := root.Mkdir(name, 0o700); err != nil {
			t.Fatalf("create directory: %v", err)
		}
		below, err := root.OpenRoot(name)
		if err = errors.Join(err, root.Close()); err != nil {
			t.Fatalf("open directory: %v", err)
		}
		root = below
	}
	if err := errors.Join(root.WriteFile("deed.pdf", []byte("deep"), 0o600), root.Close()); err != nil {
		t.Fatalf("write file: %v", err)
	}
	found := 0
	err = importer.Walk(t.Context(), dir, nil, func(e importer.Entry) error {
		found++
		file, err := e.Open()
		if err != nil {
			return err
		}
		return file.Close()
	})
	if err != nil || found != 1 {
		t.Errorf("walk found %d documents, %v, want 1", found, err)
	}
}

func TestHidden(t *testing.T) {
	for name, want := range map[string]bool{".x": true, "Thumbs.db": true, "THUMBS.DB": true, "Desktop.ini": true,
		"$RECYCLE.BIN": true, "~$a.docx": true, "__MACOSX": true,
		"a.pdf": false, "thumbs.db.pdf": false, "~a.pdf": false, "icon.png": false} {
		if importer.Hidden(name) != want {
			t.Errorf("Hidden(%q) = %v, want %v", name, !want, want)
		}
	}
}

//go:build unix

package importer_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"deedkeep/app/importer"
)

// Symbolic links are reported but never followed, whatever their target. Named pipes don't block the walk. File names
// don't have to be valid UTF-8.
func TestWalkSpecialFiles(t *testing.T) {
	dir := createTree(t, "a.pdf", "b/c.pdf")
	at := func(name string) string { return filepath.Join(dir, name) }
	err := errors.Join(os.Symlink(at("a.pdf"), at("file.pdf")), os.Symlink(at("b"), at("folder")), os.Symlink("..", at("b/up")),
		os.Symlink("nowhere", at("broken.pdf")),
		syscall.Mkfifo(at("pipe.pdf"), 0o600), os.WriteFile(at("caf\xe9.pdf"), nil, 0o600))
	if err != nil {
		t.Fatalf("create files: %v", err)
	}
	want := []string{"document a.pdf 5", "document b/c.pdf 7", "document caf\xe9.pdf 0", "link b/up 0", "link broken.pdf 0",
		"link file.pdf 0", "link folder 0", "special pipe.pdf 0"}
	if got := walked(t, dir, nil); !slices.Equal(got, want) {
		t.Errorf("walk visited %q, want %q", got, want)
	}
}

// If a pipe has replaced a document, opening the document fails immediately.
func TestOpenReplacedByPipe(t *testing.T) {
	dir := createTree(t, "a.pdf")
	err := importer.Walk(t.Context(), dir, nil, func(e importer.Entry) error {
		at := filepath.Join(dir, "a.pdf")
		if err := errors.Join(os.Remove(at), syscall.Mkfifo(at, 0o600)); err != nil {
			return err
		}
		file, err := e.Open()
		if err == nil {
			t.Error("open succeeded, want an error")
			return file.Close()
		}
		return nil
	})
	if err != nil {
		t.Errorf("walk: %v", err)
	}
}

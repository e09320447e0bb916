package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
)

func TestWriteFileCreatesAndReplaces(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "note.json")
	rows := []struct {
		name, content string
		mode          os.FileMode
	}{
		{"create", "first", 0o600},
		{"replace", "second", 0o600},
		{"replace and change the mode", "", 0o644},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			if err := WriteFile(path, []byte(row.content), row.mode); err != nil {
				t.Fatalf("WriteFile: %v", err)
			}
			got, err := os.ReadFile(path)
			if err != nil || string(got) != row.content {
				t.Errorf("content = %q, %v, want %q", got, err, row.content)
			}
			info, err := os.Stat(path)
			if err != nil {
				t.Fatalf("stat: %v", err)
			}
			if got := info.Mode().Perm(); runtime.GOOS != "windows" && got != row.mode {
				t.Errorf("mode = %v, want %v", got, row.mode)
			}
			entries, err := os.ReadDir(dir)
			if err != nil || len(entries) != 1 {
				t.Errorf("directory has %d entries, %v, want only the file", len(entries), err)
			}
		})
	}
}

func TestWriteFileRemovesTemporaryFileAfterError(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "taken")
	if err := os.MkdirAll(filepath.Join(path, "inside"), 0o700); err != nil {
		t.Fatalf("create a directory at the path: %v", err)
	}
	if err := WriteFile(path, []byte("text"), 0o600); err == nil {
		t.Error("WriteFile over a directory: got no error")
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("directory has %d entries, %v, want only the old one", len(entries), err)
	}
}

func TestRenameReplaces(t *testing.T) {
	dir := t.TempDir()
	from, to := filepath.Join(dir, "from"), filepath.Join(dir, "to")
	for _, path := range []string{from, to} {
		if err := os.WriteFile(path, []byte(filepath.Base(path)), 0o600); err != nil {
			t.Fatalf("write %s: %v", path, err)
		}
	}
	if err := Rename(from, to); err != nil {
		t.Fatalf("Rename: %v", err)
	}
	if got, err := os.ReadFile(to); err != nil || string(got) != "from" {
		t.Errorf("content = %q, %v, want %q", got, err, "from")
	}
	if err := Rename(from, to); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Rename of a missing file = %v, want fs.ErrNotExist", err)
	}
}

func TestSyncDir(t *testing.T) {
	dir := t.TempDir()
	missing := filepath.Join(dir, "missing")
	rows := []struct {
		name string
		sync func(string) error
	}{
		{"SyncDir", SyncDir},
		{"SyncDirIfSupported", SyncDirIfSupported},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			if err := row.sync(dir); err != nil {
				t.Errorf("existing directory: %v, want no error", err)
			}
			if err := row.sync(missing); runtime.GOOS != "windows" && !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("missing directory: %v, want fs.ErrNotExist", err)
			}
		})
	}
}

func TestIsDiskFull(t *testing.T) {
	rows := []struct {
		name string
		err  error
		want bool
	}{
		{"no error", nil, false},
		{"disk full", syscall.ENOSPC, true},
		{"disk full, wrapped", fmt.Errorf("write: %w", &fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}), true},
		{"I/O error", syscall.EIO, false},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			if got := IsDiskFull(row.err); got != row.want {
				t.Errorf("IsDiskFull(%v) = %v, want %v", row.err, got, row.want)
			}
		})
	}
}

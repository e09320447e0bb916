package archive

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// walkBlobs calls visit for each blob file, in order, and stray, which may be nil, for
// anything else.
func (a *Archive) walkBlobs(ctx context.Context, visit func(b blobFile, size int64) error, stray func(path string) error) error {
	if stray == nil {
		stray = func(string) error { return nil }
	}
	folders, err := os.ReadDir(a.path(blobsDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("list backup files: %w", err)
	}
	for _, folder := range folders {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !folder.IsDir() {
			if err := stray(a.path(blobsDir, folder.Name())); err != nil {
				return err
			}
			continue
		}
		if err := a.walkFolder(a.path(blobsDir, folder.Name()), visit, stray); err != nil {
			return err
		}
	}
	return nil
}

func (a *Archive) walkFolder(dir string, visit func(b blobFile, size int64) error, stray func(path string) error) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("list backup files: %w", err)
	}
	for _, e := range entries {
		b, ok := a.parseBlobFile(e.Name())
		if !ok || !e.Type().IsRegular() || b.name[:2] != filepath.Base(dir) {
			if err := stray(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
			continue
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("list backup files: %w", err)
		}
		if err := visit(b, info.Size()); err != nil {
			return err
		}
	}
	return nil
}

// removeLeftovers removes files left by an interrupted writer: all files in tmp, and
// databases without a manifest.
func (a *Archive) removeLeftovers() error {
	if err := checkFolders(a.dir); err != nil {
		return err
	}
	entries, err := os.ReadDir(a.path(tmpDir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("list backup files: %w", err)
	}
	for _, e := range entries {
		if e.Type().IsRegular() {
			if err := removeFile(a.path(tmpDir, e.Name())); err != nil {
				return err
			}
		}
	}
	manifests, databases, err := a.snapshotFiles()
	if err != nil {
		return err
	}
	for _, name := range databases {
		snapshot, _, _ := parseDatabaseFile(name)
		if _, used := manifests[snapshot]; !used {
			if err := removeFile(a.path(snapsDir, name)); err != nil {
				return err
			}
		}
	}
	return nil
}

func removeFile(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("delete unused files: %w", err)
	}
	return nil
}

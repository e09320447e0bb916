package blobstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ReserveTmp returns the path of a file in tmp. The caller creates and removes the file.
// ClearTmp doesn't remove it until release is called.
func (s *Store) ReserveTmp(name string) (path string, release func()) {
	path = filepath.Join(s.tmp, name)
	s.mu.Lock()
	s.ownedTmp[path] = struct{}{}
	s.mu.Unlock()
	return path, func() { s.disown(path) }
}

// isOwned reports whether a temporary file is in use.
func (s *Store) isOwned(path string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, owned := s.ownedTmp[path]
	return owned
}

// ClearTmp removes the files in tmp that have no owner, and returns their number. It is
// safe during uploads. It leaves directories and links alone, because the store never
// creates them in tmp. It continues if a file can't be removed, and then returns an error.
func (s *Store) ClearTmp(ctx context.Context) (count int, err error) {
	if s.readOnly {
		return 0, ErrReadOnly
	}
	entries, err := os.ReadDir(s.tmp)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, fmt.Errorf("clear temporary folder: %w", err)
	}
	var failed error
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return count, err
		}
		if !e.Type().IsRegular() {
			s.log.Warn("skipped an unexpected entry in the temporary folder", "name", e.Name())
			continue
		}
		// Owners register a name before they create the file. A file without an owner is
		// therefore stale, or was removed after the directory was read.
		path := filepath.Join(s.tmp, e.Name())
		if s.isOwned(path) {
			continue
		}
		switch err := s.files.Remove(path); {
		case err == nil:
			count++
		case !errors.Is(err, fs.ErrNotExist):
			failed = errors.Join(failed, fmt.Errorf("clear temporary folder: %w", err))
		}
	}
	return count, failed
}

// StaleTmp returns the number and total size of the files in tmp that have no owner (see
// ReserveTmp). Such files were left by a crash or placed there by another program.
func (s *Store) StaleTmp() (count int, bytes int64, err error) {
	err = filepath.WalkDir(s.tmp, func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // removed in the meantime, or tmp doesn't exist
		}
		if err != nil || e.IsDir() {
			return err
		}
		if s.isOwned(path) {
			return nil
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		count, bytes = count+1, bytes+info.Size()
		return nil
	})
	if err != nil {
		return 0, 0, fmt.Errorf("count temporary files: %w", err)
	}
	return count, bytes, nil
}

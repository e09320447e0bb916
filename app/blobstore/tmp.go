package blobstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ReserveTmp gives the path of a file in tmp that its caller makes and removes: until
// release, nobody takes it for a leftover.
func (s *Store) ReserveTmp(name string) (path string, release func()) {
	path = filepath.Join(s.tmp, name)
	s.mu.Lock()
	s.live[path] = struct{}{}
	s.mu.Unlock()
	return path, func() { s.forget(path) }
}

func (s *Store) owned(path string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, owned := s.live[path]
	return owned
}

// ClearTmp removes the files in tmp that nobody owns, while uploads go on, and tells
// how many. Folders and links there are somebody else's and stay.
func (s *Store) ClearTmp(ctx context.Context) (count int, err error) {
	if s.readOnly {
		return 0, ErrReadOnly
	}
	entries, err := os.ReadDir(s.tmp)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, fmt.Errorf("clear tmp: %w", err)
	}
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return count, err
		}
		// A name is owned before its file is there: one that nobody owns now was
		// left, or has gone since it was listed.
		path := filepath.Join(s.tmp, e.Name())
		if !e.Type().IsRegular() || s.owned(path) {
			continue
		}
		switch err := s.files.Remove(path); {
		case err == nil:
			count++
		case !errors.Is(err, fs.ErrNotExist):
			return count, fmt.Errorf("clear tmp: %w", err)
		}
	}
	return count, nil
}

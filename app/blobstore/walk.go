package blobstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Entry is one blob on disk.
type Entry struct {
	Digest Digest
	Size   int64 // bytes
	Path   string
}

// Walk calls visit for every blob, in the order of digests. It doesn't lock the store, so
// it may or may not visit a blob that is added or removed during the walk. It calls
// stray, which may be nil, with the path of anything else in the directory. It stops at
// the first error from visit, stray, the context, or the disk.
func (s *Store) Walk(ctx context.Context, visit func(Entry) error, stray func(path string) error) error {
	if err := walkDigests(ctx, s.dir, visit, stray); err != nil {
		return fmt.Errorf("list blobs: %w", err)
	}
	return nil
}

// walkDigests visits the files in a directory of the form ab/ab12…
func walkDigests(ctx context.Context, dir string, visit func(Entry) error, stray func(path string) error) error {
	if stray == nil {
		stray = func(string) error { return nil }
	}
	top, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range top {
		path := filepath.Join(dir, e.Name())
		if e.IsDir() && isShard(e.Name()) {
			err = walkShard(ctx, path, visit, stray)
		} else {
			err = stray(path)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func isShard(name string) bool {
	return len(name) == 2 && strings.Trim(name, "0123456789abcdef") == ""
}

func walkShard(ctx context.Context, dir string, visit func(Entry) error, stray func(string) error) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		path := filepath.Join(dir, e.Name())
		d, err := ParseDigest(e.Name())
		if err != nil || e.Name()[:2] != filepath.Base(dir) || !e.Type().IsRegular() {
			if err := stray(path); err != nil {
				return err
			}
			continue
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // swept since the directory was read
		}
		if err != nil {
			return err
		}
		if err := visit(Entry{Digest: d, Size: info.Size(), Path: path}); err != nil {
			return err
		}
	}
	return nil
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

package instance

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"deedkeep/app/apitypes"
	"deedkeep/app/blobstore"
	"deedkeep/app/search"
)

const (
	// maxStorageTime limits how long Storage counts.
	maxStorageTime = 5 * time.Second
	// blockSize is the unit in which most file systems store files and directories.
	blockSize = 4096
)

// Storage counts the disk space of the data directory in blocks of 4 KB, by what it is for. After
// five seconds, it stops and returns what it has counted, and Complete is false.
func (in *Instance) Storage(ctx context.Context) (s apitypes.Storage, err error) {
	ctx, cancel := context.WithTimeout(ctx, maxStorageTime)
	defer cancel()
	err = filepath.WalkDir(in.Dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // removed in the meantime
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil // removed in the meantime
		}
		if err != nil {
			return err
		}
		size := int64(blockSize)
		if !d.IsDir() {
			size = (info.Size() + blockSize - 1) / blockSize * blockSize
		}
		name, err := filepath.Rel(in.Dir, path)
		*storagePart(&s, filepath.ToSlash(name), d.Name()) += size
		return err
	})
	s.Complete = err == nil
	if errors.Is(err, context.DeadlineExceeded) {
		err = nil
	}
	return s, err
}

// storagePart returns the field of s that counts a file or directory. path is relative to the data
// directory.
func storagePart(s *apitypes.Storage, path, name string) *int64 {
	top, _, _ := strings.Cut(path, "/")
	switch {
	case top == "blobs", top == "uploads":
		return &s.Documents
	case strings.HasPrefix(top, "vault.db"):
		return &s.Database
	case top == blobstore.OCRDirName, top == "previews" && (name == blobstore.TextFile || name == blobstore.NoTextFile):
		return &s.Texts
	case top == "previews":
		return &s.Previews
	case top == search.DirName:
		return &s.SearchIndex
	case top == "cache":
		return &s.Cache
	}
	return &s.Other
}

package index

import (
	"io"
	"os"

	"deedkeep/app/durable"
)

// fileSystem has all operations that an Index uses to modify the disk, so that a test can simulate
// a power failure at any of them. Reads use package os directly.
type fileSystem interface {
	Mkdir(path string) error
	Create(path string) (file, error) // truncates an existing file
	Rename(from, to string) error     // replaces an existing file
	SyncDir(path string) error
	Remove(path string) error
}

// file is a file open for writing.
type file interface {
	io.Writer
	Sync() error
	Close() error
}

type osFileSystem struct{}

func (osFileSystem) Mkdir(path string) error { return os.MkdirAll(path, 0o700) }

func (osFileSystem) Create(path string) (file, error) {
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
}

func (osFileSystem) Rename(from, to string) error { return durable.Rename(from, to) }

func (osFileSystem) SyncDir(path string) error { return durable.SyncDir(path) }

func (osFileSystem) Remove(path string) error { return os.Remove(path) }

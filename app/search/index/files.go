package index

import (
	"io"
	"os"

	"deedkeep/app/durable"
)

// fileSystem is every step by which an Index changes the disk, so that a test can let the
// power fail at any of them. Reading goes to the operating system directly.
type fileSystem interface {
	Mkdir(path string) error
	Create(path string) (file, error) // one that may be there is emptied
	Rename(from, to string) error     // over an existing one
	SyncDir(path string) error
	Remove(path string) error
}

// file is a file being written.
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

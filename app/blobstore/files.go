package blobstore

import (
	"errors"
	"io"
	"io/fs"
	"os"
)

// Files is every step by which a Store changes the disk, one method each, so
// that a test can record their order and let any of them fail. Reading goes to
// the operating system directly.
type Files interface {
	// Mkdir makes one directory, 0700.
	Mkdir(path string) error
	// Create makes a file that was not there before, 0600, for writing and reading.
	Create(path string) (File, error)
	// Open opens a file that is there, for writing and reading.
	Open(path string) (File, error)
	// Rename moves a closed file, over an existing one if need be.
	Rename(from, to string) error
	// SyncDir makes the entries of a directory durable.
	SyncDir(path string) error
	// Remove deletes one file, read-only or not.
	Remove(path string) error
}

// File is a file being written. Write, WriteAt, Truncate and WriteBack come from one
// goroutine; ReadAt may come from others, also during Sync.
type File interface {
	io.Writer
	io.WriterAt
	io.ReaderAt
	// Truncate cuts the file to size bytes.
	Truncate(size int64) error
	// WriteBack tells that n bytes from off are final and may go to the disk now. It is a hint.
	WriteBack(off, n int64)
	// Chmod sets the file's mode.
	Chmod(mode fs.FileMode) error
	// Sync makes content, length and mode durable.
	Sync() error
	Close() error
}

// errHeld: on Windows somebody has the file open, so it can be neither replaced nor removed.
var errHeld = errors.New("file is held open")

// OSFiles is the operating system's Files, the one a Store uses by default; a
// test wraps it.
func OSFiles() Files { return system{} }

type system struct{}

func (system) Mkdir(path string) error { return os.Mkdir(path, 0o700) }

func (system) Create(path string) (File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

func (system) Open(path string) (File, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

type osFile struct{ *os.File }

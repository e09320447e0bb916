package blobstore

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"deedkeep/app/durable"
)

// Files is the set of operations by which a Store changes the disk. A test replaces it to
// record their order or to inject faults. Reads go to the operating system directly.
type Files interface {
	// Mkdir creates one directory with mode 0700.
	Mkdir(path string) error
	// Create creates a file with mode 0600 and opens it for reading and writing. It fails
	// if the file exists.
	Create(path string) (File, error)
	// Open opens an existing file for reading and writing.
	Open(path string) (File, error)
	// Rename moves a closed file and replaces the file at to.
	Rename(from, to string) error
	// SyncDir makes the entries of a directory durable.
	SyncDir(path string) error
	// Remove deletes one file, which may be read-only.
	Remove(path string) error
}

// File is an open file of a Store. One goroutine calls Write, WriteAt, Truncate, and
// WriteBack. ReadAt is safe from any goroutine, also during Sync.
type File interface {
	io.Writer
	io.WriterAt
	io.ReaderAt
	// Truncate sets the size of the file in bytes.
	Truncate(size int64) error
	// WriteBack hints that n bytes starting at off are final, so the system may write them
	// to the disk now.
	WriteBack(off, n int64)
	// Chmod sets the mode of the file.
	Chmod(mode fs.FileMode) error
	// Sync makes content, size, and mode durable.
	Sync() error
	Close() error
}

// errFileInUse means that a process has the file open, so Windows can neither replace nor
// remove it.
var errFileInUse = errors.New("file is held open")

// OSFiles returns the Files of the operating system, which a Store uses by default.
func OSFiles() Files { return osFiles{} }

type osFiles struct{}

func (osFiles) Mkdir(path string) error { return os.Mkdir(path, 0o700) }

func (osFiles) Create(path string) (File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

func (osFiles) Open(path string) (File, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

func (osFiles) SyncDir(path string) error {
	return durable.SyncDir(path)
}

type osFile struct{ *os.File }

package disk

import (
	"io"
	"io/fs"
	"os"

	"deedkeep/app/durable"
)

// Files contains the operations that change files. Tests replace it to record the order of
// operations or to inject faults. Reads don't use it.
type Files interface {
	// Mkdir creates one directory with mode 0700.
	Mkdir(path string) error
	// Create creates a file with mode 0600 and opens it for reading and writing. It fails if
	// the file exists.
	Create(path string) (File, error)
	// Open opens an existing file for reading and writing.
	Open(path string) (File, error)
	// Link adds another name for an existing file. It fails if the name exists, or if the
	// file system doesn't support links.
	Link(from, to string) error
	// Rename renames a closed file, replacing any existing file at to. On Windows, the error
	// wraps blob.ErrInUse if a process has that file open.
	Rename(from, to string) error
	// SyncDir makes the entries of a directory durable.
	SyncDir(path string) error
	// Remove deletes one file, which may be read-only. Its error is like that of Rename.
	Remove(path string) error
}

// File is an open file that is written. Only one goroutine may call Write, WriteAt, Truncate,
// and WriteBack. Any goroutine may call ReadAt, even during Sync.
type File interface {
	io.Writer
	io.WriterAt
	io.ReaderAt
	// Truncate sets the size of the file in bytes.
	Truncate(size int64) error
	// WriteBack hints that the n bytes at offset off won't change again, so the system may
	// write them to the disk now.
	WriteBack(off, n int64)
	// Chmod sets the mode of the file.
	Chmod(mode fs.FileMode) error
	// Sync makes the content, size, and mode of the file durable.
	Sync() error
	Close() error
}

// OSFiles returns the Files of the operating system.
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

func (osFiles) Link(from, to string) error { return os.Link(from, to) }

func (osFiles) SyncDir(path string) error {
	return durable.SyncDir(path)
}

type osFile struct{ *os.File }

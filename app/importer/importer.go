// Package importer walks a folder of existing documents so that they can be imported one by one.
//
// It reports symbolic links but never follows them, and opens nothing outside the folder. It reports unreadable entries
// and continues. It supports paths that are longer than system calls accept. Its memory use depends on the number of
// folders, not on the number of documents. File names are byte strings in any encoding. It never writes to the folder and
// doesn't inspect documents.
package importer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"sync/atomic"
)

// Kind is the type of an Entry.
type Kind int

// These are the types of entries.
const (
	Document   Kind = iota // a regular file
	Skipped                // hidden or created by the operating system; a skipped folder counts as one entry
	Link                   // a symbolic link to a file or folder; not followed
	Special                // a device, pipe, socket, or cloud storage placeholder
	Unreadable             // Entry.Err contains the reason
)

// Entry is a file or folder found in a folder.
type Entry struct {
	Folder *Folder
	Name   string // as stored on the disk, in any encoding
	Kind   Kind
	Size   int64 // in bytes; only for documents
	Err    error // why the entry is unreadable, without its path
}

// Path returns the path relative to the top folder, separated by slashes.
func (e Entry) Path() string { return path.Join(e.Folder.Path, e.Name) }

// Open opens a document. It returns an error if the document is no longer a regular file. The caller must have called
// Acquire on the folder.
func (e Entry) Open() (*os.File, error) {
	// nonBlock prevents a hang if a pipe has replaced the file. Otherwise, opening it would block until a writer opens
	// it, too.
	file, err := e.Folder.root.OpenFile(e.Name, os.O_RDONLY|nonBlock, 0)
	if err != nil {
		return nil, withoutPath(err)
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("no longer a regular file")
	}
	if err != nil {
		return nil, errors.Join(withoutPath(err), file.Close())
	}
	return file, nil
}

// Folder is one folder of the tree. It stays open as long as it is acquired. Walk acquires it while it visits its
// entries.
type Folder struct {
	Path string // relative to the top folder, with slashes; "" for the top folder
	root *os.Root
	refs atomic.Int32
}

// Acquire keeps the folder open until the matching Release.
func (f *Folder) Acquire() { f.refs.Add(1) }

// Release undoes one Acquire. The last Release closes the folder.
func (f *Folder) Release() {
	if f.refs.Add(-1) == 0 {
		_ = f.root.Close() // can be ignored because the folder is only read
	}
}

// readBatch is the number of directory entries read at a time.
const readBatch = 512

// Walk calls visit for every entry below dir. It visits the entries of a folder before those of its subfolders. If it
// finds the folder avoid (which may be nil), it reports it as Special and doesn't enter it, unless it is dir. If dir
// can't be read or visit returns an error, Walk stops and returns the error.
func Walk(ctx context.Context, dir string, avoid os.FileInfo, visit func(Entry) error) error {
	top, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer top.Close() //nolint:errcheck // only read from
	w := &walk{ctx: ctx, top: top, avoid: avoid, visit: visit}
	return w.folder("")
}

type walk struct {
	ctx   context.Context
	top   *os.Root
	avoid os.FileInfo
	visit func(Entry) error
}

func (w *walk) folder(at string) error {
	name := at
	if at == "" {
		name = "."
	}
	root, err := w.top.OpenRoot(name)
	if err != nil {
		return w.unreadable(at, err)
	}
	f := &Folder{Path: at, root: root}
	f.Acquire()
	subfolders, err := w.entries(f)
	f.Release()
	if err != nil {
		return err
	}
	for _, name := range subfolders {
		if err := w.folder(path.Join(at, name)); err != nil {
			return err
		}
	}
	return nil
}

// unreadable reports a folder that can't be opened. For the top folder, it returns the error instead.
func (w *walk) unreadable(at string, err error) error {
	if at == "" {
		return err
	}
	parent, name := path.Split(at)
	return w.visit(Entry{Folder: &Folder{Path: strings.TrimSuffix(parent, "/")}, Name: name, Kind: Unreadable, Err: withoutPath(err)})
}

// entries visits the entries of a folder, except subfolders to enter, and returns the names of these subfolders.
func (w *walk) entries(f *Folder) (subfolders []string, err error) {
	dir, err := f.root.Open(".")
	if err != nil {
		return nil, w.unreadable(f.Path, err)
	}
	defer dir.Close() //nolint:errcheck // only read from
	for {
		list, listErr := dir.ReadDir(readBatch)
		for _, d := range list {
			if err := w.ctx.Err(); err != nil {
				return nil, err
			}
			e := w.entry(f, d)
			if e == nil {
				subfolders = append(subfolders, d.Name())
				continue
			}
			if err := w.visit(*e); err != nil {
				return nil, err
			}
		}
		switch {
		case errors.Is(listErr, io.EOF):
			return subfolders, nil
		case listErr != nil:
			return subfolders, w.unreadable(f.Path, listErr)
		}
	}
}

// entry classifies one directory entry. It returns nil if the entry is a folder to enter.
func (w *walk) entry(f *Folder, d fs.DirEntry) *Entry {
	e := &Entry{Folder: f, Name: d.Name()}
	if Hidden(e.Name) {
		e.Kind = Skipped
		return e
	}
	info, err := f.root.Lstat(e.Name)
	switch {
	case err != nil:
		e.Kind, e.Err = Unreadable, withoutPath(err)
	case info.Mode()&fs.ModeSymlink != 0:
		e.Kind = Link
	case info.IsDir() && (w.avoid == nil || !os.SameFile(info, w.avoid)):
		return nil
	case info.Mode().IsRegular():
		e.Kind, e.Size = Document, info.Size()
	default:
		e.Kind = Special
	}
	return e
}

// withoutPath returns err without the operation and path, because the caller adds them.
func withoutPath(err error) error {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		return at.Err
	}
	return err
}

// systemFiles contains the lowercase names of files and folders that operating systems create.
var systemFiles = map[string]bool{
	"thumbs.db": true, "ehthumbs.db": true, "desktop.ini": true, "$recycle.bin": true, "system volume information": true,
	"@eadir": true, "__macosx": true, "icon\r": true, "lost+found": true,
}

// Hidden reports whether a name can't be that of a document to import: it starts with a dot, is the lock file of an
// open Office document, or was created by the operating system.
func Hidden(name string) bool {
	return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "~$") || systemFiles[strings.ToLower(name)]
}

// Count returns the number of documents in dir without opening any.
func Count(ctx context.Context, dir string, avoid os.FileInfo) (documents int, err error) {
	err = Walk(ctx, dir, avoid, func(e Entry) error {
		if e.Kind == Document {
			documents++
		}
		return nil
	})
	if err != nil {
		err = fmt.Errorf("count files in %s: %w", dir, err)
	}
	return documents, err
}

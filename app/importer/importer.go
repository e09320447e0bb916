// Package importer walks a folder of existing documents so that they can be imported one by one.
//
// It reports symbolic links but never follows them, opens nothing outside the folder, reports unreadable entries and
// continues, supports paths longer than system calls accept, and needs memory for folders only, not for documents.
// Names are the bytes that the disk has, whatever their encoding. It never writes and doesn't inspect documents.
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

// Types of entries.
const (
	Document   Kind = iota // a regular file
	Skipped                // hidden, or a file of the operating system; a folder counts as one entry
	Link                   // a symbolic link to a file or folder; not followed
	Special                // a device, pipe, socket, or placeholder of cloud storage
	Unreadable             // with Err
)

// Entry is a file or folder in a folder.
type Entry struct {
	Folder *Folder
	Name   string // the bytes on the disk
	Kind   Kind
	Size   int64 // of a document, in bytes
	Err    error // why it is unreadable, without the path
}

// Path returns the path relative to the top folder, with slashes.
func (e Entry) Path() string { return path.Join(e.Folder.Path, e.Name) }

// Open opens a document if it is still a regular file. The caller must have acquired the folder.
func (e Entry) Open() (*os.File, error) {
	// If a pipe has replaced the file, opening it would block until a writer opens it too.
	file, err := e.Folder.root.OpenFile(e.Name, os.O_RDONLY|nonBlock, 0)
	if err != nil {
		return nil, withoutPath(err)
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is no file any more")
	}
	if err != nil {
		return nil, errors.Join(withoutPath(err), file.Close())
	}
	return file, nil
}

// Folder is one folder of the tree. It stays open while it is acquired; the walk does so while it visits its entries.
type Folder struct {
	Path string // relative to the top, with slashes; "" for the top
	root *os.Root
	refs atomic.Int32
}

// Acquire keeps the folder open until the matching Release.
func (f *Folder) Acquire() { f.refs.Add(1) }

// Release closes the folder if no other Acquire is open.
func (f *Folder) Release() {
	if f.refs.Add(-1) == 0 {
		_ = f.root.Close() // opened for reading only
	}
}

// readBatch is how many names of a folder are read at a time.
const readBatch = 512

// Walk visits every entry below dir, the entries of a folder before those of its subfolders. A folder that is the same
// as avoid (nil: none) is reported as Special and not entered, unless it is dir. An error of visit, or of dir itself,
// ends the walk and is returned.
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

// unreadable reports a folder that can't be opened; for the top folder it returns the error.
func (w *walk) unreadable(at string, err error) error {
	if at == "" {
		return err
	}
	parent, name := path.Split(at)
	return w.visit(Entry{Folder: &Folder{Path: strings.TrimSuffix(parent, "/")}, Name: name, Kind: Unreadable, Err: withoutPath(err)})
}

// entries visits the entries of a folder and returns the names of its subfolders.
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

// entry classifies one name; nil means a folder to enter.
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

// withoutPath returns err without operation and path, which the caller adds.
func withoutPath(err error) error {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		return at.Err
	}
	return err
}

// systemFiles are names of files that operating systems create in folders, in lower case.
var systemFiles = map[string]bool{
	"thumbs.db": true, "ehthumbs.db": true, "desktop.ini": true, "$recycle.bin": true, "system volume information": true,
	"@eadir": true, "__macosx": true, "icon\r": true, "lost+found": true,
}

// Hidden reports whether a name is not that of a document: it begins with a dot, is the lock file of an open Office
// document, or was created by the operating system.
func Hidden(name string) bool {
	return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "~$") || systemFiles[strings.ToLower(name)]
}

// Totals counts the documents of a folder.
type Totals struct {
	Documents int
	Bytes     int64
}

// Count walks dir without opening documents.
func Count(ctx context.Context, dir string, avoid os.FileInfo) (total Totals, err error) {
	err = Walk(ctx, dir, avoid, func(e Entry) error {
		if e.Kind == Document {
			total.Documents++
			total.Bytes += e.Size
		}
		return nil
	})
	if err != nil {
		return total, fmt.Errorf("count %s: %w", dir, err)
	}
	return total, nil
}

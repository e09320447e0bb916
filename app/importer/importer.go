// Package importer walks a folder of existing documents on a disk, so that they can be
// filed one by one.
//
// It promises: a link is told of and never followed, nothing outside the folder is
// opened, what cannot be read is told of and ends nothing, paths may be longer than
// the system's calls take, and memory is bounded by the number of folders, not of
// documents. Names are given as the disk has them, in whatever form of Unicode, or of
// no encoding at all.
//
// It refuses to write, to sort and to judge documents.
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

// Kind says what an Entry is.
type Kind int

// The kinds of entries.
const (
	Document   Kind = iota // a regular file
	Skipped                // hidden, or a system's own; a folder counts as one
	Link                   // symbolic, of a file or a folder; not followed
	Special                // a device, a pipe, a socket, a cloud's placeholder
	Unreadable             // see Err
)

// Entry is one thing in a folder.
type Entry struct {
	Folder *Folder
	Name   string // as the disk has it
	Kind   Kind
	Size   int64 // bytes, of a document
	Err    error // of what is unreadable, without its path
}

// Path is the way from the top to the entry, with slashes.
func (e Entry) Path() string { return path.Join(e.Folder.Path, e.Name) }

// Open opens a document that is still a regular file. The folder must be held.
func (e Entry) Open() (*os.File, error) {
	// A pipe in its place would otherwise be waited for until somebody writes to it.
	file, err := e.Folder.root.OpenFile(e.Name, os.O_RDONLY|nonBlock, 0)
	if err != nil {
		return nil, plain(err)
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is no file any more")
	}
	if err != nil {
		return nil, errors.Join(plain(err), file.Close())
	}
	return file, nil
}

// Folder is one folder of the tree. It stays open while somebody holds it; the walk
// does while it visits the folder's entries.
type Folder struct {
	Path string // from the top, with slashes; "" is the top itself
	root *os.Root
	held atomic.Int32
}

// Acquire keeps the folder open until it is released.
func (f *Folder) Acquire() { f.held.Add(1) }

// Release ends one hold.
func (f *Folder) Release() {
	if f.held.Add(-1) == 0 {
		_ = f.root.Close() // it was only read from
	}
}

// atOnce is how many names of a folder are read at a time.
const atOnce = 512

// Walk visits every entry below dir, a folder's own before those of its folders. Except
// dir itself, the folder that avoid describes (nil: none) is told of as Odd. An error
// of visit ends the walk and is returned; so is one of dir itself.
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
	below, err := w.entries(f)
	f.Release()
	if err != nil {
		return err
	}
	for _, name := range below {
		if err := w.folder(path.Join(at, name)); err != nil {
			return err
		}
	}
	return nil
}

// unreadable tells of a folder that cannot be opened; of the top it is the walk's end.
func (w *walk) unreadable(at string, err error) error {
	if at == "" {
		return err
	}
	parent, name := path.Split(at)
	return w.visit(Entry{Folder: &Folder{Path: strings.TrimSuffix(parent, "/")}, Name: name, Kind: Unreadable, Err: plain(err)})
}

// entries visits what is in a folder and gives the names of its folders.
func (w *walk) entries(f *Folder) (below []string, err error) {
	dir, err := f.root.Open(".")
	if err != nil {
		return nil, w.unreadable(f.Path, err)
	}
	defer dir.Close() //nolint:errcheck // only read from
	for {
		list, listErr := dir.ReadDir(atOnce)
		for _, d := range list {
			if err := w.ctx.Err(); err != nil {
				return nil, err
			}
			e := w.entry(f, d)
			if e == nil {
				below = append(below, d.Name())
				continue
			}
			if err := w.visit(*e); err != nil {
				return nil, err
			}
		}
		switch {
		case errors.Is(listErr, io.EOF):
			return below, nil
		case listErr != nil:
			return below, w.unreadable(f.Path, listErr)
		}
	}
}

// entry judges one name; nil is a folder to go down into.
func (w *walk) entry(f *Folder, d fs.DirEntry) *Entry {
	e := &Entry{Folder: f, Name: d.Name()}
	if Hidden(e.Name) {
		e.Kind = Skipped
		return e
	}
	info, err := f.root.Lstat(e.Name)
	switch {
	case err != nil:
		e.Kind, e.Err = Unreadable, plain(err)
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

// plain is an error without the operation and the path, which the caller knows.
func plain(err error) error {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		return at.Err
	}
	return err
}

// own are the names that systems leave in people's folders, in lower case.
var own = map[string]bool{
	"thumbs.db": true, "ehthumbs.db": true, "desktop.ini": true, "$recycle.bin": true, "system volume information": true,
	"@eadir": true, "__macosx": true, "icon\r": true, "lost+found": true,
}

// Hidden reports a name that no person gave to a document: one that begins with a
// dot, an open Office document's lock, and what systems leave behind.
func Hidden(name string) bool {
	return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "~$") || own[strings.ToLower(name)]
}

// Totals is what a walk finds.
type Totals struct {
	Documents int
	Bytes     int64
}

// Count walks once without opening a document.
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

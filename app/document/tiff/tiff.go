// Package tiff reads TIFF files: the chain of directories, the values of their entries, and the
// pixels of the images. It decodes the images of scanners and fax machines row by row.
//
// The header of a file points to a chain of directories, one for each image (TIFF 6.0, section 2;
// BigTIFF):
//
//	TIFF        "II*\0" | "MM\0*"   offset:4
//	BigTIFF     "II+\0" | "MM\0+"   8:2 0:2   offset:8
//	directory   count:2|8   count × entry   offset of the next:4|8, 0 at the end
//	entry       tag:2 type:2 count:4|8 value or its offset:4|8
package tiff

import (
	"encoding/binary"
	"fmt"
	"iter"
	"math"

	"deedkeep/app/document/docio"
)

// maxEntries is the maximum number of entries in a directory. Real files have far fewer.
const maxEntries = 4096

// MaxDirectories is the maximum number of directories that Count counts. libtiff has the same
// limit.
const MaxDirectories = 65535

// MaxValues is the maximum number of values of an entry, such as the strips or tiles of an image.
const MaxValues = 1 << 20

// File is a TIFF whose header has been read.
type File struct {
	doc        *docio.Reader
	order      binary.ByteOrder
	firstAt    int64 // position of the offset of the first directory
	countSize  int64 // size of a directory's count in bytes
	entrySize  int64
	offsetSize int64
}

// Open reads the header. It returns docio.ErrDamaged if doc isn't a TIFF.
func Open(doc *docio.Reader) (*File, error) {
	h, ok := doc.Bytes(0, 8)
	if !ok {
		return nil, docio.Damaged("invalid TIFF header")
	}
	f := &File{doc: doc, order: binary.LittleEndian, firstAt: 4, countSize: 2, entrySize: 12, offsetSize: 4}
	switch string(h[:2]) {
	case "II":
	case "MM":
		f.order = binary.BigEndian
	default:
		return nil, docio.Damaged("invalid TIFF header")
	}
	switch version := f.order.Uint16(h[2:]); {
	case version == 42:
		return f, nil
	case version == 43 && f.order.Uint16(h[4:]) == 8 && f.order.Uint16(h[6:]) == 0:
		f.firstAt, f.countSize, f.entrySize, f.offsetSize = 8, 8, 20, 8
		return f, nil
	}
	return nil, docio.Damaged("invalid TIFF header")
}

// offset returns the offset stored at the position at, or 0 if it can't be read.
func (f *File) offset(at int64) int64 {
	b, ok := f.doc.Bytes(at, f.offsetSize)
	if !ok {
		return 0
	}
	return int64(min(f.number(b), math.MaxInt64))
}

// number decodes b, which contains an unsigned number of 1, 2, 4, or 8 bytes.
func (f *File) number(b []byte) uint64 {
	switch len(b) {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(f.order.Uint16(b))
	case 4:
		return uint64(f.order.Uint32(b))
	}
	return f.order.Uint64(b)
}

// Count returns the number of directories in the chain, up to MaxDirectories. It doesn't read
// entries, but each directory must have entries and be completely within the file.
func (f *File) Count() (n int) {
	for range f.offsets(MaxDirectories) {
		n++
	}
	return n
}

// offsets returns the offsets of up to n directories in order. The chain ends where it is broken or
// forms a loop.
func (f *File) offsets(n int) iter.Seq[int64] {
	return func(yield func(int64) bool) {
		seen := make(map[int64]bool)
		for off := f.offset(f.firstAt); off > 0 && !seen[off] && len(seen) < n; {
			seen[off] = true
			b, ok := f.doc.Bytes(off, f.countSize)
			if !ok {
				return
			}
			entries := f.number(b)
			if entries == 0 || entries > uint64(f.doc.Size()) {
				return
			}
			end := off + f.countSize + int64(entries)*f.entrySize
			if end > f.doc.Size() || !yield(off) {
				return
			}
			off = f.offset(end)
		}
	}
}

// Directories returns up to n directories in order. It ends at a directory that can't be read.
func (f *File) Directories(n int) iter.Seq[*Directory] {
	return func(yield func(*Directory) bool) {
		for off := range f.offsets(n) {
			if dir := f.directory(off); dir == nil || !yield(dir) {
				return
			}
		}
	}
}

// Page returns the directory of image n, starting at 1.
func (f *File) Page(n int) (*Directory, error) {
	var dir *Directory
	found := 0
	for dir = range f.Directories(n) {
		found++
	}
	switch {
	case found == 0:
		return nil, docio.Damaged("missing image directory")
	case found < n:
		return nil, fmt.Errorf("%w: the document has %d", docio.ErrNoPage, found)
	}
	return dir, nil
}

// directory reads the directory at off. It returns nil if the directory can't be read.
func (f *File) directory(off int64) *Directory {
	b, ok := f.doc.Bytes(off, f.countSize)
	if !ok || f.number(b) > maxEntries {
		return nil
	}
	n := int64(f.number(b))
	off += f.countSize
	b, ok = f.doc.Bytes(off, n*f.entrySize)
	if !ok {
		return nil
	}
	dir := &Directory{file: f, entries: make(map[uint16]entry, n)}
	for i := range n {
		e := b[i*f.entrySize:][:f.entrySize]
		parsed := entry{valueType: f.order.Uint16(e[2:]), count: f.number(e[4 : 4+f.offsetSize])}
		parsed.at = off + i*f.entrySize + 4 + f.offsetSize
		if size := valueSize(parsed.valueType); size > 0 && parsed.count > uint64(f.offsetSize)/uint64(size) {
			parsed.at = int64(min(f.number(e[4+f.offsetSize:]), math.MaxInt64))
		}
		dir.entries[f.order.Uint16(e)] = parsed
	}
	return dir
}

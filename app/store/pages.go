package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
)

// The pages of a bbolt file (go.etcd.io/bbolt, internal/common), in the byte order
// of the machine:
//
//	page     id 8 | flags 2 | count 2 | overflow 4 | elements | keys and values
//	branch   position 4 | key size 4 | page 8                      per element
//	leaf     flags 4 | position 4 | key size 4 | value size 4      per element
//	meta     magic 4 | version 4 | page size 4 | flags 4 | root page 8 | sequence 8 |
//	         freelist page 8 | pages 8 | transaction 8 | FNV-1a of all before 8
//	bucket   root page 8, 0 when inline | sequence 8 | the page, when inline
//
// bbolt believes every number in them: one flipped bit makes its cursor turn in a
// circle, or its own check touch memory that is not there, on a goroutine whose
// fault nobody can catch. So they are read here first, as bytes of a file.
const (
	pageHeader    = 16
	elementSize   = 16
	bucketHeader  = 16
	metaSize      = 64
	metaMagic     = 0xED0CDAED
	branchPage    = 0x01
	leafPage      = 0x02
	freelistPage  = 0x10
	bucketElement = 0x01
	listedInside  = 0xFFFF // the count of a freelist that stands before its entries
	smallestPage  = 1 << 10
	largestPage   = 1 << 16
)

// errBrokenPages means that the pages of a file do not hang together.
var errBrokenPages = errors.New("the pages of the database are damaged: put back a backup")

// pageReader walks the pages of one file, each once.
type pageReader struct {
	file    io.ReaderAt
	size    int64 // of a page, in bytes
	pages   uint64
	seen    []bool
	find    func(subject, problem string)
	subject string // the bucket that is walked
	broken  bool
}

// checkPages reports what in the structure of a bbolt file of this length does not
// hang together. When it is sound, bbolt can walk the file without harm; the order
// of keys is bbolt's to check. The error is about reading.
func checkPages(file io.ReaderAt, length int64, find func(subject, problem string)) (sound bool, err error) {
	r := &pageReader{file: file, find: find, subject: "pages"}
	root, freelist, err := r.meta(length)
	if err != nil || r.broken {
		return false, err
	}
	r.seen = make([]bool, r.pages)
	if err := r.tree(root); err != nil {
		return false, err
	}
	r.subject = "free pages"
	if err := r.freelist(freelist); err != nil {
		return false, err
	}
	return !r.broken, nil
}

func (r *pageReader) breaks(format string, args ...any) {
	r.broken = true
	r.find(r.subject, fmt.Sprintf(format, args...))
}

// meta reads the newest state that holds to its checksum, of the two there are.
func (r *pageReader) meta(length int64) (root, freelist uint64, err error) {
	sound, err := soundMetas(r.file)
	if err != nil {
		return 0, 0, err
	}
	newest := newestMeta(sound)
	r.size, root, freelist, r.pages = newest.size, newest.root, newest.freelist, newest.pages
	switch {
	case len(sound) == 0 || r.size < smallestPage || r.size > largestPage:
		r.breaks("no page says where the records begin")
	case r.pages > uint64(length/r.size):
		r.breaks("the file is cut: it has %d bytes, and %d pages of %d were written", length, r.pages, r.size)
	case len(sound) == 1:
		r.find(r.subject, "one of the two pages that say where the records begin is damaged")
	}
	return root, freelist, nil
}

// metaPage is one of the two pages that say where the records begin.
type metaPage struct {
	at, size              int64 // where it is in the file, and of a page
	root, freelist, pages uint64
	transaction, checksum uint64
}

// soundMetas reads the meta pages that match their checksum: at most two.
func soundMetas(file io.ReaderAt) (sound []metaPage, err error) {
	raw := make([]byte, metaSize)
	for at := int64(0); at <= largestPage; at = max(smallestPage, 2*at) {
		if _, err := file.ReadAt(raw, at+pageHeader); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		size := int64(u32(raw[8:]))
		sum := fnv.New64a()
		_, _ = sum.Write(raw[:56]) // a hash never refuses
		if u32(raw) != metaMagic || u64(raw[56:]) != sum.Sum64() || at != 0 && at != size {
			continue
		}
		sound = append(sound, metaPage{at: at, size: size, root: u64(raw[16:]), freelist: u64(raw[32:]), pages: u64(raw[40:]), transaction: u64(raw[48:]), checksum: u64(raw[56:])})
	}
	return sound, nil
}

// newestMeta is the one that is in force; zero of none.
func newestMeta(sound []metaPage) (newest metaPage) {
	for i, m := range sound {
		if i == 0 || m.transaction > newest.transaction {
			newest = m
		}
	}
	return newest
}

func u16(b []byte) uint16 { return binary.NativeEndian.Uint16(b) }
func u32(b []byte) uint32 { return binary.NativeEndian.Uint32(b) }
func u64(b []byte) uint64 { return binary.NativeEndian.Uint64(b) }

// page reads a page and what overflows from it, once; nil after a finding.
func (r *pageReader) page(id uint64) ([]byte, error) {
	if id < 2 || id >= r.pages {
		r.breaks("page %d is named, which the file does not have", id)
		return nil, nil
	}
	head := make([]byte, pageHeader)
	if _, err := r.file.ReadAt(head, int64(id)*r.size); err != nil {
		return nil, fmt.Errorf("read page %d: %w", id, err)
	}
	over := uint64(u32(head[12:]))
	if u64(head) != id || over >= r.pages-id {
		r.breaks("page %d is not what it was", id)
		return nil, nil
	}
	for i := id; i <= id+over; i++ {
		if r.seen[i] {
			r.breaks("page %d is used twice", i)
			return nil, nil
		}
		r.seen[i] = true
	}
	raw := make([]byte, int64(over+1)*r.size)
	if _, err := r.file.ReadAt(raw, int64(id)*r.size); err != nil {
		return nil, fmt.Errorf("read page %d: %w", id, err)
	}
	return raw, nil
}

// tree walks from a page down. A page is never met twice, so that it ends.
func (r *pageReader) tree(id uint64) error {
	raw, err := r.page(id)
	if err != nil || raw == nil {
		return err
	}
	return r.elements(raw, fmt.Sprintf("page %d", id))
}

// elements walks what a branch or a leaf, perhaps an inline one, holds.
func (r *pageReader) elements(raw []byte, name string) error {
	kind, count := u16(raw[8:]), int(u16(raw[10:]))
	if kind != branchPage && kind != leafPage || kind == branchPage && count == 0 {
		r.breaks("%s is neither a branch nor a leaf", name)
		return nil
	}
	if pageHeader+count*elementSize > len(raw) {
		r.breaks("%s has more entries than room", name)
		return nil
	}
	for i := range count {
		e := raw[pageHeader+i*elementSize:]
		var err error
		if kind == branchPage {
			err = r.branch(e, fmt.Sprintf("entry %d of %s", i, name))
		} else {
			err = r.leaf(e, fmt.Sprintf("entry %d of %s", i, name))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *pageReader) branch(e []byte, name string) error {
	position, key := uint64(u32(e)), uint64(u32(e[4:]))
	if key == 0 || position < elementSize || position+key > uint64(len(e)) {
		r.breaks("%s lies outside of it", name)
		return nil
	}
	return r.tree(u64(e[8:]))
}

func (r *pageReader) leaf(e []byte, name string) error {
	position, key, value := uint64(u32(e[4:])), uint64(u32(e[8:])), uint64(u32(e[12:]))
	if key == 0 || position < elementSize || position+key+value > uint64(len(e)) {
		r.breaks("%s lies outside of it", name)
		return nil
	}
	if u32(e) == 0 {
		return nil
	}
	if u32(e) != bucketElement || r.subject != "pages" {
		r.breaks("%s is neither a record nor a bucket", name)
		return nil
	}
	r.subject = fmt.Sprintf("%q", e[position:position+key])
	err := r.bucket(e[position+key:position+key+value], name)
	r.subject = "pages"
	return err
}

// bucket walks a bucket, of which there are none within another.
func (r *pageReader) bucket(value []byte, name string) error {
	if len(value) < bucketHeader {
		r.breaks("%s is too short for a bucket", name)
		return nil
	}
	if root := u64(value); root != 0 {
		return r.tree(root)
	}
	inline := value[bucketHeader:]
	if len(inline) < pageHeader || u16(inline[8:]) != leafPage || u64(inline) != 0 {
		r.breaks("%s is no bucket", name)
		return nil
	}
	return r.elements(inline, name)
}

func (r *pageReader) freelist(id uint64) error {
	raw, err := r.page(id)
	if err != nil || raw == nil {
		return err
	}
	count, list := uint64(u16(raw[10:])), raw[pageHeader:]
	if count == listedInside {
		count, list = u64(list), list[8:]
	}
	if u16(raw[8:]) != freelistPage || count > uint64(len(list)/8) {
		r.breaks("page %d is no list of free pages", id)
		return nil
	}
	for i := range count {
		free := u64(list[8*i:])
		if free < 2 || free >= r.pages || r.seen[free] {
			r.breaks("page %d is free, and in use or not there", free)
			continue
		}
		r.seen[free] = true
	}
	return nil
}

package boltkv

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"deedkeep/app/kv"
	"deedkeep/app/kv/boltkv/pagecache"
)

// The pages of a bbolt file (see internal/common in go.etcd.io/bbolt), in native byte order:
//
//	page     id 8 | flags 2 | count 2 | overflow 4 | elements | keys and values
//	branch   position 4 | key size 4 | page 8                      per element
//	leaf     flags 4 | position 4 | key size 4 | value size 4      per element
//	meta     magic 4 | version 4 | page size 4 | flags 4 | root page 8 | sequence 8 |
//	         freelist page 8 | pages 8 | transaction 8 | FNV-1a of all before 8
//	bucket   root page 8, 0 when inline | sequence 8 | the page, when inline
//
// bbolt doesn't validate any of these numbers. A single flipped bit can make its cursor
// loop forever. It can also make bbolt's own check access unmapped memory in a goroutine
// whose fault can't be recovered. So the code in this file verifies the pages as plain
// bytes before bbolt reads them.
const (
	pageHeader    = pagecache.PageHeader
	elementSize   = 16
	bucketHeader  = 16
	branchPage    = 0x01
	leafPage      = 0x02
	freelistPage  = 0x10
	bucketElement = 0x01
	countInPage   = 0xFFFF // if a freelist has this count, its first entry is the real count
)

// ErrBrokenPages means that the page structure of a database file is damaged.
var ErrBrokenPages error = &kv.DamageError{Message: "database pages can't be read",
	Err: errors.New("database pages are damaged; restore a backup")}

// pageChecker reads the pages of one file, each page once.
type pageChecker struct {
	file      io.ReaderAt
	pageSize  int64 // in bytes
	pageCount uint64
	used      []bool
	report    func(subject, problem string)
	subject   string // the bucket that is being checked
	broken    bool
}

// checkPages reports problems in the page structure of a bbolt file with the given length.
// If valid is true, bbolt can read the file safely. checkPages doesn't verify the order of
// the keys, because bbolt's own check does. It returns an error only if the file can't be
// read.
func checkPages(file io.ReaderAt, length int64, report func(subject, problem string)) (valid bool, err error) {
	r := &pageChecker{file: file, report: report, subject: "pages"}
	root, freelist, err := r.checkMeta(length)
	if err != nil || r.broken {
		return false, err
	}
	r.used = make([]bool, r.pageCount)
	if err := r.checkTree(root); err != nil {
		return false, err
	}
	r.subject = "free pages"
	if err := r.checkFreelist(freelist); err != nil {
		return false, err
	}
	return !r.broken, nil
}

// addProblem reports a problem and marks the file as broken.
func (p *pageChecker) addProblem(format string, args ...any) {
	p.broken = true
	p.report(p.subject, fmt.Sprintf(format, args...))
}

// checkMeta reads the current meta page, which is the newer of the valid ones.
func (p *pageChecker) checkMeta(length int64) (root, freelist uint64, err error) {
	valid, err := pagecache.ReadMetas(p.file)
	if err != nil {
		return 0, 0, err
	}
	newest := pagecache.NewestMeta(valid)
	p.pageSize, root, freelist, p.pageCount = newest.PageSize, newest.Root, newest.Freelist, newest.PageCount
	switch {
	case len(valid) == 0 || p.pageSize < pagecache.MinPageSize || p.pageSize > pagecache.MaxPageSize:
		p.addProblem("both meta pages are damaged")
	case p.pageCount > uint64(length/p.pageSize):
		p.addProblem("the file is truncated: %d bytes, expected %d pages of %d bytes", length, p.pageCount, p.pageSize)
	case len(valid) == 1:
		p.report(p.subject, "one of the two meta pages is damaged")
	}
	return root, freelist, nil
}

func u16(b []byte) uint16 { return binary.NativeEndian.Uint16(b) }

func u32(b []byte) uint32 { return binary.NativeEndian.Uint32(b) }

func u64(b []byte) uint64 { return binary.NativeEndian.Uint64(b) }

// readPage reads a page with its overflow pages and marks them as used. If it finds a
// problem, it reports the problem and returns nil.
func (p *pageChecker) readPage(id uint64) ([]byte, error) {
	if id < 2 || id >= p.pageCount {
		p.addProblem("refers to page %d, which is beyond the end of the file", id)
		return nil, nil
	}
	head := make([]byte, pageHeader)
	if _, err := p.file.ReadAt(head, int64(id)*p.pageSize); err != nil {
		return nil, fmt.Errorf("read page %d: %w", id, err)
	}
	overflow := uint64(u32(head[12:]))
	if u64(head) != id || overflow >= p.pageCount-id {
		p.addProblem("page %d is damaged", id)
		return nil, nil
	}
	for i := id; i <= id+overflow; i++ {
		if p.used[i] {
			p.addProblem("page %d is used twice", i)
			return nil, nil
		}
		p.used[i] = true
	}
	raw := make([]byte, int64(overflow+1)*p.pageSize)
	if _, err := p.file.ReadAt(raw, int64(id)*p.pageSize); err != nil {
		return nil, fmt.Errorf("read page %d: %w", id, err)
	}
	return raw, nil
}

// checkTree checks a page and all pages below it. It terminates because a page that is used
// twice is reported and not followed.
func (p *pageChecker) checkTree(id uint64) error {
	raw, err := p.readPage(id)
	if err != nil || raw == nil {
		return err
	}
	return p.checkElements(raw, fmt.Sprintf("page %d", id))
}

// checkElements checks the elements of a branch or leaf page, which may be inline.
func (p *pageChecker) checkElements(raw []byte, name string) error {
	kind, count := u16(raw[8:]), int(u16(raw[10:]))
	if kind != branchPage && kind != leafPage || kind == branchPage && count == 0 {
		p.addProblem("%s is not a branch or leaf page", name)
		return nil
	}
	if pageHeader+count*elementSize > len(raw) {
		p.addProblem("%s has too many entries", name)
		return nil
	}
	for i := range count {
		e := raw[pageHeader+i*elementSize:]
		var err error
		if kind == branchPage {
			err = p.checkBranchElement(e, fmt.Sprintf("entry %d of %s", i, name))
		} else {
			err = p.checkLeafElement(e, fmt.Sprintf("entry %d of %s", i, name))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// checkBranchElement checks an element of a branch page and the page it points to.
func (p *pageChecker) checkBranchElement(e []byte, name string) error {
	position, key := uint64(u32(e)), uint64(u32(e[4:]))
	if key == 0 || position < elementSize || position+key > uint64(len(e)) {
		p.addProblem("%s is outside the page", name)
		return nil
	}
	return p.checkTree(u64(e[8:]))
}

// checkLeafElement checks an element of a leaf page, which is a record or a bucket.
func (p *pageChecker) checkLeafElement(e []byte, name string) error {
	position, key, value := uint64(u32(e[4:])), uint64(u32(e[8:])), uint64(u32(e[12:]))
	if key == 0 || position < elementSize || position+key+value > uint64(len(e)) {
		p.addProblem("%s is outside the page", name)
		return nil
	}
	if u32(e) == 0 {
		return nil
	}
	if u32(e) != bucketElement || p.subject != "pages" {
		p.addProblem("%s is not a record or a bucket", name)
		return nil
	}
	p.subject = fmt.Sprintf("%q", e[position:position+key])
	err := p.checkBucket(e[position+key:position+key+value], name)
	p.subject = "pages"
	return err
}

// checkBucket checks the value of a bucket. Nested buckets are reported as a problem.
func (p *pageChecker) checkBucket(value []byte, name string) error {
	if len(value) < bucketHeader {
		p.addProblem("%s is too short for a bucket", name)
		return nil
	}
	if root := u64(value); root != 0 {
		return p.checkTree(root)
	}
	inline := value[bucketHeader:]
	if len(inline) < pageHeader || u16(inline[8:]) != leafPage || u64(inline) != 0 {
		p.addProblem("%s is not a bucket", name)
		return nil
	}
	return p.checkElements(inline, name)
}

// checkFreelist checks that no page in the freelist is in use.
func (p *pageChecker) checkFreelist(id uint64) error {
	raw, err := p.readPage(id)
	if err != nil || raw == nil {
		return err
	}
	count, list := uint64(u16(raw[10:])), raw[pageHeader:]
	if count == countInPage {
		count, list = u64(list), list[8:]
	}
	if u16(raw[8:]) != freelistPage || count > uint64(len(list)/8) {
		p.addProblem("page %d is not a free list", id)
		return nil
	}
	for i := range count {
		free := u64(list[8*i:])
		if free < 2 || free >= p.pageCount || p.used[free] {
			p.addProblem("free page %d is in use or beyond the end of the file", free)
			continue
		}
		p.used[free] = true
	}
	return nil
}

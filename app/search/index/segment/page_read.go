package segment

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// pageFile is a segment's file, open for reading. Nothing it returns is unchecked.
type pageFile struct {
	file  *os.File
	id    uint64 // unique in the process: where the cache has its pages
	cache *Cache
	footer
	size      int64
	fullPages int      // full pages
	sums      []uint32 // of the full pages and then the tails
	tails     []tail
	streams   [streams]stream
}

// tail is the last page of a stream.
type tail struct {
	off  int64
	size int
}

// openPages opens a file of which the manifest knows number, size and sum.
func openPages(path string, number uint64, size int64, sum uint32, c *Cache) (*pageFile, error) {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s is missing", ErrDamaged, filepath.Base(path))
	}
	if err != nil {
		return nil, err
	}
	p := &pageFile{file: f, id: c.newFileID(), cache: c, size: size}
	if err := p.readFooter(number, sum); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", filepath.Base(path), err), f.Close())
	}
	return p, nil
}

func (p *pageFile) readFooter(number uint64, sum uint32) error {
	info, err := p.file.Stat()
	if err != nil {
		return err
	}
	if info.Size() != p.size || p.size < footerSize {
		return fmt.Errorf("%w: %d bytes long, not %d", ErrDamaged, info.Size(), p.size)
	}
	var raw [footerSize]byte
	if err := p.readAt(raw[:], p.size-footerSize); err != nil {
		return fmt.Errorf("footer: %w", err)
	}
	stored := binary.LittleEndian.Uint32(raw[footerSize-4:])
	if stored != sum || stored != Checksum(raw[:footerSize-4]) {
		return fmt.Errorf("%w: checksum of the footer", ErrDamaged)
	}
	if !p.parse(raw[:]) || p.number != number {
		return fmt.Errorf("%w: footer", ErrDamaged)
	}
	return p.readTable()
}

// parse takes the fields of a footer whose sum is right.
func (p *pageFile) parse(raw []byte) bool {
	if string(raw[:8]) != footerMagic || binary.LittleEndian.Uint32(raw[8:]) != footerFormat {
		return false
	}
	p.number = binary.LittleEndian.Uint64(raw[12:])
	p.docs = binary.LittleEndian.Uint32(raw[20:])
	p.words = binary.LittleEndian.Uint64(raw[24:])
	for i := range p.lengths {
		p.lengths[i] = int64(binary.LittleEndian.Uint64(raw[32+8*i:]))
	}
	p.tableSum = binary.LittleEndian.Uint32(raw[32+8*streams:])
	return true
}

// readTable reads where the pages of each stream lie, and their sums.
func (p *pageFile) readTable() error {
	full, tails, bytes, ok := p.layout(p.size)
	if !ok {
		return fmt.Errorf("%w: lengths of the streams", ErrDamaged)
	}
	table := make([]byte, full+4*(full+tails))
	at := int64(full)<<pageBits + bytes
	if err := p.readAt(table, at); err != nil {
		return fmt.Errorf("table: %w", err)
	}
	if Checksum(table) != p.tableSum {
		return fmt.Errorf("%w: checksum of the table", ErrDamaged)
	}
	p.fullPages = full
	p.sums = make([]uint32, full+tails)
	for i := range p.sums {
		p.sums[i] = binary.LittleEndian.Uint32(table[full+4*i:])
	}
	return p.assignPages(table[:full])
}

// assignPages tells every stream its pages.
func (p *pageFile) assignPages(owners []byte) error {
	off := int64(p.fullPages) << pageBits
	for i := range p.streams {
		s := &p.streams[i]
		s.file, s.length = p, p.lengths[i]
		s.pages = make([]uint32, 0, (s.length+pageMask)>>pageBits)
	}
	for n, owner := range owners {
		if owner >= streams {
			return fmt.Errorf("%w: a page of no stream", ErrDamaged)
		}
		p.streams[owner].pages = append(p.streams[owner].pages, uint32(n))
	}
	for i := range p.streams {
		s := &p.streams[i]
		if int64(len(s.pages)) != s.length>>pageBits {
			return fmt.Errorf("%w: pages of stream %d", ErrDamaged, i)
		}
		if rest := int(s.length & pageMask); rest > 0 {
			s.pages = append(s.pages, uint32(p.fullPages+len(p.tails)))
			p.tails = append(p.tails, tail{off, rest})
			off += int64(rest)
		}
	}
	return nil
}

// read reads a page into buf, which has room for one, and returns the page.
func (p *pageFile) read(page uint32, buf []byte) ([]byte, error) {
	off, size := int64(page)<<pageBits, pageSize
	if t := int(page) - p.fullPages; t >= 0 {
		off, size = p.tails[t].off, p.tails[t].size
	}
	buf = buf[:size]
	if err := p.readAt(buf, off); err != nil {
		return nil, fmt.Errorf("segment %d, byte %d: %w", p.number, off, err)
	}
	if Checksum(buf) != p.sums[page] {
		return nil, fmt.Errorf("segment %d, page at byte %d: %w: checksum", p.number, off, ErrDamaged)
	}
	return buf, nil
}

// readAt reads all of buf. A file that ends before is damaged; a disk that does not
// read is not: the same bytes may be there the next time.
func (p *pageFile) readAt(buf []byte, off int64) error {
	_, err := p.file.ReadAt(buf, off)
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: cut off", ErrDamaged)
	}
	return err
}

// Check reads every page and holds it against its checksum. Errors: ErrDamaged and that of ctx.
func (p *pageFile) Check(ctx context.Context) error {
	buf := make([]byte, pageSize)
	for n := range p.sums {
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, err := p.read(uint32(n), buf); err != nil {
			return err
		}
	}
	return nil
}

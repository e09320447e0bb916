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

// pageFile is a segment file that is open for reading. All data that it returns has been verified.
type pageFile struct {
	file  *os.File
	id    uint64 // unique within the process; part of the cache key
	cache *Cache
	footer
	size      int64
	fullPages int      // number of full pages
	sums      []uint32 // checksums of the full pages, followed by those of the tails
	tails     []tail
	streams   [streams]stream
}

// tail is the last, incomplete page of a stream.
type tail struct {
	off  int64
	size int
}

// openPages opens a segment file. It checks that its number, size, and footer checksum match those
// in the manifest.
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
		return fmt.Errorf("%w: size is %d bytes, expected %d", ErrDamaged, info.Size(), p.size)
	}
	var raw [footerSize]byte
	if err := p.readAt(raw[:], p.size-footerSize); err != nil {
		return fmt.Errorf("read footer: %w", err)
	}
	stored := binary.LittleEndian.Uint32(raw[footerSize-4:])
	if stored != sum || stored != Checksum(raw[:footerSize-4]) {
		return fmt.Errorf("%w: footer checksum mismatch", ErrDamaged)
	}
	if !p.parse(raw[:]) || p.number != number {
		return fmt.Errorf("%w: invalid footer", ErrDamaged)
	}
	return p.readTable()
}

// parse decodes a footer whose checksum has been verified. It returns false if the footer is not
// valid.
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

// readTable reads the table, which assigns the pages to streams and contains their checksums.
func (p *pageFile) readTable() error {
	full, tails, bytes, ok := p.layout(p.size)
	if !ok {
		return fmt.Errorf("%w: invalid stream lengths", ErrDamaged)
	}
	table := make([]byte, full+4*(full+tails))
	at := int64(full)<<pageBits + bytes
	if err := p.readAt(table, at); err != nil {
		return fmt.Errorf("read page table: %w", err)
	}
	if Checksum(table) != p.tableSum {
		return fmt.Errorf("%w: page table checksum mismatch", ErrDamaged)
	}
	p.fullPages = full
	p.sums = make([]uint32, full+tails)
	for i := range p.sums {
		p.sums[i] = binary.LittleEndian.Uint32(table[full+4*i:])
	}
	return p.assignPages(table[:full])
}

// assignPages assigns the pages and tails of the file to the streams.
func (p *pageFile) assignPages(owners []byte) error {
	off := int64(p.fullPages) << pageBits
	for i := range p.streams {
		s := &p.streams[i]
		s.file, s.length = p, p.lengths[i]
		s.pages = make([]uint32, 0, (s.length+pageMask)>>pageBits)
	}
	for n, owner := range owners {
		if owner >= streams {
			return fmt.Errorf("%w: page has an invalid stream number", ErrDamaged)
		}
		p.streams[owner].pages = append(p.streams[owner].pages, uint32(n))
	}
	for i := range p.streams {
		s := &p.streams[i]
		if int64(len(s.pages)) != s.length>>pageBits {
			return fmt.Errorf("%w: wrong number of pages in stream %d", ErrDamaged, i)
		}
		if rest := int(s.length & pageMask); rest > 0 {
			s.pages = append(s.pages, uint32(p.fullPages+len(p.tails)))
			p.tails = append(p.tails, tail{off, rest})
			off += int64(rest)
		}
	}
	return nil
}

// read reads a page into buf, which must have the size of a page. It returns the part of buf that
// contains data.
func (p *pageFile) read(page uint32, buf []byte) ([]byte, error) {
	off, size := int64(page)<<pageBits, pageSize
	if t := int(page) - p.fullPages; t >= 0 {
		off, size = p.tails[t].off, p.tails[t].size
	}
	buf = buf[:size]
	if err := p.readAt(buf, off); err != nil {
		return nil, fmt.Errorf("read segment %d at byte %d: %w", p.number, off, err)
	}
	if Checksum(buf) != p.sums[page] {
		return nil, fmt.Errorf("segment %d, page at byte %d: %w: checksum mismatch", p.number, off, ErrDamaged)
	}
	return buf, nil
}

// readAt fills buf. If the file is too short, it returns ErrDamaged. A read error of the disk does
// not count as damage because the next attempt may succeed.
func (p *pageFile) readAt(buf []byte, off int64) error {
	_, err := p.file.ReadAt(buf, off)
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: file is truncated", ErrDamaged)
	}
	return err
}

// Check verifies the checksum of every page. It returns ErrDamaged or the error of ctx.
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

package tiff

import (
	"bytes"
	"context"
	"encoding/binary"
	"testing"

	"deedkeep/app/document/docio"
)

func TestCount(t *testing.T) {
	le, be := binary.LittleEndian, binary.BigEndian
	const page = 18 // size of a classic directory with one entry
	patched := func(at int, value uint32) []byte {
		p := chain(le, false, 3)
		le.PutUint32(p[at:], value)
		return p
	}
	first := 4                                     // position of the first offset
	link := func(n int) int { return 4 + n*page }  // position of the offset of the next directory in directory n-1
	where := func(n int) int { return 8 + n*page } // offset of directory n, starting at 0
	for _, row := range []struct {
		name  string
		doc   []byte
		pages int // 0 if the file is not a TIFF
	}{
		{"little", chain(le, false, 3), 3},
		{"big-endian", chain(be, false, 3), 3},
		{"BigTIFF", chain(le, true, 4), 4},
		{"BigTIFF, big-endian", chain(be, true, 4), 4},
		{"as many as are counted", chain(le, false, 65_536), 65_535},
		{"no directory", chain(le, false, 0), 0},
		{"first offset beyond the end", patched(first, 1<<31), 0},
		{"first offset on the last byte", patched(first, uint32(len(chain(le, false, 3))-1)), 0},
		{"first directory without entries", patched(where(0), 0), 0},
		{"first directory longer than the file", patched(where(0), 0x0100_FFFF), 0},
		{"second offset beyond the end", patched(link(1), 1<<31), 1},
		{"second directory truncated", chain(le, false, 2)[:where(1)+10], 1},
		{"cut before its last link", chain(le, false, 2)[:where(1)+14], 2},
		{"third without entries", patched(where(2), 0), 2},
		{"back to itself", patched(link(1), uint32(where(0))), 1},
		{"back to the first", patched(link(3), uint32(where(0))), 3},
		{"back to the second", patched(link(3), uint32(where(1))), 3},
		{"header alone", []byte("II*\x00"), 0},
		{"version 44", []byte("II,\x00\x08\x00\x00\x00\x01\x00"), 0},
		{"BigTIFF of other offsets", []byte("II+\x00\x04\x00\x00\x00\x10\x00\x00\x00\x00\x00\x00\x00"), 0},
		{"BigTIFF of negative offset", []byte("II+\x00\x08\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff"), 0},
		{"BigTIFF with an endless directory",
			[]byte("II+\x00\x08\x00\x00\x00\x10\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff"), 0},
		{"text", []byte("II* see the note on page 2"), 0},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := countPages(t.Context(), row.doc); got != row.pages {
				t.Errorf("%d pages, want %d", got, row.pages)
			}
		})
	}
}

// countPages returns the number of directories, or 0 if content isn't a TIFF.
func countPages(ctx context.Context, content []byte) int {
	file, err := Open(docio.NewCachedReader(ctx, bytes.NewReader(content), int64(len(content))))
	if err != nil {
		return 0
	}
	return file.Count()
}

// chain returns a TIFF with the given number of directories, each with one entry.
func chain(order binary.AppendByteOrder, big bool, pages int) []byte {
	mark := "II"
	if order.String() == binary.BigEndian.String() {
		mark = "MM"
	}
	p := []byte(mark)
	if !big {
		p = order.AppendUint16(p, 42)
		for page := range pages {
			p = order.AppendUint32(p, uint32(len(p)+4))
			p = order.AppendUint16(p, 1)
			p = order.AppendUint16(p, 256)
			p = order.AppendUint16(p, 4)
			p = order.AppendUint32(p, 1)
			p = order.AppendUint32(p, uint32(page+1))
		}
		return order.AppendUint32(p, 0)
	}
	p = order.AppendUint16(p, 43)
	p = order.AppendUint16(p, 8)
	p = order.AppendUint16(p, 0)
	for page := range pages {
		p = order.AppendUint64(p, uint64(len(p)+8))
		p = order.AppendUint64(p, 1)
		p = order.AppendUint16(p, 256)
		p = order.AppendUint16(p, 4)
		p = order.AppendUint64(p, 1)
		p = order.AppendUint64(p, uint64(page+1))
	}
	return order.AppendUint64(p, 0)
}

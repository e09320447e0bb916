package document_test

import (
	"encoding/binary"
	"testing"
)

func TestTIFF(t *testing.T) {
	le, be := binary.LittleEndian, binary.BigEndian
	const page = 18 // size of a classic directory with one entry
	patched := func(at int, value uint32) []byte {
		p := buildTIFF(le, false, 3)
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
		{"little", buildTIFF(le, false, 3), 3},
		{"big-endian", buildTIFF(be, false, 3), 3},
		{"BigTIFF", buildTIFF(le, true, 4), 4},
		{"BigTIFF, big-endian", buildTIFF(be, true, 4), 4},
		{"as many as are counted", buildTIFF(le, false, 65_536), 65_535},
		{"no directory", buildTIFF(le, false, 0), 0},
		{"first offset beyond the end", patched(first, 1<<31), 0},
		{"first offset on the last byte", patched(first, uint32(len(buildTIFF(le, false, 3))-1)), 0},
		{"first directory without entries", patched(where(0), 0), 0},
		{"first directory longer than the file", patched(where(0), 0x0100_FFFF), 0},
		{"second offset beyond the end", patched(link(1), 1<<31), 1},
		{"second directory truncated", buildTIFF(le, false, 2)[:where(1)+10], 1},
		{"cut before its last link", buildTIFF(le, false, 2)[:where(1)+14], 2},
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
			report := inspect(t, "tif", row.doc)
			switch {
			case row.pages == 0 && (report.Pages != nil || report.Rejection == ""):
				t.Errorf("report %+v, want rejected", report)
			case row.pages > 0 && (report.Pages == nil || *report.Pages != row.pages || report.MIME != "image/tiff"):
				t.Errorf("report %+v, want %d pages", report, row.pages)
			}
		})
	}
}

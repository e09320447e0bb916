package document

import (
	"bytes"
	"context"
	"encoding/binary"
)

// jpegSegments is how many segments are looked through; a long color profile
// takes a few dozen.
const jpegSegments = 4096

// segments calls visit with the marker of each segment before the first scan,
// where its content stands and how long that is, until visit returns true (ITU
// T.81, B.1.1.4).
func segments(doc *source, visit func(marker byte, off, length int64) bool) {
	off := int64(2)
	for range jpegSegments {
		head, ok := doc.bytes(off, 4)
		if !ok || head[0] != 0xFF || head[1] == 0xDA {
			return
		}
		if head[1] == 0xFF { // fill
			off++
			continue
		}
		length := int64(binary.BigEndian.Uint16(head[2:]))
		if length < 2 || visit(head[1], off+4, length-2) {
			return
		}
		off += 2 + length
	}
}

// isProgressive reports whether the frame of a JPEG is progressive: a decoder
// then holds all its coefficients.
func isProgressive(doc *source) (progressive bool) {
	segments(doc, func(marker byte, _, _ int64) bool {
		progressive = marker == 0xC2
		return progressive || marker == 0xC0 || marker == 0xC1
	})
	return progressive
}

// exifTurn returns the orientation that the EXIF block of a JPEG names, 1 where
// it names none. The block is a segment APP1 that holds a TIFF file (EXIF 2.32,
// 4.5.4):
//
//	FF E1  length:2  "Exif" 0 0  TIFF header, directory 0 with tag 0x0112
func exifTurn(doc *source) int {
	turn := 1
	segments(doc, func(marker byte, off, length int64) bool {
		if marker != 0xE1 {
			return false
		}
		block, ok := doc.bytes(off, length)
		rest, exif := bytes.CutPrefix(block, []byte("Exif\x00\x00"))
		if ok && exif {
			turn = tiffTurn(doc.ctx, rest)
		}
		return ok && exif
	})
	return turn
}

// tiffTurn returns the orientation in the first directory of a small TIFF.
func tiffTurn(ctx context.Context, b []byte) int {
	doc := &source{Source: Source{Doc: bytes.NewReader(b), Size: int64(len(b))}, ctx: ctx}
	layout, ok := tiffHeader(doc)
	if !ok {
		return 1
	}
	dir, _, err := layout.directory(doc, layout.first(doc))
	if err != nil {
		return 1
	}
	return dir.turn(doc)
}

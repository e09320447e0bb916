package extract

import (
	"bytes"
	"context"
	"encoding/binary"
)

// exifSegments is how many segments are looked through for EXIF; it comes first
// or second (EXIF 2.32, 4.5.4).
const exifSegments = 16

// exifTurn returns the orientation that the EXIF block of a JPEG names, 1 where
// it names none. The block is a segment APP1 that holds a TIFF file:
//
//	FF E1  length:2  "Exif" 0 0  TIFF header, directory 0 with tag 0x0112
func exifTurn(doc *source) int {
	off := int64(2)
	for range exifSegments {
		head, ok := doc.bytes(off, 4)
		if !ok || head[0] != 0xFF || head[1] == 0xDA {
			return 1
		}
		length := int64(binary.BigEndian.Uint16(head[2:]))
		if length < 2 {
			return 1
		}
		if head[1] == 0xE1 {
			block, ok := doc.bytes(off+4, length-2)
			if rest, exif := bytes.CutPrefix(block, []byte("Exif\x00\x00")); ok && exif {
				return tiffTurn(doc.ctx, rest)
			}
		}
		off += 2 + length
	}
	return 1
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

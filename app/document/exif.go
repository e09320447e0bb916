package document

import (
	"bytes"
	"encoding/binary"

	"deedkeep/app/document/docio"
	"deedkeep/app/document/tiff"
)

// jpegSegments calls visit for each segment before the first scan (ITU T.81, B.1.1.4) until visit
// returns true. The arguments are the segment's marker and the offset and length of its content.
func jpegSegments(doc *source, visit func(marker byte, off, length int64) bool) {
	off := int64(2)
	for range maxJPEGSegments {
		head, ok := doc.Bytes(off, 4)
		if !ok || head[0] != 0xFF || head[1] == 0xDA {
			return
		}
		if head[1] == 0xFF { // fill byte
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

// isProgressive reports whether a JPEG is progressive. The decoder of a progressive JPEG keeps all
// coefficients in memory.
func isProgressive(doc *source) (progressive bool) {
	jpegSegments(doc, func(marker byte, _, _ int64) bool {
		progressive = marker == 0xC2
		return progressive || marker == 0xC0 || marker == 0xC1
	})
	return progressive
}

// exifOrientation returns the orientation in the EXIF block of a JPEG, or 1 if there is none. The
// block is an APP1 segment that contains a TIFF file (EXIF 2.32, 4.5.4):
//
//	FF E1  length:2  "Exif" 0 0  TIFF header, directory 0 with tag 0x0112
func exifOrientation(doc *source) int {
	orientation := 1
	jpegSegments(doc, func(marker byte, off, length int64) bool {
		if marker != 0xE1 {
			return false
		}
		block, ok := doc.Bytes(off, length)
		content, exif := bytes.CutPrefix(block, []byte("Exif\x00\x00"))
		if ok && exif {
			r := docio.NewReader(doc.Context(), bytes.NewReader(content), int64(len(content)))
			orientation = tiffOrientation(r)
		}
		return ok && exif
	})
	return orientation
}

// tiffOrientation returns the orientation in the first directory of a TIFF, or 1 if there is none.
func tiffOrientation(doc *docio.Reader) int {
	file, err := tiff.Open(doc)
	if err != nil {
		return 1
	}
	dir, err := file.First()
	if err != nil {
		return 1
	}
	return dir.Orientation()
}

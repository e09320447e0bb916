package document

import (
	"bytes"
	"encoding/binary"
	"slices"

	"deedkeep/app/document/docio"
	"deedkeep/app/document/tiff"
)

const (
	maxJPEGSegments = 4096     // maximum before the frame header; a long color profile takes a few dozen
	maxJPEGGarbage  = 64 << 10 // maximum number of bytes between segments, which decoders skip
)

// isJPEG reports whether doc has the start marker and, after other segments, a frame header (ITU
// T.81, B.2).
func isJPEG(doc *docio.Reader) (found bool) {
	if h := doc.Head(3); string(h) != "\xff\xd8\xff" {
		return false
	}
	jpegSegments(doc, func(marker byte, off, length int64) bool {
		if marker < 0xC0 || marker > 0xCF || marker == 0xC4 || marker == 0xC8 || marker == 0xCC {
			return false
		}
		// A height of 0 is valid because a later segment may define the height.
		h, ok := doc.Bytes(off, 6)
		found = ok && h[5] > 0 && length >= 6+3*int64(h[5]) && binary.BigEndian.Uint16(h[3:]) > 0
		return true
	})
	return found
}

// jpegSegments calls visit for each segment before the first scan (ITU T.81, B.1.1.4) until visit
// returns true. The arguments are the segment's marker and the offset and length of its content.
func jpegSegments(doc *docio.Reader, visit func(marker byte, off, length int64) bool) {
	off, garbage := int64(2), maxJPEGGarbage
	for range maxJPEGSegments {
		marker, next, ok := jpegMarker(doc, off, &garbage)
		if !ok || marker == 0xD9 || marker == 0xDA { // end of image, or a scan
			return
		}
		off = next
		if marker == 0x01 || marker >= 0xD0 && marker <= 0xD8 {
			continue // these markers have no length
		}
		b, ok := doc.Bytes(off, 2)
		if !ok {
			return
		}
		length := int64(binary.BigEndian.Uint16(b))
		if length < 2 || visit(marker, off+2, length-2) {
			return
		}
		off += length
	}
}

// jpegMarker returns the first marker at or after off and the offset after it. It subtracts the
// number of bytes it skips from garbage. If garbage is used up, ok is false.
func jpegMarker(doc *docio.Reader, off int64, garbage *int) (marker byte, next int64, ok bool) {
	var b [1]byte
	fill := false
	for ; *garbage > 0; off++ {
		if !doc.Fill(b[:], off) {
			return 0, 0, false
		}
		if fill && b[0] != 0xFF && b[0] != 0 {
			return b[0], off + 1, true
		}
		fill = b[0] == 0xFF
		*garbage--
	}
	return 0, 0, false
}

// isProgressive reports whether a JPEG is progressive. The decoder of a progressive JPEG keeps all
// coefficients in memory.
func isProgressive(doc *docio.Reader) (progressive bool) {
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
func exifOrientation(doc *docio.Reader) int {
	orientation := 1
	jpegSegments(doc, func(marker byte, off, length int64) bool {
		if marker != 0xE1 {
			return false
		}
		block, ok := doc.Bytes(off, length)
		content, exif := bytes.CutPrefix(block, []byte("Exif\x00\x00"))
		if !ok || !exif {
			return false
		}
		file, err := tiff.Open(docio.NewReader(doc.Context(), bytes.NewReader(content), int64(len(content))))
		if err != nil {
			return true
		}
		for _, dir := range slices.Collect(file.Directories(1)) {
			orientation = dir.Orientation()
		}
		return true
	})
	return orientation
}

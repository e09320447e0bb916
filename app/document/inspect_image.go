package document

import (
	"bytes"
	"encoding/binary"

	"deedkeep/app/document/docio"
)

// isPNG reports whether doc has the signature and a valid IHDR chunk (ISO/IEC 15948, 11.2.1). Huge
// dimensions are valid. The decoder checks them.
func isPNG(doc *docio.Reader) bool {
	h := doc.Head(29)
	if len(h) < 29 || string(h[:16]) != "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" {
		return false
	}
	width, height := binary.BigEndian.Uint32(h[16:]), binary.BigEndian.Uint32(h[20:])
	const maxSide = 1<<31 - 1
	if width == 0 || height == 0 || width > maxSide || height > maxSide {
		return false
	}
	depth, color := h[24], h[25]
	depths := map[byte]string{0: "\x01\x02\x04\x08\x10", 2: "\x08\x10", 3: "\x01\x02\x04\x08", 4: "\x08\x10", 6: "\x08\x10"}[color]
	return bytes.IndexByte([]byte(depths), depth) >= 0 && h[26] == 0 && h[27] == 0 && h[28] <= 1
}

// isGIF reports whether doc has a version, a logical screen, and a block right after them (GIF89a
// specification, 17 to 20).
func isGIF(doc *docio.Reader) bool {
	h := doc.Head(13)
	if len(h) < 13 || (string(h[:6]) != "GIF87a" && string(h[:6]) != "GIF89a") {
		return false
	}
	first := int64(13)
	if h[10]&0x80 != 0 {
		first += 3 << (h[10]&7 + 1)
	}
	var block [1]byte
	return doc.Fill(block[:], first) && bytes.IndexByte([]byte{0x2C, 0x21}, block[0]) >= 0
}

// isBMP reports whether doc has a known header size and valid fields. The signature isn't enough
// because many texts start with "BM", too.
func isBMP(doc *docio.Reader) bool {
	h := doc.Head(30)
	if len(h) < 26 || string(h[:2]) != "BM" {
		return false
	}
	le := binary.LittleEndian
	var planes, bits uint16
	switch le.Uint32(h[14:]) {
	case 12: // OS/2 1.x, with 16-bit dimensions
		planes, bits = le.Uint16(h[22:]), le.Uint16(h[24:])
	case 16, 40, 52, 56, 64, 108, 124:
		if len(h) < 30 || le.Uint32(h[18:]) == 0 || le.Uint32(h[22:]) == 0 {
			return false
		}
		planes, bits = le.Uint16(h[26:]), le.Uint16(h[28:])
	default:
		return false
	}
	switch bits {
	case 0, 1, 2, 4, 8, 16, 24, 32, 64: // 0 means an embedded JPEG or PNG
		return planes == 1
	}
	return false
}

// isWEBP reports whether doc is a RIFF file of type WEBP that starts with a valid header of one of
// the three possible first chunks (RFC 9649, 2.4 to 2.7).
func isWEBP(doc *docio.Reader) bool {
	h := doc.Head(30)
	if len(h) < 26 || string(h[:4]) != "RIFF" || string(h[8:12]) != "WEBP" {
		return false
	}
	switch string(h[12:16]) {
	case "VP8 ":
		return string(h[23:26]) == "\x9d\x01\x2a"
	case "VP8L":
		return h[20] == 0x2F
	case "VP8X":
		return binary.LittleEndian.Uint32(h[16:]) >= 10 && len(h) == 30
	}
	return false
}

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

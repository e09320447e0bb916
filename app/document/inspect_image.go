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

package document

import (
	"bytes"
	"encoding/binary"
)

// isPNG wants the signature and a lawful IHDR (ISO/IEC 15948, 11.2.1). Giant
// dimensions are lawful: who decodes must look first.
func isPNG(src *inspectSource) bool {
	h := src.head(29)
	if len(h) < 29 || string(h[:16]) != "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" {
		return false
	}
	width, height := binary.BigEndian.Uint32(h[16:]), binary.BigEndian.Uint32(h[20:])
	const most = 1<<31 - 1
	if width == 0 || height == 0 || width > most || height > most {
		return false
	}
	depth, color := h[24], h[25]
	depths := map[byte]string{0: "\x01\x02\x04\x08\x10", 2: "\x08\x10", 3: "\x01\x02\x04\x08", 4: "\x08\x10", 6: "\x08\x10"}[color]
	return bytes.IndexByte([]byte(depths), depth) >= 0 && h[26] == 0 && h[27] == 0 && h[28] <= 1
}

// isGIF wants the version, the logical screen, and a block where the first one
// must be (GIF89a specification, 17 to 20).
func isGIF(src *inspectSource) bool {
	h := src.head(13)
	if len(h) < 13 || (string(h[:6]) != "GIF87a" && string(h[:6]) != "GIF89a") {
		return false
	}
	first := int64(13)
	if h[10]&0x80 != 0 {
		first += 3 << (h[10]&7 + 1)
	}
	var block [1]byte
	return src.at(block[:], first) && bytes.IndexByte([]byte{0x2C, 0x21}, block[0]) >= 0
}

// isBMP wants one of the known header sizes and sane fields in it: "BM" alone
// begins many a text.
func isBMP(src *inspectSource) bool {
	h := src.head(30)
	if len(h) < 26 || string(h[:2]) != "BM" {
		return false
	}
	le := binary.LittleEndian
	var planes, bits uint16
	switch le.Uint32(h[14:]) {
	case 12: // OS/2 1.x, 16-bit dimensions
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
	case 0, 1, 2, 4, 8, 16, 24, 32, 64: // 0: a JPEG or PNG inside
		return planes == 1
	}
	return false
}

// isWEBP wants the RIFF form WEBP and the head of one of its three first chunks
// (RFC 9649, 2.4 to 2.7).
func isWEBP(src *inspectSource) bool {
	h := src.head(30)
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
	jpegHeaderSegments = 4096     // before the frame header; a long color profile takes a few dozen
	jpegGarbage        = 64 << 10 // bytes between segments that decoders skip, in all
)

// isJPEG wants the start marker and, some segments later, a frame header
// (ITU T.81, B.2).
func isJPEG(src *inspectSource) bool {
	if h := src.head(3); string(h) != "\xff\xd8\xff" {
		return false
	}
	off, garbage := int64(2), jpegGarbage
	for range jpegHeaderSegments {
		marker, next, ok := jpegMarker(src, off, &garbage)
		if !ok {
			return false
		}
		off = next
		switch {
		case marker == 0xD9 || marker == 0xDA: // end of image, or a scan before any frame
			return false
		case marker == 0x01 || marker >= 0xD0 && marker <= 0xD8:
			continue // stand alone
		case marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC:
			return isFrame(src, off)
		}
		var length [2]byte
		if !src.at(length[:], off) {
			return false
		}
		n := int64(binary.BigEndian.Uint16(length[:]))
		if n < 2 {
			return false
		}
		off += n
	}
	return false
}

// jpegMarker finds the marker at or soon after off, and the offset behind it.
func jpegMarker(src *inspectSource, off int64, garbage *int) (marker byte, next int64, ok bool) {
	var b [1]byte
	fill := false
	for ; *garbage > 0; off++ {
		if !src.at(b[:], off) {
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

// isFrame reports whether a lawful frame header follows its marker; a height of
// 0 is lawful and told later.
func isFrame(src *inspectSource, off int64) bool {
	var h [8]byte
	if !src.at(h[:], off) {
		return false
	}
	length, width, components := binary.BigEndian.Uint16(h[:]), binary.BigEndian.Uint16(h[5:]), int(h[7])
	return int(length) >= 8+3*components && components > 0 && width > 0
}

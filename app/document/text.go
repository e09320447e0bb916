package document

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"
)

// Bits of a byte in textBytes: what it rules out.
const (
	notUTF8 = 1 << iota // a binary data byte (WHATWG MIME Sniffing, section 3)
	not1252             // a control, or one of the five bytes Windows-1252 leaves undefined
)

var textBytes = func() (t [256]byte) {
	for b := range 0x20 {
		t[b] = notUTF8 | not1252
	}
	for _, b := range "\t\n\f\r" {
		t[b] = 0
	}
	t[0x1B] = not1252
	for _, b := range []byte{0x7F, 0x81, 0x8D, 0x8F, 0x90, 0x9D} {
		t[b] = not1252
	}
	return t
}()

// isText reports whether the whole document decodes as UTF-8, UTF-16 with a
// mark, or Windows-1252 without control bytes, in one pass. What language the
// text is in (HTML, RTF, CSV) does not matter, but a InspectPDF is a InspectPDF even where
// it happens to be ASCII. One SUB as the last byte is DOS's end of file.
func isText(src *inspectSource) bool {
	head := src.head(64)
	start := bytes.TrimSpace(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")))
	switch {
	case bytes.HasPrefix(start, []byte("%PDF-")):
		return false
	case bytes.HasPrefix(head, []byte{0xFF, 0xFE}):
		return isUTF16(src, binary.LittleEndian)
	case bytes.HasPrefix(head, []byte{0xFE, 0xFF}):
		return isUTF16(src, binary.BigEndian)
	}
	return isByteText(src)
}

// isByteText tries UTF-8 and Windows-1252 at once.
func isByteText(src *inspectSource) bool {
	buf := make([]byte, utf8.UTFMax+chunkSize)
	carried := 0 // bytes of a character that the chunk before broke off
	var seen byte
	for off := int64(0); off < src.size; {
		n := int(min(chunkSize, src.size-off))
		fresh := buf[carried : carried+n]
		if src.fetch(fresh, off) != nil {
			return false
		}
		off += int64(n)
		last := off == src.size
		data := buf[:carried+n]
		if last && fresh[n-1] == 0x1A {
			fresh = fresh[:n-1]
		}
		for _, b := range fresh {
			seen |= textBytes[b]
		}
		whole := len(data)
		if !last {
			whole = wholeRunesLen(data)
		}
		if seen&notUTF8 == 0 && !utf8.Valid(data[:whole]) {
			seen |= notUTF8
		}
		if seen == notUTF8|not1252 {
			return false
		}
		carried = copy(buf, data[whole:])
	}
	return true
}

// wholeRunesLen returns the length of p without a character that its end cuts.
func wholeRunesLen(p []byte) int {
	for i := len(p) - 1; i >= 0 && i >= len(p)-utf8.UTFMax; i-- {
		if utf8.RuneStart(p[i]) {
			if utf8.FullRune(p[i:]) {
				return len(p)
			}
			return i
		}
	}
	return len(p)
}

// isUTF16 reports whether the document is whole UTF-16 code units without
// binary controls or lone surrogates.
func isUTF16(src *inspectSource, order binary.ByteOrder) bool {
	if src.size%2 != 0 {
		return false
	}
	buf := make([]byte, chunkSize)
	high := false
	for off := int64(0); off < src.size; {
		chunk := buf[:min(chunkSize, src.size-off)]
		if src.fetch(chunk, off) != nil {
			return false
		}
		off += int64(len(chunk))
		for i := 0; i < len(chunk); i += 2 {
			unit := order.Uint16(chunk[i:])
			low := unit >= 0xDC00 && unit <= 0xDFFF
			if low != high {
				return false
			}
			high = unit >= 0xD800 && unit <= 0xDBFF
			end := off == src.size && i+2 == len(chunk)
			if unit < 0x20 && textBytes[unit]&notUTF8 != 0 && !(unit == 0x1A && end) {
				return false
			}
		}
	}
	return !high
}

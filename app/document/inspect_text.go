package document

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"

	"deedkeep/app/document/docio"
)

const chunkSize = 64 << 10 // number of bytes read at a time

// Bits of the entries of textBytes. Each bit rules out an encoding of a text that contains the
// byte.
const (
	notUTF8 = 1 << iota // a byte of binary data (WHATWG MIME Sniffing, section 3)
	not1252             // a control character, or one of the five bytes that are undefined in Windows-1252
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

// isText reports whether the entire document decodes as UTF-8, as UTF-16 with a byte order mark, or
// as Windows-1252 without control characters. The format of the text (HTML, RTF, CSV) doesn't
// matter, except that a PDF in ASCII is not text. The last byte may be SUB, the end-of-file
// character of DOS.
func isText(doc *docio.Reader) bool {
	head := doc.Head(64)
	start := bytes.TrimSpace(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")))
	switch {
	case bytes.HasPrefix(start, []byte("%PDF-")):
		return false
	case bytes.HasPrefix(head, []byte{0xFF, 0xFE}):
		return isUTF16(doc, binary.LittleEndian)
	case bytes.HasPrefix(head, []byte{0xFE, 0xFF}):
		return isUTF16(doc, binary.BigEndian)
	}
	return isByteText(doc)
}

// isByteText reports whether doc is UTF-8 or Windows-1252. It checks both in one pass.
func isByteText(doc *docio.Reader) bool {
	buf := make([]byte, utf8.UTFMax+chunkSize)
	carried := 0 // bytes of a character that is split between two chunks
	var seen byte
	for off := int64(0); off < doc.Size(); {
		n := int(min(chunkSize, doc.Size()-off))
		chunk := buf[carried : carried+n]
		if doc.ReadFull(chunk, off) != nil {
			return false
		}
		off += int64(n)
		last := off == doc.Size()
		data := buf[:carried+n]
		if last && chunk[n-1] == 0x1A {
			chunk = chunk[:n-1]
		}
		for _, b := range chunk {
			seen |= textBytes[b]
		}
		complete := data
		if !last {
			complete = completeRunes(data)
		}
		if seen&notUTF8 == 0 && !utf8.Valid(complete) {
			seen |= notUTF8
		}
		if seen == notUTF8|not1252 {
			return false
		}
		carried = copy(buf, data[len(complete):])
	}
	return true
}

// isUTF16 reports whether the document consists of complete UTF-16 code units without binary
// control characters or unpaired surrogates.
func isUTF16(doc *docio.Reader, order binary.ByteOrder) bool {
	if doc.Size()%2 != 0 {
		return false
	}
	buf := make([]byte, chunkSize)
	high := false
	for off := int64(0); off < doc.Size(); {
		chunk := buf[:min(chunkSize, doc.Size()-off)]
		if doc.ReadFull(chunk, off) != nil {
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
			end := off == doc.Size() && i+2 == len(chunk)
			if unit < 0x20 && textBytes[unit]&notUTF8 != 0 && !(unit == 0x1A && end) {
				return false
			}
		}
	}
	return !high
}

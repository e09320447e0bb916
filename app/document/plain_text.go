package document

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"

	"deedkeep/app/document/docio"
)

// plainText decodes the encodings that isText accepts: UTF-16 if there is a byte order mark, UTF-8
// if the bytes are valid UTF-8, and otherwise Windows-1252.
func plainText(doc *source, out *writer) error {
	n := min(doc.Size(), out.lim.MaxTextBytes)
	b, ok := doc.Bytes(0, n)
	if !ok {
		return docio.Damaged("text ends unexpectedly")
	}
	out.truncated = n < doc.Size()
	b = bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))
	switch {
	case bytes.HasPrefix(b, []byte{0xFF, 0xFE}):
		out.text(docio.DecodeUTF16(b[2:], binary.LittleEndian))
	case bytes.HasPrefix(b, []byte{0xFE, 0xFF}):
		out.text(docio.DecodeUTF16(b[2:], binary.BigEndian))
	case utf8.Valid(completeRunes(b)):
		out.text(string(completeRunes(b)))
	default:
		out.text(decode(b, charmap.Windows1252))
	}
	return nil
}

// completeRunes returns p without a UTF-8 character that is cut off at the end.
func completeRunes(p []byte) []byte {
	for i := len(p) - 1; i >= 0 && i >= len(p)-utf8.UTFMax; i-- {
		if utf8.RuneStart(p[i]) {
			if !utf8.FullRune(p[i:]) {
				return p[:i]
			}
			break
		}
	}
	return p
}

// decode converts b to UTF-8. It drops bytes that are undefined in the encoding.
func decode(b []byte, from *charmap.Charmap) string {
	text := make([]byte, 0, len(b)+len(b)/8)
	for _, c := range b {
		if r := from.DecodeByte(c); r != utf8.RuneError {
			text = utf8.AppendRune(text, r)
		}
	}
	return string(text)
}

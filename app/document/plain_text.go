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
func plainText(doc *source, out *docio.TextWriter) error {
	n := min(doc.Size(), out.Limits.MaxTextBytes)
	b, ok := doc.Bytes(0, n)
	if !ok {
		return docio.Damaged("text ends unexpectedly")
	}
	out.Truncated = n < doc.Size()
	b = bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))
	switch {
	case bytes.HasPrefix(b, []byte{0xFF, 0xFE}):
		out.WriteText(docio.DecodeUTF16(b[2:], binary.LittleEndian))
	case bytes.HasPrefix(b, []byte{0xFE, 0xFF}):
		out.WriteText(docio.DecodeUTF16(b[2:], binary.BigEndian))
	case utf8.Valid(completeRunes(b)):
		out.WriteText(string(completeRunes(b)))
	default:
		out.WriteText(docio.DecodeCharmap(b, charmap.Windows1252))
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

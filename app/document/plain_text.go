package document

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"

	"deedkeep/app/document/docio"
)

// plainText decodes the encodings that isText accepts: UTF-16 if there is a byte order mark, UTF-8
// if the bytes are valid UTF-8, and otherwise Windows-1252.
func plainText(doc *source, out *writer) error {
	n := min(doc.Size(), out.lim.MaxTextBytes)
	b, ok := doc.Bytes(0, n)
	if !ok {
		return docio.Damaged("text ends early")
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
		out.text(decodeWindows1252(b))
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

// windows1252 contains the characters of 0x80 to 0x9F. Bytes that are undefined in Windows-1252 map
// to control characters.
var windows1252 = [32]rune{
	'€', 0x81, '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', 0x8D, 'Ž', 0x8F,
	0x90, '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', 0x9D, 'ž', 'Ÿ',
}

// windows1252Rune returns the character for a byte in Windows-1252.
func windows1252Rune(b byte) rune {
	if b >= 0x80 && b < 0xA0 {
		return windows1252[b-0x80]
	}
	return rune(b)
}

func decodeWindows1252(b []byte) string {
	text := make([]byte, 0, len(b)+len(b)/8)
	for _, c := range b {
		text = utf8.AppendRune(text, windows1252Rune(c))
	}
	return string(text)
}

// decodeLatin1 decodes UTF-16 text that is stored without the upper bytes because they are all
// zero.
func decodeLatin1(b []byte) string {
	runes := make([]rune, len(b))
	for i, c := range b {
		runes[i] = rune(c)
	}
	return string(runes)
}

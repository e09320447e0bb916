package document

import (
	"bytes"
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"
)

// plainText decodes as package inspect recognizes: UTF-16 by its mark, UTF-8
// where the bytes are that, else Windows-1252.
func plainText(doc *source, out *writer) error {
	n := min(doc.Size, out.lim.MaxTextBytes)
	b, ok := doc.bytes(0, n)
	if !ok {
		return damaged("text ends early")
	}
	out.cut = n < doc.Size
	b = bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))
	switch {
	case bytes.HasPrefix(b, []byte{0xFF, 0xFE}):
		out.text(decodeUTF16(b[2:], binary.LittleEndian))
	case bytes.HasPrefix(b, []byte{0xFE, 0xFF}):
		out.text(decodeUTF16(b[2:], binary.BigEndian))
	case utf8.Valid(wholeRunes(b)):
		out.text(string(wholeRunes(b)))
	default:
		out.text(decode1252(b))
	}
	return nil
}

// wholeRunes cuts a character off that the end of p has cut.
func wholeRunes(p []byte) []byte {
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

// decodeUTF16 makes UTF-8 of b; unpaired surrogates become U+FFFD, an odd byte
// at the end goes.
func decodeUTF16(b []byte, order binary.ByteOrder) string {
	units := make([]uint16, len(b)/2)
	for i := range units {
		units[i] = order.Uint16(b[2*i:])
	}
	return string(utf16.Decode(units))
}

// high1252 is what Windows-1252 has at 0x80 to 0x9F; undefined places are
// controls there and here.
var high1252 = [32]rune{
	'€', 0x81, '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', 0x8D, 'Ž', 0x8F,
	0x90, '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', 0x9D, 'ž', 'Ÿ',
}

func rune1252(b byte) rune {
	if b >= 0x80 && b < 0xA0 {
		return high1252[b-0x80]
	}
	return rune(b)
}

func decode1252(b []byte) string {
	text := make([]byte, 0, len(b)+len(b)/8)
	for _, c := range b {
		text = utf8.AppendRune(text, rune1252(c))
	}
	return string(text)
}

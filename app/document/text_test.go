package document_test

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"
)

func TestText(t *testing.T) {
	const chunk = 64 << 10
	le, be := binary.LittleEndian, binary.BigEndian
	checkInspections(t, []row{
		{"ascii", "txt", []byte("Grantor\tGrantee\r\nSmith\tJones\r\n\f"), ""},
		{"utf-8", "txt", []byte("Ibáñez — “deed”"), ""},
		{"utf-8 with mark", "txt", []byte("\xef\xbb\xbfIbáñez"), ""},
		{"only a mark", "txt", []byte("\xef\xbb\xbf"), ""},
		{"windows-1252", "txt", []byte("Ib\xe1\xf1ez \x97 \x93deed\x94 \x80"), ""},
		{"windows-1252 that ends like cut utf-8", "txt", []byte("Ib\xe1\xf1ez\xe2\x82"), ""},
		{"utf-16le", "txt", units(le, "\ufeffIbáñez 𝄞\r\n"), ""},
		{"utf-16be", "txt", units(be, "\ufeffIbáñez 𝄞\r\n"), ""},
		{"character across chunks", "txt", []byte(strings.Repeat("x", chunk-1) + "é" + strings.Repeat("語", chunk)), ""},
		{"pair across chunks", "txt", units(le, "\ufeff"+strings.Repeat("x", chunk/2-2)+"𝄞 end"), ""},
		{"windows-1252 in the second chunk", "txt", []byte(strings.Repeat("x", chunk+5) + "\xe9 \x81"), mismatch},
		{"begins with BM", "txt", []byte("BM of the survey: iron pin found\r\n"), ""},
		{"begins with II*", "txt", []byte("II* see note"), ""},
		{"html", "txt", []byte("<!DOCTYPE html><script>1</script>"), ""},
		{"rtf", "txt", []byte(`{\rtf1 deed}`), ""},
		{"shell script", "txt", []byte("#!/bin/sh\nexit 0\n"), ""},
		{"csv", "txt", []byte("book,page\n1022,311\n"), ""},
		{"DOS end of file", "txt", []byte("BOOK 12 PAGE 7\r\n\x1a"), ""},
		{"DOS end of file, windows-1252", "txt", []byte("Mu\xf1oz\r\n\x1a"), ""},
		{"mentions %PDF-", "txt", []byte("A PDF begins with %PDF-1.7."), ""},

		{"ascii pdf", "txt", []byte("%PDF-1.1\n1 0 obj\n<<>>\nendobj\n"), mismatch},
		{"ascii pdf after blanks", "txt", []byte("\xef\xbb\xbf \r\n%PDF-1.1\n"), mismatch},
		{"NUL", "txt", []byte("deed\x00"), mismatch},
		{"DOS end of file inside", "txt", []byte("deed\x1adeed"), mismatch},
		{"bell", "txt", []byte("deed\x07"), mismatch},
		{"windows-1252 with escape", "txt", []byte("\xe9\x1b[0m"), mismatch},
		{"windows-1252 with DEL", "txt", []byte("\xe9\x7f"), mismatch},
		{"undefined 81", "txt", []byte("\x81"), mismatch},
		{"undefined 8d", "txt", []byte("\x8d"), mismatch},
		{"undefined 8f", "txt", []byte("\x8f"), mismatch},
		{"undefined 90", "txt", []byte("\x90"), mismatch},
		{"undefined 9d", "txt", []byte("\x9d"), mismatch},
		{"overlong utf-8 with an undefined byte", "txt", []byte("\xc0\x81"), mismatch},
		{"utf-16 without mark", "txt", units(le, "deed"), mismatch},
		{"utf-16 of odd length", "txt", append(units(le, "\ufeffdeed"), 'x'), mismatch},
		{"utf-16 with NUL", "txt", units(be, "\ufeffde\x00ed"), mismatch},
		{"utf-16 with lone high half", "txt", append(units(le, "\ufeffx"), 0x34, 0xD8), mismatch},
		{"utf-16 with lone low half", "txt", append(units(le, "\ufeffx"), 0x34, 0xDC), mismatch},
		{"utf-16 with two high halves", "txt", append(units(le, "\ufeff"), 0x34, 0xD8, 0x34, 0xD8), mismatch},
		{"utf-32", "txt", []byte("\xff\xfe\x00\x00d\x00\x00\x00"), mismatch},
		{"binary in the last byte", "txt", append(bytes.Repeat([]byte("x"), 3*chunk), 0), mismatch},
	})
}

func units(order binary.AppendByteOrder, text string) (p []byte) {
	for _, unit := range utf16.Encode([]rune(text)) {
		p = order.AppendUint16(p, unit)
	}
	return p
}

// plainText is a simple implementation of isText for text in memory.
func plainText(text []byte) bool {
	if start := bytes.TrimSpace(bytes.TrimPrefix(text[:min(64, len(text))], []byte("\xef\xbb\xbf"))); bytes.HasPrefix(start, []byte("%PDF-")) {
		return false
	}
	var order binary.ByteOrder
	switch {
	case bytes.HasPrefix(text, []byte{0xFF, 0xFE}):
		order = binary.LittleEndian
	case bytes.HasPrefix(text, []byte{0xFE, 0xFF}):
		order = binary.BigEndian
	}
	if order == nil {
		text = bytes.TrimSuffix(text, []byte{0x1A})
		utf := utf8.Valid(text) && !bytes.ContainsFunc(text, func(r rune) bool {
			return r < 0x20 && !strings.ContainsRune("\t\n\f\r\x1b", r)
		})
		windows := true
		for _, b := range text {
			if b < 0x20 && !strings.ContainsRune("\t\n\f\r", rune(b)) || bytes.IndexByte([]byte("\x7f\x81\x8d\x8f\x90\x9d"), b) >= 0 {
				windows = false
			}
		}
		return utf || windows
	}
	if len(text)%2 != 0 {
		return false
	}
	var all []uint16
	for ; len(text) > 0; text = text[2:] {
		all = append(all, order.Uint16(text))
	}
	runes := utf16.Decode(all)
	for i, r := range runes {
		if r < 0x20 && !strings.ContainsRune("\t\n\f\r\x1b", r) && !(r == 0x1A && i == len(runes)-1) {
			return false
		}
	}
	back := utf16.Encode(runes)
	return slices.Equal(back, all) // decoding replaces unpaired surrogates with U+FFFD
}

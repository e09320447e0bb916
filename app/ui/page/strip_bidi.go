package page

import "bytes"

// StripBidi removes characters that make a browser display text differently from how it is stored:
// bidirectional controls (Unicode Standard Annex 9, section 2), line and paragraph separators, and
// control characters other than tab, line feed, and carriage return. Stored records keep them
// because the API accepts any text.
func StripBidi(text []byte) []byte {
	i := 0
	for i < len(text) && hiddenLen(text[i:]) == 0 {
		i++
	}
	if i == len(text) {
		return text // the most common case
	}
	text = bytes.ToValidUTF8(text, []byte("\uFFFD")) // otherwise, removing bytes could join invalid bytes into a new character
	clean := make([]byte, 0, len(text))
	for i = 0; i < len(text); {
		if n := hiddenLen(text[i:]); n > 0 {
			i += n
			continue
		}
		clean = append(clean, text[i])
		i++
	}
	return clean
}

// hiddenLen returns the length in bytes of the first character of text if StripBidi removes that
// character. Otherwise it returns 0. These are the removed characters with their UTF-8 encoding:
//
//	U+2028 … U+202E   E2 80 A8 … AE   line and paragraph separators, embeddings and overrides
//	U+2066 … U+2069   E2 81 A6 … A9   isolates
//	U+0080 … U+009F   C2 80 … 9F      controls
func hiddenLen(text []byte) int {
	c := text[0]
	switch {
	case c >= ' ' && c < 0x7F, c == '\t', c == '\n', c == '\r':
		return 0
	case c <= 0x7F:
		return 1
	case c == 0xC2 && len(text) > 1 && text[1] >= 0x80 && text[1] <= 0x9F:
		return 2
	case c != 0xE2 || len(text) < 3:
		return 0
	case text[1] == 0x80 && text[2] >= 0xA8 && text[2] <= 0xAE, text[1] == 0x81 && text[2] >= 0xA6 && text[2] <= 0xA9:
		return 3
	}
	return 0
}

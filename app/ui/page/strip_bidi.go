package page

import (
	"bytes"
	"unicode"
)

// StripBidi removes characters that make a browser display text differently from how it is stored:
// bidirectional controls (Unicode Standard Annex 9, section 2), line and paragraph separators, and
// control characters other than tab, line feed, and carriage return. Stored records keep them
// because the API accepts any text.
func StripBidi(text []byte) []byte {
	if bytes.IndexFunc(text, isHidden) < 0 {
		return text // the most common case
	}
	text = bytes.ToValidUTF8(text, []byte("\uFFFD")) // otherwise, removing bytes could join invalid bytes into a new character
	return bytes.Map(func(r rune) rune {
		if isHidden(r) {
			return -1
		}
		return r
	}, text)
}

// isHidden reports whether StripBidi removes the character: a separator, an embedding or override
// (U+2028 to U+202E), an isolate (U+2066 to U+2069), or a control character.
func isHidden(r rune) bool {
	switch {
	case r == '\t', r == '\n', r == '\r':
		return false
	case r >= '\u2028' && r <= '\u202E', r >= '\u2066' && r <= '\u2069':
		return true
	}
	return unicode.IsControl(r)
}

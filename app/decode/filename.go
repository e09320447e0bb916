package decode

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// maxFilename is the maximum length of a filename in bytes of UTF-8.
const maxFilename = 255

// unnamed replaces an empty filename.
const unnamed = "unnamed"

// Filename converts the filename sent by a client to the label of the file. It keeps the text after the last / or \
// and removes control characters and bidi overrides, embeddings, and isolates. It truncates the name to 255 bytes at
// a character boundary and keeps the extension. If the result is empty, ".", or "..", it returns "unnamed". All other
// characters are kept, including blanks. Bytes that are not UTF-8 are decoded as Windows-1252. The label must not be
// used as a path.
func Filename(raw string) string {
	name := fromWindows1252(raw[strings.LastIndexAny(raw, `/\`)+1:])
	name = cutName(strings.Map(keepShown, name))
	switch name {
	case "", ".", "..":
		return unnamed
	}
	return name
}

// keepShown removes characters that could hide or reorder the rest of a displayed name. It is a mapping function for
// strings.Map. Simple direction marks (U+200E, U+200F, U+061C) are kept because they occur in legitimate names.
func keepShown(r rune) rune {
	switch {
	case unicode.IsControl(r), 0x202A <= r && r <= 0x202E, 0x2066 <= r && r <= 0x2069:
		return -1
	}
	return r
}

// cutName shortens a name before its extension. If the extension is so long that no character of the name would be
// left, cutName shortens it like other text.
func cutName(name string) string {
	if len(name) <= maxFilename {
		return name
	}
	dot := strings.LastIndexByte(name, '.')
	if dot <= 0 || len(name)-dot > maxFilename-utf8.UTFMax {
		dot = len(name)
	}
	extension := name[dot:]
	return cutAtCharacter(name[:dot], maxFilename-len(extension)) + extension
}

// cutAtCharacter returns the longest prefix of s that has at most n bytes and doesn't split a character.
func cutAtCharacter(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// fromWindows1252 keeps valid UTF-8 and decodes all other bytes as Windows-1252.
func fromWindows1252(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var out strings.Builder
	out.Grow(len(s) + 8)
	for s != "" {
		r, n := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && n == 1 {
			r = charmap.Windows1252.DecodeByte(s[0])
		}
		out.WriteRune(r)
		s = s[n:]
	}
	return out.String()
}

package decode

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// quoted scans a JSON string that starts at the current position. It returns the text between the quotes without
// unescaping it, and whether the text has escapes.
func (s *scanner) quoted() (inner []byte, escaped bool, f *fault) {
	open := s.i
	start := open + 1
	for i := start; i < len(s.b); {
		switch c := s.b[i]; {
		case c == '"':
			s.i = i + 1
			return s.b[start:i], escaped, nil
		case c == '\\':
			n, problem := escape(s.b[i:])
			if problem != "" {
				return nil, false, &fault{i, problem}
			}
			escaped = true
			i += n
		case c < 0x20:
			return nil, false, &fault{i, "a control character inside a string"}
		case c < utf8.RuneSelf:
			i++
		default:
			r, n := utf8.DecodeRune(s.b[i:])
			if r == utf8.RuneError && n == 1 {
				return nil, false, &fault{i, "invalid UTF-8"}
			}
			i += n
		}
	}
	return nil, false, &fault{open, "a string without its closing quote"}
}

// escape returns the length of the escape sequence at the start of b, or a description of the problem if it is
// invalid. A surrogate is valid only as part of a pair (RFC 8259, section 8.2).
func escape(b []byte) (n int, problem string) {
	if len(b) < 2 {
		return 0, "an unfinished escape"
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2, ""
	case 'u':
	default:
		return 0, "an unknown escape"
	}
	r, ok := hex4(b)
	if !ok {
		return 0, `an escape \u without four hexadecimal digits`
	}
	if !utf16.IsSurrogate(r) {
		return 6, ""
	}
	low, ok := hex4(b[6:])
	if !ok || utf16.DecodeRune(r, low) == utf8.RuneError {
		return 0, "a lone surrogate"
	}
	return 12, ""
}

// hex4 parses a \u escape with four hex digits at the start of b.
func hex4(b []byte) (rune, bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	var r rune
	for _, c := range b[2:6] {
		d, ok := hexDigit(c)
		if !ok {
			return 0, false
		}
		r = r<<4 | rune(d)
	}
	return r, true
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case '0' <= c && c <= '9':
		return c - '0', true
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10, true
	case 'A' <= c && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}

// unescape decodes text returned by quoted.
func unescape(inner []byte) []byte {
	out := make([]byte, 0, len(inner))
	for {
		i := bytes.IndexByte(inner, '\\')
		if i < 0 {
			return append(out, inner...)
		}
		out = append(out, inner[:i]...)
		inner = inner[i:]
		n := 2
		switch c := inner[1]; c {
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'u':
			r, _ := hex4(inner) // quoted has already validated the digits
			if n = 6; utf16.IsSurrogate(r) {
				low, _ := hex4(inner[6:])
				r, n = utf16.DecodeRune(r, low), 12
			}
			out = utf8.AppendRune(out, r)
		default:
			out = append(out, c)
		}
		inner = inner[n:]
	}
}

package decode

import (
	"strings"
	"unicode/utf8"
)

// blanks are the characters that may surround the elements of a header.
const blanks = " \t\r\n"

// parameter is one "; key=value" of a header, the key in lower case.
type parameter struct {
	key, value string
	// bare is a parameter without an equals sign.
	bare bool
}

// cutParameter cuts the first parameter off s, which may start with semicolons. At the end of s the key is empty. An
// unquoted value extends to the next semicolon. With escapes, \" and \\ in a quoted value mean " and \; any other
// backslash is literal. ok is false for an unterminated quote and for text after a closing quote.
func cutParameter(s string, escapes bool) (p parameter, tail string, ok bool) {
	s = strings.TrimLeft(s, blanks+";")
	end := strings.IndexAny(s, "=;")
	if end < 0 {
		end = len(s)
	}
	p.key = strings.ToLower(strings.TrimRight(s[:end], blanks))
	if end == len(s) || s[end] == ';' {
		p.bare = true
		return p, s[end:], true
	}
	s = strings.TrimLeft(s[end+1:], blanks)
	if s == "" || s[0] != '"' {
		value, _, _ := strings.Cut(s, ";")
		p.value = strings.TrimRight(value, blanks)
		return p, s[len(value):], true
	}
	p.value, tail, ok = cutQuoted(s[1:], escapes)
	tail = strings.TrimLeft(tail, blanks)
	return p, tail, ok && (tail == "" || tail[0] == ';')
}

// cutQuoted returns the text up to the closing quote; s starts after the opening one.
func cutQuoted(s string, escapes bool) (value, tail string, ok bool) {
	var out []byte
	from := 0
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '"':
			if out == nil {
				return s[:i], s[i+1:], true
			}
			return string(append(out, s[from:i]...)), s[i+1:], true
		case s[i] == '\\' && escapes && i+1 < len(s) && (s[i+1] == '"' || s[i+1] == '\\'):
			out = append(out, s[from:i]...)
			i++
			from = i
		}
	}
	return "", "", false
}

// disposition is a parsed Content-Disposition of a part. [Filename] turns its decoded filename into a label.
type disposition struct {
	name, filename string
	hasFilename    bool
}

// parseDisposition parses a Content-Disposition of RFC 7578 as clients send it. Browsers and Windows paths contain
// literal backslashes, older versions of curl escape quotes with them. So backslashes are first parsed as escapes, and
// as literals if that fails (filename="a\"). A repeated parameter must have the same value. A parameter without an
// equals sign is an error, because it is usually the rest of an unquoted filename.
func parseDisposition(header string) (disposition, bool) {
	if d, ok := readDisposition(header, true); ok {
		return d, true
	}
	return readDisposition(header, false)
}

func readDisposition(header string, escapes bool) (disposition, bool) {
	head, _, _ := strings.Cut(header, ";")
	if !strings.EqualFold(strings.Trim(head, blanks), "form-data") {
		return disposition{}, false
	}
	var name, plain, extended onceParameter
	continued := segments{}
	for rest := header[len(head):]; ; {
		p, tail, ok := cutParameter(rest, escapes)
		if !ok {
			return disposition{}, false
		}
		if p.key == "" && p.bare {
			break
		}
		if p.bare || p.key == "" {
			return disposition{}, false
		}
		switch rest = tail; p.key {
		case "name":
			ok = name.set(p.value)
		case "filename":
			ok = plain.set(p.value)
		case "filename*":
			ok = extended.set(p.value)
		default:
			ok = continued.set(p.key, p.value)
		}
		if !ok {
			return disposition{}, false
		}
	}
	return disposition{
		name:        name.value,
		filename:    chooseFilename(plain, extended, continued),
		hasFilename: plain.present || extended.present || len(continued) > 0,
	}, true
}

// onceParameter is the value of a parameter that may occur once.
type onceParameter struct {
	value   string
	present bool
}

func (g *onceParameter) set(value string) bool {
	if g.present {
		return g.value == value
	}
	g.value, g.present = value, true
	return true
}

// chooseFilename prefers filename*, complete or continued, unless it can't be decoded and filename is present (RFC
// 8187, section 3.2.1 ignores such a value).
func chooseFilename(plain, extended onceParameter, continued segments) string {
	if name, ok := decodeExtended(extended.value); ok && extended.present {
		return name
	}
	joined, complete := continued.join()
	switch {
	case complete:
		return joined
	case plain.present:
		return decodePlain(plain.value)
	case extended.present:
		return fromWindows1252(extended.value)
	}
	return joined
}

// decodePlain decodes encoded words. In a name without valid ones it reverts what browsers do to a filename: %22 is a
// quote, %0D and %0A are dropped, any other percent sign is literal. Bytes that are not UTF-8 are Windows-1252.
func decodePlain(s string) string {
	if strings.Contains(s, "=?") {
		if name, ok := decodeWords(s); ok {
			return name
		}
	}
	if strings.IndexByte(s, '%') >= 0 {
		s = plainEscapes.Replace(s)
	}
	return fromWindows1252(s)
}

var plainEscapes = strings.NewReplacer("%22", `"`, "%0D", "", "%0d", "", "%0A", "", "%0a", "")

// decodeExtended decodes charset'language'percent-encoded (RFC 8187). It supports UTF-8 and Windows-1252, and like
// browsers treats ISO-8859-1 as Windows-1252.
func decodeExtended(s string) (string, bool) {
	charset, rest, ok := strings.Cut(s, "'")
	if !ok {
		return "", false
	}
	_, encoded, ok := strings.Cut(rest, "'")
	if !ok {
		return "", false
	}
	out := make([]byte, 0, len(encoded))
	for i := 0; i < len(encoded); i++ {
		c := encoded[i]
		if c == '%' {
			if c, ok = hexByte(encoded[i:]); !ok {
				return "", false
			}
			i += 2
		}
		out = append(out, c)
	}
	switch strings.ToLower(charset) {
	case "utf-8", "utf8":
		return string(out), utf8.Valid(out)
	case "iso-8859-1", "windows-1252":
		return decodeWindows1252(out), true
	}
	return "", false
}

package decode

import (
	"net/url"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// blanks are the characters that may surround the elements of a header.
const blanks = " \t\r\n"

// parameter is one "; key=value" of a header. The key is in lower case.
type parameter struct {
	key, value string
	// bare is true if the parameter has no equals sign.
	bare bool
}

// cutParameter cuts the first parameter off s. s may start with semicolons. At the end of s, the returned key is
// empty. An unquoted value ends at the next semicolon. If escapes is true, \" and \\ in a quoted value mean " and \,
// and other backslashes are literal. ok is false if a quote is not closed or if there is text after a closing quote.
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

// cutQuoted returns the text before the closing quote and the text after it. s starts right after the opening quote.
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

// disposition is a parsed Content-Disposition header of a part. [Filename] converts its decoded filename to a label.
type disposition struct {
	name, filename string
	hasFilename    bool
}

// parseDisposition parses a Content-Disposition header (RFC 7578) in the forms that clients send. Browsers and
// Windows paths contain literal backslashes, but older versions of curl escape quotes with backslashes. For this
// reason, parseDisposition first treats backslashes as escapes. If that fails, it treats them as literal
// (filename="a\"). If a parameter is repeated, its values must be equal. A parameter without an equals sign is an
// error, because it is usually the rest of an unquoted filename.
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
	params, continued := map[string]string{}, segments{}
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
		case "name", "filename", "filename*":
			old, repeated := params[p.key]
			ok = !repeated || old == p.value
			params[p.key] = p.value
		default:
			ok = continued.set(p.key, p.value)
		}
		if !ok {
			return disposition{}, false
		}
	}
	plain, hasPlain := params["filename"]
	extended, hasExtended := params["filename*"]
	d := disposition{name: params["name"], hasFilename: hasPlain || hasExtended || len(continued) > 0}
	// The filename* is better, either complete or continued. If it can't be decoded, the plain filename counts (RFC 8187,
	// section 3.2.1).
	var ok bool
	if d.filename, ok = decodeExtended(extended); ok {
		return d, true
	}
	joined, complete := continued.join()
	switch {
	case complete || !hasPlain && !hasExtended:
		d.filename = joined
	case hasPlain:
		d.filename = decodePlain(plain)
	default:
		d.filename = fromWindows1252(extended)
	}
	return d, true
}

// decodePlain decodes encoded words in s. If s has no valid encoded words, decodePlain reverts the changes that
// browsers make to filenames: %22 becomes a quote, %0D and %0A are removed, and other percent signs are literal.
// Bytes that are not UTF-8 are decoded as Windows-1252.
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

// decodeExtended decodes a value of the form charset'language'percent-encoded (RFC 8187). It supports UTF-8 and
// Windows-1252. Like browsers, it treats ISO-8859-1 as Windows-1252.
func decodeExtended(s string) (string, bool) {
	charset, rest, ok := strings.Cut(s, "'")
	if !ok {
		return "", false
	}
	_, encoded, ok := strings.Cut(rest, "'")
	if !ok {
		return "", false
	}
	name, err := url.PathUnescape(encoded)
	if err != nil {
		return "", false
	}
	switch strings.ToLower(charset) {
	case "utf-8", "utf8":
		return name, utf8.ValidString(name)
	case "iso-8859-1", "windows-1252":
		name, err = charmap.Windows1252.NewDecoder().String(name)
		return name, err == nil
	}
	return "", false
}

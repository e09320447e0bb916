package decode

import (
	"fmt"
	"io"
	"mime"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// encodedWord matches one encoded word (RFC 2047). If another encoded word follows, it also matches the blanks
// between them, which are ignored.
var encodedWord = regexp.MustCompile(`(=\?[^?\s]+\?[BbQq]\?[^?\s]*\?=)(?:\s+(=\?[^?\s]+\?[BbQq]\?))?`)

var words = mime.WordDecoder{CharsetReader: func(charset string, input io.Reader) (io.Reader, error) {
	if strings.EqualFold(charset, "windows-1252") {
		return charmap.Windows1252.NewDecoder().Reader(input), nil
	}
	return nil, fmt.Errorf("unknown charset %q", charset)
}}

// decodeWords decodes encoded words (RFC 2047), which some mail and .NET libraries send as filenames. ok is false if
// there are no encoded words or if one can't be decoded. In that case, the original name is better than a partly
// decoded one.
func decodeWords(s string) (name string, ok bool) {
	var out strings.Builder
	rest := s
	for {
		at := encodedWord.FindStringSubmatchIndex(rest)
		if at == nil {
			break
		}
		word, err := words.Decode(rest[at[2]:at[3]])
		if err != nil || strings.ContainsRune(word, utf8.RuneError) {
			return "", false
		}
		out.WriteString(rest[:at[0]] + word)
		end := at[3]
		if at[4] >= 0 {
			end = at[4]
		}
		rest, ok = rest[end:], true
	}
	if !ok || strings.Contains(rest, "=?") {
		return "", false
	}
	return fromWindows1252(out.String() + rest), true
}

// maxSegments is the maximum number of segments of a continued filename.
const maxSegments = 1000

// segments maps a number to the parameter of a continued filename with that number (RFC 2231, section 3).
type segments map[int]segment

type segment struct {
	value   string
	encoded bool // percent-encoded; the first encoded segment specifies the charset
}

// set adds the parameter filename*N or filename*N* and ignores all other parameters. It returns false if segment N
// already exists with a different value.
func (s segments) set(key, value string) (ok bool) {
	digits, hasPrefix := strings.CutPrefix(key, "filename*")
	digits, encoded := strings.CutSuffix(digits, "*")
	n, err := strconv.Atoi(digits)
	if !hasPrefix || err != nil || n < 0 || n >= maxSegments || strconv.Itoa(n) != digits {
		return true
	}
	seg := segment{value, encoded}
	if old, exists := s[n]; exists {
		return old == seg
	}
	s[n] = seg
	return true
}

// join returns the joined segments. complete is false if a segment is missing or can't be decoded. In that case, name
// is the text of the segments as sent.
func (s segments) join() (name string, complete bool) {
	var sent, extended strings.Builder
	encoded, remaining := false, len(s)
	complete = remaining > 0
	for n := 0; remaining > 0; n++ {
		seg, exists := s[n]
		if !exists {
			complete = false
			continue
		}
		remaining--
		sent.WriteString(seg.value)
		if n == 0 && !seg.encoded {
			extended.WriteString("utf-8''")
		}
		if encoded = encoded || seg.encoded; seg.encoded {
			extended.WriteString(seg.value)
		} else {
			extended.WriteString(strings.ReplaceAll(seg.value, "%", "%25"))
		}
	}
	switch {
	case complete && !encoded:
		return decodePlain(sent.String()), true
	case complete:
		if name, complete = decodeExtended(extended.String()); complete {
			return name, true
		}
	}
	return fromWindows1252(sent.String()), false
}

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

// encodedWord matches one encoded word of RFC 2047, with the blanks before another one, which are ignored.
var encodedWord = regexp.MustCompile(`(=\?[^?\s]+\?[BbQq]\?[^?\s]*\?=)(?:\s+(=\?[^?\s]+\?[BbQq]\?))?`)

var words = mime.WordDecoder{CharsetReader: func(charset string, input io.Reader) (io.Reader, error) {
	if strings.EqualFold(charset, "windows-1252") {
		return charmap.Windows1252.NewDecoder().Reader(input), nil
	}
	return nil, fmt.Errorf("unknown charset %q", charset)
}}

// decodeWords decodes the encoded words of RFC 2047 that some mail and .NET libraries send as filenames. ok is false
// if there are none or one can't be decoded, because a partly decoded name is worse than the original.
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

// maxPieces is the maximum number of pieces of a continued filename.
const maxPieces = 1000

// pieces are the parameters of a continued filename (RFC 2231, section 3), by number.
type pieces map[int]piece

type piece struct {
	value   string
	encoded bool // percent-encoded; the first such piece names the charset
}

// set adds the parameter filename*N or filename*N* and ignores all others. ok is false if the piece exists with
// another value.
func (p pieces) set(key, value string) (ok bool) {
	digits, mine := strings.CutPrefix(key, "filename*")
	digits, encoded := strings.CutSuffix(digits, "*")
	n, err := strconv.Atoi(digits)
	if !mine || err != nil || n < 0 || n >= maxPieces || strconv.Itoa(n) != digits {
		return true
	}
	is := piece{value, encoded}
	if was, given := p[n]; given {
		return was == is
	}
	p[n] = is
	return true
}

// join returns the joined pieces. whole is false if one is missing or can't be decoded; then name is the text of the
// pieces as sent.
func (p pieces) join() (name string, whole bool) {
	var sent, extended strings.Builder
	encoded, left := false, len(p)
	whole = left > 0
	for n := 0; left > 0; n++ {
		one, given := p[n]
		if !given {
			whole = false
			continue
		}
		left--
		sent.WriteString(one.value)
		if n == 0 && !one.encoded {
			extended.WriteString("utf-8''")
		}
		if encoded = encoded || one.encoded; one.encoded {
			extended.WriteString(one.value)
		} else {
			extended.WriteString(strings.ReplaceAll(one.value, "%", "%25"))
		}
	}
	switch {
	case whole && !encoded:
		return decodePlain(sent.String()), true
	case whole:
		if name, whole = decodeExtended(extended.String()); whole {
			return name, true
		}
	}
	return fromWindows1252(sent.String()), false
}

package pdfwriter

import (
	"bytes"
	"errors"
	"slices"
	"strings"
)

const (
	whiteSpace = "\x00\t\n\f\r "
	delimiters = "()<>[]{}/%"
	maxDepth   = 200 // of arrays and dictionaries
)

// endsWord says for each byte whether it is a delimiter or white space.
var endsWord = func() (ends [256]bool) {
	for _, c := range []byte(whiteSpace + delimiters) {
		ends[c] = true
	}
	return ends
}()

// errIncomplete reports that the text ends before the value.
var errIncomplete = errors.New("incomplete value")

func complete(ok bool) error {
	if !ok {
		return errIncomplete
	}
	return nil
}

// cutWord returns the characters up to the next delimiter or white space.
func cutWord(b []byte) (word, rest []byte, err error) {
	for i, c := range b {
		if endsWord[c] {
			return b[:i], b[i:], nil
		}
	}
	return nil, nil, errIncomplete
}

// cutValue returns the first value in b in PDF syntax, without the white space around it, and what
// follows. The value is part of b.
func cutValue(b []byte, depth int) (value, rest []byte, err error) {
	b = bytes.TrimLeft(b, whiteSpace)
	switch {
	case len(b) < 2:
		return nil, nil, errIncomplete
	case depth > maxDepth:
		return nil, nil, errors.New("values are nested too deeply")
	case bytes.HasPrefix(b, []byte("<<")):
		return cutList(b, 2, ">>", depth)
	case b[0] == '[':
		return cutList(b, 1, "]", depth)
	case b[0] == '<':
		end := bytes.IndexByte(b, '>')
		return b[:end+1], b[end+1:], complete(end >= 0)
	case b[0] == '(':
		return cutString(b)
	case b[0] == '/':
		name, rest, err := cutWord(b[1:])
		return b[:1+len(name)], rest, err
	}
	word, rest, err := cutWord(b)
	if err != nil || len(word) == 0 || word[0] < '0' || word[0] > '9' {
		if err == nil && len(word) == 0 {
			err = errors.New("no value")
		}
		return word, rest, err
	}
	// A number may be the start of a reference, such as 12 0 R.
	generation, after, err := cutWord(bytes.TrimLeft(rest, whiteSpace))
	if err != nil {
		return nil, nil, err
	}
	if len(generation) == 0 || bytes.ContainsFunc(generation, func(r rune) bool { return r < '0' || r > '9' }) {
		return word, rest, nil
	}
	r, after, err := cutWord(bytes.TrimLeft(after, whiteSpace))
	if err != nil {
		return nil, nil, err
	}
	if string(r) != "R" {
		return word, rest, nil
	}
	return b[:len(b)-len(after)], after, nil
}

// cutList returns an array or a dictionary.
func cutList(b []byte, start int, end string, depth int) (value, rest []byte, err error) {
	for rest = b[start:]; ; {
		rest = bytes.TrimLeft(rest, whiteSpace)
		if bytes.HasPrefix(rest, []byte(end)) {
			rest = rest[len(end):]
			return b[:len(b)-len(rest)], rest, nil
		}
		if _, rest, err = cutValue(rest, depth+1); err != nil {
			return nil, nil, err
		}
	}
}

// cutString returns a string in parentheses.
func cutString(b []byte) (value, rest []byte, err error) {
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return b[:i+1], b[i+1:], nil
			}
		}
	}
	return nil, nil, errIncomplete
}

// dictionary has the keys and values of a dictionary, in order.
type dictionary [][2][]byte

// parse returns the entries of a dictionary, or nil if the value isn't one.
func parse(value []byte) (d dictionary) {
	body, isDictionary := bytes.CutPrefix(value, []byte("<<"))
	if !isDictionary {
		return nil
	}
	d = dictionary{}
	for {
		body = bytes.TrimLeft(body, whiteSpace)
		key, rest, err := cutValue(body, 0)
		if err != nil || key[0] != '/' {
			return d
		}
		value, rest, err := cutValue(rest, 0)
		if err != nil {
			return d
		}
		d, body = append(d, [2][]byte{key[1:], value}), rest
	}
}

// value returns the value of a key, or nil.
func (d dictionary) value(key string) []byte {
	for _, e := range d {
		if string(e[0]) == key {
			return e[1]
		}
	}
	return nil
}

// without returns the entries with other keys.
func (d dictionary) without(keys ...string) dictionary {
	return slices.DeleteFunc(slices.Clone(d), func(e [2][]byte) bool { return slices.Contains(keys, string(e[0])) })
}

// String returns the entries in PDF syntax. The text is empty or ends with a space.
func (d dictionary) String() string {
	var b strings.Builder
	for _, e := range d {
		b.WriteByte('/')
		b.Write(e[0])
		b.WriteByte(' ')
		b.Write(e[1])
		b.WriteByte(' ')
	}
	return b.String()
}

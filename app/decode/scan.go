package decode

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"
)

// maxDepth is the maximum nesting depth of objects and arrays.
const maxDepth = 32

// maxMembers is the maximum number of names and elements in one document. Without the limit, a body of 8 MiB with
// many tiny values could need hundreds of megabytes for maps and slices.
const maxMembers = 65536

// fewKeys is the maximum number of names in an object that are compared pairwise to find repeated names.
const fewKeys = 16

// fault is the position and description of an error. The caller converts it to a *MalformedError.
type fault struct {
	at   int
	text string
}

// key is an unescaped member name and its position.
type key struct {
	name []byte
	at   int
}

// scanner scans a JSON text from left to right.
type scanner struct {
	b     []byte
	i     int
	depth int
	count int
	// keys contains the names of all open objects. The names of the innermost object come last.
	keys []key

	// onMember, if not nil, is called for each member of the outermost object or array, in order. For elements of an
	// array, name is nil.
	onMember func(name []byte, value json.RawMessage)
}

// document scans one value and the blanks around it. It returns a fault if there is other text after the value.
func (s *scanner) document() *fault {
	s.blanks()
	if f := s.value(); f != nil {
		return f
	}
	s.blanks()
	if s.i < len(s.b) {
		return &fault{s.i, "text after the end of the value"}
	}
	return nil
}

func (s *scanner) blanks() {
	for s.i < len(s.b) {
		switch s.b[s.i] {
		case ' ', '\t', '\r', '\n':
			s.i++
		default:
			return
		}
	}
}

// peek returns the next byte, or 0 at the end of the text. 0 is unambiguous because a NUL is never valid.
func (s *scanner) peek() byte {
	if s.i < len(s.b) {
		return s.b[s.i]
	}
	return 0
}

// unexpected returns the fault for a byte that is not valid at this position.
func (s *scanner) unexpected(wanted string) *fault {
	if s.i >= len(s.b) {
		return &fault{len(s.b), "the text ends where " + wanted + " is expected"}
	}
	r, n := utf8.DecodeRune(s.b[s.i:])
	if r == utf8.RuneError && n == 1 {
		return &fault{s.i, "invalid UTF-8"}
	}
	return &fault{s.i, fmt.Sprintf("%q where %s is expected", r, wanted)}
}

func (s *scanner) value() *fault {
	switch c := s.peek(); c {
	case '{', '[':
		if s.depth == maxDepth {
			return &fault{s.i, fmt.Sprintf("nested deeper than %d", maxDepth)}
		}
		s.depth++
		var f *fault
		if c == '{' {
			f = s.object()
		} else {
			f = s.array()
		}
		s.depth--
		return f
	case '"':
		_, _, f := s.quoted()
		return f
	case 't':
		return s.literal("true")
	case 'f':
		return s.literal("false")
	case 'n':
		return s.literal("null")
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return s.number()
	}
	return s.unexpected("a value")
}

func (s *scanner) literal(word string) *fault {
	if rest := s.b[s.i:]; len(rest) < len(word) || string(rest[:len(word)]) != word {
		return &fault{s.i, "a word that is not true, false or null"}
	}
	s.i += len(word)
	return nil
}

// number scans a number (RFC 8259, section 6): [-] (0 | 1-9 digits) [. digits] [e [+-] digits].
func (s *scanner) number() *fault {
	if s.peek() == '-' {
		s.i++
	}
	if s.peek() == '0' {
		s.i++
	} else if !s.digits() {
		return s.unexpected("a digit")
	}
	if s.peek() == '.' {
		s.i++
		if !s.digits() {
			return s.unexpected("a digit")
		}
	}
	if c := s.peek(); c == 'e' || c == 'E' {
		s.i++
		if c := s.peek(); c == '+' || c == '-' {
			s.i++
		}
		if !s.digits() {
			return s.unexpected("a digit")
		}
	}
	return nil
}

func (s *scanner) digits() bool {
	start := s.i
	for s.i < len(s.b) && isDigit(s.b[s.i]) {
		s.i++
	}
	return s.i > start
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func (s *scanner) array() *fault {
	outer := s.onMember != nil && s.depth == 1
	s.i++
	s.blanks()
	if s.peek() == ']' {
		s.i++
		return nil
	}
	for {
		start := s.i
		if s.count++; s.count > maxMembers {
			return &fault{s.i, fmt.Sprintf("more than %d members", maxMembers)}
		}
		if f := s.value(); f != nil {
			return f
		}
		if outer {
			s.onMember(nil, s.b[start:s.i:s.i])
		}
		s.blanks()
		switch s.peek() {
		case ',':
			s.i++
			s.blanks()
		case ']':
			s.i++
			return nil
		default:
			return s.unexpected("a comma or ]")
		}
	}
}

func (s *scanner) object() *fault {
	base := len(s.keys)
	s.i++
	s.blanks()
	if s.peek() == '}' {
		s.i++
		return nil
	}
	for {
		if f := s.member(base); f != nil {
			return f
		}
		s.blanks()
		switch s.peek() {
		case ',':
			s.i++
			s.blanks()
		case '}':
			s.i++
			f := distinct(s.keys[base:])
			s.keys = s.keys[:base]
			return f
		default:
			return s.unexpected("a comma or }")
		}
	}
}

func (s *scanner) member(base int) *fault {
	outer := s.onMember != nil && s.depth == 1
	at := s.i
	if s.peek() != '"' {
		return s.unexpected("a key in quotes")
	}
	name, escaped, f := s.quoted()
	if f != nil {
		return f
	}
	if escaped {
		name = unescape(name)
	}
	if f := s.addKey(base, key{name, at}); f != nil {
		return f
	}
	s.blanks()
	if s.peek() != ':' {
		return s.unexpected("a colon")
	}
	s.i++
	s.blanks()
	start := s.i
	if f := s.value(); f != nil {
		return f
	}
	if outer {
		s.onMember(name, s.b[start:s.i:s.i])
	}
	return nil
}

// addKey adds a name to the object whose names start at index base of keys. For the first fewKeys names, it checks
// immediately, without allocating, whether the name is repeated. For larger objects, distinct checks the names.
func (s *scanner) addKey(base int, k key) *fault {
	if s.count++; s.count > maxMembers {
		return &fault{k.at, fmt.Sprintf("more than %d members", maxMembers)}
	}
	if len(s.keys)-base < fewKeys {
		for _, other := range s.keys[base:] {
			if bytes.Equal(other.name, k.name) {
				return repeated(k)
			}
		}
	}
	if s.keys == nil {
		s.keys = make([]key, 0, fewKeys)
	}
	s.keys = append(s.keys, k)
	return nil
}

// distinct returns a fault for the first repeated name of an object that has more than fewKeys names. It sorts the
// names, so it is fast even if the names were chosen to slow it down.
func distinct(keys []key) *fault {
	if len(keys) <= fewKeys {
		return nil
	}
	slices.SortFunc(keys, func(a, b key) int {
		if c := bytes.Compare(a.name, b.name); c != 0 {
			return c
		}
		return a.at - b.at
	})
	var first *key
	for i := 1; i < len(keys); i++ {
		if bytes.Equal(keys[i-1].name, keys[i].name) && (first == nil || keys[i].at < first.at) {
			first = &keys[i]
		}
	}
	if first == nil {
		return nil
	}
	return repeated(*first)
}

func repeated(k key) *fault {
	name := string(k.name)
	if len(name) > 64 {
		name = cutAtCharacter(name, 64) + "…"
	}
	return &fault{k.at, fmt.Sprintf("repeated key %q", name)}
}

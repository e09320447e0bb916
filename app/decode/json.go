package decode

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Limits of a JSON text. Without maxMembers, a body of 8 MiB with many tiny values could need hundreds of megabytes
// for maps and slices.
const (
	maxDepth   = 32    // objects and arrays inside each other
	maxMembers = 65536 // names and elements
)

var bom = []byte("\xef\xbb\xbf")

// Object parses a JSON request body and returns the members of its top-level object. The values are slices of b
// without surrounding blanks. A leading byte order mark is skipped. If the body is blank or the top-level value is
// not an object, Object returns an empty map. It returns a *MalformedError if the text is not JSON (RFC 8259), there
// is text after the value, a key is repeated in any object, the text has invalid UTF-8 or a lone surrogate, or there
// are more than 32 levels or more than 65,536 members.
func Object(b []byte) (map[string]json.RawMessage, error) {
	out := make(map[string]json.RawMessage)
	b = bytes.TrimPrefix(b, bom)
	if len(bytes.Trim(b, blanks)) == 0 {
		return out, nil
	}
	if err := scan("The request body", b, func(name string, value []byte) { out[name] = value }); err != nil {
		return nil, err
	}
	return out, nil
}

// Valid returns nil if b is one JSON value that follows the rules of [Object] and has no byte order mark. Otherwise,
// it returns a *MalformedError.
func Valid(b []byte) error { return scan("The text", b, func(string, []byte) {}) }

// String decodes a JSON string. ok is false if raw is not a string.
func String(raw json.RawMessage) (text string, ok bool) {
	b, err := jsontext.AppendUnquote(nil, raw)
	return string(b), err == nil
}

// scan checks that b is one JSON value. It calls onMember for each member of the outermost object, in order. The
// returned error names subject and the position of the problem.
func scan(subject string, b []byte, onMember func(name string, value []byte)) error {
	s := scanner{Decoder: jsontext.NewDecoder(bytes.NewBuffer(b)), b: b}
	if at, problem := s.scan(onMember); problem != "" {
		before := b[:at]
		line := bytes.Count(before, []byte("\n")) + 1
		column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1 // in characters
		return &MalformedError{Reason: fmt.Sprintf("%s is not valid JSON: %s at line %d, column %d.", subject, problem, line, column)}
	}
	return nil
}

// scanner reads the tokens of b. jsontext checks the grammar, names, and strings. The scanner enforces the limits and
// describes errors.
type scanner struct {
	*jsontext.Decoder
	b []byte
}

// scan reads all tokens. If it finds a problem, it returns its position and description.
func (s *scanner) scan(onMember func(name string, value []byte)) (at int, problem string) {
	var name string
	members, start := 0, 0 // start is the start of the current value of the outermost object
	for {
		depth := s.StackDepth()
		parent, index := s.StackIndex(depth)
		if depth == 0 && index == 1 {
			if at = s.skipBlanks(int(s.InputOffset())); at < len(s.b) {
				return at, "text after the end of the value"
			}
			return 0, ""
		}
		kind, size := s.PeekKind(), 1
		var raw jsontext.Value
		var err error
		switch kind {
		case '{', '}', '[', ']':
			_, err = s.ReadToken()
		default:
			raw, err = s.ReadValue()
			size = len(raw)
		}
		if err != nil {
			return s.explain(err)
		}
		end := int(s.InputOffset())
		at = end - size
		isName := parent == '{' && index%2 == 0 && kind == '"'
		if isName || parent == '[' && kind != ']' {
			members++
		}
		switch {
		case members > maxMembers:
			return at, fmt.Sprintf("more than %d members", maxMembers)
		case s.StackDepth() > maxDepth:
			return at, fmt.Sprintf("nested deeper than %d", maxDepth)
		case depth > 1 && s.StackDepth() > 1 || depth == 0:
			continue
		case isName:
			name, _ = String(json.RawMessage(raw)) // ReadValue has checked the string
			continue
		case depth == 1:
			start = at
		}
		if outer, _ := s.StackIndex(min(1, s.StackDepth())); outer == '{' && s.StackDepth() == 1 {
			onMember(name, s.b[start:end:end])
		}
	}
}

// explain returns the position and description of an error of jsontext.
func (s *scanner) explain(err error) (at int, problem string) {
	var syntax *jsontext.SyntacticError
	if !errors.As(err, &syntax) { // the text ends before the value
		return s.unexpected(len(s.b), "a value")
	}
	if errors.Is(err, jsontext.ErrDuplicateName) {
		name := syntax.JSONPointer.LastToken()
		if len(name) > 64 {
			name = cutAtCharacter(name, 64) + "…"
		}
		return int(syntax.ByteOffset), fmt.Sprintf("repeated key %q", name)
	}
	at = s.skipBlanks(int(s.InputOffset()))
	parent, index := s.StackIndex(s.StackDepth())
	isValue := parent != '{' || index%2 == 1
	separator, expected := byte(','), "a comma or ]"
	switch {
	case parent == '{' && isValue:
		separator, expected = ':', "a colon"
	case parent == '{':
		expected = "a comma or }"
	}
	if parent != 0 && index > 0 {
		if s.byteAt(at) != separator {
			return s.unexpected(at, expected)
		}
		at = s.skipBlanks(at + 1)
	}
	switch c := s.byteAt(at); {
	case c == '"':
		return s.explainString(at, int(syntax.ByteOffset))
	case !isValue:
		return s.unexpected(at, "a key in quotes")
	case c == 't' || c == 'f' || c == 'n':
		return at, "an unknown word instead of true, false, or null"
	case (c == '-' || '0' <= c && c <= '9') && errors.Is(err, io.ErrUnexpectedEOF):
		return s.unexpected(len(s.b), "a digit")
	case c == '-' || '0' <= c && c <= '9':
		return s.unexpected(int(syntax.ByteOffset), "a digit")
	}
	return s.unexpected(at, "a value")
}

// explainString describes an error in the string that starts at open. jsontext stopped at the position at.
func (s *scanner) explainString(open, at int) (int, string) {
	if at >= len(s.b) {
		return open, "a string without its closing quote"
	}
	rest := s.b[at:]
	switch {
	case rest[0] < ' ':
		return at, "a control character inside a string"
	case rest[0] != '\\':
		return at, "invalid UTF-8"
	case len(rest) == 1:
		return at, "an incomplete escape sequence"
	case rest[1] != 'u':
		return at, "an unknown escape sequence"
	}
	if _, err := strconv.ParseUint(string(rest[2:min(6, len(rest))]), 16, 16); err != nil || len(rest) < 6 {
		return at, `a \u escape without four hexadecimal digits`
	}
	return at, "a lone surrogate"
}

// unexpected describes text that is not valid at this position.
func (s *scanner) unexpected(at int, expected string) (int, string) {
	if at >= len(s.b) {
		return len(s.b), "unexpected end of input, expected " + expected
	}
	r, n := utf8.DecodeRune(s.b[at:])
	if r == utf8.RuneError && n == 1 {
		return at, "invalid UTF-8"
	}
	return at, fmt.Sprintf("unexpected %q, expected %s", r, expected)
}

// byteAt returns the byte at this position, or 0 at the end of the text.
func (s *scanner) byteAt(at int) byte {
	if at < len(s.b) {
		return s.b[at]
	}
	return 0
}

func (s *scanner) skipBlanks(at int) int {
	return len(s.b) - len(bytes.TrimLeft(s.b[at:], blanks))
}

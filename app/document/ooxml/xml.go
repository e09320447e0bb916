package ooxml

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/xml"
	"fmt"
	"io"
	"strings"

	"deedkeep/app/document/docio"
)

// MaxTokenBytes is how long an element with its attributes, or a text, may be in a part.
const MaxTokenBytes = 4 << 20

// Element is a start tag with its attributes, an end tag, or a text.
type Element struct {
	Name  string // without its prefix
	Start bool
	End   bool
	Attrs []xml.Attr
	Text  []byte // valid until the next element
}

// Attr returns the value of the attribute of that name that has no prefix.
func (e Element) Attr(name string) string {
	for _, a := range e.Attrs {
		if a.Name.Local == name && a.Name.Space == "" {
			return a.Value
		}
	}
	return ""
}

// RelationshipID returns the value of the attribute "id" that has a prefix.
func (e Element) RelationshipID() string {
	for _, a := range e.Attrs {
		if a.Name.Local == "id" && a.Name.Space != "" {
			return a.Value
		}
	}
	return ""
}

// walkXML calls visit with the elements of an XML stream. It tolerates what browsers
// tolerate: unclosed and mismatched tags.
func walkXML(doc *docio.Reader, r io.Reader, visit func(Element) error) error {
	input, err := utf8Input(r)
	if err != nil {
		return err
	}
	decoder := xml.NewDecoder(input)
	decoder.Strict = false
	decoder.Entity = nil // only the five entities of XML itself
	decoder.CharsetReader = asASCII
	for {
		input.left = MaxTokenBytes
		token, err := decoder.RawToken()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%w: %w", docio.ErrDamaged, err)
		}
		var e Element
		switch t := token.(type) {
		case xml.StartElement:
			e = Element{Name: t.Name.Local, Start: true, Attrs: t.Attr}
		case xml.EndElement:
			e = Element{Name: t.Name.Local, End: true}
		case xml.CharData:
			e = Element{Text: t}
		default:
			continue
		}
		if err := visit(e); err != nil {
			return err
		}
		if err := doc.CheckContext(); err != nil {
			return err
		}
	}
}

// asASCII ignores the declared encoding: names are ASCII, and any encoding that contains
// ASCII will do. utf8Input has decoded UTF-16 before.
func asASCII(_ string, r io.Reader) (io.Reader, error) { return r, nil }

// tokenReader bounds how much the XML decoder holds at a time.
type tokenReader struct {
	*bufio.Reader
	max  int // bytes of one token
	left int // of the token that is being read
}

func newTokenReader(r *bufio.Reader, maxBytes int) *tokenReader {
	return &tokenReader{Reader: r, max: maxBytes, left: maxBytes}
}

func (t *tokenReader) ReadByte() (byte, error) {
	if t.left == 0 {
		return 0, docio.Damaged("XML token of more than %d bytes", t.max)
	}
	t.left--
	return t.Reader.ReadByte()
}

// utf8Input decodes XML in UTF-16, which its byte order mark tells.
func utf8Input(r io.Reader) (*tokenReader, error) {
	input := bufio.NewReaderSize(r, 32<<10)
	mark, _ := input.Peek(2) // a shorter part fails later
	var order binary.ByteOrder
	switch {
	case bytes.Equal(mark, []byte{0xFF, 0xFE}):
		order = binary.LittleEndian
	case bytes.Equal(mark, []byte{0xFE, 0xFF}):
		order = binary.BigEndian
	default:
		return newTokenReader(input, MaxTokenBytes), nil
	}
	all, err := io.ReadAll(input)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", docio.ErrDamaged, err)
	}
	return newTokenReader(bufio.NewReader(strings.NewReader(docio.DecodeUTF16(all[2:], order))), MaxTokenBytes), nil
}

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

// MaxTokenBytes is the maximum size of an element with its attributes, or of a text, in a part.
const MaxTokenBytes = 4 << 20

// Element is a start tag with its attributes, an end tag, or a text.
type Element struct {
	Name  string // without the prefix
	Start bool
	End   bool
	Attrs []xml.Attr
	Text  []byte // valid until the next element
}

// Attr returns the value of the attribute that has the given name and no prefix.
func (e Element) Attr(name string) string {
	for _, a := range e.Attrs {
		if a.Name.Local == name && a.Name.Space == "" {
			return a.Value
		}
	}
	return ""
}

// RelationshipID returns the value of the attribute that is named "id" and has a prefix.
func (e Element) RelationshipID() string {
	for _, a := range e.Attrs {
		if a.Name.Local == "id" && a.Name.Space != "" {
			return a.Value
		}
	}
	return ""
}

// walkXML calls visit for each element of an XML stream. It tolerates unclosed and mismatched tags.
// If strict is false, it also tolerates other mistakes, like browsers.
func walkXML(input *tokenReader, strict bool, visit func(Element) error) error {
	decoder := xml.NewDecoder(input)
	decoder.Strict = strict
	// Ignore the declared encoding. Names are ASCII, so any encoding that includes ASCII works.
	// utf8Input has already decoded UTF-16.
	decoder.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	for {
		input.left = input.max
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
	}
}

// tokenReader limits how much data the XML decoder keeps in memory at a time.
type tokenReader struct {
	*bufio.Reader
	max  int // maximum size of a token in bytes
	left int // number of bytes that the current token may still have
}

func newTokenReader(r *bufio.Reader, maxBytes int) *tokenReader {
	return &tokenReader{Reader: r, max: maxBytes, left: maxBytes}
}

func (t *tokenReader) ReadByte() (byte, error) {
	if t.left == 0 {
		return 0, docio.Damaged("XML token larger than %d bytes", t.max)
	}
	t.left--
	return t.Reader.ReadByte()
}

// utf8Input decodes XML in UTF-16, which it recognizes by the byte order mark. It returns other XML
// unchanged.
func utf8Input(r io.Reader) (*tokenReader, error) {
	input := bufio.NewReaderSize(r, 32<<10)
	mark, _ := input.Peek(2) // a part of fewer than two bytes fails later
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

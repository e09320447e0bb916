package document

import (
	"archive/zip"
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path"
	"strings"
)

// Bounds of a package beside Limits.Unpacked, which is for one part.
const (
	zipDirectory = 4 << 20 // bytes read to open it: some 10,000 parts
	zipParts     = 2       // times Limits.Unpacked that all parts may take together
	xmlToken     = 4 << 20 // bytes of one element with its attributes, or of text
	relations    = 10_000  // of one part
)

// ooxmlPackage is an Office document: a zip of XML parts (ISO/IEC 29500-2).
type ooxmlPackage struct {
	parts map[string]*zip.File // by partName
	left  int64                // bytes that may still be unpacked
	lim   ExtractLimits
}

func openPackage(doc *source, lim ExtractLimits) (*ooxmlPackage, error) {
	reads := &allowance{doc, zipDirectory}
	archive, err := zip.NewReader(reads, doc.Size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) { // nothing is unpacked to a path
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	reads.left = 2*doc.Size + zipDirectory
	p := &ooxmlPackage{parts: make(map[string]*zip.File, len(archive.File)), left: zipParts * lim.MaxUnpackedBytes, lim: lim}
	for _, file := range archive.File {
		p.parts[partName(file.Name)] = file
	}
	return p, nil
}

// allowance bounds what a library may read, and with it what it may hold.
type allowance struct {
	io.ReaderAt
	left int64
}

func (a *allowance) ReadAt(p []byte, off int64) (int, error) {
	if a.left -= int64(len(p)); a.left < 0 {
		return 0, damaged("more reads than its size warrants")
	}
	return a.ReaderAt.ReadAt(p, off)
}

// partName makes names of zip entries and of parts comparable: without regard
// to case, root or escapes (ISO/IEC 29500-2, 7.3); backslashes are found in
// the field.
func partName(name string) string {
	name = strings.ReplaceAll(name, `\`, "/")
	if plain, err := url.PathUnescape(name); err == nil {
		name = plain
	}
	return strings.ToLower(strings.TrimPrefix(path.Clean("/"+name), "/"))
}

// errEnough ends the reading of a part of which no more is wanted.
var errEnough = errors.New("enough")

// element is what each of a part's tags and texts is shown as: a start (with
// attributes) or end tag by its local name, or a text.
type element struct {
	name  string
	start bool
	end   bool
	attrs []xml.Attr
	text  []byte
}

// attr returns the attribute of that local name that has no prefix.
func (e element) attr(name string) string {
	for _, a := range e.attrs {
		if a.Name.Local == name && a.Name.Space == "" {
			return a.Value
		}
	}
	return ""
}

// relation returns the attribute "id" that has a prefix: the id of a relation.
func (e element) relation() string {
	for _, a := range e.attrs {
		if a.Name.Local == "id" && a.Name.Space != "" {
			return a.Value
		}
	}
	return ""
}

// walk reads a part as a stream; a part that is missing has no elements. It
// returns ErrTooLarge, ErrDamaged, or what visit returns, but for errEnough.
func (p *ooxmlPackage) walk(doc *source, name string, visit func(element) error) error {
	file := p.parts[name]
	if file == nil {
		return nil
	}
	unpacked, err := file.Open()
	if err != nil {
		return fmt.Errorf("%w: part %s: %w", ErrDamaged, name, err)
	}
	defer func() { _ = unpacked.Close() }() // only frees the decompressor
	limited := &io.LimitedReader{R: unpacked, N: min(p.left, p.lim.MaxUnpackedBytes)}
	before := limited.N
	err = walkXML(doc, limited, visit)
	p.left -= before - limited.N
	switch {
	case errors.Is(err, errEnough):
		return nil
	case limited.N <= 0: // even where it looks whole
		return fmt.Errorf("%w: part %s", ErrTooLarge, name)
	}
	return err
}

func walkXML(doc *source, r io.Reader, visit func(element) error) error {
	input, err := utf8Input(r)
	if err != nil {
		return err
	}
	decoder := xml.NewDecoder(input)
	decoder.Strict = false
	decoder.Entity = nil // none but XML's own five
	// utf8Input has seen to the encoding; any other that contains ASCII will do.
	decoder.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	for {
		input.left = xmlToken
		token, err := decoder.RawToken()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		var e element
		switch t := token.(type) {
		case xml.StartElement:
			e = element{name: t.Name.Local, start: true, attrs: t.Attr}
		case xml.EndElement:
			e = element{name: t.Name.Local, end: true}
		case xml.CharData:
			e = element{text: t}
		default:
			continue
		}
		if err := visit(e); err != nil {
			return err
		}
		if doc.ctx.Err() != nil {
			doc.err = doc.ctx.Err()
			return doc.err
		}
	}
}

// tokenInput bounds what the XML decoder may hold at a time: the bytes left for
// the token it is reading.
type tokenInput struct {
	*bufio.Reader
	left int
}

func (t *tokenInput) ReadByte() (byte, error) {
	if t.left == 0 {
		return 0, damaged("XML token of more than %d bytes", xmlToken)
	}
	t.left--
	return t.Reader.ReadByte()
}

// utf8Input decodes UTF-16, which XML may be in.
func utf8Input(r io.Reader) (*tokenInput, error) {
	input := bufio.NewReaderSize(r, 32<<10)
	mark, _ := input.Peek(2) // a shorter part fails later
	var order binary.ByteOrder
	switch {
	case bytes.Equal(mark, []byte{0xFF, 0xFE}):
		order = binary.LittleEndian
	case bytes.Equal(mark, []byte{0xFE, 0xFF}):
		order = binary.BigEndian
	default:
		return &tokenInput{Reader: input}, nil
	}
	all, err := io.ReadAll(input)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return &tokenInput{Reader: bufio.NewReader(strings.NewReader(decodeUTF16(all[2:], order)))}, nil
}

// target is where a relation of a part leads, and of what type it is.
type target struct {
	id, kind, part string
}

// targets returns the relations of a part ("" is the package) to parts, in
// order (ISO/IEC 29500-2, 6.5).
func (p *ooxmlPackage) targets(doc *source, part string) ([]target, error) {
	folder, base := path.Split(part)
	var list []target
	err := p.walk(doc, partName(folder+"_rels/"+base+".rels"), func(e element) error {
		if !e.start || e.name != "Relationship" || e.attr("TargetMode") == "External" {
			return nil
		}
		to := e.attr("Target")
		if !strings.HasPrefix(to, "/") {
			to = folder + to
		}
		// The last word of the type is the same in both variants of the standard.
		list = append(list, target{e.attr("Id"), path.Base(e.attr("Type")), partName(to)})
		if len(list) > relations {
			return damaged("more than %d relations", relations)
		}
		return nil
	})
	return list, err
}

// main returns the main part and its relations.
func (p *ooxmlPackage) main(doc *source, otherwise string) (string, []target, error) {
	list, err := p.targets(doc, "")
	if err != nil {
		return "", nil, err
	}
	main := otherwise
	for _, t := range list {
		if t.kind == "officeDocument" && p.parts[t.part] != nil {
			main = t.part
			break
		}
	}
	if p.parts[main] == nil {
		return "", nil, damaged("no main part")
	}
	list, err = p.targets(doc, main)
	return main, list, err
}

// of returns the parts of the relations of a type, each once, in order.
func of(list []target, kind string) []string {
	var parts []string
	seen := make(map[string]bool)
	for _, t := range list {
		if t.kind == kind && !seen[t.part] {
			seen[t.part] = true
			parts = append(parts, t.part)
		}
	}
	return parts
}

// inOrder returns the parts that the elements of a part name by relations.
func (p *ooxmlPackage) inOrder(doc *source, part, name string, list []target, each func(e element, part string)) error {
	byID := make(map[string]string)
	for _, t := range list {
		byID[t.id] = t.part
	}
	n := 0
	return p.walk(doc, part, func(e element) error {
		if !e.start || e.name != name {
			return nil
		}
		if n++; n > relations {
			return errEnough
		}
		each(e, byID[e.relation()])
		return nil
	})
}

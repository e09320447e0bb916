// Package ooxml reads the parts of Office Open XML packages: the zip files of Word, Excel,
// and PowerPoint since 2007 (ISO/IEC 29500-2). It reads parts as streams of XML tokens,
// never to a file, and bounds what it unpacks.
package ooxml

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path"
	"strings"

	"deedkeep/app/document/docio"
)

const (
	maxDirectoryBytes = 4 << 20 // read to open a package: some 10,000 parts
	unpackedFactor    = 2       // all parts together may unpack to this many times the limit of one
)

// MaxRelationships is how many relationships of one part are read.
const MaxRelationships = 10_000

// ErrStop ends Walk early when visit returns it. Walk then returns nil.
var ErrStop = errors.New("enough")

// Package is an open Office document.
type Package struct {
	doc          *docio.Reader
	parts        map[string]*zip.File // by partName
	maxPartBytes int64                // unpacked, of one part
	left         int64                // bytes that may still be unpacked, of all parts
}

// Open reads the zip directory. maxPartBytes bounds the unpacked size of one part. It
// returns docio.ErrDamaged.
func Open(doc *docio.Reader, maxPartBytes int64) (*Package, error) {
	archive, reads, err := openZip(doc, maxDirectoryBytes)
	if err != nil {
		return nil, err
	}
	reads.Left = 2*doc.Size() + maxDirectoryBytes
	p := &Package{
		doc: doc, parts: make(map[string]*zip.File, len(archive.File)),
		maxPartBytes: maxPartBytes, left: unpackedFactor * maxPartBytes,
	}
	for _, file := range archive.File {
		p.parts[partName(file.Name)] = file
	}
	return p, nil
}

// openZip reads the directory of a zip file, for which it may read directoryBytes. The
// caller sets the budget of later reads of parts.
func openZip(doc *docio.Reader, directoryBytes int64) (*zip.Reader, *docio.Budget, error) {
	reads := &docio.Budget{ReaderAt: doc, Left: directoryBytes}
	archive, err := zip.NewReader(reads, doc.Size())
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) { // parts are never unpacked to a path
		return nil, nil, fmt.Errorf("%w: %w", docio.ErrDamaged, err)
	}
	return archive, reads, nil
}

// partName normalizes names of zip entries and of parts so that they can be compared: case,
// a leading slash, and escapes don't matter (ISO/IEC 29500-2, 7.3). Some writers use
// backslashes.
func partName(name string) string {
	name = strings.ReplaceAll(name, `\`, "/")
	if plain, err := url.PathUnescape(name); err == nil {
		name = plain
	}
	return strings.ToLower(strings.TrimPrefix(path.Clean("/"+name), "/"))
}

// Walk calls visit with the tags and texts of a part. A missing part has none. It returns
// docio.ErrTooLarge, docio.ErrDamaged, the error of the Reader, or what visit returns
// except ErrStop.
func (p *Package) Walk(part string, visit func(Element) error) error {
	file := p.parts[part]
	if file == nil {
		return nil
	}
	unpacked, err := file.Open()
	if err != nil {
		return fmt.Errorf("%w: part %s: %w", docio.ErrDamaged, part, err)
	}
	defer func() { _ = unpacked.Close() }() // only frees the decompressor
	limited := &io.LimitedReader{R: unpacked, N: min(p.left, p.maxPartBytes)}
	before := limited.N
	err = walkXML(p.doc, limited, visit)
	p.left -= before - limited.N
	switch {
	case errors.Is(err, ErrStop):
		return nil
	case limited.N <= 0: // even if what was read looks complete
		return fmt.Errorf("%w: part %s", docio.ErrTooLarge, part)
	}
	return err
}

// Relationship leads from a part to another one (ISO/IEC 29500-2, 6.5).
type Relationship struct {
	ID   string
	Type string // last element of the type's URI, equal in both variants of the standard
	Part string
}

// Relationships returns the relationships of a part to parts of the package, in order. The
// relationships of the package itself are those of part "".
func (p *Package) Relationships(part string) ([]Relationship, error) {
	folder, base := path.Split(part)
	var list []Relationship
	err := p.Walk(partName(folder+"_rels/"+base+".rels"), func(e Element) error {
		if !e.Start || e.Name != "Relationship" || e.Attr("TargetMode") == "External" {
			return nil
		}
		target := e.Attr("Target")
		if !strings.HasPrefix(target, "/") {
			target = folder + target
		}
		list = append(list, Relationship{e.Attr("Id"), path.Base(e.Attr("Type")), partName(target)})
		if len(list) > MaxRelationships {
			return docio.Damaged("more than %d relations", MaxRelationships)
		}
		return nil
	})
	return list, err
}

// Main returns the main part and its relationships. Without a relationship that leads to
// it, the main part is the one named fallback.
func (p *Package) Main(fallback string) (string, []Relationship, error) {
	list, err := p.Relationships("")
	if err != nil {
		return "", nil, err
	}
	main := fallback
	for _, r := range list {
		if r.Type == "officeDocument" && p.parts[r.Part] != nil {
			main = r.Part
			break
		}
	}
	if p.parts[main] == nil {
		return "", nil, docio.Damaged("no main part")
	}
	list, err = p.Relationships(main)
	return main, list, err
}

// Parts returns the parts that relationships of a type lead to, each once, in order.
func Parts(list []Relationship, relationshipType string) []string {
	var parts []string
	seen := make(map[string]bool)
	for _, r := range list {
		if r.Type == relationshipType && !seen[r.Part] {
			seen[r.Part] = true
			parts = append(parts, r.Part)
		}
	}
	return parts
}

// WalkReferences calls visit for each element of that name in a part, in order, with the
// part that its relationship ID leads to, "" if there is none. It stops after
// MaxRelationships elements.
func (p *Package) WalkReferences(part, element string, list []Relationship, visit func(e Element, part string)) error {
	byID := make(map[string]string)
	for _, r := range list {
		byID[r.ID] = r.Part
	}
	n := 0
	return p.Walk(part, func(e Element) error {
		if !e.Start || e.Name != element {
			return nil
		}
		if n++; n > MaxRelationships {
			return ErrStop
		}
		visit(e, byID[e.RelationshipID()])
		return nil
	})
}

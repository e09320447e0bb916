// Package ooxml reads the parts of Office Open XML packages, the zip files of Word, Excel, and
// PowerPoint since 2007 (ISO/IEC 29500-2). It reads parts as streams of XML tokens, never writes
// them to a file, and limits how much it unpacks.
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
	maxDirectoryBytes = 4 << 20 // limit on reads while opening a package; enough for about 10,000 parts
	unpackedFactor    = 2       // limit on the unpacked size of all parts, as a multiple of the limit of one part
)

// MaxRelationships is the maximum number of relationships to read from one part.
const MaxRelationships = 10_000

// ErrStop makes Walk stop early if visit returns it. Walk then returns nil.
var ErrStop = errors.New("enough")

// Package is an open Office document.
type Package struct {
	doc          *docio.Reader
	parts        map[string]*zip.File // by partName
	maxPartBytes int64                // maximum unpacked size of one part
	left         int64                // number of bytes that may still be unpacked from all parts
}

// Open reads the zip directory. maxPartBytes is the maximum unpacked size of one part. Open returns
// docio.ErrDamaged if it can't read the directory.
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

// openZip reads the directory of a zip file. It reads up to directoryBytes bytes. Before reading
// parts, the caller must set the budget for them.
func openZip(doc *docio.Reader, directoryBytes int64) (*zip.Reader, *docio.Budget, error) {
	reads := &docio.Budget{ReaderAt: doc, Left: directoryBytes}
	archive, err := zip.NewReader(reads, doc.Size())
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) { // parts are never written to a file, so their paths don't matter
		return nil, nil, fmt.Errorf("%w: %w", docio.ErrDamaged, err)
	}
	return archive, reads, nil
}

// partName normalizes the names of zip entries and parts for comparison. It ignores case, a leading
// slash, and escapes (ISO/IEC 29500-2, 7.3). It accepts backslashes because some applications write
// them.
func partName(name string) string {
	name = strings.ReplaceAll(name, `\`, "/")
	if plain, err := url.PathUnescape(name); err == nil {
		name = plain
	}
	return strings.ToLower(strings.TrimPrefix(path.Clean("/"+name), "/"))
}

// Walk calls visit for each tag and text of a part. It never calls visit if the part doesn't exist.
// Walk returns docio.ErrTooLarge, docio.ErrDamaged, the error of the Reader, or the error of visit
// unless that is ErrStop.
func (p *Package) Walk(part string, visit func(Element) error) error {
	file := p.parts[part]
	if file == nil {
		return nil
	}
	unpacked, err := file.Open()
	if err != nil {
		return fmt.Errorf("%w: part %s: %w", docio.ErrDamaged, part, err)
	}
	defer func() { _ = unpacked.Close() }() // Close only frees the decompressor
	limited := &io.LimitedReader{R: unpacked, N: min(p.left, p.maxPartBytes)}
	before := limited.N
	input, err := utf8Input(limited)
	if err == nil {
		err = walkXML(input, false, func(e Element) error {
			if err := visit(e); err != nil {
				return err
			}
			return p.doc.CheckContext()
		})
	}
	p.left -= before - limited.N
	switch {
	case errors.Is(err, ErrStop):
		return nil
	case limited.N <= 0: // even if the part seems to be complete
		return fmt.Errorf("%w: part %s", docio.ErrTooLarge, part)
	}
	return err
}

// Relationship refers from one part to another (ISO/IEC 29500-2, 6.5).
type Relationship struct {
	ID   string
	Type string // last element of the type's URI, which is the same in both variants of the standard
	Part string
}

// Relationships returns the relationships of a part to other parts in the package, in order. If
// part is "", it returns the relationships of the package itself.
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
			return docio.Damaged("more than %d relationships", MaxRelationships)
		}
		return nil
	})
	return list, err
}

// Main returns the main part and its relationships. If no relationship refers to a main part, it
// uses the part named fallback.
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
		return "", nil, docio.Damaged("main part not found")
	}
	list, err = p.Relationships(main)
	return main, list, err
}

// Parts returns the targets of the relationships that have the given type. It returns each part
// once, in order.
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

// WalkReferences calls visit for each element with the given name in a part, in order. The second
// argument of visit is the part that the element's relationship ID refers to, or "" if there is
// none. WalkReferences stops after MaxRelationships elements.
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

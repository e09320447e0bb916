package document

import (
	"archive/zip"
	"bufio"
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"net/url"
	"path"
	"strings"
)

// zipSlack is what reading a zip directory takes beside its entries, and
// zipEntry what one entry takes at the most on average: a header of 46 bytes
// and a name of some 80 (APPNOTE.TXT, 4.3.12).
const (
	zipSlack = 256 << 10
	zipEntry = 256
)

// checkOOXML tells Word, Excel and PowerPoint packages by the type of their main
// part, and an encrypted one by the compound file around it, which gives no
// more away: it counts as the kind that its extension says (API.md).
func checkOOXML(src *inspectSource, mime string, lim InspectLimits) Report {
	if string(src.head(len(oleSignature))) == oleSignature {
		if _, ok := inspectOLE(src)[streamEncrypted]; ok {
			return Report{MIME: mime, Rejection: ReasonDocumentPassword}
		}
		return Report{}
	}
	if mainPart(src, lim.MaxZipEntries) == mime {
		return Report{MIME: mime}
	}
	return Report{}
}

// mainPart returns the MIME type of the package that src is by its one main
// part, "" when it is none or of another kind (macros, a template, a show).
// The zip may have harmless bytes before and behind it.
func mainPart(src *inspectSource, entries int) string {
	before, _, _ := bytes.Cut(src.head(pdfWindow), []byte("PK\x03\x04"))
	if ownKind(before) {
		return ""
	}
	reads := &inspectAllowance{src, zipSlack + int64(entries)*zipEntry}
	archive, err := zip.NewReader(reads, src.size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) { // nothing is unpacked to a path
		return ""
	}
	if len(archive.File) > entries {
		return ""
	}
	parts := make(map[string]bool, len(archive.File))
	var types *zip.File
	for _, file := range archive.File {
		name := inspectPartName(file.Name)
		if name == "[content_types].xml" {
			if types != nil {
				return "" // two readers could see two documents
			}
			types = file
		}
		parts[name] = true
	}
	if types == nil {
		return ""
	}
	reads.left = zipSlack + contentTypesSize
	found, ok := mainTypes(types, parts)
	if !ok || len(found) != 1 {
		return ""
	}
	for contentType := range found {
		return mainKinds[contentType]
	}
	return ""
}

// inspectPartName makes names of zip entries and of parts comparable: without regard
// to case, root or escapes (ISO/IEC 29500-2, 7.3); backslashes are found in
// the field.
func inspectPartName(name string) string {
	name = strings.ReplaceAll(name, `\`, "/")
	if plain, err := url.PathUnescape(name); err == nil {
		name = plain
	}
	return strings.ToLower(strings.TrimPrefix(path.Clean("/"+name), "/"))
}

// Bounds of the one part that is unpacked.
const (
	contentTypesSize  = 8 << 20  // packed or unpacked; 10,000 parts take 1.5 MB
	contentTypesToken = 64 << 10 // one element with its attributes
	contentTypesDepth = 8        // two by the schema
	contentTypesRatio = 100      // unpacked to packed beyond the first MB; an honest one is some 30
)

// mainKinds are the main part types of the accepted kinds (ISO/IEC 29500-1,
// 11.3.10, 12.3.23, 13.3.6; the strict variant has the same ones).
var mainKinds = map[string]string{
	mimeDOCX + ".main+xml": mimeDOCX,
	mimeXLSX + ".main+xml": mimeXLSX,
	mimePPTX + ".main+xml": mimePPTX,
}

// isMain reports whether a content type is one of a main part, ours or not: all
// of them end alike, macro documents, templates, shows, add-ins, binary
// workbooks and drawings too.
func isMain(contentType string) bool {
	return strings.HasSuffix(contentType, ".main+xml") || strings.HasSuffix(contentType, ".main")
}

// mainTypes reads a [Content_Types].xml (ISO/IEC 29500-2, 7.2.3) and returns the
// main part types of parts that the package has, by their own names or, where
// no part has one so, by their extension.
func mainTypes(file *zip.File, parts map[string]bool) (found map[string]bool, ok bool) {
	unpacked, err := file.Open()
	if err != nil {
		return nil, false
	}
	defer func() { _ = unpacked.Close() }() // only frees the decompressor
	extensions := make(map[string]bool)
	for name := range parts {
		extensions[path.Ext(name)] = true
	}
	most := min(contentTypesSize, 1<<20+contentTypesRatio*int64(min(file.CompressedSize64, contentTypesSize)))
	limited := &io.LimitedReader{R: unpacked, N: most}
	found, defaults := make(map[string]bool), make(map[string]bool)
	err = readTypes(&inspectTokenInput{Reader: bufio.NewReader(limited)}, func(element, key, contentType string) {
		switch {
		case !isMain(contentType):
		case element == "Override" && parts[inspectPartName(key)]:
			found[contentType] = true
		case element == "Default" && extensions["."+strings.ToLower(key)]:
			defaults[contentType] = true
		}
	})
	if err != nil || limited.N <= 0 {
		return nil, false
	}
	if len(found) == 0 {
		found = defaults
	}
	return found, true
}

// readTypes calls each with every Override (a part name) and Default (an
// extension), and its content type in lower case without parameters.
func readTypes(input *inspectTokenInput, each func(element, key, contentType string)) error {
	decoder := xml.NewDecoder(input)
	// Names and types are ASCII, so any encoding that contains it will do.
	decoder.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	for depth := 0; ; {
		input.left = contentTypesToken
		token, err := decoder.RawToken()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		switch element := token.(type) {
		case xml.StartElement:
			if depth++; depth > contentTypesDepth {
				return errAllowance
			}
			key, contentType := typeAttributes(element)
			each(element.Name.Local, key, contentType)
		case xml.EndElement:
			depth--
		}
	}
}

func typeAttributes(element xml.StartElement) (key, contentType string) {
	for _, attr := range element.Attr {
		switch attr.Name.Local {
		case "PartName", "Extension":
			key = attr.Value
		case "ContentType":
			contentType, _, _ = strings.Cut(attr.Value, ";")
			contentType = strings.ToLower(strings.TrimSpace(contentType))
		}
	}
	return key, contentType
}

// inspectTokenInput bounds what the XML decoder may hold at a time: the bytes left for
// the token it is reading.
type inspectTokenInput struct {
	*bufio.Reader
	left int
}

func (t *inspectTokenInput) ReadByte() (byte, error) {
	if t.left == 0 {
		return 0, errAllowance
	}
	t.left--
	return t.Reader.ReadByte()
}

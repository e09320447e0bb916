package document

import (
	"archive/zip"
	"bufio"
	"encoding/xml"
	"io"
	"path"
	"strings"
)

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

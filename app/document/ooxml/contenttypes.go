package ooxml

import (
	"archive/zip"
	"bufio"
	"encoding/xml"
	"io"
	"path"
	"strings"

	"deedkeep/app/document/docio"
)

// Bounds of reading a zip directory: each entry has a header of 46 bytes and a name of some
// 80 (APPNOTE.TXT, 4.3.12).
const (
	zipSlackBytes = 256 << 10 // besides the entries
	zipEntryBytes = 256       // average of an entry, at most
)

// Bounds of reading [Content_Types].xml.
const (
	maxContentTypesBytes = 8 << 20  // packed or unpacked; 10,000 parts take 1.5 MB
	maxContentTypesToken = 64 << 10 // one element with its attributes
	maxContentTypesDepth = 8        // two by the schema
	maxContentTypesRatio = 100      // unpacked to packed after the first MB; a real one has some 30
)

// MainContentTypes returns the content types of the main parts that a package declares in
// its [Content_Types].xml, in lower case. A proper package has one. It returns nil if doc
// isn't a package that can be read, has more than maxEntries zip entries, or declares its
// types twice: then two readers could see two documents.
//
// The zip may have other bytes before and after it.
func MainContentTypes(doc *docio.Reader, maxEntries int) []string {
	archive, reads, err := openZip(doc, zipSlackBytes+int64(maxEntries)*zipEntryBytes)
	if err != nil || len(archive.File) > maxEntries {
		return nil
	}
	parts := make(map[string]bool, len(archive.File))
	var types *zip.File
	for _, file := range archive.File {
		name := partName(file.Name)
		if name == "[content_types].xml" {
			if types != nil {
				return nil
			}
			types = file
		}
		parts[name] = true
	}
	if types == nil {
		return nil
	}
	reads.Left = zipSlackBytes + maxContentTypesBytes
	return mainTypes(types, parts)
}

// isMain reports whether a content type is that of a main part. They all end alike, also
// those of macro documents, templates, shows, add-ins, binary workbooks, and drawings.
func isMain(contentType string) bool {
	return strings.HasSuffix(contentType, ".main+xml") || strings.HasSuffix(contentType, ".main")
}

// mainTypes reads [Content_Types].xml (ISO/IEC 29500-2, 7.2.3). A part's type is declared
// under its name or, if no main part is declared so, under its extension.
func mainTypes(file *zip.File, parts map[string]bool) []string {
	unpacked, err := file.Open()
	if err != nil {
		return nil
	}
	defer func() { _ = unpacked.Close() }() // only frees the decompressor
	extensions := make(map[string]bool)
	for name := range parts {
		extensions[path.Ext(name)] = true
	}
	maxBytes := min(maxContentTypesBytes, 1<<20+maxContentTypesRatio*int64(min(file.CompressedSize64, maxContentTypesBytes)))
	limited := &io.LimitedReader{R: unpacked, N: maxBytes}
	found, defaults := make(map[string]bool), make(map[string]bool)
	err = readTypes(newTokenReader(bufio.NewReader(limited), maxContentTypesToken), func(element, key, contentType string) {
		switch {
		case !isMain(contentType):
		case element == "Override" && parts[partName(key)]:
			found[contentType] = true
		case element == "Default" && extensions["."+strings.ToLower(key)]:
			defaults[contentType] = true
		}
	})
	if err != nil || limited.N <= 0 {
		return nil
	}
	if len(found) == 0 {
		found = defaults
	}
	var list []string
	for contentType := range found {
		list = append(list, contentType)
	}
	return list
}

// readTypes calls visit with every Override (key is a part name) and Default (key is an
// extension), and its content type in lower case without parameters.
func readTypes(input *tokenReader, visit func(element, key, contentType string)) error {
	decoder := xml.NewDecoder(input)
	decoder.CharsetReader = asASCII
	for depth := 0; ; {
		input.left = input.max
		token, err := decoder.RawToken()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		switch element := token.(type) {
		case xml.StartElement:
			if depth++; depth > maxContentTypesDepth {
				return docio.Damaged("content types %d elements deep", depth)
			}
			key, contentType := typeAttributes(element)
			visit(element.Name.Local, key, contentType)
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

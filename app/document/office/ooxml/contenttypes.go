package ooxml

import (
	"archive/zip"
	"bufio"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"deedkeep/app/document/docio"
)

// Limits on reading a zip directory. Each entry has a header of 46 bytes and a name of about 80
// (APPNOTE.TXT, 4.3.12).
const (
	zipSlackBytes = 256 << 10 // in addition to the entries
	zipEntryBytes = 256       // maximum average size of an entry
)

// Limits on reading [Content_Types].xml.
const (
	maxContentTypesBytes = 8 << 20  // compressed and uncompressed; 10,000 parts take 1.5 MB
	maxContentTypesToken = 64 << 10 // maximum size of an element with its attributes
	maxContentTypesDepth = 8        // the schema needs two levels
	maxContentTypesRatio = 100      // maximum compression ratio after the first MB; it is about 30 in real documents
)

// MainContentTypes returns the content types of the main parts that a package declares in its
// [Content_Types].xml, in lowercase. A valid package has one main part. MainContentTypes returns
// nil if doc isn't a readable package, has more than maxEntries zip entries, or declares its types
// twice. In the last case, two applications could display different documents.
//
// There may be other bytes before and after the zip data.
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

// isMain reports whether a content type is the type of a main part. All these types end in the same
// way, including those of macro-enabled documents, templates, slide shows, add-ins, binary
// workbooks, and drawings.
func isMain(contentType string) bool {
	return strings.HasSuffix(contentType, ".main+xml") || strings.HasSuffix(contentType, ".main")
}

// mainTypes returns the types of the main parts in [Content_Types].xml (ISO/IEC 29500-2, 7.2.3).
// The type of a part is declared for its name. If no main part has such a declaration, mainTypes
// uses the declarations for extensions.
func mainTypes(file *zip.File, parts map[string]bool) []string {
	unpacked, err := file.Open()
	if err != nil {
		return nil
	}
	defer func() { _ = unpacked.Close() }() // Close only frees the decompressor
	extensions := make(map[string]bool)
	for name := range parts {
		extensions[path.Ext(name)] = true
	}
	maxBytes := min(maxContentTypesBytes, 1<<20+maxContentTypesRatio*int64(min(file.CompressedSize64, maxContentTypesBytes)))
	limited := &io.LimitedReader{R: unpacked, N: maxBytes}
	found, defaults := make(map[string]bool), make(map[string]bool)
	depth := 0
	err = walkXML(newTokenReader(bufio.NewReader(limited), maxContentTypesToken), true, func(e Element) error {
		if e.End {
			depth--
		}
		if !e.Start {
			return nil
		}
		if depth++; depth > maxContentTypesDepth {
			return docio.Damaged("content types nested %d levels deep", depth)
		}
		contentType, _, _ := strings.Cut(e.Attr("ContentType"), ";")
		contentType = strings.ToLower(strings.TrimSpace(contentType))
		switch {
		case !isMain(contentType):
		case e.Name == "Override" && parts[partName(e.Attr("PartName"))]:
			found[contentType] = true
		case e.Name == "Default" && extensions["."+strings.ToLower(e.Attr("Extension"))]:
			defaults[contentType] = true
		}
		return nil
	})
	if err != nil || limited.N <= 0 {
		return nil
	}
	if len(found) == 0 {
		found = defaults
	}
	return slices.Collect(maps.Keys(found))
}

package document

import (
	"archive/zip"
	"bytes"
	"errors"
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

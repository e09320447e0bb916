package document

import (
	"bytes"

	"deedkeep/app/document/docio"
	"deedkeep/app/document/ole"
	"deedkeep/app/document/ooxml"
)

// mimeByMainType maps the content type of the main part to the type of the document (ISO/IEC
// 29500-1, 11.3.10, 12.3.23, 13.3.6). The strict variant uses the same content types. Documents
// with macros, templates, and slide shows use different ones.
var mimeByMainType = map[string]string{
	mimeDOCX + ".main+xml": mimeDOCX,
	mimeXLSX + ".main+xml": mimeXLSX,
	mimePPTX + ".main+xml": mimePPTX,
}

// inspectOOXML recognizes Word, Excel, and PowerPoint packages by the type of their only main part.
// An encrypted package is a compound file that doesn't say what it contains, so inspectOOXML trusts
// its extension.
func inspectOOXML(doc *docio.Reader, mime string, lim InspectLimits) Report {
	if string(doc.Head(len(ole.Signature))) == ole.Signature {
		if file, err := ole.Open(doc, 0); err == nil && file.Has(streamEncryptedPackage) {
			return Report{MIME: mime, Rejection: ReasonDocumentPassword}
		}
		return Report{}
	}
	prefix, _, _ := bytes.Cut(doc.Head(pdfHeaderWindow), []byte("PK\x03\x04"))
	if isOtherType(prefix) {
		return Report{}
	}
	types := ooxml.MainContentTypes(doc, lim.MaxZipEntries)
	if len(types) == 1 && mimeByMainType[types[0]] == mime {
		return Report{MIME: mime}
	}
	return Report{}
}

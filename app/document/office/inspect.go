// Package office recognizes Office documents, and reads their text: the old formats of Word, Excel,
// and PowerPoint (OLE compound files), and those of Office Open XML. It never decrypts a document.
package office

import (
	"strings"

	"deedkeep/app/document/docio"
	"deedkeep/app/document/office/ole"
	"deedkeep/app/document/office/ooxml"
)

// MIME types of the documents that this package reads.
const (
	MIMEDOC  = "application/msword"
	MIMEXLS  = "application/vnd.ms-excel"
	MIMEPPT  = "application/vnd.ms-powerpoint"
	MIMEDOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
	MIMEXLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
	MIMEPPTX = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
)

// Names of streams in the root storage, in lowercase ([MS-DOC] 2.1, [MS-XLS] 2.1, [MS-PPT] 2.1,
// [MS-OFFCRYPTO] 2.3.4).
const (
	streamWord             = "worddocument"
	streamWorkbook         = "workbook"
	streamBook             = "book" // workbook of Excel 5 and 95
	streamPowerPoint       = "powerpoint document"
	streamCurrentUser      = "current user"
	streamEncryptedPackage = "encryptedpackage"
	streamEncryptedSummary = "encryptedsummary"
)

// mimeByStream maps the name of a stream to the type of the documents that contain it.
var mimeByStream = map[string]string{
	streamWord:       MIMEDOC,
	streamWorkbook:   MIMEXLS,
	streamBook:       MIMEXLS,
	streamPowerPoint: MIMEPPT,
}

// OLEType returns the type of a .doc, .xls, or .ppt file by the streams in the root storage, or "" if
// doc isn't one or has streams of two types. locked reports whether the file needs a password.
func OLEType(doc *docio.Reader) (mime string, locked bool) {
	file, err := ole.Open(doc, 0)
	if err != nil {
		return "", false
	}
	for stream, streamMIME := range mimeByStream {
		if file.Has(stream) {
			if mime != "" && mime != streamMIME {
				return "", false
			}
			mime = streamMIME
		}
	}
	return mime, needsPassword(file, mime)
}

// IsOLE reports whether doc starts like an OLE compound file.
func IsOLE(doc *docio.Reader) bool { return string(doc.Head(len(ole.Signature))) == ole.Signature }

// IsEncryptedPackage reports whether doc is a compound file with an encrypted Office Open XML package.
func IsEncryptedPackage(doc *docio.Reader) bool {
	file, err := ole.Open(doc, 0)
	return err == nil && file.Has(streamEncryptedPackage)
}

// PackageType returns the type of a .docx, .xlsx, or .pptx file with at most maxEntries zip entries by
// the type of its only main part (ISO/IEC 29500-1, 11.3.10, 12.3.23, 13.3.6), or "" if doc isn't one.
// The strict variant uses the same content types. Documents with macros, templates, and slide shows
// use different ones.
func PackageType(doc *docio.Reader, maxEntries int) string {
	types := ooxml.MainContentTypes(doc, maxEntries)
	if len(types) != 1 {
		return ""
	}
	switch mime, isMain := strings.CutSuffix(types[0], ".main+xml"); mime {
	case MIMEDOCX, MIMEXLSX, MIMEPPTX:
		if isMain {
			return mime
		}
	}
	return ""
}

// needsPassword reports whether a document of the given type can't be opened without a password. It
// returns false if it can't read the stream that contains this information.
func needsPassword(file *ole.File, mime string) bool {
	head := func(name string, n int64) records {
		b, _ := file.Read(n, name)
		return b
	}
	switch mime {
	case MIMEDOC:
		return head(streamWord, fibFlags+2).u16(fibFlags)&fibEncrypted != 0
	case MIMEXLS:
		return workbookNeedsPassword(head(streamWorkbook, 512)) || workbookNeedsPassword(head(streamBook, 512))
	case MIMEPPT:
		const encryptedToken = 0xF3D1C4DF // header token of the CurrentUserAtom ([MS-PPT] 2.3.2)
		return file.Has(streamEncryptedSummary) || uint32(head(streamCurrentUser, 16).u32(12)) == encryptedToken
	}
	return false
}

// workbookNeedsPassword looks for a FilePass record and reports whether Excel would ask for a
// password because of it. A FilePass record is near the first record and precedes all encrypted
// data ([MS-XLS] 2.1.4).
func workbookNeedsPassword(stream records) bool {
	for at := 0; ; {
		recordType, content, next, ok := stream.record(at)
		switch {
		case !ok, recordType == biffEOF, at == 0 && recordType != biffBOF:
			return false
		case recordType == biffFilePass:
			return !opensWithExcelPassword(content)
		}
		at = next
	}
}

package document

import (
	"deedkeep/app/document/docio"
	"deedkeep/app/document/ole"
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
	streamWord:       mimeDOC,
	streamWorkbook:   mimeXLS,
	streamBook:       mimeXLS,
	streamPowerPoint: mimePPT,
}

// inspectOLE recognizes Word, Excel, and PowerPoint files by the streams in the root storage, and
// checks whether they need a password. It rejects a file with streams of two types.
func inspectOLE(doc *docio.Reader, mime string, _ InspectLimits) Report {
	file, err := ole.Open(doc, 0)
	if err != nil {
		return Report{}
	}
	found := ""
	for stream, streamMIME := range mimeByStream {
		if file.Has(stream) {
			if found != "" && found != streamMIME {
				return Report{}
			}
			found = streamMIME
		}
	}
	if found != mime {
		return Report{}
	}
	report := Report{MIME: mime}
	if needsPassword(file, mime) {
		report.Rejection = ReasonDocumentPassword
	}
	return report
}

// needsPassword reports whether a document of the given type can't be opened without a password. It
// returns false if it can't read the stream that contains this information.
func needsPassword(file *ole.File, mime string) bool {
	head := func(name string, n int64) records {
		b, _ := file.Read(n, name)
		return b
	}
	switch mime {
	case mimeDOC:
		return head(streamWord, fibFlags+2).u16(fibFlags)&fibEncrypted != 0
	case mimeXLS:
		return workbookNeedsPassword(head(streamWorkbook, 512)) || workbookNeedsPassword(head(streamBook, 512))
	case mimePPT:
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

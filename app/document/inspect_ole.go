package document

import (
	"encoding/binary"

	"deedkeep/app/document/docio"
	"deedkeep/app/document/ole"
)

// Streams of the root storage, in lower case ([MS-DOC] 2.1, [MS-XLS] 2.1, [MS-PPT] 2.1,
// [MS-OFFCRYPTO] 2.3.4).
const (
	streamWord             = "worddocument"
	streamWorkbook         = "workbook"
	streamBook             = "book" // the workbook of Excel 5 and 95
	streamPowerPoint       = "powerpoint document"
	streamCurrentUser      = "current user"
	streamEncryptedPackage = "encryptedpackage"
	streamEncryptedSummary = "encryptedsummary"
)

// mimeByStream maps a stream to the type of document that has it.
var mimeByStream = map[string]string{
	streamWord:       mimeDOC,
	streamWorkbook:   mimeXLS,
	streamBook:       mimeXLS,
	streamPowerPoint: mimePPT,
}

// inspectOLE recognizes Word, Excel, and PowerPoint files by the streams of the root
// storage, and whether they need a password. A file with streams of two types is rejected.
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

// needsPassword reports whether a document of that type can't be opened without a password.
// It is false if the stream that would tell can't be read.
func needsPassword(file *ole.File, mime string) bool {
	switch mime {
	case mimeDOC:
		return wordNeedsPassword(file.Head(streamWord, 12))
	case mimeXLS:
		for _, name := range []string{streamWorkbook, streamBook} {
			if workbookNeedsPassword(file.Head(name, 512)) {
				return true
			}
		}
	case mimePPT:
		return file.Has(streamEncryptedSummary) || slidesNeedPassword(file.Head(streamCurrentUser, 16))
	}
	return false
}

// wordNeedsPassword tests the flag fEncrypted of the file information block, at the same
// position since Word 6 ([MS-DOC] 2.5.2).
func wordNeedsPassword(fib []byte) bool {
	return len(fib) >= 12 && fib[11]&1 != 0
}

// slidesNeedPassword tests the header token of the CurrentUserAtom ([MS-PPT] 2.3.2).
func slidesNeedPassword(atom []byte) bool {
	return len(atom) >= 16 && binary.LittleEndian.Uint32(atom[12:]) == 0xF3D1C4DF
}

// workbookNeedsPassword looks for a FilePass record, which comes soon after the first
// record and before anything encrypted ([MS-XLS] 2.1.4), and reports whether Excel would
// ask for a password because of it.
func workbookNeedsPassword(stream []byte) bool {
	le := binary.LittleEndian
	if len(stream) < 4 || le.Uint16(stream) != biffBOF {
		return false
	}
	for len(stream) >= 4 {
		length := 4 + int(le.Uint16(stream[2:]))
		switch le.Uint16(stream) {
		case biffFilePass:
			return !opensWithExcelPassword(stream[4:min(length, len(stream))])
		case biffEOF:
			return false
		}
		if length > len(stream) {
			return false
		}
		stream = stream[length:]
	}
	return false
}

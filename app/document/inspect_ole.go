package document

import (
	"encoding/binary"

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

// wordNeedsPassword checks the fEncrypted flag of the file information block ([MS-DOC] 2.5.2). Its
// position hasn't changed since Word 6.
func wordNeedsPassword(fib []byte) bool {
	return len(fib) >= 12 && fib[11]&1 != 0
}

// slidesNeedPassword checks the header token of the CurrentUserAtom ([MS-PPT] 2.3.2).
func slidesNeedPassword(atom []byte) bool {
	return len(atom) >= 16 && binary.LittleEndian.Uint32(atom[12:]) == 0xF3D1C4DF
}

// workbookNeedsPassword looks for a FilePass record and reports whether Excel would ask for a
// password because of it. A FilePass record is near the first record and precedes all encrypted
// data ([MS-XLS] 2.1.4).
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

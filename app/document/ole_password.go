package document

import (
	"encoding/binary"

	"github.com/richardlehane/mscfb"
)

// locked reports whether a document of that kind needs a password to open. One
// whose telling stream cannot be read does not say so.
func (root oleRoot) locked(mime string) bool {
	switch mime {
	case mimeDOC:
		return lockedWord(begin(root[streamWord], 12))
	case mimeXLS:
		for _, name := range []string{streamWorkbook, streamBook} {
			if lockedWorkbook(begin(root[name], 512)) {
				return true
			}
		}
	case mimePPT:
		_, summary := root[streamSummary]
		return summary || lockedSlides(begin(root[streamUser], 16))
	}
	return false
}

// begin returns up to n first bytes of a stream, nil when there is none.
func begin(stream *mscfb.File, n int) []byte {
	if stream == nil {
		return nil
	}
	p := make([]byte, n)
	got, _ := stream.Read(p) // what could be had tells; a fault of ours stays in the source
	return p[:got]
}

// lockedWord looks at the flag fEncrypted of the file information block, which
// has the same place since Word 6 ([MS-DOC] 2.5.2).
func lockedWord(fib []byte) bool {
	return len(fib) >= 12 && fib[11]&1 != 0
}

// lockedSlides looks at the header token of the CurrentUserAtom ([MS-PPT] 2.3.2).
func lockedSlides(atom []byte) bool {
	return len(atom) >= 16 && binary.LittleEndian.Uint32(atom[12:]) == 0xF3D1C4DF
}

// Records of a workbook stream, each type:2 length:2 data ([MS-XLS] 2.1.4).
const (
	recordFilePass = 0x002F
	recordBOF      = 0x0809
	recordEOF      = 0x000A
)

// lockedWorkbook looks for a FilePass record, which stands near the first
// record, before anything encrypted, and whether Excel opens it by itself.
func lockedWorkbook(stream []byte) bool {
	le := binary.LittleEndian
	if len(stream) < 4 || le.Uint16(stream) != recordBOF {
		return false
	}
	for len(stream) >= 4 {
		length := 4 + int(le.Uint16(stream[2:]))
		switch le.Uint16(stream) {
		case recordFilePass:
			return !opensByItself(stream[4:min(length, len(stream))])
		case recordEOF:
			return false
		}
		if length > len(stream) {
			return false
		}
		stream = stream[length:]
	}
	return false
}

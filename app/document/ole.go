package document

import (
	"encoding/binary"
	"io"
	"strings"
	"unicode"

	"github.com/richardlehane/mscfb"
)

// oleSignature begins a compound file ([MS-CFB] 2.2), the container of the old
// Office formats and of encrypted new ones.
const oleSignature = "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"

// oleReads bounds what the library may read of a compound file, and with it the
// memory it takes: 128 bytes make one directory entry of some 300 bytes.
const oleReads = 4 << 20

// oleRoot holds the streams of the root storage that mean something to us, by
// their names in lower case.
type oleRoot map[string]*mscfb.File

// The names, without regard to case ([MS-DOC] 2.1, [MS-XLS] 2.1, [MS-PPT] 2.1,
// [MS-OFFCRYPTO] 2.3.4).
const (
	streamWord      = "worddocument"
	streamWorkbook  = "workbook"
	streamBook      = "book"
	streamSlides    = "powerpoint document"
	streamEncrypted = "encryptedpackage"
	streamUser      = "current user"
	streamSummary   = "encryptedsummary"
)

var oleKinds = map[string]string{
	streamWord:     mimeDOC,
	streamWorkbook: mimeXLS,
	streamBook:     mimeXLS,
	streamSlides:   mimePPT,
}

// checkOLE tells Word, Excel and PowerPoint files by the root storage's streams
// alone (a document embedded below says nothing), and whether they need a
// password. A root of two kinds is neither.
func checkOLE(src *inspectSource, mime string, _ InspectLimits) Report {
	root := inspectOLE(src)
	found := ""
	for name := range root {
		if of, ok := oleKinds[name]; ok {
			if found != "" && found != of {
				return Report{}
			}
			found = of
		}
	}
	if found != mime {
		return Report{}
	}
	report := Report{MIME: mime}
	if root.locked(mime) {
		report.Rejection = ReasonDocumentPassword
	}
	return report
}

// inspectOLE returns the root's streams, nil when src is no compound file that can
// be read.
func inspectOLE(src *inspectSource) (root oleRoot) {
	if !plausibleOLE(src) {
		return nil
	}
	// The library is careful, but it reads what nobody vouches for: an index
	// that it misses must cost a document, not the process.
	defer func() {
		if recover() != nil {
			root = nil
		}
	}()
	file, err := mscfb.New(&inspectAllowance{inspectPadded{src}, oleReads})
	if err != nil {
		return nil
	}
	root = oleRoot{}
	for _, entry := range file.File {
		// The library cuts a control character off the front of a name.
		if len(entry.Path) > 0 || entry.FileInfo().IsDir() || !unicode.IsPrint(rune(entry.Initial)) {
			continue
		}
		switch name := strings.ToLower(entry.Name); name {
		case streamWord, streamWorkbook, streamBook, streamSlides, streamEncrypted, streamUser, streamSummary:
			root[name] = entry
		}
	}
	return root
}

// plausibleOLE reports whether the header's counts of sectors fit into the file
// ([MS-CFB] 2.2), before a library allocates by them.
func plausibleOLE(src *inspectSource) bool {
	h := src.head(512)
	if len(h) < 512 || string(h[:8]) != oleSignature {
		return false
	}
	le := binary.LittleEndian
	shift := le.Uint16(h[30:])
	if shift != 9 && shift != 12 {
		return false
	}
	sectors := src.size>>shift + 1
	for _, at := range []int{40, 44, 64, 72} { // directory, FAT, mini FAT, DIFAT
		if int64(le.Uint32(h[at:])) > sectors {
			return false
		}
	}
	return true
}

// inspectPadded reads zeros for up to one sector behind the end: writers are found
// that leave the last sector short.
type inspectPadded struct{ *inspectSource }

func (p inspectPadded) ReadAt(b []byte, off int64) (int, error) {
	n, err := p.inspectSource.ReadAt(b, off)
	if err == io.EOF && n > 0 {
		clear(b[n:])
		return len(b), nil
	}
	return n, err
}

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

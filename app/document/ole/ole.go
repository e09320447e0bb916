// Package ole reads the streams of OLE compound files ([MS-CFB]), the container of Word,
// Excel, and PowerPoint files before 2007 and of encrypted newer ones.
package ole

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/richardlehane/mscfb"

	"deedkeep/app/document/docio"
)

// Signature is how a compound file begins ([MS-CFB] 2.2).
const Signature = "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"

const (
	// maxDirectoryBytes bounds what the library may read to open a file, and with it the
	// memory it takes: a directory entry of 128 bytes becomes some 300 bytes in memory.
	maxDirectoryBytes = 4 << 20
	// chunkSize is how many bytes of a stream are read in one call: the library's work is
	// quadratic in it.
	chunkSize = 32 << 10
)

// File is an open compound file. It knows the streams of the root storage only: what is in
// a storage below it belongs to an embedded document.
type File struct {
	streams map[string]*mscfb.File // by name in lower case
}

// Open reads the directory. streamBytes is how many bytes of doc may be read later, for the
// contents of streams; without them the rest of what the directory may take has to do. It
// returns docio.ErrDamaged if doc isn't a compound file.
func Open(doc *docio.Reader, streamBytes int64) (file *File, err error) {
	if err := checkHeader(doc); err != nil {
		return nil, err
	}
	// The library checks what it reads, but a panic in it must not end the process.
	defer func() {
		if p := recover(); p != nil {
			file, err = nil, docio.Damaged("decoder: %v", p)
		}
	}()
	reads := &docio.Budget{ReaderAt: padded{doc}, Left: maxDirectoryBytes}
	compound, err := mscfb.New(reads)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", docio.ErrDamaged, err)
	}
	reads.Left = max(reads.Left, streamBytes)
	file = &File{streams: make(map[string]*mscfb.File)}
	for _, entry := range compound.File {
		// The library cuts a leading control character off a name and keeps it in Initial.
		if len(entry.Path) == 0 && !entry.FileInfo().IsDir() && unicode.IsPrint(rune(entry.Initial)) {
			file.streams[strings.ToLower(entry.Name)] = entry
		}
	}
	return file, nil
}

// StreamBytes returns what Open needs as streamBytes to read the streams of a document of
// size bytes: every sector once, and its number in the sector tables.
func StreamBytes(size int64) int64 { return 4*size + maxDirectoryBytes }

// checkHeader compares the header's counts of sectors with the size of the file: the
// library allocates memory by them.
func checkHeader(doc *docio.Reader) error {
	h, ok := doc.Bytes(0, 512)
	if !ok || string(h[:8]) != Signature {
		return docio.Damaged("no compound file")
	}
	shift := binary.LittleEndian.Uint16(h[30:])
	if shift != 9 && shift != 12 {
		return docio.Damaged("sectors of 2^%d bytes", shift)
	}
	for _, at := range []int{40, 44, 64, 72} { // directory, FAT, mini FAT, DIFAT
		if int64(binary.LittleEndian.Uint32(h[at:])) > doc.Size()>>shift+1 {
			return docio.Damaged("more sectors than bytes")
		}
	}
	return nil
}

// padded returns zeros for the missing end of the last sector, which some writers cut short.
type padded struct{ *docio.Reader }

func (p padded) ReadAt(b []byte, off int64) (int, error) {
	n, err := p.Reader.ReadAt(b, off)
	if errors.Is(err, io.EOF) && n > 0 {
		clear(b[n:])
		return len(b), nil
	}
	return n, err
}

// Has reports whether the root storage has a stream of that name, which is in lower case.
func (f *File) Has(name string) bool {
	_, ok := f.streams[name]
	return ok
}

// Head returns the first n bytes of a stream, or as many as can be read. The name is in
// lower case.
func (f *File) Head(name string, n int) []byte {
	stream := f.streams[name]
	if stream == nil {
		return nil
	}
	p := make([]byte, n)
	n, _ = stream.Read(p) // a damaged stream is as long as what can be read of it
	return p[:n]
}

// Read returns up to maxBytes of the first stream that exists among names, which are in
// lower case. Of a damaged stream it returns what comes before the damage. It returns
// docio.ErrDamaged if there is no such stream.
func (f *File) Read(maxBytes int64, names ...string) ([]byte, error) {
	for _, name := range names {
		stream := f.streams[name]
		if stream == nil {
			continue
		}
		var content []byte
		length := min(stream.Size, maxBytes)
		chunk := make([]byte, chunkSize)
		for int64(len(content)) < length {
			n, err := stream.Read(chunk[:min(chunkSize, length-int64(len(content)))])
			content = append(content, chunk[:n]...)
			if err != nil || n == 0 {
				return content, nil //nolint:nilerr // what comes before the damage is the result
			}
		}
		return content, nil
	}
	return nil, docio.Damaged("no stream %s", names[0])
}

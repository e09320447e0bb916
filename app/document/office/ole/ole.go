// Package ole reads the streams of OLE compound files ([MS-CFB]). Word, Excel, and PowerPoint used
// this container before 2007 and still use it for encrypted files.
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

// Signature is the start of every compound file ([MS-CFB] 2.2).
const Signature = "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"

const (
	// maxDirectoryBytes is the maximum number of bytes that the library may read to open a file. It
	// also limits the library's memory: a directory entry of 128 bytes takes about 300 bytes in
	// memory.
	maxDirectoryBytes = 4 << 20
	// chunkSize is the number of bytes of a stream to read in one call. The library's work grows
	// with the square of this number.
	chunkSize = 32 << 10
)

// File is an open compound file. It contains only the streams of the root storage. Storages below
// it belong to embedded documents.
type File struct {
	streams map[string]*mscfb.File // by name in lowercase
}

// Open reads the directory. streamBytes is the number of bytes of doc that may be read later for
// the contents of streams, in addition to the unused part of the limit for the directory. Open
// returns docio.ErrDamaged if doc isn't a compound file.
func Open(doc *docio.Reader, streamBytes int64) (file *File, err error) {
	if err := checkHeader(doc); err != nil {
		return nil, err
	}
	// The library checks its input, but if it panics anyway, the process must not end.
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
		// The library removes a leading control character from a name and stores it in Initial.
		if len(entry.Path) == 0 && !entry.FileInfo().IsDir() && unicode.IsPrint(rune(entry.Initial)) {
			file.streams[strings.ToLower(entry.Name)] = entry
		}
	}
	return file, nil
}

// StreamBytes returns the value of streamBytes that Open needs to read the streams of a document of
// size bytes. It allows for reading every sector once, and its number in the sector tables.
func StreamBytes(size int64) int64 { return 4*size + maxDirectoryBytes }

// checkHeader compares the sector counts in the header with the size of the file, because the
// library uses them to allocate memory.
func checkHeader(doc *docio.Reader) error {
	h, ok := doc.Bytes(0, 512)
	if !ok || string(h[:8]) != Signature {
		return docio.Damaged("not a compound file")
	}
	shift := binary.LittleEndian.Uint16(h[30:])
	if shift != 9 && shift != 12 {
		return docio.Damaged("invalid sector size 2^%d", shift)
	}
	for _, at := range []int{40, 44, 64, 72} { // directory, FAT, mini FAT, DIFAT
		if int64(binary.LittleEndian.Uint32(h[at:])) > doc.Size()>>shift+1 {
			return docio.Damaged("sector count exceeds the file size")
		}
	}
	return nil
}

// padded is a Reader that returns zeros for the missing end of the last sector. Some applications
// omit it.
type padded struct{ *docio.Reader }

func (p padded) ReadAt(b []byte, off int64) (int, error) {
	n, err := p.Reader.ReadAt(b, off)
	if errors.Is(err, io.EOF) && n > 0 {
		clear(b[n:])
		return len(b), nil
	}
	return n, err
}

// Has reports whether the root storage has a stream with the given name. name must be lowercase.
func (f *File) Has(name string) bool {
	_, ok := f.streams[name]
	return ok
}

// Read returns up to maxBytes of the first stream in names that exists. The names must be
// lowercase. If the stream is damaged, Read returns the content before the damage. It returns
// docio.ErrDamaged if none of the streams exists.
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
	return nil, docio.Damaged("stream %s not found", names[0])
}

package document

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"

	"github.com/richardlehane/mscfb"
)

// Bounds of a compound file ([MS-CFB]).
const (
	oleDirectory = 4 << 20  // bytes read for the directory: 128 make an entry of some 300
	oleChunk     = 32 << 10 // bytes of a stream read at a time: the library's work is quadratic in it
)

// oleStreams holds the streams of the root storage by their names in lower case.
type oleStreams map[string]*mscfb.File

// openOLE returns the streams of the root storage; a document that is embedded
// below it is another document.
func openOLE(doc *source) (oleStreams, error) {
	h, ok := doc.bytes(0, 512)
	if !ok || string(h[:8]) != "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" {
		return nil, damaged("no compound file")
	}
	// The header's counts must fit before the library allocates by them.
	shift := binary.LittleEndian.Uint16(h[30:])
	if shift != 9 && shift != 12 {
		return nil, damaged("sectors of 2^%d bytes", shift)
	}
	for _, at := range []int{40, 44, 64, 72} { // directory, FAT, mini FAT, DIFAT
		if int64(binary.LittleEndian.Uint32(h[at:])) > doc.Size>>shift+1 {
			return nil, damaged("more sectors than bytes")
		}
	}
	reads := &allowance{padded{doc}, oleDirectory}
	file, err := mscfb.New(reads)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	// Each sector is read once, and its number looked up.
	reads.left = 4*doc.Size + oleDirectory
	streams := oleStreams{}
	for _, entry := range file.File {
		// The library cuts a control character off the front of a name.
		if len(entry.Path) == 0 && !entry.FileInfo().IsDir() && unicode.IsPrint(rune(entry.Initial)) {
			streams[strings.ToLower(entry.Name)] = entry
		}
	}
	return streams, nil
}

// padded reads zeros for the rest of a sector that the end cuts short: writers
// are found that leave the last one so.
type padded struct{ *source }

func (p padded) ReadAt(b []byte, off int64) (int, error) {
	n, err := p.source.ReadAt(b, off)
	if errors.Is(err, io.EOF) && n > 0 {
		clear(b[n:])
		return len(b), nil
	}
	return n, err
}

// read returns a stream, as far as it can be read and lim lets it: what is left
// of a damaged document is worth finding. It returns ErrDamaged when there is
// nothing.
func (s oleStreams) read(lim ExtractLimits, names ...string) ([]byte, error) {
	for _, name := range names {
		file := s[name]
		if file == nil {
			continue
		}
		var content []byte
		most := min(file.Size, lim.MaxUnpackedBytes)
		chunk := make([]byte, oleChunk)
		for int64(len(content)) < most {
			n, err := file.Read(chunk[:min(oleChunk, most-int64(len(content)))])
			content = append(content, chunk[:n]...)
			if err != nil || n == 0 {
				return content, nil //nolint:nilerr // what could be read is worth having
			}
		}
		return content, nil
	}
	return nil, damaged("no stream %s", names[0])
}

// records reads little-endian numbers out of a stream; what lies outside is 0.
type records []byte

func (r records) u16(at int) int {
	if b := r.span(at, 2); b != nil {
		return int(binary.LittleEndian.Uint16(b))
	}
	return 0
}

func (r records) u32(at int) int {
	if b := r.span(at, 4); b != nil {
		return int(binary.LittleEndian.Uint32(b))
	}
	return 0
}

// span returns the n bytes at a place, nil when they are not all there.
func (r records) span(at, n int) records {
	if at < 0 || n < 0 || at > len(r) || n > len(r)-at {
		return nil
	}
	return r[at : at+n]
}

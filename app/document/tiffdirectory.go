package document

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Tags that a picture needs (TIFF 6.0).
const (
	tagWidth        = 256
	tagHeight       = 257
	tagBits         = 258
	tagCompression  = 259
	tagPhotometric  = 262
	tagFillOrder    = 266
	tagStripOffsets = 273
	tagOrientation  = 274
	tagSamples      = 277
	tagRowsPerStrip = 278
	tagStripCounts  = 279
	tagXResolution  = 282
	tagYResolution  = 283
	tagPlanar       = 284
	tagT4Options    = 292
	tagPredictor    = 317
	tagColorMap     = 320
	tagTileWidth    = 322
	tagTileHeight   = 323
	tagTileOffsets  = 324
	tagTileCounts   = 325
	tagExtraSamples = 338
	tagSampleFormat = 339
	tagJPEGTables   = 347
	tagSubsampling  = 530
)

// tiffLayout is the shape of one of the two TIFF formats. A file is a header
// that points to a chain of directories (TIFF 6.0, section 2; BigTIFF):
//
//	TIFF     "II*\0" | "MM\0*"   offset:4
//	BigTIFF  "II+\0" | "MM\0+"   8:2 0:2   offset:8
//	directory   count:2|8   count × entry   offset of the next:4|8, 0 at the end
//	entry       tag:2 type:2 count:4|8 value or its offset:4|8
type tiffLayout struct {
	order              binary.ByteOrder
	start              int64 // where the first offset stands
	count, entry, word int64 // bytes of a directory's count, an entry, an offset
}

// tiffEntries is more than any writer puts into a directory.
const tiffEntries = 4096

// tiffValues is the most values of an entry: strips or tiles of a picture.
const tiffValues = 1 << 20

// directory holds the entries of one picture by their tags.
type directory struct {
	layout  tiffLayout
	entries map[uint16]tiffEntry
}

type tiffEntry struct {
	kind  uint16
	count uint64
	at    int64 // where the value stands
}

func tiffHeader(doc *source) (tiffLayout, bool) {
	h, ok := doc.bytes(0, 8)
	if !ok {
		return tiffLayout{}, false
	}
	l := tiffLayout{order: binary.LittleEndian, start: 4, count: 2, entry: 12, word: 4}
	switch string(h[:2]) {
	case "II":
	case "MM":
		l.order = binary.BigEndian
	default:
		return tiffLayout{}, false
	}
	switch l.order.Uint16(h[2:]) {
	case 42:
		return l, true
	case 43:
		l.start, l.count, l.entry, l.word = 8, 8, 20, 8
		return l, true
	}
	return tiffLayout{}, false
}

// offset reads a word; 0 where there is none.
func (l tiffLayout) offset(doc *source, at int64) int64 {
	b, ok := doc.bytes(at, l.word)
	if !ok {
		return 0
	}
	return int64(min(l.number(b), math.MaxInt64))
}

// number reads b as one number of its length.
func (l tiffLayout) number(b []byte) uint64 {
	switch len(b) {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(l.order.Uint16(b))
	case 4:
		return uint64(l.order.Uint32(b))
	}
	return l.order.Uint64(b)
}

func (l tiffLayout) first(doc *source) int64 { return l.offset(doc, l.start) }

// directory reads the directory at off and the offset of the next.
func (l tiffLayout) directory(doc *source, off int64) (directory, int64, error) {
	b, ok := doc.bytes(off, l.count)
	if !ok {
		return directory{}, 0, damaged("no directory at %d", off)
	}
	n := l.number(b)
	if n == 0 || n > tiffEntries {
		return directory{}, 0, damaged("directory of %d entries", n)
	}
	off += l.count
	b, ok = doc.bytes(off, int64(n)*l.entry)
	if !ok {
		return directory{}, 0, damaged("directory is cut off")
	}
	dir := directory{layout: l, entries: make(map[uint16]tiffEntry, n)}
	for i := int64(0); i < int64(n); i++ {
		e := b[i*l.entry:][:l.entry]
		entry := tiffEntry{kind: l.order.Uint16(e[2:]), count: l.number(e[4 : 4+l.word])}
		entry.at = off + i*l.entry + 4 + l.word
		if size := tiffSize(entry.kind); size > 0 && entry.count > uint64(l.word)/uint64(size) {
			entry.at = int64(min(l.number(e[4+l.word:]), math.MaxInt64))
		}
		dir.entries[l.order.Uint16(e)] = entry
	}
	return dir, l.offset(doc, off+int64(n)*l.entry), nil
}

// tiffSize returns the bytes of a value of a type, 0 for unknown ones.
func tiffSize(kind uint16) int64 {
	switch kind {
	case 1, 2, 6, 7: // BYTE, ASCII, SBYTE, UNDEFINED
		return 1
	case 3, 8: // SHORT, SSHORT
		return 2
	case 4, 9, 11, 13: // LONG, SLONG, FLOAT, IFD
		return 4
	case 5, 10, 12, 16, 17, 18: // RATIONAL, SRATIONAL, DOUBLE, LONG8, SLONG8, IFD8
		return 8
	}
	return 0
}

// raw returns the bytes of up to most values.
func (d directory) raw(doc *source, tag uint16, most uint64) []byte {
	e, ok := d.entries[tag]
	if !ok {
		return nil
	}
	b, _ := doc.bytes(e.at, int64(min(e.count, most))*tiffSize(e.kind))
	return b
}

// numbers returns up to most values of whole numbers.
func (d directory) numbers(doc *source, tag uint16, most uint64) []uint64 {
	b := d.raw(doc, tag, min(most, tiffValues))
	size := int(tiffSize(d.entries[tag].kind))
	var list []uint64
	for ; size > 0 && len(b) >= size; b = b[size:] {
		list = append(list, d.layout.number(b[:size]))
	}
	return list
}

// one returns the first value, or otherwise where there is none.
func (d directory) one(doc *source, tag uint16, otherwise uint64) uint64 {
	if list := d.numbers(doc, tag, 1); len(list) == 1 {
		return list[0]
	}
	return otherwise
}

// rational returns a fraction, 0 where there is none.
func (d directory) rational(doc *source, tag uint16) float64 {
	b := d.raw(doc, tag, 1)
	if len(b) != 8 {
		return 0
	}
	over, under := d.layout.order.Uint32(b), d.layout.order.Uint32(b[4:])
	if under == 0 {
		return 0
	}
	return float64(over) / float64(under)
}

func (d directory) turn(doc *source) int {
	return int(min(d.one(doc, tagOrientation, 1), 9))
}

// tiffDirectory returns the directory of page n, from 1, and how many there are
// until there.
func tiffDirectory(doc *source, n int) (dir directory, found int, err error) {
	err = tiffEach(doc, n, func(d directory) {
		dir = d
		found++
	})
	return dir, found, err
}

// tiffEach visits up to most directories. A chain that breaks or turns back has
// ended.
func tiffEach(doc *source, most int, visit func(directory)) error {
	layout, ok := tiffHeader(doc)
	if !ok {
		return damaged("no TIFF header")
	}
	seen := make(map[int64]bool)
	for off := layout.first(doc); off > 0 && !seen[off] && len(seen) < most; {
		seen[off] = true
		dir, next, err := layout.directory(doc, off)
		if err != nil {
			if len(seen) == 1 {
				return err
			}
			break
		}
		visit(dir)
		off = next
	}
	return nil
}

func tiffPages(doc *source, lim ExtractLimits) (int, error) {
	_, found, err := tiffDirectory(doc, lim.MaxPages)
	return found, err
}

func tiffPage(doc *source, n, width int, lim ExtractLimits) (Image, error) {
	dir, found, err := tiffDirectory(doc, n)
	if err != nil {
		return Image{}, err
	}
	if found < n {
		return Image{}, fmt.Errorf("%w: it has %d", ErrNoPage, found)
	}
	page, err := newTiffImage(doc, dir, lim)
	if err != nil {
		return Image{}, err
	}
	img, err := page.raster().render(width, lim)
	if err != nil {
		return Image{}, err
	}
	if page.decoded == 0 {
		return Image{}, page.failed
	}
	return encode(img)
}

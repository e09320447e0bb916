package tiff

import "encoding/binary"

// Tags of entries (TIFF 6.0; for TagJPEGTables, TIFF Technical Note 2).
const (
	TagWidth          = 256
	TagHeight         = 257
	TagBits           = 258
	TagCompression    = 259
	TagPhotometric    = 262
	TagFillOrder      = 266
	TagStripOffsets   = 273
	TagOrientation    = 274
	TagSamples        = 277
	TagRowsPerStrip   = 278
	TagStripCounts    = 279
	TagXResolution    = 282
	TagYResolution    = 283
	TagPlanar         = 284
	TagT4Options      = 292
	TagResolutionUnit = 296
	TagPredictor      = 317
	TagColorMap       = 320
	TagTileWidth      = 322
	TagTileHeight     = 323
	TagTileOffsets    = 324
	TagTileCounts     = 325
	TagExtraSamples   = 338
	TagSampleFormat   = 339
	TagJPEGTables     = 347
	TagSubsampling    = 530
)

// Directory holds the entries of one image.
type Directory struct {
	file    *File
	entries map[uint16]entry // by tag
}

type entry struct {
	valueType uint16
	count     uint64
	at        int64 // offset of the values
}

// valueSize returns the size of a value in bytes. It returns 0 for unknown types.
func valueSize(valueType uint16) int64 {
	switch valueType {
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

// Order returns the byte order of the file.
func (d *Directory) Order() binary.ByteOrder { return d.file.order }

// Bytes returns up to n values of an entry as they are stored, or nil if they can't be read.
func (d *Directory) Bytes(tag uint16, n uint64) []byte {
	e, ok := d.entries[tag]
	if !ok {
		return nil
	}
	b, _ := d.file.doc.Bytes(e.at, int64(min(e.count, n))*valueSize(e.valueType))
	return b
}

// Numbers returns up to n values of an entry with unsigned numbers. It returns at most MaxValues
// values.
func (d *Directory) Numbers(tag uint16, n uint64) []uint64 {
	b := d.Bytes(tag, min(n, MaxValues))
	size := int(valueSize(d.entries[tag].valueType))
	var list []uint64
	for ; size > 0 && len(b) >= size; b = b[size:] {
		list = append(list, d.file.number(b[:size]))
	}
	return list
}

// Number returns the first value of an entry, or fallback if there is none.
func (d *Directory) Number(tag uint16, fallback uint64) uint64 {
	if list := d.Numbers(tag, 1); len(list) == 1 {
		return list[0]
	}
	return fallback
}

// Rational returns the first value of an entry with fractions, or 0 if there is none.
func (d *Directory) Rational(tag uint16) float64 {
	b := d.Bytes(tag, 1)
	if len(b) != 8 {
		return 0
	}
	numerator, denominator := d.file.order.Uint32(b), d.file.order.Uint32(b[4:])
	if denominator == 0 {
		return 0
	}
	return float64(numerator) / float64(denominator)
}

// Orientation returns the value of the Orientation tag: 1 to 8. It returns 1 if the tag is missing or
// has another value.
func (d *Directory) Orientation() int {
	if value := d.Number(TagOrientation, 1); value >= 1 && value <= 8 {
		return int(value)
	}
	return 1
}

// Values of the ResolutionUnit tag (TIFF 6.0).
const (
	unitInch       = 2
	unitCentimeter = 3
)

// Range of scanner resolutions in dots per inch. Values outside this range are meaningless and are
// ignored.
const minDPI, maxDPI = 50, 2400

// Size returns the size of the image in square pixels, and its resolution in dots per inch. The
// resolution is 0 if the file doesn't specify a plausible one.
func (d *Directory) Size() (width, height, dpi float64) {
	width, height = float64(d.Number(TagWidth, 0)), float64(d.Number(TagHeight, 0))
	x, y := d.Rational(TagXResolution), d.Rational(TagYResolution)
	if d.Number(TagResolutionUnit, unitInch) == unitCentimeter {
		x, y = 2.54*x, 2.54*y
	}
	if aspect := pixelAspect(x, y); aspect > 1 {
		height *= aspect
	} else {
		width /= aspect
	}
	if dpi = max(x, y); dpi < minDPI || dpi > maxDPI {
		dpi = 0
	}
	return width, height, dpi
}

// pixelAspect returns the height of a pixel divided by its width. In a fax, the vertical resolution
// may be half the horizontal one. If the resolutions differ much more than that, they are
// meaningless, and pixelAspect returns 1.
func pixelAspect(xResolution, yResolution float64) float64 {
	if xResolution > 0 && yResolution > 0 && xResolution/yResolution > 0.2 && xResolution/yResolution < 5 {
		return xResolution / yResolution
	}
	return 1
}

package tiff

import (
	"fmt"
	"slices"

	"deedkeep/app/document/docio"
)

// Supported values of the Compression tag (TIFF 6.0, its Technical Note 2, and the Adobe Photoshop
// TIFF technical notes). Old-style JPEG isn't supported.
const (
	compressionNone       = 1
	compressionRLE        = 2
	compressionG3         = 3
	compressionG4         = 4
	compressionLZW        = 5
	compressionJPEG       = 7
	compressionDeflate    = 8
	compressionOldDeflate = 32946
	compressionPackBits   = 32773
)

// Supported values of the PhotometricInterpretation tag.
const (
	whiteIsZero  = 0
	blackIsZero  = 1
	photoRGB     = 2
	photoPalette = 3
	photoCMYK    = 5
	photoYCbCr   = 6
)

// kinds lists the number of samples for the colors of a pixel, and the supported numbers of
// bits of a sample, by PhotometricInterpretation.
var kinds = map[uint64]struct {
	samples int
	bits    []int
}{
	whiteIsZero:  {1, []int{1, 2, 4, 8, 16}},
	blackIsZero:  {1, []int{1, 2, 4, 8, 16}},
	photoPalette: {1, []int{1, 2, 4, 8}},
	photoRGB:     {3, []int{8, 16}},
	photoCMYK:    {4, []int{8, 16}},
	photoYCbCr:   {3, []int{8}},
}

// Image decodes one image of a TIFF. It consists of rows of blocks. A block is a strip or a tile.
type Image struct {
	doc                      *docio.Reader
	dir                      *Directory
	maxPixels                int64
	Width, Height            int // in pixels as they are stored
	bits, samples            int
	compression, photometric uint64
	predictor, fillOrder     uint64
	alpha                    uint64    // value of ExtraSamples for the sample after the colors: 1 if premultiplied, 2 if not
	palette                  [][3]byte // color of each value of a sample; nil if a pixel has several samples for its color
	channels                 int       // bytes per pixel of a decoded row: 1 if the image is gray, else 3

	blockW, blockH  int
	blocksPerRow    int
	offsets, counts []uint64

	y       int    // next row
	strip   rows   // current strip
	band    []byte // current row of tiles
	decoded int    // number of rows of blocks that were decoded
	failed  error  // first error of any block
}

// Image reads the properties of the image. It returns docio.ErrUnsupported, docio.ErrDamaged, or
// docio.ErrTooLarge if the image has more than maxPixels pixels.
func (d *Directory) Image(maxPixels int64) (*Image, error) {
	width, height := d.Number(TagWidth, 0), d.Number(TagHeight, 0)
	if width == 0 || height == 0 {
		return nil, docio.Damaged("%d x %d pixels", width, height)
	}
	if width > uint64(maxPixels) || height > uint64(maxPixels)/width {
		return nil, fmt.Errorf("%w: %d x %d pixels", docio.ErrTooLarge, width, height)
	}
	t := &Image{
		doc: d.file.doc, dir: d, maxPixels: maxPixels, Width: int(width), Height: int(height),
		samples:     int(min(d.Number(TagSamples, 1), 255)),
		bits:        int(min(d.Number(TagBits, 1), 255)),
		compression: d.Number(TagCompression, compressionNone),
		photometric: d.Number(TagPhotometric, whiteIsZero),
		predictor:   d.Number(TagPredictor, 1),
		fillOrder:   d.Number(TagFillOrder, 1),
		channels:    3,
	}
	if !t.isSupported() {
		return nil, fmt.Errorf("%w: TIFF with compression %d, photometric interpretation %d, %d samples of %d bits",
			docio.ErrUnsupported, t.compression, t.photometric, t.samples, t.bits)
	}
	colors := kinds[t.photometric].samples
	if t.samples < colors {
		return nil, docio.Damaged("%d samples per pixel, but %d color channels", t.samples, colors)
	}
	if t.isFax() && (t.bits != 1 || t.samples != 1) {
		return nil, docio.Damaged("CCITT image with %d samples of %d bits", t.samples, t.bits)
	}
	if t.samples > colors && colors != 4 {
		t.alpha = d.Number(TagExtraSamples, 0)
	}
	if colors == 1 {
		t.readPalette()
	}
	err := t.readBlocks()
	return t, err
}

// isSupported reports whether this package decodes the image's variant of the format.
func (im *Image) isSupported() bool {
	switch im.compression {
	case compressionNone, compressionRLE, compressionG3, compressionG4, compressionLZW, compressionDeflate,
		compressionOldDeflate, compressionPackBits:
		subsampling := im.dir.Numbers(TagSubsampling, 2)
		if im.photometric == photoYCbCr && !slices.Equal(subsampling, []uint64{1, 1}) {
			return false
		}
	case compressionJPEG:
		if im.bits != 8 {
			return false
		}
	default:
		return false
	}
	bits, format := im.dir.Numbers(TagBits, 8), im.dir.Number(TagSampleFormat, 1)
	return slices.Contains(kinds[im.photometric].bits, im.bits) &&
		!slices.ContainsFunc(bits, func(n uint64) bool { return n != uint64(im.bits) }) &&
		(format == 1 || format == 4) &&
		(im.samples == 1 || im.dir.Number(TagPlanar, 1) == 1) &&
		(im.predictor < 2 || im.predictor == 2 && im.bits >= 8)
}

// isFax reports whether the blocks are compressed with one of the CCITT methods.
func (im *Image) isFax() bool {
	return im.compression == compressionRLE || im.compression == compressionG3 || im.compression == compressionG4
}

// readPalette determines the color of each value of a sample. A ColorMap contains all reds, then
// all greens, then all blues. Each value has 16 bits, but some writers store 8-bit values.
func (im *Image) readPalette() {
	n := 1 << min(im.bits, 8)
	im.palette = make([][3]byte, n)
	if im.photometric != photoPalette {
		for i := range im.palette {
			gray := byte(i * 255 / (n - 1))
			if im.photometric == whiteIsZero {
				gray = ^gray
			}
			im.palette[i] = [3]byte{gray, gray, gray}
		}
		im.channels = 1
		return
	}
	list := im.dir.Numbers(TagColorMap, uint64(3*n))
	shift := 0
	if len(list) > 0 && slices.Max(list) > 255 {
		shift = 8
	}
	for at, v := range list {
		im.palette[at%n][at/n] = byte(v >> shift)
	}
	if !slices.ContainsFunc(im.palette, func(c [3]byte) bool { return c[0] != c[1] || c[1] != c[2] }) {
		im.channels = 1
	}
}

// readBlocks reads the offsets and lengths of the strips or tiles.
func (im *Image) readBlocks() error {
	im.blockW, im.blockH = im.Width, im.Height
	offsets, counts := uint16(TagStripOffsets), uint16(TagStripCounts)
	if w := im.dir.Number(TagTileWidth, 0); w != 0 {
		h := im.dir.Number(TagTileHeight, 0)
		// One row of tiles is kept in memory at a time. A tile may extend beyond the edge of the
		// image.
		if h == 0 || w > uint64(im.Width)+4096 || h > uint64(im.Height)+4096 || h > uint64(im.maxPixels)/uint64(im.Width) ||
			w*h > uint64(im.maxPixels) {
			return docio.Damaged("invalid tile size: %d x %d pixels", w, h)
		}
		im.blockW, im.blockH = int(w), int(h)
		offsets, counts = TagTileOffsets, TagTileCounts
	} else if rows := im.dir.Number(TagRowsPerStrip, uint64(im.Height)); rows > 0 && rows < uint64(im.Height) {
		im.blockH = int(rows)
	}
	im.blocksPerRow = (im.Width + im.blockW - 1) / im.blockW
	down := (im.Height + im.blockH - 1) / im.blockH
	n := uint64(im.blocksPerRow) * uint64(down)
	if n > MaxValues {
		return fmt.Errorf("%w: %d image blocks", docio.ErrTooLarge, n)
	}
	im.offsets = im.dir.Numbers(offsets, n)
	im.counts = im.dir.Numbers(counts, n)
	if len(im.offsets) == 0 {
		return docio.Damaged("image has no strips or tiles")
	}
	if offsets == TagTileOffsets {
		im.band = make([]byte, im.channels*im.Width*min(im.blockH, im.Height))
	}
	return nil
}

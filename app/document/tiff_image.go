package document

import (
	"fmt"

	"deedkeep/app/document/docio"
	"deedkeep/app/document/tiff"
)

// Values of the Compression tag (TIFF 6.0, its Technical Note 2, and the Adobe Photoshop TIFF
// technical notes). Old-style JPEG isn't supported.
const (
	tiffNone       = 1
	tiffRLE        = 2
	tiffG3         = 3
	tiffG4         = 4
	tiffLZW        = 5
	tiffOldJPEG    = 6
	tiffJPEG       = 7
	tiffDeflate    = 8
	tiffOldDeflate = 32946
	tiffPackBits   = 32773
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

// tiffImage is one image in a TIFF. It consists of rows of blocks. A block is a strip or a tile.
type tiffImage struct {
	doc                      *source
	dir                      *tiff.Directory
	lim                      ExtractLimits
	width, height            int
	bits, samples            int
	compression, photometric uint64
	predictor, fillOrder     uint64
	alpha                    uint64 // value of ExtraSamples for the sample after the colors: 1 if premultiplied, 2 if not
	palette                  [][3]byte
	tables                   []byte // value of the JPEGTables tag

	tiled           bool
	blockW, blockH  int
	blocksPerRow    int
	offsets, counts []uint64

	decoded int   // number of block rows that were decoded
	failed  error // first error of any block
}

// newTIFFImage reads the properties of the image in dir. It returns ErrUnsupported, ErrTooLarge, or
// ErrDamaged.
func newTIFFImage(doc *source, dir *tiff.Directory, lim ExtractLimits) (*tiffImage, error) {
	width, height := dir.Number(tiff.TagWidth, 0), dir.Number(tiff.TagHeight, 0)
	if width == 0 || height == 0 {
		return nil, docio.Damaged("%d x %d pixels", width, height)
	}
	if width > uint64(lim.MaxPixels) || height > uint64(lim.MaxPixels)/width {
		return nil, fmt.Errorf("%w: %d x %d pixels", ErrTooLarge, width, height)
	}
	t := &tiffImage{
		doc: doc, dir: dir, lim: lim, width: int(width), height: int(height),
		samples:     int(min(dir.Number(tiff.TagSamples, 1), 255)),
		bits:        int(min(dir.Number(tiff.TagBits, 1), 255)),
		compression: dir.Number(tiff.TagCompression, tiffNone),
		predictor:   dir.Number(tiff.TagPredictor, 1),
		fillOrder:   dir.Number(tiff.TagFillOrder, 1),
	}
	t.photometric = dir.Number(tiff.TagPhotometric, whiteIsZero)
	if err := t.checkSupported(); err != nil {
		return nil, err
	}
	if t.photometric == photoPalette {
		t.readPalette()
	}
	colors := 1
	switch t.photometric {
	case photoRGB, photoYCbCr:
		colors = 3
	case photoCMYK:
		colors = 4
	}
	if t.samples < colors {
		return nil, docio.Damaged("%d samples a pixel for %d colours", t.samples, colors)
	}
	if t.samples > colors && colors != 4 {
		t.alpha = dir.Number(tiff.TagExtraSamples, 0)
	}
	err := t.readBlocks()
	return t, err
}

// checkSupported returns ErrUnsupported if the image uses a variant that this package doesn't
// decode.
func (t *tiffImage) checkSupported() error {
	unsupported := func(property string, value any) error {
		return fmt.Errorf("%w: TIFF with %s %v", ErrUnsupported, property, value)
	}
	switch t.compression {
	case tiffNone, tiffRLE, tiffG3, tiffG4, tiffLZW, tiffJPEG, tiffDeflate, tiffOldDeflate, tiffPackBits:
	default:
		return unsupported("compression", t.compression)
	}
	for _, bits := range t.dir.Numbers(tiff.TagBits, 8) {
		if bits != uint64(t.bits) {
			return unsupported("bits of several lengths", bits)
		}
	}
	if format := t.dir.Number(tiff.TagSampleFormat, 1); format != 1 && format != 4 {
		return unsupported("sample format", format)
	}
	if planar := t.dir.Number(tiff.TagPlanar, 1); planar != 1 && t.samples > 1 {
		return unsupported("planes", planar)
	}
	if t.compression == tiffJPEG {
		t.tables = t.dir.Bytes(tiff.TagJPEGTables, 1<<16)
		if t.bits != 8 {
			return unsupported("JPEG of bits", t.bits)
		}
	}
	supported := false
	switch t.photometric {
	case whiteIsZero, blackIsZero:
		supported = t.bits == 1 || t.bits == 2 || t.bits == 4 || t.bits == 8 || t.bits == 16
	case photoPalette:
		supported = t.bits == 1 || t.bits == 2 || t.bits == 4 || t.bits == 8
	case photoRGB, photoCMYK:
		supported = t.bits == 8 || t.bits == 16
	case photoYCbCr:
		sub := t.dir.Numbers(tiff.TagSubsampling, 2)
		supported = t.compression == tiffJPEG || t.bits == 8 && len(sub) == 2 && sub[0] == 1 && sub[1] == 1
	}
	if !supported {
		return unsupported(fmt.Sprintf("%d bits of kind", t.bits), t.photometric)
	}
	if t.isFax() && (t.bits != 1 || t.samples != 1) {
		return docio.Damaged("CCITT compression of %d x %d bits", t.samples, t.bits)
	}
	if t.predictor == 2 && t.bits != 8 && t.bits != 16 || t.predictor > 2 {
		return unsupported("predictor", t.predictor)
	}
	return nil
}

// isFax reports whether the blocks are compressed with one of the CCITT methods.
func (t *tiffImage) isFax() bool {
	return t.compression == tiffRLE || t.compression == tiffG3 || t.compression == tiffG4
}

// readPalette reads the palette: all reds, then all greens, then all blues. Each value has 16 bits,
// but some writers store 8-bit values.
func (t *tiffImage) readPalette() {
	n := 1 << t.bits
	list := t.dir.Numbers(tiff.TagColorMap, uint64(3*n))
	shift := 0
	for _, v := range list {
		if v > 255 {
			shift = 8
		}
	}
	t.palette = make([][3]byte, n)
	for i := range t.palette {
		for k := range 3 {
			if at := k*n + i; at < len(list) {
				t.palette[i][k] = byte(list[at] >> shift)
			}
		}
	}
}

// readBlocks reads the offsets and lengths of the strips or tiles.
func (t *tiffImage) readBlocks() error {
	t.blockW, t.blockH = t.width, t.height
	offsets, counts := uint16(tiff.TagStripOffsets), uint16(tiff.TagStripCounts)
	if w := t.dir.Number(tiff.TagTileWidth, 0); w != 0 {
		h := t.dir.Number(tiff.TagTileHeight, 0)
		// One row of tiles is kept in memory at a time. A tile may extend beyond the edge of the
		// image.
		if h == 0 || w > uint64(t.width)+4096 || h > uint64(t.height)+4096 || h > uint64(t.lim.MaxPixels)/uint64(t.width) ||
			w*h > uint64(t.lim.MaxPixels) {
			return docio.Damaged("tiles of %d x %d pixels", w, h)
		}
		t.tiled, t.blockW, t.blockH = true, int(w), int(h)
		offsets, counts = tiff.TagTileOffsets, tiff.TagTileCounts
	} else if rows := t.dir.Number(tiff.TagRowsPerStrip, uint64(t.height)); rows > 0 && rows < uint64(t.height) {
		t.blockH = int(rows)
	}
	t.blocksPerRow = (t.width + t.blockW - 1) / t.blockW
	down := (t.height + t.blockH - 1) / t.blockH
	n := uint64(t.blocksPerRow) * uint64(down)
	if n > tiff.MaxValues {
		return fmt.Errorf("%w: %d blocks", ErrTooLarge, n)
	}
	t.offsets = t.dir.Numbers(offsets, n)
	t.counts = t.dir.Numbers(counts, n)
	if len(t.offsets) == 0 {
		return docio.Damaged("no strips or tiles")
	}
	return nil
}

// block returns the offset and length of block i. If the TIFF doesn't specify lengths, the block
// extends to the end of the file.
func (t *tiffImage) block(i int) (off, n int64, err error) {
	if i >= len(t.offsets) || t.offsets[i] >= uint64(t.doc.Size()) {
		return 0, 0, docio.Damaged("block %d lies outside", i)
	}
	off = int64(t.offsets[i])
	n = t.doc.Size() - off
	if i < len(t.counts) && t.counts[i] > 0 && t.counts[i] < uint64(n) {
		n = int64(t.counts[i])
	}
	return off, n, nil
}

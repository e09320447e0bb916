package document

import (
	"cmp"
	"fmt"
	"image"

	"deedkeep/app/document/docio"
	"deedkeep/app/document/tiff"
)

// rows reads the next row of a block. The row is as wide as the block and has the same channels as
// the image.
type rows func(row []byte) error

// raster returns the image as a raster.
func (t *tiffImage) raster() *raster {
	return &raster{
		width: t.width, height: t.height, color: t.channels == 3, orientation: t.dir.Orientation(),
		aspect: pixelAspect(t.dir.Rational(tiff.TagXResolution), t.dir.Rational(tiff.TagYResolution)),
		next:   t.next,
	}
}

// next reads the next row. It decodes one strip after another, or one row of tiles at a time. In a
// damaged block, the rows after the damage are white. next returns an error only if a read failed or
// the context ended.
func (t *tiffImage) next(row []byte) error {
	y := t.y % t.blockH
	height := min(t.blockH, t.height-t.y+y)
	t.y++
	if t.band == nil {
		if y == 0 {
			t.strip = t.open((t.y-1)/t.blockH, height)
		}
		t.decode(&t.strip, row)
	} else {
		if y == 0 {
			t.decodeTiles((t.y-1)/t.blockH, height)
		}
		copy(row, t.band[y*len(row):])
	}
	return t.doc.Err()
}

// decodeTiles decodes a row of tiles into t.band.
func (t *tiffImage) decodeTiles(down, height int) {
	line := make([]byte, t.channels*t.blockW)
	for i := range t.blocksPerRow {
		tile := t.open(down*t.blocksPerRow+i, t.blockH)
		for y := range height {
			t.decode(&tile, line)
			copy(t.band[t.channels*(y*t.width+i*t.blockW):t.channels*(y+1)*t.width], line)
		}
	}
}

// open starts decoding a block. It returns nil if the block is damaged.
func (t *tiffImage) open(i, height int) rows {
	block, err := t.openBlock(i, height)
	if err != nil {
		t.failed = cmp.Or(t.failed, err)
		return nil
	}
	return block
}

// decode reads the next row of a block. If that fails, it sets block to nil. If block is nil, the row
// is white.
func (t *tiffImage) decode(block *rows, row []byte) {
	if *block != nil {
		err := (*block)(row)
		if err == nil {
			t.decoded++
			return
		}
		t.failed = cmp.Or(t.failed, err)
		*block = nil
	}
	for i := range row {
		row[i] = 0xFF
	}
}

// openTIFFPage reads the properties of page n.
func openTIFFPage(doc *source, n int, lim ExtractLimits) (*tiffImage, error) {
	dir, err := tiffDirectory(doc, n)
	if err != nil {
		return nil, err
	}
	return newTIFFImage(doc, dir, lim)
}

// tiffDirectory returns the directory of page n.
func tiffDirectory(doc *source, n int) (*tiff.Directory, error) {
	file, err := tiff.Open(doc.Reader)
	if err != nil {
		return nil, err
	}
	var dir *tiff.Directory
	found := 0
	for dir = range file.Directories(n) {
		found++
	}
	switch {
	case found == 0:
		return nil, docio.Damaged("missing image directory")
	case found < n:
		return nil, fmt.Errorf("%w: the document has %d", ErrNoPage, found)
	}
	return dir, nil
}

func tiffPage(doc *source, n, width int, lim ExtractLimits) (image.Image, error) {
	page, err := openTIFFPage(doc, n, lim)
	if err != nil {
		return nil, err
	}
	img, err := page.raster().render(width, lim)
	if err != nil {
		return nil, err
	}
	if page.decoded == 0 {
		return nil, page.failed
	}
	return img, nil
}

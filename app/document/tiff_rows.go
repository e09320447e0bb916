package document

import (
	"image"

	"deedkeep/app/document/docio"
	"deedkeep/app/document/tiff"
)

// rows reads the next row of a block. The row is as wide as the block and has the same channels as
// the image.
type rows func(row []byte) error

// raster returns the image as a raster. In a damaged block, the rows after the damage are white.
func (t *tiffImage) raster() *raster {
	r := &raster{
		width: t.width, height: t.height, color: t.color(), aspect: 1, orientation: t.dir.Orientation(),
	}
	r.aspect = pixelAspect(t.dir.Rational(tiff.TagXResolution), t.dir.Rational(tiff.TagYResolution))
	if t.tiled {
		r.next = t.tileRows(r.channels())
	} else {
		r.next = t.stripRows()
	}
	return r
}

func (t *tiffImage) color() bool {
	switch t.photometric {
	case whiteIsZero, blackIsZero:
		return false
	case photoPalette:
		for _, c := range t.palette {
			if c[0] != c[1] || c[1] != c[2] {
				return true
			}
		}
		return false
	}
	return true
}

// fail records the first error of any block. It returns an error only if the image can't continue
// because a read failed or the context ended.
func (t *tiffImage) fail(err error) error {
	if t.failed == nil {
		t.failed = err
	}
	return t.doc.Err()
}

// white makes all pixels of a row white.
func white(row []byte) {
	for i := range row {
		row[i] = 0xFF
	}
}

// stripRows returns a function that reads the next row. It decodes one strip after another.
func (t *tiffImage) stripRows() func([]byte) error {
	y := 0
	var strip rows
	return func(row []byte) (err error) {
		if y%t.blockH == 0 {
			strip, err = t.open(y/t.blockH, t.width, min(t.blockH, t.height-y))
		}
		y++
		if err == nil && strip != nil {
			err = strip(row)
		}
		if err != nil {
			strip = nil
			white(row)
			return t.fail(err)
		}
		if strip == nil {
			white(row)
			return nil
		}
		t.decoded++
		return nil
	}
}

// tileRows returns a function that reads the next row. It decodes one row of tiles at a time.
func (t *tiffImage) tileRows(channels int) func([]byte) error {
	var band []byte
	y := 0
	stride := channels * t.width
	return func(row []byte) error {
		if y%t.blockH == 0 {
			if band == nil {
				band = make([]byte, stride*min(t.blockH, t.height))
			}
			white(band)
			for i := range t.blocksPerRow {
				if err := t.tile(band, y/t.blockH, i, channels, min(t.blockH, t.height-y)); err != nil {
					if err := t.fail(err); err != nil {
						return err
					}
				}
			}
		}
		copy(row, band[y%t.blockH*stride:])
		y++
		return nil
	}
}

// tile decodes tile i in row down of the tiles. It writes up to height rows to band.
func (t *tiffImage) tile(band []byte, down, i, channels, height int) error {
	next, err := t.open(down*t.blocksPerRow+i, t.blockW, t.blockH)
	if err != nil {
		return err
	}
	row := make([]byte, channels*t.blockW)
	left := i * t.blockW
	visible := channels * min(t.blockW, t.width-left)
	for y := range height {
		if err := next(row); err != nil {
			return err
		}
		copy(band[channels*(y*t.width+left):], row[:visible])
		t.decoded++
	}
	return nil
}

// rowsOf returns the rows of a decoded TIFF block. Each row is cropped or padded with white to width,
// the block's width in pixels. It is converted to RGB if color is true, and to gray otherwise.
func rowsOf(img image.Image, width int, color bool) rows {
	r := newRaster(img)
	line := make([]byte, r.channels()*r.width)
	y := 0
	return func(row []byte) error {
		white(row)
		if y >= r.height {
			return docio.Damaged("block has %d rows", y)
		}
		y++
		if err := r.next(line); err != nil {
			return err
		}
		n := min(width, r.width)
		switch {
		case r.color == color:
			copy(row, line[:r.channels()*n])
		case color:
			for x := range n {
				row[3*x], row[3*x+1], row[3*x+2] = line[x], line[x], line[x]
			}
		default:
			for x := range n {
				row[x] = line[3*x+1]
			}
		}
		return nil
	}
}

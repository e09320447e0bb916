package tiff

import (
	"cmp"

	"deedkeep/app/document/raster"
)

// rows reads the next row of a block. The row is as wide as the block and has the same channels as
// the image.
type rows func(row []byte) error

// Raster returns the rows of the image. It may be called once.
func (t *Image) Raster() *raster.Raster {
	return &raster.Raster{
		Width: t.Width, Height: t.Height, Color: t.channels == 3, Orientation: t.dir.Orientation(),
		Aspect: pixelAspect(t.dir.Rational(TagXResolution), t.dir.Rational(TagYResolution)),
		Next:   t.next,
	}
}

// BlackIsZero reports whether a sample of 0 is black.
func (t *Image) BlackIsZero() bool { return t.photometric == blackIsZero }

// IsBilevel reports whether all pixels are black or white.
func (t *Image) IsBilevel() bool { return t.bits == 1 && t.samples == 1 && t.channels == 1 }

// next reads the next row. It decodes one strip after another, or one row of tiles at a time. In a
// damaged block, the rows after the damage are white. next returns an error only if a read failed,
// the context ended, or it is the last row and no row could be decoded.
func (t *Image) next(row []byte) error {
	y := t.y % t.blockH
	height := min(t.blockH, t.Height-t.y+y)
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
	if t.y == t.Height && t.decoded == 0 {
		return cmp.Or(t.doc.Err(), t.failed)
	}
	return t.doc.Err()
}

// decodeTiles decodes a row of tiles into t.band.
func (t *Image) decodeTiles(down, height int) {
	line := make([]byte, t.channels*t.blockW)
	for i := range t.blocksPerRow {
		tile := t.open(down*t.blocksPerRow+i, t.blockH)
		for y := range height {
			t.decode(&tile, line)
			copy(t.band[t.channels*(y*t.Width+i*t.blockW):t.channels*(y+1)*t.Width], line)
		}
	}
}

// open starts decoding a block. It returns nil if the block is damaged.
func (t *Image) open(i, height int) rows {
	block, err := t.openBlock(i, height)
	if err != nil {
		t.failed = cmp.Or(t.failed, err)
		return nil
	}
	return block
}

// decode reads the next row of a block. If that fails, it sets block to nil. If block is nil, the row
// is white.
func (t *Image) decode(block *rows, row []byte) {
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

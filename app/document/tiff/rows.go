package tiff

import (
	"cmp"

	"deedkeep/app/document/raster"
)

// rows reads the next row of a block. The row is as wide as the block and has the same channels as
// the image.
type rows func(row []byte) error

// Raster returns the rows of the image. It may be called once.
func (im *Image) Raster() *raster.Raster {
	return &raster.Raster{
		Width: im.Width, Height: im.Height, Color: im.channels == 3, Orientation: im.dir.Orientation(),
		Aspect: pixelAspect(im.dir.Rational(TagXResolution), im.dir.Rational(TagYResolution)),
		Next:   im.next,
	}
}

// BlackIsZero reports whether a sample of 0 is black.
func (im *Image) BlackIsZero() bool { return im.photometric == blackIsZero }

// IsBilevel reports whether all pixels are black or white.
func (im *Image) IsBilevel() bool { return im.bits == 1 && im.samples == 1 && im.channels == 1 }

// next reads the next row. It decodes one strip after another, or one row of tiles at a time. In a
// damaged block, the rows after the damage are white. next returns an error only if a read failed,
// the context ended, or it is the last row and no row could be decoded.
func (im *Image) next(row []byte) error {
	y := im.y % im.blockH
	height := min(im.blockH, im.Height-im.y+y)
	im.y++
	if im.band == nil {
		if y == 0 {
			im.strip = im.open((im.y-1)/im.blockH, height)
		}
		im.decode(&im.strip, row)
	} else {
		if y == 0 {
			im.decodeTiles((im.y-1)/im.blockH, height)
		}
		copy(row, im.band[y*len(row):])
	}
	if im.y == im.Height && im.decoded == 0 {
		return cmp.Or(im.doc.Err(), im.failed)
	}
	return im.doc.Err()
}

// decodeTiles decodes a row of tiles into im.band.
func (im *Image) decodeTiles(down, height int) {
	line := make([]byte, im.channels*im.blockW)
	for i := range im.blocksPerRow {
		tile := im.open(down*im.blocksPerRow+i, im.blockH)
		for y := range height {
			im.decode(&tile, line)
			copy(im.band[im.channels*(y*im.Width+i*im.blockW):im.channels*(y+1)*im.Width], line)
		}
	}
}

// open starts decoding a block. It returns nil if the block is damaged.
func (im *Image) open(i, height int) rows {
	block, err := im.openBlock(i, height)
	if err != nil {
		im.failed = cmp.Or(im.failed, err)
		return nil
	}
	return block
}

// decode reads the next row of a block. If that fails, it sets block to nil. If block is nil, the row
// is white.
func (im *Image) decode(block *rows, row []byte) {
	if *block != nil {
		err := (*block)(row)
		if err == nil {
			im.decoded++
			return
		}
		im.failed = cmp.Or(im.failed, err)
		*block = nil
	}
	for i := range row {
		row[i] = 0xFF
	}
}

package tiff

import (
	"bufio"
	"bytes"
	"image"
	"image/jpeg"
	"io"

	"deedkeep/app/document/docio"
	"deedkeep/app/document/raster"
)

// adobe is a segment that specifies the color space of a JPEG stream in its last byte: 0 means that
// the colors are stored unchanged, 1 means YCbCr (Adobe technical note 5116).
var adobe = []byte("\xFF\xEE\x00\x0EAdobe\x00\x64\x00\x00\x00\x00\x00")

// jpegStream returns a function that reads a JPEG block from the start (TIFF Technical Note 2). The
// block is a complete stream, except that all blocks may share the same tables. The TIFF defines the
// color space because the stream might not.
func (im *Image) jpegStream(off, n int64) (func() io.Reader, error) {
	// Read the start-of-image marker and, if present, an Adobe segment.
	head, ok := im.doc.Bytes(off, min(n, 4+adobeLength))
	if !ok || len(head) < 4 || head[0] != 0xFF || head[1] != 0xD8 {
		return nil, docio.Damaged("no JPEG data at offset %d", off)
	}
	start := append([]byte(nil), head[:2]...)
	if im.samples >= 3 {
		start = append(start, adobe...)
		if im.photometric == photoYCbCr {
			start[len(start)-1] = 1
		}
	}
	if tables := im.dir.Bytes(TagJPEGTables, 1<<16); len(tables) > 4 {
		start = append(start, bytes.TrimSuffix(tables[2:], []byte{0xFF, 0xD9})...)
	}
	rest := int64(2)
	if isAdobe(head[2:]) {
		rest += 2 + adobeLength // the color space in the TIFF takes precedence
	}
	return func() io.Reader {
		return bufio.NewReader(io.MultiReader(bytes.NewReader(start), io.NewSectionReader(im.doc, off+rest, n-rest)))
	}, nil
}

// JPEG returns a function that reads the data of a JPEG image that is one strip from the start,
// completed with the tables that a TIFF stores separately. It returns nil for any other image.
func (im *Image) JPEG() func() io.Reader {
	off, n, ok := im.onlyStrip()
	if !ok || im.compression != compressionJPEG {
		return nil
	}
	stream, err := im.jpegStream(off, n)
	if err != nil {
		return nil
	}
	return stream
}

// openJPEG decodes a JPEG block.
func (im *Image) openJPEG(off, n int64) (rows, error) {
	stream, err := im.jpegStream(off, n)
	if err != nil {
		return nil, err
	}
	config, err := jpeg.DecodeConfig(stream())
	if err != nil {
		return nil, raster.CodecError(err)
	}
	if err := raster.CheckSize(config, 0, im.maxPixels); err != nil {
		return nil, err
	}
	img, err := jpeg.Decode(stream())
	if err != nil {
		return nil, raster.CodecError(err)
	}
	if cmyk, ok := img.(*image.CMYK); ok {
		// The decoder inverts CMYK, as Adobe does, but colors in a TIFF aren't inverted.
		for i := range cmyk.Pix {
			cmyk.Pix[i] = 255 - cmyk.Pix[i]
		}
	}
	return im.rowsOf(img), nil
}

// rowsOf returns the rows of a decoded block. Each row is cropped or padded with white to the width
// of the block.
func (im *Image) rowsOf(img image.Image) rows {
	read := raster.Rows(img, im.blockW, im.channels)
	y := 0
	return func(row []byte) error {
		if y == img.Bounds().Dy() {
			return docio.Damaged("block has %d rows", y)
		}
		read(row)
		y++
		return nil
	}
}

// adobeLength is the length of an Adobe segment without its marker.
const adobeLength = 14

func isAdobe(segment []byte) bool {
	return len(segment) == 2+adobeLength && bytes.HasPrefix(segment, adobe[:4])
}

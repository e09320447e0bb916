package raster

import (
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"

	"golang.org/x/image/bmp"

	"deedkeep/app/document/docio"
)

// pixelBytes is the average number of bytes that a decoded pixel may use in an image with the
// maximum number of pixels.
const pixelBytes = 4

// CheckSize returns docio.ErrTooLarge if an image has more than maxPixels pixels or if decoding it
// would use too much memory. extra is the number of bytes per pixel that the decoder needs in
// addition to the image.
func CheckSize(config image.Config, extra, maxPixels int64) error {
	w, h := int64(config.Width), int64(config.Height)
	if w <= 0 || h <= 0 {
		return docio.Damaged("%d x %d pixels", w, h)
	}
	size := extra + 4
	switch config.ColorModel {
	case color.GrayModel:
		size = extra + 1
	case color.Gray16Model:
		size = extra + 2
	case color.YCbCrModel:
		size = extra + 3
	case color.RGBA64Model, color.NRGBA64Model:
		size = extra + 8
	}
	if w > maxPixels || h > maxPixels/w || w*h > pixelBytes*maxPixels/size {
		return fmt.Errorf("%w: %d x %d pixels", docio.ErrTooLarge, config.Width, config.Height)
	}
	return nil
}

// CodecError returns docio.ErrUnsupported if the decoder doesn't support this variant of the format, else
// docio.ErrDamaged.
func CodecError(err error) error {
	var (
		inJPEG jpeg.UnsupportedError
		inPNG  png.UnsupportedError
	)
	if errors.As(err, &inJPEG) || errors.As(err, &inPNG) || errors.Is(err, bmp.ErrUnsupported) {
		return fmt.Errorf("%w: %w", docio.ErrUnsupported, err)
	}
	return fmt.Errorf("%w: %w", docio.ErrDamaged, err)
}

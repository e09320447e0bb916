package document

import (
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"

	"deedkeep/app/document/docio"

	"golang.org/x/image/bmp"
	"golang.org/x/image/webp"
)

// codec decodes an image format.
type codec struct {
	config func(io.Reader) (image.Config, error)
	decode func(io.Reader) (image.Image, error)
}

var codecs = map[string]codec{
	"image/png":  {png.DecodeConfig, png.Decode},
	"image/jpeg": {jpeg.DecodeConfig, jpeg.Decode},
	"image/gif":  {gif.DecodeConfig, gif.Decode},
	"image/bmp":  {bmp.DecodeConfig, bmp.Decode},
	"image/webp": {webp.DecodeConfig, webp.Decode},
}

func imagePage(doc *source, n, width int, lim ExtractLimits) (image.Image, error) {
	if n != 1 {
		return nil, ErrNoPage
	}
	r, err := decodeImage(doc, codecs[doc.mime], lim)
	if err != nil {
		return nil, err
	}
	if doc.mime == "image/jpeg" {
		r.orientation = exifOrientation(doc)
	}
	return r.render(width, lim)
}

// decodeImage decodes the image after it has checked its size, which determines how much memory the
// decoder uses.
func decodeImage(doc *source, c codec, lim ExtractLimits) (*raster, error) {
	config, err := c.config(doc.All())
	if err != nil {
		return nil, codecError(err)
	}
	extra := int64(0)
	if doc.mime == "image/jpeg" && isProgressive(doc) {
		extra = 12 // 4-byte coefficients for three samples
	}
	if err := checkSize(config, extra, lim); err != nil {
		return nil, err
	}
	img, err := c.decode(doc.All())
	if err != nil {
		return nil, codecError(err)
	}
	// The first frame of a GIF may be smaller than the logical screen.
	if screen := image.Rect(0, 0, config.Width, config.Height); img.Bounds() != screen {
		full := image.NewRGBA(screen)
		draw.Draw(full, screen, image.White, image.Point{}, draw.Src)
		draw.Draw(full, img.Bounds(), img, img.Bounds().Min, draw.Over)
		img = full
	}
	return newRaster(img), nil
}

// pixelBytes is the average number of bytes that a decoded pixel may use in an image with
// ExtractLimits.MaxPixels pixels.
const pixelBytes = 4

// checkSize returns ErrTooLarge if an image has too many pixels or if decoding it would use too
// much memory. extra is the number of bytes per pixel that the decoder needs in addition to the
// image.
func checkSize(config image.Config, extra int64, lim ExtractLimits) error {
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
	if w > lim.MaxPixels || h > lim.MaxPixels/w || w*h > pixelBytes*lim.MaxPixels/size {
		return fmt.Errorf("%w: %d x %d pixels", ErrTooLarge, config.Width, config.Height)
	}
	return nil
}

// codecError returns ErrUnsupported if the decoder doesn't support this variant of the format, else
// ErrDamaged.
func codecError(err error) error {
	var (
		inJPEG jpeg.UnsupportedError
		inPNG  png.UnsupportedError
	)
	if errors.As(err, &inJPEG) || errors.As(err, &inPNG) || errors.Is(err, bmp.ErrUnsupported) {
		return fmt.Errorf("%w: %w", ErrUnsupported, err)
	}
	return fmt.Errorf("%w: %w", ErrDamaged, err)
}

package document

import (
	"deedkeep/app/document/docio"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"

	"golang.org/x/image/bmp"
	"golang.org/x/image/webp"
)

// codec reads one image format.
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

func imagePage(doc *source, n, width int, lim ExtractLimits) (Image, error) {
	if n != 1 {
		return Image{}, ErrNoPage
	}
	r, err := decodeImage(doc, codecs[doc.mime], lim)
	if err != nil {
		return Image{}, err
	}
	if doc.mime == "image/jpeg" {
		r.turn = exifOrientation(doc)
	}
	img, err := r.render(width, lim)
	if err != nil {
		return Image{}, err
	}
	return encode(img)
}

// decodeImage looks at the size first: the memory a decoder takes goes by it.
func decodeImage(doc *source, c codec, lim ExtractLimits) (*raster, error) {
	config, err := c.config(doc.All())
	if err != nil {
		return nil, codecError(err)
	}
	extra := int64(0)
	if doc.mime == "image/jpeg" && isProgressive(doc) {
		extra = 12 // a coefficient of 4 bytes for each of three samples
	}
	if err := affordable(config, extra, lim); err != nil {
		return nil, err
	}
	img, err := c.decode(doc.All())
	if err != nil {
		return nil, codecError(err)
	}
	// A first frame of a GIF may be a part of its screen.
	if screen := image.Rect(0, 0, config.Width, config.Height); img.Bounds() != screen {
		whole := image.NewRGBA(screen)
		draw.Draw(whole, screen, image.White, image.Point{}, draw.Src)
		draw.Draw(whole, img.Bounds(), img, img.Bounds().Min, draw.Over)
		img = whole
	}
	return scan(img), nil
}

// pixelBytes is how many bytes a decoded pixel may take on average when there
// are Limits.Pixels of them.
const pixelBytes = 4

// affordable looks at the pixels, and at the bytes they take: extra is what the
// decoder needs for each beside its picture.
func affordable(config image.Config, extra int64, lim ExtractLimits) error {
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

// codecError tells what a decoder does not do from what it cannot make out.
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

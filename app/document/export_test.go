package document

import (
	"context"
	"image"
)

// RenderTIFF returns the image of the first page of a TIFF before it is encoded.
func RenderTIFF(ctx context.Context, src Source, width int) (img image.Image, err error) {
	lim := DefaultExtractLimits()
	err = withSource(ctx, src, func(doc *source) error {
		page, err := openTIFFPage(doc, 1, lim)
		if err != nil {
			return err
		}
		img, err = page.raster().render(width, lim)
		return err
	})
	return img, err
}

// Shrink scales an image as page images are scaled.
func Shrink(img image.Image, width, height int) (image.Image, error) {
	return newRaster(img).shrink(width, height)
}

package document

import (
	"image"
	"image/draw"
	"math"

	"deedkeep/app/document/raster"
	"deedkeep/app/pdf"
)

func imagePage(doc *source, n, width int, lim ExtractLimits) (image.Image, error) {
	if n != 1 {
		return nil, ErrNoPage
	}
	r, err := decodeImage(doc, doc.codec, lim)
	if err != nil {
		return nil, err
	}
	if doc.mime == mimeJPEG {
		r.Orientation = exifOrientation(doc.Reader)
	}
	return render(r, width, lim)
}

// decodeImage decodes the image after it has checked its size, which determines how much memory the
// decoder uses.
func decodeImage(doc *source, c codec, lim ExtractLimits) (*raster.Raster, error) {
	config, err := c.config(doc.All())
	if err != nil {
		return nil, raster.CodecError(err)
	}
	extra := int64(0)
	if doc.mime == mimeJPEG && isProgressive(doc.Reader) {
		extra = 12 // 4-byte coefficients for three samples
	}
	if err := raster.CheckSize(config, extra, lim.MaxPixels); err != nil {
		return nil, err
	}
	img, err := c.decode(doc.All())
	if err != nil {
		return nil, raster.CodecError(err)
	}
	// The first frame of a GIF may be smaller than the logical screen.
	if screen := image.Rect(0, 0, config.Width, config.Height); img.Bounds() != screen {
		full := image.NewRGBA(screen)
		draw.Draw(full, screen, image.White, image.Point{}, draw.Src)
		draw.Draw(full, img.Bounds(), img, img.Bounds().Min, draw.Over)
		img = full
	}
	return raster.New(img), nil
}

// maxHeightFactor times ExtractLimits.MaxWidth is the maximum height of a page image.
const maxHeightFactor = 4

// maxRenderedPixels is the maximum number of pixels in a page image. It applies to image files and
// PDF pages.
const maxRenderedPixels = pdf.MaxPixels

// imageSize returns the width and height of the page image for an image of w x h square pixels. The
// width is the given one unless the image is narrower, because viewers can enlarge images
// themselves. The result also respects the limits on height and number of pixels.
func imageSize(w, h float64, width int, lim ExtractLimits) (int, int) {
	fw := min(float64(width), w)
	fh := fw * h / w
	if fw*fh > maxRenderedPixels {
		shrink := math.Sqrt(maxRenderedPixels / (fw * fh))
		fw, fh = fw*shrink, fh*shrink
	}
	if maxHeight := float64(maxHeightFactor * lim.MaxWidth); fh > maxHeight {
		fw, fh = fw*maxHeight/fh, maxHeight
	}
	return max(int(math.Round(fw)), 1), max(int(math.Round(fh)), 1)
}

// render returns r upright. It is width pixels wide if imageSize allows that.
func render(r *raster.Raster, width int, lim ExtractLimits) (image.Image, error) {
	// The size in square pixels. Their resolution is the higher one of the two directions.
	square := [2]float64{float64(r.Width), float64(r.Height)}
	if r.Aspect > 1 {
		square[1] *= r.Aspect
	} else {
		square[0] /= r.Aspect
	}
	var w, h int
	if r.Orientation >= 5 {
		h, w = imageSize(square[1], square[0], width, lim)
	} else {
		w, h = imageSize(square[0], square[1], width, lim)
	}
	img, err := r.Scale(w, h)
	if err != nil {
		return nil, err
	}
	return raster.Upright(img, r.Orientation), nil
}

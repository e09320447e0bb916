package document

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
)

const (
	jpegQuality = 80
	// grayLevels is the number of gray levels in which a printed page is stored. More levels make
	// no visible difference. With 16 levels, a pixel takes half a byte before compression.
	grayLevels = 16
	// minPrintShare is the minimum share of nearly black or nearly white pixels in a printed page.
	// Such a pixel differs from black or white by less than nearRange, on a scale of 0 to 255.
	minPrintShare = 0.85
	nearRange     = 32
)

// encode compresses a page image. A printed page becomes a PNG with 16 levels of gray, or 2 if it
// is black and white. A drawing with up to 256 colors becomes a PNG. Anything else becomes a JPEG.
func encode(img image.Image) (Image, error) {
	if rgba, ok := img.(*image.RGBA); ok {
		if gray := grayOf(rgba); gray != nil {
			img = gray
		} else if drawing := fewColors(rgba); drawing != nil {
			return encodePNG(drawing)
		}
	}
	if gray, ok := img.(*image.Gray); ok {
		if drawing := printedPage(gray); drawing != nil {
			return encodePNG(drawing)
		}
	}
	var buf bytes.Buffer
	if err := jpeg.Encode(&buf, img, &jpeg.Options{Quality: jpegQuality}); err != nil {
		return Image{}, err
	}
	return Image{img.Bounds().Dx(), img.Bounds().Dy(), buf.Bytes(), "image/jpeg"}, nil
}

func encodePNG(img *image.Paletted) (Image, error) {
	var buf bytes.Buffer
	// A user may be waiting. Halving the time is worth a file that is 10% larger.
	encoder := png.Encoder{CompressionLevel: png.BestSpeed}
	if err := encoder.Encode(&buf, img); err != nil {
		return Image{}, err
	}
	return Image{img.Rect.Dx(), img.Rect.Dy(), buf.Bytes(), "image/png"}, nil
}

// grayOf returns the image in gray, or nil if it has colors.
func grayOf(img *image.RGBA) *image.Gray {
	for i := 0; i+3 < len(img.Pix); i += 4 {
		if img.Pix[i] != img.Pix[i+1] || img.Pix[i+1] != img.Pix[i+2] {
			return nil
		}
	}
	gray := image.NewGray(img.Rect)
	for i := range gray.Pix {
		gray.Pix[i] = img.Pix[4*i]
	}
	return gray
}

// printedPage returns the image with 2 or 16 levels of gray, or nil if it isn't a printed page.
func printedPage(img *image.Gray) *image.Paletted {
	var counts [256]int
	for _, v := range img.Pix {
		counts[v]++
	}
	nearExtremes := 0
	for i := range nearRange {
		nearExtremes += counts[i] + counts[255-i]
	}
	if float64(nearExtremes) < minPrintShare*float64(len(img.Pix)) {
		return nil
	}
	levels := grayLevels
	if counts[0]+counts[255] == len(img.Pix) {
		levels = 2
	}
	var palette color.Palette
	for i := range levels {
		palette = append(palette, color.Gray{byte(i * 255 / (levels - 1))})
	}
	var nearest [256]byte
	for v := range nearest {
		nearest[v] = byte((v*(levels-1) + 127) / 255)
	}
	drawing := image.NewPaletted(img.Rect, palette)
	for i, v := range img.Pix {
		drawing.Pix[i] = nearest[v]
	}
	return drawing
}

// fewColors returns the image with a palette, or nil if it has more than 256 colors.
func fewColors(img *image.RGBA) *image.Paletted {
	index := make(map[[3]byte]byte)
	var palette color.Palette
	drawing := image.NewPaletted(img.Rect, nil)
	for i := range drawing.Pix {
		c := [3]byte(img.Pix[4*i : 4*i+3])
		at, known := index[c]
		if !known {
			if len(palette) == 256 {
				return nil
			}
			at = byte(len(palette))
			index[c] = at
			palette = append(palette, color.RGBA{c[0], c[1], c[2], 0xFF})
		}
		drawing.Pix[i] = at
	}
	drawing.Palette = palette
	return drawing
}

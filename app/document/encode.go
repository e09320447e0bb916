package document

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
)

const (
	photoQuality = 80
	// grays is how many levels a page of print is stored in: no eye misses the
	// others, and it is half a byte a pixel before packing.
	grays = 16
	// printShare of the pixels of a page of print are nearly black or white.
	printShare = 0.85
	nearly     = 32
)

// encode packs a picture: a page of print as PNG, in black and white where it
// is that; a drawing of up to 256 colors as PNG; anything else as JPEG.
func encode(img image.Image) (Image, error) {
	if rgba, ok := img.(*image.RGBA); ok {
		if gray := grayOf(rgba); gray != nil {
			img = gray
		} else if drawing := fewColors(rgba); drawing != nil {
			return encodePNG(drawing)
		}
	}
	if gray, ok := img.(*image.Gray); ok {
		if drawing := printed(gray); drawing != nil {
			return encodePNG(drawing)
		}
	}
	var buf bytes.Buffer
	if err := jpeg.Encode(&buf, img, &jpeg.Options{Quality: photoQuality}); err != nil {
		return Image{}, err
	}
	return Image{img.Bounds().Dx(), img.Bounds().Dy(), buf.Bytes(), "image/jpeg"}, nil
}

func encodePNG(img *image.Paletted) (Image, error) {
	var buf bytes.Buffer
	// Somebody waits for it: half of the time is worth a tenth of the size.
	coder := png.Encoder{CompressionLevel: png.BestSpeed}
	if err := coder.Encode(&buf, img); err != nil {
		return Image{}, err
	}
	return Image{img.Rect.Dx(), img.Rect.Dy(), buf.Bytes(), "image/png"}, nil
}

// grayOf returns the picture without its colors, nil where it has any.
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

// printed returns the picture in 2 or 16 levels of gray, nil where it is no
// page of print.
func printed(img *image.Gray) *image.Paletted {
	var counts [256]int
	for _, v := range img.Pix {
		counts[v]++
	}
	extreme := 0
	for i := range nearly {
		extreme += counts[i] + counts[255-i]
	}
	if float64(extreme) < printShare*float64(len(img.Pix)) {
		return nil
	}
	levels := grays
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

// fewColors returns the picture with a palette, nil where it has more than 256
// colors.
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

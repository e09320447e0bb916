// Package raster scales images that are read row by row, and turns them upright. It converts decoded
// images to rows of gray or of red, green, and blue on a white background.
package raster

import (
	"image"
	"image/color"
	"image/draw"
)

// Raster is an image that can be read once, row by row from the top.
type Raster struct {
	Width, Height int
	Color         bool // 3 bytes per pixel (red, green, blue), else 1 byte (gray)
	// Aspect is the height of a pixel divided by its width. In a fax, pixels are higher than they
	// are wide.
	Aspect float64
	// Orientation is the value of the Orientation tag in EXIF or TIFF, from 1 to 8.
	Orientation int
	// Next reads the next row into row, which must have the length of a row.
	Next func(row []byte) error
}

// Channels returns the number of bytes of a pixel.
func (r *Raster) Channels() int {
	if r.Color {
		return 3
	}
	return 1
}

// New returns a raster of a decoded image on a white background.
func New(img image.Image) *Raster {
	b := img.Bounds()
	r := &Raster{Width: b.Dx(), Height: b.Dy(), Color: true, Aspect: 1, Orientation: 1}
	var read func(row []byte)
	switch img := img.(type) {
	case *image.Gray:
		r.Color = false
		y := b.Min.Y
		read = func(row []byte) {
			copy(row, img.Pix[img.PixOffset(b.Min.X, y):])
			y++
		}
	case *image.YCbCr:
		read = scanYCbCr(img)
	case *image.Paletted:
		read = r.scanPaletted(img)
	default:
		read = Rows(img, r.Width, r.Channels())
	}
	r.Next = func(row []byte) error {
		read(row)
		return nil
	}
	return r
}

// scanYCbCr returns a function that reads the next row.
func scanYCbCr(img *image.YCbCr) func([]byte) {
	y := img.Rect.Min.Y
	return func(row []byte) {
		for x := range img.Rect.Dx() {
			yi, ci := img.YOffset(img.Rect.Min.X+x, y), img.COffset(img.Rect.Min.X+x, y)
			row[3*x], row[3*x+1], row[3*x+2] = color.YCbCrToRGB(img.Y[yi], img.Cb[ci], img.Cr[ci])
		}
		y++
	}
}

// scanPaletted converts the palette once. It returns a function that reads the next row. It sets
// r.Color if the palette contains colors.
func (r *Raster) scanPaletted(img *image.Paletted) func([]byte) {
	var table [256][3]byte
	r.Color = false
	for i := range table {
		table[i] = [3]byte{255, 255, 255}
		if i < len(img.Palette) {
			table[i] = overWhite(img.Palette[i])
		}
		t := table[i]
		r.Color = r.Color || t[0] != t[1] || t[1] != t[2]
	}
	y, channels := img.Rect.Min.Y, r.Channels()
	return func(row []byte) {
		pix := img.Pix[img.PixOffset(img.Rect.Min.X, y):][:img.Rect.Dx()]
		y++
		if channels == 1 {
			for x, i := range pix {
				row[x] = table[i][0]
			}
			return
		}
		for x, i := range pix {
			copy(row[3*x:3*x+3], table[i][:])
		}
	}
}

// overWhite returns the color that results from drawing c on white.
func overWhite(c color.Color) [3]byte {
	r, g, b, a := c.RGBA()
	white := 0xFFFF - a
	return [3]byte{byte((r + white) >> 8), byte((g + white) >> 8), byte((b + white) >> 8)}
}

// Rows returns a function that draws the next row on white. The row has the given width and
// number of channels.
func Rows(img image.Image, width, channels int) func([]byte) {
	at := img.Bounds().Min
	line := image.NewRGBA(image.Rect(0, 0, width, 1))
	return func(row []byte) {
		draw.Draw(line, line.Rect, image.White, image.Point{}, draw.Src)
		draw.Draw(line, line.Rect, img, at, draw.Over)
		at.Y++
		for x := range width {
			if p := line.Pix[4*x:][:4]; channels == 3 {
				row[3*x], row[3*x+1], row[3*x+2] = p[0], p[1], p[2]
			} else {
				row[x] = p[0]
			}
		}
	}
}

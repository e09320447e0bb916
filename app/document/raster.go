package document

import (
	"image"
	"image/color"
	"image/draw"
)

// raster is an image that can be read once, row by row from the top.
type raster struct {
	width, height int
	color         bool // 3 bytes per pixel (red, green, blue), else 1 byte (gray)
	// aspect is the height of a pixel divided by its width. In a fax, pixels are higher than they
	// are wide.
	aspect float64
	// orientation is the value of the Orientation tag in EXIF or TIFF, from 1 to 8.
	orientation int
	// next reads the next row into row, which must have the length of a row.
	next func(row []byte) error
}

func (r *raster) channels() int {
	if r.color {
		return 3
	}
	return 1
}

// newRaster returns a raster of a decoded image on a white background.
func newRaster(img image.Image) *raster {
	b := img.Bounds()
	r := &raster{width: b.Dx(), height: b.Dy(), color: true, aspect: 1, orientation: 1}
	y := b.Min.Y
	var read func(row []byte)
	switch img := img.(type) {
	case *image.Gray:
		r.color = false
		read = func(row []byte) { copy(row, img.Pix[img.PixOffset(b.Min.X, y):]) }
	case *image.Gray16:
		r.color = false
		read = func(row []byte) {
			pix := img.Pix[img.PixOffset(b.Min.X, y):]
			for x := range row {
				row[x] = pix[2*x]
			}
		}
	case *image.YCbCr:
		read = func(row []byte) { scanYCbCr(row, img, y) }
	case *image.Paletted:
		read = r.scanPaletted(img, &y)
	default:
		read = scanAny(img, &y)
	}
	r.next = func(row []byte) error {
		read(row)
		y++
		return nil
	}
	return r
}

// scanYCbCr converts row y of img to red, green, and blue.
func scanYCbCr(row []byte, img *image.YCbCr, y int) {
	for x := range img.Rect.Dx() {
		yi, ci := img.YOffset(img.Rect.Min.X+x, y), img.COffset(img.Rect.Min.X+x, y)
		row[3*x], row[3*x+1], row[3*x+2] = color.YCbCrToRGB(img.Y[yi], img.Cb[ci], img.Cr[ci])
	}
}

// scanPaletted converts the palette once. It returns a function that reads a row. It sets r.color
// if the palette contains colors.
func (r *raster) scanPaletted(img *image.Paletted, y *int) func([]byte) {
	var table [256][3]byte
	gray := true
	for i := range table {
		table[i] = [3]byte{255, 255, 255}
		if i < len(img.Palette) {
			table[i] = overWhite(img.Palette[i])
		}
		t := table[i]
		gray = gray && t[0] == t[1] && t[1] == t[2]
	}
	r.color = !gray
	return func(row []byte) {
		pix := img.Pix[img.PixOffset(img.Rect.Min.X, *y):][:img.Rect.Dx()]
		if gray {
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

// scanAny returns a function that draws one row at a time on white.
func scanAny(img image.Image, y *int) func([]byte) {
	b := img.Bounds()
	line := image.NewRGBA(image.Rect(0, 0, b.Dx(), 1))
	return func(row []byte) {
		draw.Draw(line, line.Rect, image.White, image.Point{}, draw.Src)
		draw.Draw(line, line.Rect, img, image.Pt(b.Min.X, *y), draw.Over)
		for x := range b.Dx() {
			copy(row[3*x:3*x+3], line.Pix[4*x:4*x+3])
		}
	}
}

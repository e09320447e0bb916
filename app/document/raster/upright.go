package raster

import "image/draw"

// Upright rotates and mirrors img according to its Orientation tag (TIFF 6.0, section 8; EXIF 2.32,
// 4.6.4). The tag says which sides of the upright image are the first row and the first column of
// img. Unknown values leave img unchanged.
//
// Sides of the first row and the first column, by value:
//
//	1 top left   2 top right   3 bottom right   4 bottom left
//	5 left top   6 right top   7 right bottom   8 left bottom
func Upright(img draw.Image, orientation int) draw.Image {
	if orientation <= 1 || orientation > 8 {
		return img
	}
	w, h := img.Bounds().Dx(), img.Bounds().Dy()
	tw, th := w, h
	if orientation >= 5 {
		tw, th = h, w
	}
	// to returns the new position of the pixel at x, y.
	to := func(x, y int) (int, int) {
		switch orientation {
		case 2:
			return w - 1 - x, y
		case 3:
			return w - 1 - x, h - 1 - y
		case 4:
			return x, h - 1 - y
		case 5:
			return y, x
		case 6:
			return h - 1 - y, x
		case 7:
			return h - 1 - y, w - 1 - x
		}
		return y, w - 1 - x
	}
	from, n := pixelsOf(img)
	turned := newCanvas(tw, th, n > 1)
	into, _ := pixelsOf(turned)
	for y := range h {
		for x := range w {
			tx, ty := to(x, y)
			copy(into[n*(ty*tw+tx):][:n], from[n*(y*w+x):])
		}
	}
	return turned
}

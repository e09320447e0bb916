package document

import (
	"bytes"
	"image/draw"
	"slices"

	"deedkeep/app/document/docio"
	"deedkeep/app/document/tiff"
)

// upright rotates and mirrors img according to its Orientation tag (TIFF 6.0, section 8; EXIF 2.32,
// 4.6.4). The tag says which sides of the upright image are the first row and the first column of
// img. Unknown values leave img unchanged.
//
// Sides of the first row and the first column, by value:
//
//	1 top left   2 top right   3 bottom right   4 bottom left
//	5 left top   6 right top   7 right bottom   8 left bottom
func upright(img draw.Image, orientation int) draw.Image {
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

// isProgressive reports whether a JPEG is progressive. The decoder of a progressive JPEG keeps all
// coefficients in memory.
func isProgressive(doc *source) (progressive bool) {
	jpegSegments(doc.Reader, func(marker byte, _, _ int64) bool {
		progressive = marker == 0xC2
		return progressive || marker == 0xC0 || marker == 0xC1
	})
	return progressive
}

// exifOrientation returns the orientation in the EXIF block of a JPEG, or 1 if there is none. The
// block is an APP1 segment that contains a TIFF file (EXIF 2.32, 4.5.4):
//
//	FF E1  length:2  "Exif" 0 0  TIFF header, directory 0 with tag 0x0112
func exifOrientation(doc *source) int {
	orientation := 1
	jpegSegments(doc.Reader, func(marker byte, off, length int64) bool {
		if marker != 0xE1 {
			return false
		}
		block, ok := doc.Bytes(off, length)
		content, exif := bytes.CutPrefix(block, []byte("Exif\x00\x00"))
		if !ok || !exif {
			return false
		}
		file, err := tiff.Open(docio.NewReader(doc.Context(), bytes.NewReader(content), int64(len(content))))
		if err != nil {
			return true
		}
		for _, dir := range slices.Collect(file.Directories(1)) {
			orientation = dir.Orientation()
		}
		return true
	})
	return orientation
}

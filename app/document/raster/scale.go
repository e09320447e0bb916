package raster

import (
	"image"

	"golang.org/x/image/draw"
)

// Scale reads r and returns it with w x h pixels. If it shrinks the image, it averages areas, which
// requires only one row in memory at a time. Otherwise, it applies a cubic filter to the complete
// image, unless that would take too much memory: 32 bytes for each pixel of an image of r's height
// and the new width.
func (r *Raster) Scale(w, h int) (draw.Image, error) {
	const maxCubicShrink, maxCubicPixels = 1.5, 8 << 20
	if float64(r.Width) > maxCubicShrink*float64(w) || float64(r.Height) > maxCubicShrink*float64(h) || w*r.Height > maxCubicPixels {
		return r.shrink(w, h)
	}
	full, err := r.shrink(r.Width, r.Height)
	if err != nil || w == r.Width && h == r.Height {
		return full, err
	}
	scaled := newCanvas(w, h, r.Color)
	draw.CatmullRom.Scale(scaled, scaled.Bounds(), full, full.Bounds(), draw.Src, nil)
	return scaled, nil
}

// newCanvas returns an *image.RGBA if inColor is true, else an *image.Gray.
func newCanvas(w, h int, inColor bool) draw.Image {
	if inColor {
		return image.NewRGBA(image.Rect(0, 0, w, h))
	}
	return image.NewGray(image.Rect(0, 0, w, h))
}

// pixelsOf returns the pixels of a canvas and the number of bytes of a pixel.
func pixelsOf(canvas draw.Image) (pix []byte, size int) {
	if gray, ok := canvas.(*image.Gray); ok {
		return gray.Pix, 1
	}
	return canvas.(*image.RGBA).Pix, 4
}

// shrink averages areas. To keep all weights integers, it uses units in which a pixel of r is w
// wide and h high, and a pixel of the result is r.Width wide and r.Height high.
func (r *Raster) shrink(w, h int) (draw.Image, error) {
	c := r.Channels()
	row := make([]byte, c*r.Width)
	line, sums := make([]uint64, c*w), make([]uint64, c*w)
	img := newCanvas(w, h, r.Color)
	y, free := 0, r.Height
	for range r.Height {
		if err := r.Next(row); err != nil {
			return nil, err
		}
		shrinkRow(line, row, c, w, r.Width)
		for left := h; left > 0; {
			part := min(left, free)
			for i, v := range line {
				sums[i] += v * uint64(part)
			}
			left -= part
			if free -= part; free == 0 {
				putRow(img, y, sums, uint64(r.Width)*uint64(r.Height))
				clear(sums)
				y, free = y+1, r.Height
			}
		}
	}
	return img, nil
}

// shrinkRow adds each pixel of row to the pixels in line that it covers. line has w pixels, row has
// width pixels, and both have c channels.
func shrinkRow(line []uint64, row []byte, c, w, width int) {
	if w == width {
		for i, v := range row {
			line[i] = uint64(v) * uint64(w)
		}
		return
	}
	clear(line)
	at, free := 0, width
	for i := 0; i < len(row); i += c {
		// Several pixels that are completely within one pixel of the result need only one
		// multiplication.
		n := c * min((free-1)/w, (len(row)-i)/c)
		within := row[i : i+n]
		if c == 1 {
			sum := uint64(0)
			for _, v := range within {
				sum += uint64(v)
			}
			line[at] += sum * uint64(w)
		} else {
			addColors(line[at:at+3], within, uint64(w))
		}
		free -= n / c * w
		if i += n; i == len(row) {
			return
		}
		for left := w; left > 0; {
			part := min(left, free)
			for k := range c {
				line[at+k] += uint64(row[i+k]) * uint64(part)
			}
			left -= part
			if free -= part; free == 0 {
				at, free = at+c, width
			}
		}
	}
}

// addColors adds the weighted red, green, and blue values of the pixels in row to sums.
func addColors(sums []uint64, row []byte, weight uint64) {
	var r, g, b uint64
	for ; len(row) >= 3; row = row[3:] {
		r, g, b = r+uint64(row[0]), g+uint64(row[1]), b+uint64(row[2])
	}
	sums[0] += r * weight
	sums[1] += g * weight
	sums[2] += b * weight
}

// putRow writes row y of the result. Each value is a sum divided by area.
func putRow(img draw.Image, y int, sums []uint64, area uint64) {
	half := area / 2
	switch img := img.(type) {
	case *image.Gray:
		for x, sum := range sums {
			img.Pix[y*img.Stride+x] = byte((sum + half) / area)
		}
	case *image.RGBA:
		pix := img.Pix[y*img.Stride:]
		for x := 0; 3*x < len(sums); x++ {
			for k := range 3 {
				pix[4*x+k] = byte((sums[3*x+k] + half) / area)
			}
			pix[4*x+3] = 0xFF
		}
	}
}

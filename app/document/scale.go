package document

import (
	"image"
	"math"

	"golang.org/x/image/draw"

	"deedkeep/app/pdf"
)

// maxHeightFactor is how much higher than lim.Width a picture may be.
const maxHeightFactor = 4

// maxRenderedPixels is how many pixels a picture has that is made, as those of pages of PDFs.
const maxRenderedPixels = pdf.MaxPixels

// size returns the size of a picture of that width, upright, of a picture of
// w x h upright square pixels: not above its own size, since whoever looks at it
// can enlarge it as well, nor higher or with more pixels than the limits allow.
func size(w, h float64, width int, lim ExtractLimits) (int, int) {
	fw := min(float64(width), w)
	fh := fw * h / w
	if fw*fh > maxRenderedPixels {
		shrink := math.Sqrt(maxRenderedPixels / (fw * fh))
		fw, fh = fw*shrink, fh*shrink
	}
	if most := float64(maxHeightFactor * lim.MaxWidth); fh > most {
		fw, fh = fw*most/fh, most
	}
	return max(int(math.Round(fw)), 1), max(int(math.Round(fh)), 1)
}

// render makes a picture of r, upright and width pixels wide if it may be.
func (r *raster) render(width int, lim ExtractLimits) (image.Image, error) {
	// Square pixels of the finer of the two resolutions.
	natural := [2]float64{float64(r.width), float64(r.height)}
	if r.aspect > 1 {
		natural[1] *= r.aspect
	} else {
		natural[0] /= r.aspect
	}
	var w, h int
	if r.turn >= 5 {
		h, w = size(natural[1], natural[0], width, lim)
	} else {
		w, h = size(natural[0], natural[1], width, lim)
	}
	img, err := r.scale(w, h)
	if err != nil {
		return nil, err
	}
	return upright(img, r.turn), nil
}

// scale reads r into a picture of w x h pixels: by averaging areas, which needs
// one row at a time, where it shrinks; else by a cubic filter over all of it.
func (r *raster) scale(w, h int) (draw.Image, error) {
	const mild = 1.5
	if float64(r.width) > mild*float64(w) || float64(r.height) > mild*float64(h) {
		return r.shrink(w, h)
	}
	whole, err := r.shrink(r.width, r.height)
	if err != nil || w == r.width && h == r.height {
		return whole, err
	}
	scaled := r.canvas(w, h)
	draw.CatmullRom.Scale(scaled, scaled.Bounds(), whole, whole.Bounds(), draw.Src, nil)
	return scaled, nil
}

func (r *raster) canvas(w, h int) draw.Image {
	if r.color {
		return image.NewRGBA(image.Rect(0, 0, w, h))
	}
	return image.NewGray(image.Rect(0, 0, w, h))
}

// shrink averages areas. In units in which a pixel of r is w wide and h high, a
// pixel of the picture is r.width wide and r.height high: all weights are whole.
func (r *raster) shrink(w, h int) (draw.Image, error) {
	c := r.channels()
	row := make([]byte, c*r.width)
	line, sums := make([]uint64, c*w), make([]uint64, c*w)
	img := r.canvas(w, h)
	y, room := 0, r.height
	for range r.height {
		if err := r.next(row); err != nil {
			return nil, err
		}
		shrinkRow(line, row, c, w, r.width)
		for left := h; left > 0; {
			part := min(left, room)
			for i, v := range line {
				sums[i] += v * uint64(part)
			}
			left -= part
			if room -= part; room == 0 {
				put(img, y, sums, uint64(r.width)*uint64(r.height))
				clear(sums)
				y, room = y+1, r.height
			}
		}
	}
	return img, nil
}

// shrinkRow adds each pixel of row up in the pixels of line that it covers; w
// and width are how many pixels of c channels each has.
func shrinkRow(line []uint64, row []byte, c, w, width int) {
	if w == width {
		for i, v := range row {
			line[i] = uint64(v) * uint64(w)
		}
		return
	}
	clear(line)
	at, room := 0, width
	for i := 0; i < len(row); i += c {
		// Pixels that lie within one of the picture's need one multiplication.
		n := c * min((room-1)/w, (len(row)-i)/c)
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
		room -= n / c * w
		if i += n; i == len(row) {
			return
		}
		for left := w; left > 0; {
			part := min(left, room)
			for k := range c {
				line[at+k] += uint64(row[i+k]) * uint64(part)
			}
			left -= part
			if room -= part; room == 0 {
				at, room = at+c, width
			}
		}
	}
}

func addColors(sums []uint64, row []byte, weight uint64) {
	var r, g, b uint64
	for ; len(row) >= 3; row = row[3:] {
		r, g, b = r+uint64(row[0]), g+uint64(row[1]), b+uint64(row[2])
	}
	sums[0] += r * weight
	sums[1] += g * weight
	sums[2] += b * weight
}

// put writes a row of sums, each of which stands for area.
func put(img draw.Image, y int, sums []uint64, area uint64) {
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

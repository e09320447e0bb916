package ocr

import (
	"image"
	"math"
)

// shrink returns the image with one pixel for each square of n x n pixels: their average.
func shrink(img *image.Gray, n int) *image.Gray {
	w, h := img.Rect.Dx()/n, img.Rect.Dy()/n
	small := image.NewGray(image.Rect(0, 0, w, h))
	sums := make([]int, w)
	for y := range h {
		clear(sums)
		for j := range n {
			row := img.Pix[(y*n+j)*img.Stride:]
			for x := range w {
				for _, v := range row[x*n : x*n+n] {
					sums[x] += int(v)
				}
			}
		}
		for x, sum := range sums {
			small.Pix[y*small.Stride+x] = byte(sum / (n * n))
		}
	}
	return small
}

// threshold returns the brightness below which a pixel is ink (Otsu's method), and how much darker
// the average of the ink is than that of the paper.
func threshold(img *image.Gray) (level, contrast int) {
	var counts [256]float64
	for y := range img.Rect.Dy() {
		for _, v := range img.Pix[y*img.Stride:][:img.Rect.Dx()] {
			counts[v]++
		}
	}
	total, sum := 0., 0.
	for v, n := range &counts {
		total += n
		sum += float64(v) * n
	}
	best, below, sumBelow := -1., 0., 0.
	for v, n := range &counts {
		below += n
		sumBelow += float64(v) * n
		if below == 0 || below == total {
			continue
		}
		dark, light := sumBelow/below, (sum-sumBelow)/(total-below)
		if between := below * (total - below) * (light - dark) * (light - dark); between > best {
			best, level, contrast = between, v+1, int(light-dark)
		}
	}
	return level, contrast
}

// inkSize is the number of pixels of the longer side of the image in which the direction of lines
// is found.
const inkSize = 1100

// ink is the dark points of a small image.
type ink struct {
	points [][2]int32
	w, h   int
}

// findInk returns the ink of an image. If more than a third is dark, it is a photograph or a dark
// border, and the result has no points.
func findInk(img *image.Gray) ink {
	if n := max(img.Rect.Dx(), img.Rect.Dy()) / inkSize; n > 1 {
		img = shrink(img, n)
	}
	in := ink{w: img.Rect.Dx(), h: img.Rect.Dy()}
	level, _ := threshold(img)
	for y := range in.h {
		for x, v := range img.Pix[y*img.Stride:][:in.w] {
			if int(v) < level {
				in.points = append(in.points, [2]int32{int32(x), int32(y)})
			}
		}
	}
	if len(in.points) > in.w*in.h/3 {
		in.points = nil
	}
	return in
}

// sharpness returns how clearly the ink forms lines that rise by slope to the right, or vertical lines
// if down is true: the sum of the squared differences of neighboring lines.
func (in ink) sharpness(slope float64, down bool) float64 {
	along, across := in.w, in.h
	i, j := 0, 1
	if down {
		along, across, i, j = in.h, in.w, 1, 0
	}
	margin := int(math.Abs(slope)*float64(along)) + 1
	counts := make([]int32, across+2*margin+1)
	fixed := int64(math.Round(slope * (1 << 20)))
	for _, p := range in.points {
		counts[int64(p[j])+(int64(p[i])*fixed)>>20+int64(margin)]++
	}
	// A line of text is never as dark as a streak, a border, or the shadow of an edge.
	dark := int32(along) * 3 / 10
	sum := 0.
	for k := 1; k < len(counts); k++ {
		d := float64(min(counts[k], dark) - min(counts[k-1], dark))
		sum += d * d
	}
	return sum
}

// maxSkew is the largest angle that is corrected, in degrees.
const maxSkew = 7

// skew returns the angle, in radians, by which the page must be rotated clockwise so that its lines
// are horizontal, or vertical if down is true, and the sharpness at that angle.
func (in ink) skew(down bool) (angle, sharpness float64) {
	best := 0.
	at := func(degrees float64) {
		if s := in.sharpness(math.Tan(degrees*math.Pi/180), down); s > sharpness {
			best, sharpness = degrees, s
		}
	}
	for d := -float64(maxSkew); d <= maxSkew; d += 0.5 {
		at(d)
	}
	for middle, d := best, -0.45; d < 0.5; d += 0.05 {
		at(middle + d)
	}
	if down {
		best = -best
	}
	return best * math.Pi / 180, sharpness
}

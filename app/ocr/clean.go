package ocr

import (
	"image"
	"slices"
)

// blockSize is the number of pixels of a side of the squares in which the paper's brightness is
// measured. It is larger than the letters of most text at 300 dpi.
const blockSize = 64

// unevenPaper is the difference in brightness between parts of the paper above which it is evened out.
const unevenPaper = 40

// evenOut returns the image with white paper if the paper is unevenly bright,
// as in photographs and in copies of bound books. Otherwise, it returns img.
func evenOut(img *image.Gray) *image.Gray {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	columns, rows := (w+blockSize-1)/blockSize, (h+blockSize-1)/blockSize
	if columns < 4 || rows < 4 {
		return img
	}
	paper := make([]float64, columns*rows)
	for j := range rows {
		for i := range columns {
			paper[j*columns+i] = paperAt(img, image.Rect(i*blockSize, j*blockSize, (i+1)*blockSize, (j+1)*blockSize).Intersect(img.Rect))
		}
	}
	sorted := slices.Sorted(slices.Values(paper))
	if sorted[len(sorted)*95/100]-sorted[len(sorted)*5/100] < unevenPaper {
		return img
	}
	out := image.NewGray(img.Rect)
	for y := range h {
		fy := min(max((float64(y)+0.5)/blockSize-0.5, 0), float64(rows-1))
		top := min(int(fy), rows-2)
		upper, lower, ty := paper[top*columns:], paper[(top+1)*columns:], fy-float64(top)
		for x, v := range img.Pix[y*img.Stride:][:w] {
			fx := min(max((float64(x)+0.5)/blockSize-0.5, 0), float64(columns-1))
			left := min(int(fx), columns-2)
			tx := fx - float64(left)
			white := (upper[left]*(1-tx)+upper[left+1]*tx)*(1-ty) + (lower[left]*(1-tx)+lower[left+1]*tx)*ty
			out.Pix[y*out.Stride+x] = byte(min(float64(v)*255/max(white, 1), 255))
		}
	}
	return out
}

// paperAt returns the brightness of the paper in a part of the image: that of the pixels that are
// lighter than four fifths of the part.
func paperAt(img *image.Gray, part image.Rectangle) float64 {
	var counts [256]int
	total := 0
	for y := part.Min.Y; y < part.Max.Y; y += 2 {
		for x := part.Min.X; x < part.Max.X; x += 2 {
			counts[img.Pix[y*img.Stride+x]]++
			total++
		}
	}
	for v, n := 255, 0; v >= 0; v-- {
		if n += counts[v]; 5*n > total {
			return float64(v)
		}
	}
	return 255
}

// specks is the share of the dark pixels that must be isolated for the page to count as noisy.
const specks = 0.02

// removeSpecks returns the image without dark pixels on light paper and light pixels in ink that
// have at most one neighbor of their kind. It returns img if there are few of them.
func removeSpecks(img *image.Gray) *image.Gray {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	level, _ := threshold(img)
	dark, alone := 0, 0
	var out *image.Gray
	for pass := range 2 {
		if pass == 1 {
			if float64(alone) < specks*float64(dark) || dark == 0 {
				return img
			}
			out = image.NewGray(img.Rect)
			for y := range h {
				copy(out.Pix[y*out.Stride:][:w], img.Pix[y*img.Stride:])
			}
		}
		for y := 1; y < h-1; y++ {
			above, row, below := img.Pix[(y-1)*img.Stride:][:w], img.Pix[y*img.Stride:][:w], img.Pix[(y+1)*img.Stride:][:w]
			for x := 1; x < w-1; x++ {
				ink := int(row[x]) < level
				if pass == 0 && ink {
					dark++
				}
				if (int(row[x-1]) < level) == ink && (int(row[x+1]) < level) == ink {
					continue // most pixels
				}
				around := [8]byte{above[x-1], above[x], above[x+1], row[x-1], row[x+1], below[x-1], below[x], below[x+1]}
				same, sum := 0, 0
				for _, v := range around {
					if (int(v) < level) == ink {
						same++
					}
					sum += int(v)
				}
				switch {
				case same > 1:
				case pass == 1:
					out.Pix[y*out.Stride+x] = byte(sum / 8)
				case ink:
					alone++
				}
			}
		}
	}
	return out
}

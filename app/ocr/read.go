package ocr

import (
	"context"
	"image"
	"math"
	"unicode/utf8"
)

// Limits and thresholds of reading. They were measured: see .github/decisions/013-ocr.md.
const (
	minContrast   = 20                // between ink and paper; below it, a page counts as blank
	minSkew       = 1 * math.Pi / 180 // Tesseract reads less skewed lines just as well
	sideways      = 1.5               // how much sharper vertical lines must be than horizontal ones
	poor          = 60                // confidence below which other rotations are tried
	goodWord      = 70                // minimum confidence of words that count when rotations are compared
	fineDPI       = 300               // to which low-resolution images are enlarged
	coarseDPI     = 200               // below which images are enlarged
	maxDPI        = 10000             // above which a resolution is meaningless
	maxScale      = 2.5               // by which images are enlarged
	maxReadPixels = 16 << 20          // of an enlarged image
	letterWidth   = 8.5               // inches; the width of a page of unknown size
	minPageWidth  = 900               // pixels; narrower images of unknown size are parts of pages
)

// Read returns the words of a page. dpi is the resolution of the image in dots per inch, or 0 if it
// is unknown. The error is ErrUnreadable or one that the page didn't cause. ctx is checked between
// calls to Tesseract but can't interrupt a call.
func (e *Engine) Read(ctx context.Context, img *image.Gray, dpi float64) (Page, error) {
	e.Lock()
	defer e.Unlock()
	if _, contrast := threshold(img); contrast < minContrast {
		return Page{}, ctx.Err()
	}
	if !(dpi >= 1 && dpi <= maxDPI) { // also if it isn't a number
		dpi = 0
	}
	r := reading{engine: e, page: img, dpi: dpi}
	in := findInk(img)
	angle, sharpness := in.skew(false)
	angleDown, sharpnessDown := in.skew(true)
	r.angle = angle
	first := 0
	if sharpnessDown > sideways*sharpness {
		r.angle = angleDown
		var err error
		if first, err = r.best(ctx, 90, 270, 0); err != nil {
			return Page{}, err
		}
	}
	p, err := r.read(ctx, first)
	if err != nil || p.Confidence() >= poor {
		return p, err
	}
	rotation, err := r.best(ctx, 0, 180, 90, 270)
	if err != nil || rotation == first {
		return p, err
	}
	again, err := r.read(ctx, rotation)
	if err != nil || again.Confidence() <= p.Confidence() {
		return p, err
	}
	return again, nil
}

// reading is the work on one page.
type reading struct {
	engine *Engine
	page   *image.Gray
	dpi    float64
	angle  float64 // by which the page must be rotated clockwise so that its lines are straight
}

// view returns the page rotated clockwise by rotation and enhanced, and its resolution.
func (r reading) view(rotation int) (v view, dpi float64) {
	v = quarter(r.page, rotation)
	w, h := float64(v.img.Rect.Dx()), float64(v.img.Rect.Dy())
	dpi = r.dpi
	if dpi == 0 && min(w, h) >= minPageWidth {
		dpi = min(w, h) / letterWidth
	}
	v.img = removeSpecks(evenOut(v.img))
	scale := 1.
	if dpi > 0 && dpi < coarseDPI {
		scale = max(min(fineDPI/dpi, maxScale, math.Sqrt(maxReadPixels/(w*h))), 1)
	}
	angle := r.angle
	if math.Abs(angle) < minSkew {
		angle = 0
	}
	if angle != 0 || scale > 1 {
		v = v.straighten(angle, scale)
	}
	return v, dpi * scale
}

// read returns the words of the page rotated clockwise by rotation.
func (r reading) read(ctx context.Context, rotation int) (Page, error) {
	if err := ctx.Err(); err != nil {
		return Page{}, err
	}
	v, dpi := r.view(rotation)
	words, err := r.engine.recognize(ctx, v.img, int(math.Round(dpi)))
	if err != nil {
		return Page{}, err
	}
	p := v.page(words, r.page.Rect.Dx(), r.page.Rect.Dy())
	p.Rotation = (rotation + orientation(words)) % 360
	return p, nil
}

// orientation returns how many degrees an image must be rotated clockwise so that its words are upright:
// 0, 90, or 270. Tesseract can read lines that run from top to bottom or back.
func orientation(words []tsvWord) int {
	votes, down := 0, 0
	for i, word := range words {
		if utf8.RuneCountInString(word.text) < 4 || word.confidence < goodWord {
			continue
		}
		if word.box.Dy() < word.box.Dx() {
			votes--
			continue
		}
		votes++
		if i > 0 && words[i-1].line == word.line && words[i-1].paragraph == word.paragraph && words[i-1].block == word.block {
			if words[i-1].box.Min.Y < word.box.Min.Y {
				down++
			} else {
				down--
			}
		}
	}
	switch {
	case votes <= 0:
		return 0
	case down > 0:
		return 270
	}
	return 90
}

// best returns the rotation in which a part of the page is read best.
func (r reading) best(ctx context.Context, rotations ...int) (int, error) {
	found, best := rotations[0], -1.
	for _, rotation := range rotations {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		v, dpi := r.view(rotation)
		words, err := r.engine.recognize(ctx, fullest(v.img), int(math.Round(dpi)))
		if err != nil {
			return 0, err
		}
		sum := 0.
		for _, word := range words {
			if word.confidence >= goodWord {
				sum += word.confidence * float64(utf8.RuneCountInString(word.text))
			}
		}
		if sum > best {
			found, best = rotation, sum
		}
	}
	return found, nil
}

// fullest returns the part of an image, a sixth of its height, that has the most ink.
func fullest(img *image.Gray) *image.Gray {
	const parts = 6
	w, h := img.Rect.Dx(), img.Rect.Dy()
	level, _ := threshold(img)
	dark := make([]int, h+1) // above each row
	for y := range h {
		n := 0
		for x := 0; x < w; x += 2 {
			if int(img.Pix[y*img.Stride+x]) < level {
				n++
			}
		}
		dark[y+1] = dark[y] + n
	}
	height := max(h/parts, min(h, 300))
	best := 0
	for top := 0; top+height <= h; top++ {
		if dark[top+height]-dark[top] > dark[best+height]-dark[best] {
			best = top
		}
	}
	part := img.SubImage(image.Rect(0, best, w, best+height)).(*image.Gray)
	part.Rect = image.Rect(0, 0, w, height)
	return part
}

// page returns the words with their boxes on the page, which has w x h pixels.
func (v view) page(words []tsvWord, w, h int) Page {
	var p Page
	var last tsvWord
	line, paragraph := 0, 0
	for i, word := range words[:min(len(words), MaxWords)] {
		if i == 0 || word.block != last.block || word.paragraph != last.paragraph {
			paragraph++
			line++
		} else if word.line != last.line {
			line++
		}
		last = word
		p.Words = append(p.Words, Word{
			Text: word.text, Confidence: int(math.Round(word.confidence)), Line: line, Paragraph: paragraph, Box: v.box(word.box, w, h),
		})
	}
	return p
}

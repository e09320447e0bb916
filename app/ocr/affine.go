package ocr

import (
	"image"
	"math"
)

// affine maps a point x, y to a*x + b*y + c, d*x + e*y + f.
type affine struct{ a, b, c, d, e, f float64 }

func (af affine) apply(x, y float64) (float64, float64) {
	return af.a*x + af.b*y + af.c, af.d*x + af.e*y + af.f
}

// after returns the map that first applies u and then t.
func (af affine) after(u affine) affine {
	return affine{
		af.a*u.a + af.b*u.d, af.a*u.b + af.b*u.e, af.a*u.c + af.b*u.f + af.c,
		af.d*u.a + af.e*u.d, af.d*u.b + af.e*u.e, af.d*u.c + af.e*u.f + af.f,
	}
}

// view is an image of a page that has been enhanced for recognition.
type view struct {
	img *image.Gray
	// back maps the pixels of img to those of the page.
	back affine
}

// transformed returns an image of w x h pixels whose map back to img is t. Pixels outside of img are
// white.
func transformed(img *image.Gray, w, h int, t affine) *image.Gray {
	out := image.NewGray(image.Rect(0, 0, w, h))
	for y := range h {
		row := out.Pix[y*out.Stride:][:w]
		sx, sy := t.apply(0.5, float64(y)+0.5)
		for x := range row {
			row[x] = sample(img, sx-0.5, sy-0.5)
			sx, sy = sx+t.a, sy+t.d
		}
	}
	return out
}

// sample returns the brightness between the centers of pixels, by cubic interpolation (Catmull-Rom).
func sample(img *image.Gray, x, y float64) byte {
	fx, fy := math.Floor(x), math.Floor(y)
	ix, iy := int(fx), int(fy)
	wx, wy := cubic(x-fx), cubic(y-fy)
	w, h := img.Rect.Dx(), img.Rect.Dy()
	if ix < 1 || iy < 1 || ix+2 >= w || iy+2 >= h {
		if ix < -1 || iy < -1 || ix > w || iy > h {
			return 255
		}
		nx, ny := min(max(int(math.Round(x)), 0), w-1), min(max(int(math.Round(y)), 0), h-1)
		return img.Pix[ny*img.Stride+nx]
	}
	sum := 0.
	for j := range 4 {
		p := img.Pix[(iy-1+j)*img.Stride+ix-1:][:4:4]
		sum += wy[j] * (wx[0]*float64(p[0]) + wx[1]*float64(p[1]) + wx[2]*float64(p[2]) + wx[3]*float64(p[3]))
	}
	return byte(min(max(sum+0.5, 0), 255))
}

// cubic returns the weights of four neighbors for a point at t between the second and the third.
func cubic(t float64) [4]float64 {
	return [4]float64{
		((-0.5*t+1)*t - 0.5) * t, (1.5*t-2.5)*t*t + 1, ((-1.5*t+2)*t + 0.5) * t, (0.5*t - 0.5) * t * t,
	}
}

// quarter returns the page rotated clockwise by 0, 90, 180, or 270 degrees.
func quarter(img *image.Gray, degrees int) view {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	fw, fh := float64(w), float64(h)
	back := affine{a: 1, e: 1}
	switch degrees {
	case 0:
		return view{img, back}
	case 90:
		back = affine{b: 1, d: -1, f: fh}
	case 180:
		back = affine{a: -1, c: fw, e: -1, f: fh}
	case 270:
		back = affine{b: -1, c: fw, d: 1}
	}
	if degrees != 180 {
		w, h = h, w
	}
	out := image.NewGray(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			sx, sy := back.apply(float64(x)+0.5, float64(y)+0.5)
			out.Pix[y*out.Stride+x] = img.Pix[int(sy)*img.Stride+int(sx)]
		}
	}
	return view{out, back}
}

// straighten returns the view rotated clockwise by a small angle in radians and enlarged by the factor
// scale.
func (v view) straighten(angle, scale float64) view {
	sin, cos := math.Sincos(-angle)
	w, h := float64(v.img.Rect.Dx()), float64(v.img.Rect.Dy())
	tw, th := math.Round(scale*(w*cos+h*math.Abs(sin))), math.Round(scale*(h*cos+w*math.Abs(sin)))
	cos, sin = cos/scale, sin/scale
	t := affine{a: cos, b: -sin, d: sin, e: cos}
	cx, cy := t.apply(tw/2, th/2)
	t.c, t.f = w/2-cx, h/2-cy
	return view{transformed(v.img, int(tw), int(th), t), v.back.after(t)}
}

// box returns a rectangle of the view as a Box on the page, which has w x h pixels.
func (v view) box(r image.Rectangle, w, h int) Box {
	left, top, right, bottom := math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)
	for _, corner := range [][2]int{{r.Min.X, r.Min.Y}, {r.Max.X, r.Min.Y}, {r.Min.X, r.Max.Y}, {r.Max.X, r.Max.Y}} {
		x, y := v.back.apply(float64(corner[0]), float64(corner[1]))
		left, top, right, bottom = min(left, x), min(top, y), max(right, x), max(bottom, y)
	}
	unit := func(n, side float64) int { return min(max(int(math.Round(n*Scale/side)), 0), Scale) }
	return Box{Left: unit(left, float64(w)), Top: unit(top, float64(h)), Right: unit(right, float64(w)), Bottom: unit(bottom, float64(h))}
}

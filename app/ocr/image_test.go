package ocr

import (
	"image"
	"math"
	"math/rand/v2"
	"testing"
)

// lines returns a page with black lines that fall to the right by the angle in radians.
func lines(w, h int, angle float64) *image.Gray {
	img := image.NewGray(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			v := byte(255)
			across := float64(y)*math.Cos(angle) - float64(x)*math.Sin(angle)
			along := float64(x)*math.Cos(angle) + float64(y)*math.Sin(angle)
			line, letter := int(across+10000)/40, int(along+10000)/9
			inked := (letter*letter*31+line*line*17+letter*line*7)%97 < 30
			if int(across+10000)%40 < 10 && inked && x > w/10 && x < w*9/10 && y > h/10 && y < h*9/10 {
				v = 0
			}
			img.Pix[y*w+x] = v
		}
	}
	return img
}

func TestSkew(t *testing.T) {
	for _, degrees := range []float64{0, 0.5, -0.5, 3, -5.2} {
		img := lines(1000, 1300, degrees*math.Pi/180)
		angle, sharpness := findInk(img).skew(false)
		_, down := findInk(img).skew(true)
		if got := angle * 180 / math.Pi; math.Abs(got+degrees) > 0.1 || sharpness < sideways*down {
			t.Errorf("skew() of lines that fall by %v degrees = %.2f, sharpness %.0f, %.0f downward", degrees, got, sharpness, down)
		}
		side := quarter(img, 90).img
		angle, sharpness = findInk(side).skew(true)
		_, across := findInk(side).skew(false)
		if got := angle * 180 / math.Pi; math.Abs(got+degrees) > 0.1 || sharpness < sideways*across {
			t.Errorf("skew() of the turned page with %v degrees = %.2f, sharpness %.0f, %.0f across", degrees, got, sharpness, across)
		}
	}
	if in := findInk(image.NewGray(image.Rect(0, 0, 100, 100))); len(in.points) != 0 {
		t.Errorf("findInk() of a black page has %d points, want none", len(in.points))
	}
}

// A view that is straightened and rotated maps back to the original page.
func TestViewBox(t *testing.T) {
	page := image.NewGray(image.Rect(0, 0, 400, 600))
	for i := range page.Pix {
		page.Pix[i] = 255
	}
	for y := 100; y < 130; y++ {
		for x := 50; x < 90; x++ {
			page.Pix[y*400+x] = 0
		}
	}
	for _, degrees := range []int{0, 90, 180, 270} {
		for _, c := range []struct{ angle, scale float64 }{{0, 1}, {0.05, 1}, {-0.1, 2}, {0, 1.5}} {
			v := quarter(page, degrees)
			if c.angle != 0 || c.scale != 1 {
				v = v.straighten(c.angle, c.scale)
			}
			dark := image.Rectangle{}
			for y := range v.img.Rect.Dy() {
				for x := range v.img.Rect.Dx() {
					if v.img.GrayAt(x, y).Y < 128 {
						dark = dark.Union(image.Rect(x, y, x+1, y+1))
					}
				}
			}
			box := v.box(dark, 400, 600)
			want := Box{1250, 1667, 2250, 2167}
			tolerance := 30 + int(math.Abs(c.angle)*2*1000)
			for _, d := range []int{box.Left - want.Left, box.Top - want.Top, box.Right - want.Right, box.Bottom - want.Bottom} {
				if d > tolerance || d < -tolerance {
					t.Errorf("%d degrees, %+v: box %v, want %v", degrees, c, box, want)
					break
				}
			}
		}
	}
}

func TestEvenOut(t *testing.T) {
	img := lines(1000, 1000, 0)
	if evenOut(img) != img {
		t.Error("evenOut() changed a page with white paper")
	}
	shaded := image.NewGray(img.Rect)
	for i, v := range img.Pix {
		shaded.Pix[i] = byte(int(v) * (60 + 40*(i%1000)/1000) / 100)
	}
	level, _ := threshold(shaded)
	flat := evenOut(shaded)
	for _, at := range []image.Point{{110, 135}, {890, 135}} {
		if flat.GrayAt(at.X, at.Y).Y < 230 {
			t.Errorf("paper at %v is %v, was %v, want it white", at, flat.GrayAt(at.X, at.Y), shaded.GrayAt(at.X, at.Y))
		}
	}
	if small := image.NewGray(image.Rect(0, 0, 9, 9)); evenOut(small) != small || level == 0 {
		t.Error("evenOut() changed a tiny image")
	}
}

func TestRemoveSpecks(t *testing.T) {
	clean := lines(600, 600, 0)
	if removeSpecks(clean) != clean {
		t.Error("removeSpecks() changed a clean page")
	}
	noisy := image.NewGray(clean.Rect)
	copy(noisy.Pix, clean.Pix)
	random := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		noisy.Pix[random.IntN(len(noisy.Pix))] ^= 255
	}
	wrong := func(img *image.Gray) (n int) {
		for i, v := range img.Pix {
			if (v < 128) != (clean.Pix[i] < 128) {
				n++
			}
		}
		return n
	}
	if before, after := wrong(noisy), wrong(removeSpecks(noisy)); after > before/5 {
		t.Errorf("%d wrong pixels, %d before, want fewer than a fifth", after, before)
	}
}

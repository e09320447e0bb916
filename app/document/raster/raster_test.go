package raster

import (
	"bytes"
	"image"
	"image/draw"
	"runtime"
	"testing"
)

// TestOrientation checks Upright with an image that has no symmetries.
func TestOrientation(t *testing.T) {
	// 1 2 3
	// 4 5 6
	stored := image.NewGray(image.Rect(0, 0, 3, 2))
	copy(stored.Pix, []byte{1, 2, 3, 4, 5, 6})
	for orientation, want := range [][]byte{
		0: {1, 2, 3, 4, 5, 6}, 1: {1, 2, 3, 4, 5, 6}, 2: {3, 2, 1, 6, 5, 4}, 3: {6, 5, 4, 3, 2, 1}, 4: {4, 5, 6, 1, 2, 3},
		5: {1, 4, 2, 5, 3, 6}, 6: {4, 1, 5, 2, 6, 3}, 7: {6, 3, 5, 2, 4, 1}, 8: {3, 6, 2, 5, 1, 4}, 9: {1, 2, 3, 4, 5, 6},
	} {
		got := Upright(stored, orientation).(*image.Gray)
		if !bytes.Equal(got.Pix, want) || orientation >= 5 && orientation <= 8 && got.Rect.Dx() != 2 {
			t.Errorf("%d: %v %v, want %v", orientation, got.Rect, got.Pix, want)
		}
		wide := image.NewRGBA(stored.Rect)
		draw.Draw(wide, wide.Rect, stored, image.Point{}, draw.Src)
		gray := image.NewGray(got.Rect)
		draw.Draw(gray, gray.Rect, Upright(wide, orientation), image.Point{}, draw.Src)
		if !bytes.Equal(gray.Pix, want) {
			t.Errorf("%d in color: %v, want %v", orientation, gray.Pix, want)
		}
	}
}

// TestShrink checks that each way of scaling preserves the mean.
func TestShrink(t *testing.T) {
	for _, c := range []struct{ w, h, toW, toH int }{{100, 70, 33, 11}, {7, 5, 3, 2}, {10, 1000, 10, 3}, {5, 5, 50, 1}, {3, 3, 1, 1},
		{64, 64, 64, 64}} {
		img := image.NewGray(image.Rect(0, 0, c.w, c.h))
		sum := 0
		for i := range img.Pix {
			img.Pix[i] = byte(i * 37)
			sum += int(img.Pix[i])
		}
		small, err := New(img).shrink(c.toW, c.toH)
		if err != nil {
			t.Fatalf("scan: %v", err)
		}
		got := 0
		for _, v := range small.(*image.Gray).Pix {
			got += int(v)
		}
		if mean, want := got/(c.toW*c.toH), sum/(c.w*c.h); max(mean-want, want-mean) > 1 {
			t.Errorf("%v: mean of %d, want %d", c, mean, want)
		}
	}
}

// TestScaleMemory checks that a page at 600 dots per inch fits into the memory of a worker if it is
// shrunk only a little.
func TestScaleMemory(t *testing.T) {
	page := image.NewGray(image.Rect(0, 0, 5100, 6600))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := New(page).Scale(3600, 4659); err != nil {
		t.Fatalf("scale: %v", err)
	}
	runtime.ReadMemStats(&after)
	if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 64<<20 {
		t.Errorf("%d bytes allocated, want at most 64 MiB", allocated)
	}
}

// Package area has the rectangles that people mark on pages of documents.
package area

import (
	"fmt"
	"math"
)

// Rect is a rectangle on a page, in points of 1/72 inch from the top left corner of the upright page, before the rotation
// that a person chose for it.
type Rect struct {
	X      float64 `json:"x"`
	Y      float64 `json:"y"`
	Width  float64 `json:"width"`
	Height float64 `json:"height"`
}

// Size is the size of an upright page, in points.
type Size struct{ Width, Height float64 }

// tolerance is by how many points a rectangle may be larger than the page. Viewers round the size of a page.
const tolerance = 0.1

// On returns the rectangle rounded to 1/100 point and cut at the edges of a page. ok is false if it isn't on the page or has
// no area.
func (r Rect) On(page Size) (on Rect, ok bool) {
	for _, side := range []struct {
		at, length float64
		max        float64
	}{{r.X, r.Width, page.Width}, {r.Y, r.Height, page.Height}} {
		if !(side.at >= -tolerance && side.length > 0 && side.at+side.length <= side.max+tolerance) { // false for NaN, too
			return on, false
		}
	}
	on.X, on.Width = cut(r.X, r.Width, page.Width)
	on.Y, on.Height = cut(r.Y, r.Height, page.Height)
	return on, on.Width > 0 && on.Height > 0
}

// cut returns a side of a rectangle without what is outside the page.
func cut(at, length, edge float64) (start, cutLength float64) {
	start = round(max(at, 0))
	return start, round(min(at+length, edge) - start)
}

func round(points float64) float64 { return math.Round(points*100) / 100 }

// String returns the size and the place of the rectangle in inches.
func (r Rect) String() string {
	const inch = 72
	return fmt.Sprintf("%.1f × %.1f in., %.1f in. from the left, %.1f in. from the top", r.Width/inch, r.Height/inch, r.X/inch, r.Y/inch)
}

package vaulttest

import (
	"image"
	"image/draw"
	"testing"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
)

// Scan returns the image of a page with the given size in pixels and lines of text, as a scanner with 300 dots per inch
// returns it. The letters have 12 points.
func Scan(t testing.TB, width, height int, lines ...string) *image.Gray {
	t.Helper()
	parsed, err := opentype.Parse(goregular.TTF)
	if err != nil {
		t.Fatalf("parse font: %v", err)
	}
	face, err := opentype.NewFace(parsed, &opentype.FaceOptions{Size: 12, DPI: 300})
	if err != nil {
		t.Fatalf("create font face: %v", err)
	}
	page := image.NewGray(image.Rect(0, 0, width, height))
	draw.Draw(page, page.Bounds(), image.White, image.Point{}, draw.Src)
	for i, line := range lines {
		(&font.Drawer{Dst: page, Src: image.Black, Face: face, Dot: fixed.P(width/12, 100+100*i)}).DrawString(line)
	}
	return page
}

package document

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	"math"
	"testing"

	"deedkeep/app/document/tiff"
	"deedkeep/app/vaulttest/tifffile"
)

func TestScan(t *testing.T) {
	red := image.NewRGBA(image.Rect(0, 0, 40, 20))
	for i := range red.Pix {
		red.Pix[i] = []byte{255, 0, 0, 255}[i%4]
	}
	plain := pngOf(t, red)
	scan := func(resolution uint32) []byte {
		return tifffile.Build(binary.LittleEndian, false, tiffTags(tifffile.Tags{
			0: [][]byte{make([]byte, 15000)}, tiff.TagWidth: 600, tiff.TagHeight: 200, tiff.TagRowsPerStrip: 200,
			tiff.TagXResolution: [2]uint32{resolution, 1}, tiff.TagYResolution: [2]uint32{resolution, 1},
		}))
	}
	for _, c := range []struct {
		name   string
		doc    []byte
		mime   string
		page   int
		bounds image.Rectangle
		dpi    float64
		err    error
	}{
		{"without a resolution", plain, "image/png", 1, image.Rect(0, 0, 40, 20), 0, nil},
		{"no second page", plain, "image/png", 2, image.Rectangle{}, 0, ErrNoPage},
		{"no page 0", plain, "image/png", 0, image.Rectangle{}, 0, ErrNoPage},
		{"fine scan", scan(600), "image/tiff", 1, image.Rect(0, 0, 300, 100), 300, nil},
		{"coarse scan", scan(200), "image/tiff", 1, image.Rect(0, 0, 600, 200), 200, nil},
		{"damaged", []byte("II*\x00"), "image/tiff", 1, image.Rectangle{}, 0, ErrDamaged},
		{"text", []byte("Deed"), "text/plain", 1, image.Rectangle{}, 0, ErrUnsupported},
	} {
		t.Run(c.name, func(t *testing.T) {
			src := Source{Doc: bytes.NewReader(c.doc), Size: int64(len(c.doc)), MIME: c.mime}
			img, dpi, err := Scan(t.Context(), src, c.page, ExtractLimits{})
			if !errors.Is(err, c.err) || (err == nil && img.Rect != c.bounds) || math.Abs(dpi-c.dpi) > 1 {
				t.Fatalf("Scan() = %v dpi, %v, want %v, %v dpi, %v", dpi, err, c.bounds, c.dpi, c.err)
			}
			if c.mime == "image/png" && err == nil && img.GrayAt(5, 5) != (color.Gray{76}) {
				t.Errorf("red is %v, want 76", img.GrayAt(5, 5))
			}
		})
	}
}

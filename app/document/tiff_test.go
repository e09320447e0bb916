package document

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"maps"
	"testing"

	"deedkeep/app/document/tiff"
	"deedkeep/app/vaulttest/tifffile"
)

// tiffTags returns more with the tags of an image of 32 x 16 pixels. Its left half is black except
// for the lower right quarter of that half.
func tiffTags(more tifffile.Tags) tifffile.Tags {
	block := append(bytes.Repeat([]byte{0, 0, 255, 255}, 8), bytes.Repeat([]byte{0, 255, 255, 255}, 8)...)
	all := tifffile.Tags{0: [][]byte{block}, tiff.TagWidth: 32, tiff.TagHeight: 16, tiff.TagCompression: 1, tiff.TagPhotometric: 1}
	maps.Copy(all, more)
	return all
}

func TestTIFFPages(t *testing.T) {
	fax := tiffTags(tifffile.Tags{tiff.TagXResolution: [2]uint32{204, 1}, tiff.TagYResolution: [2]uint32{98, 1}})
	turned := tiffTags(tifffile.Tags{tiff.TagOrientation: 6})
	both := tiffTags(tifffile.Tags{tiff.TagOrientation: 8, tiff.TagXResolution: [2]uint32{300, 1},
		tiff.TagYResolution: [2]uint32{600, 1}})
	for _, big := range []bool{false, true} {
		src := testSource(tifffile.Build(binary.LittleEndian, big, fax, turned, both), "image/tiff")
		if sizes, err := PageSizes(t.Context(), src, ExtractLimits{}); len(sizes) != 3 || err != nil {
			t.Errorf("PageSizes = %v, %v, want 3 sizes", sizes, err)
		}
		if sizes, err := PageSizes(t.Context(), src, ExtractLimits{MaxPages: 2}); len(sizes) != 2 || err != nil {
			t.Errorf("PageSizes = %v, %v, want 2 sizes, the limit", sizes, err)
		}
		for n, want := range []image.Point{{32, 33}, {16, 32}, {16, 64}} {
			img := decodedPage(t, src, n+1, want.X)
			if got := img.Bounds().Size(); got != want {
				t.Errorf("page %d is %v, want %v", n+1, got, want)
			}
		}
		if _, err := PageImage(t.Context(), src, 4, 100, ExtractLimits{}); finding(err) != ErrNoPage {
			t.Errorf("PageImage: %v", err)
		}
	}
	// After clockwise rotation, the left half of the image is at the top.
	img := decodedPage(t, testSource(tifffile.Build(binary.BigEndian, false, turned), "image/tiff"), 1, 16)
	for _, c := range []struct {
		x, y  int
		black bool
	}{{15, 0, true}, {0, 0, true}, {15, 15, true}, {0, 15, false}, {8, 20, false}} {
		if v := color.GrayModel.Convert(img.At(c.x, c.y)).(color.Gray).Y; (v < 128) != c.black {
			t.Errorf("gray at %d, %d = %d, want black: %v", c.x, c.y, v, c.black)
		}
	}
}

package document

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"image"
	"image/color"
	"image/jpeg"
	"math/bits"
	"strings"
	"testing"

	"deedkeep/app/document/tiff"
)

var (
	little binary.AppendByteOrder = binary.LittleEndian
	bigEnd binary.AppendByteOrder = binary.BigEndian
)

// Most tests use the same image of 32 x 16 pixels. Its left half is black except for the lower
// right quarter of that half. The rest is white.
const testW, testH = 32, 16

func isBlack(x, y int) bool { return x < testW/2 && !(x >= testW/4 && y >= testH/2) }

// samples returns the test image. size is the number of bits per sample. black and white contain
// the samples of a black and a white pixel.
func samples(width, height, size int, black, white []uint64) []byte {
	var packed []byte
	for y := range height {
		var row []byte
		used := 0
		for x := range width {
			pixel := white
			if isBlack(x, y) {
				pixel = black
			}
			for _, v := range pixel {
				for k := size - 1; k >= 0; k-- {
					if used%8 == 0 {
						row = append(row, 0)
					}
					row[used/8] |= byte(v>>k&1) << (7 - used%8)
					used++
				}
			}
		}
		packed = append(packed, row...)
	}
	return packed
}

func deflate(b []byte) []byte {
	var buf bytes.Buffer
	w := zlib.NewWriter(&buf)
	_, _ = w.Write(b) // writing to memory doesn't fail
	_ = w.Close()
	return buf.Bytes()
}

func reverse(b []byte) []byte {
	r := make([]byte, len(b))
	for i := range b {
		r[i] = bits.Reverse8(b[i])
	}
	return r
}

// runs encodes bytes as PackBits. The output starts with a header byte that is ignored. One run per
// byte follows.
func runs(b []byte) []byte {
	packed := []byte{128}
	for len(b) > 0 {
		n := 1
		for n < len(b) && n < 128 && b[n] == b[0] {
			n++
		}
		if n == 1 {
			packed = append(packed, 0, b[0])
		} else {
			packed = append(packed, byte(257-n), b[0])
		}
		b = b[n:]
	}
	return packed
}

func jpegOf(t testing.TB, img image.Image) []byte {
	t.Helper()
	var buf bytes.Buffer
	if err := jpeg.Encode(&buf, img, &jpeg.Options{Quality: 95}); err != nil {
		t.Fatalf("jpeg.Encode: %v", err)
	}
	return buf.Bytes()
}

func drawn(kind func(image.Rectangle) interface {
	image.Image
	Set(x, y int, c color.Color)
}) image.Image {
	img := kind(image.Rect(0, 0, testW, testH))
	for y := range testH {
		for x := range testW {
			img.Set(x, y, color.White)
			if isBlack(x, y) {
				img.Set(x, y, color.Black)
			}
		}
	}
	return img
}

// page returns more with the tags that all pages have.
func page(more tags) tags {
	all := tags{tiff.TagWidth: testW, tiff.TagHeight: testH, tiff.TagCompression: 1, tiff.TagPhotometric: 1}
	for tag, v := range more {
		all[tag] = v
	}
	return all
}

func TestTIFFVariants(t *testing.T) {
	bit := samples(testW, testH, 1, []uint64{0}, []uint64{1})
	tib := samples(testW, testH, 1, []uint64{1}, []uint64{0})
	gray := samples(testW, testH, 8, []uint64{0}, []uint64{255})
	rgb := samples(testW, testH, 8, []uint64{0, 0, 0}, []uint64{255, 255, 255})
	rgb16 := samples(testW, testH, 16, []uint64{0, 0, 0}, []uint64{65535, 65535, 65535})
	differ := func(b []byte, step int) []byte {
		d := append([]byte(nil), b...)
		row := len(b) / testH
		for y := range testH {
			for i := row - 1; i >= step; i-- {
				d[y*row+i] -= d[y*row+i-step]
			}
		}
		return d
	}
	tiles := func() [][]byte {
		var list [][]byte
		for _, left := range []int{0, 16} {
			var tile []byte
			for y := range testH {
				tile = append(tile, gray[y*testW+left:][:16]...)
			}
			list = append(list, tile)
		}
		return list
	}
	grayJPEG := jpegOf(t, drawn(func(r image.Rectangle) interface {
		image.Image
		Set(x, y int, c color.Color)
	} {
		return image.NewGray(r)
	}))
	colorJPEG := jpegOf(t, drawn(func(r image.Rectangle) interface {
		image.Image
		Set(x, y int, c color.Color)
	} {
		return image.NewRGBA(r)
	}))
	tables, abbreviated := splitJPEG(colorJPEG)
	three := []int{8, 8, 8}
	for name, page := range map[string]tags{
		"1 bit":             page(tags{0: [][]byte{bit}}),
		"1 bit, white is 0": page(tags{0: [][]byte{tib}, tiff.TagPhotometric: 0}),
		"2 bits":            page(tags{0: [][]byte{samples(testW, testH, 2, []uint64{0}, []uint64{3})}, tiff.TagBits: 2}),
		"4 bits":            page(tags{0: [][]byte{samples(testW, testH, 4, []uint64{0}, []uint64{15})}, tiff.TagBits: 4}),
		"8 bits":            page(tags{0: [][]byte{gray}, tiff.TagBits: 8}),
		"16 bits":           page(tags{0: [][]byte{samples(testW, testH, 16, []uint64{0}, []uint64{65535})}, tiff.TagBits: 16}),
		"gray with alpha": page(tags{0: [][]byte{samples(testW, testH, 8, []uint64{0, 255}, []uint64{0, 0})},
			tiff.TagBits: []int{8, 8}, tiff.TagSamples: 2, tiff.TagExtraSamples: 2}),
		"palette": page(tags{0: [][]byte{bit}, tiff.TagPhotometric: 3, tiff.TagColorMap: []int{0, 65535, 0, 65535, 0, 65535}}),
		"4-bit palette of few colors": page(tags{0: [][]byte{samples(testW, testH, 4, []uint64{1}, []uint64{2})}, tiff.TagBits: 4,
			tiff.TagPhotometric: 3,
			tiff.TagColorMap:    append(append(append(make([]int, 0), pad(0, 0, 65535)...), pad(0, 0, 65535)...), pad(9000, 0, 65535)...)}),
		"color":        page(tags{0: [][]byte{rgb}, tiff.TagBits: three, tiff.TagSamples: 3, tiff.TagPhotometric: 2}),
		"16-bit color": page(tags{0: [][]byte{rgb16}, tiff.TagBits: []int{16, 16, 16}, tiff.TagSamples: 3, tiff.TagPhotometric: 2}),
		"inks": page(tags{0: [][]byte{samples(testW, testH, 8, []uint64{0, 0, 0, 255}, []uint64{0, 0, 0, 0})},
			tiff.TagBits: []int{8, 8, 8, 8}, tiff.TagSamples: 4, tiff.TagPhotometric: 5}),
		"luma": page(tags{0: [][]byte{samples(testW, testH, 8, []uint64{0, 128, 128}, []uint64{255, 128, 128})},
			tiff.TagBits: three, tiff.TagSamples: 3, tiff.TagPhotometric: 6, tiff.TagSubsampling: []int{1, 1}}),
		"color, alpha": page(tags{0: [][]byte{samples(testW, testH, 8, []uint64{0, 0, 0, 255}, []uint64{0, 0, 0, 0})},
			tiff.TagBits: []int{8, 8, 8, 8}, tiff.TagSamples: 4, tiff.TagPhotometric: 2, tiff.TagExtraSamples: 1}),
		"strips": page(tags{0: [][]byte{gray[:5*testW], gray[5*testW : 10*testW], gray[10*testW : 15*testW],
			gray[15*testW:]}, tiff.TagBits: 8, tiff.TagRowsPerStrip: 5}),
		"tiles":    page(tags{0: tiles(), tiff.TagBits: 8, tiff.TagTileWidth: 16, tiff.TagTileHeight: 16}),
		"PackBits": page(tags{0: [][]byte{runs(bit)}, tiff.TagCompression: tiffPackBits}),
		"deflate":  page(tags{0: [][]byte{deflate(bit)}, tiff.TagCompression: tiffDeflate}),
		"predictor": page(tags{0: [][]byte{deflate(differ(rgb, 3))}, tiff.TagBits: three, tiff.TagSamples: 3,
			tiff.TagPhotometric: 2, tiff.TagCompression: tiffOldDeflate, tiff.TagPredictor: 2}),
		"lowest bit first": page(tags{0: [][]byte{reverse(bit)}, tiff.TagFillOrder: 2}),
		"fax":              page(tags{0: [][]byte{faxPage(false, false)}, tiff.TagCompression: tiffG3, tiff.TagPhotometric: 0}),
		"fax, black is 0":  page(tags{0: [][]byte{faxPage(true, false)}, tiff.TagCompression: tiffG3, tiff.TagPhotometric: 1}),
		"fax, 2 dimensions": page(tags{0: [][]byte{faxPage(false, true)}, tiff.TagCompression: tiffG3, tiff.TagPhotometric: 0,
			tiff.TagT4Options: 1}),
		"fax, reversed": page(tags{0: [][]byte{reverse(faxPage(false, true))}, tiff.TagCompression: tiffG3, tiff.TagPhotometric: 0,
			tiff.TagT4Options: 1, tiff.TagFillOrder: 2}),
		"fax without ends": page(tags{0: [][]byte{faxPlain()}, tiff.TagCompression: tiffRLE, tiff.TagPhotometric: 0}),
		"gray JPEG":        page(tags{0: [][]byte{grayJPEG}, tiff.TagBits: 8, tiff.TagCompression: tiffJPEG}),
		"color JPEG": page(tags{0: [][]byte{colorJPEG}, tiff.TagBits: three, tiff.TagSamples: 3, tiff.TagCompression: tiffJPEG,
			tiff.TagPhotometric: 6}),
		"JPEG with tables": page(tags{0: [][]byte{abbreviated}, tiff.TagJPEGTables: tables, tiff.TagBits: three, tiff.TagSamples: 3,
			tiff.TagCompression: tiffJPEG, tiff.TagPhotometric: 6}),
		"no byte counts": withoutCounts(page(tags{0: [][]byte{bit}})),
	} {
		t.Run(name, func(t *testing.T) {
			for _, order := range []binary.AppendByteOrder{little, bigEnd} {
				if order == little && strings.HasPrefix(name, "16") {
					continue // samples writes the highest byte first
				}
				for _, big := range []bool{false, true} {
					if big && name == "no byte counts" {
						continue // a BigTIFF header is longer, so the block is not at offset 8
					}
					src := testSource(buildTIFF(order, big, page), "image/tiff")
					img := decodedPage(t, src, 1, testW)
					for y := range testH {
						for x := range testW {
							v := color.GrayModel.Convert(img.At(x, y)).(color.Gray).Y
							if black := v < 128; black != isBlack(x, y) || v > 90 && v < 165 {
								t.Fatalf("%v, big %v: gray at %d, %d = %d, want black: %v", order, big, x, y, v, isBlack(x, y))
							}
						}
					}
				}
			}
		})
	}
}

// pad returns a column of a palette with sixteen entries. Missing values are zero.
func pad(values ...int) []int { return append(values, make([]int, 16-len(values))...) }

func withoutCounts(page tags) tags {
	page[tiff.TagStripOffsets] = 8 // offset of the first block that buildTIFF writes
	block := page[0].([][]byte)[0]
	delete(page, 0)
	// To get the block into the file, make it the value of an unused tag.
	page[65000] = block
	return page
}

// splitJPEG splits a JPEG into an abbreviated stream and the tables that the stream doesn't
// contain.
func splitJPEG(b []byte) (tables, stream []byte) {
	tables, stream = []byte{0xFF, 0xD8}, []byte{0xFF, 0xD8}
	at := 2
	for at+4 < len(b) && b[at+1] != 0xDA {
		end := at + 2 + int(binary.BigEndian.Uint16(b[at+2:]))
		if b[at+1] == 0xDB || b[at+1] == 0xC4 {
			tables = append(tables, b[at:end]...)
		} else {
			stream = append(stream, b[at:end]...)
		}
		at = end
	}
	return append(tables, 0xFF, 0xD9), append(stream, b[at:]...)
}

// decodedPage renders page n and decodes the result.
func decodedPage(t testing.TB, src Source, n, width int) image.Image {
	t.Helper()
	p, err := PageImage(t.Context(), src, n, width, ExtractLimits{})
	if err != nil {
		t.Fatalf("PageImage: %v", err)
	}
	img, _, err := image.Decode(bytes.NewReader(p.Bytes))
	if err != nil {
		t.Fatalf("image.Decode: %v", err)
	}
	if img.Bounds().Dx() != p.Width || img.Bounds().Dy() != p.Height {
		t.Fatalf("image of %v, want %d x %d", img.Bounds(), p.Width, p.Height)
	}
	return img
}

func TestTIFFPages(t *testing.T) {
	bit := samples(testW, testH, 1, []uint64{0}, []uint64{1})
	fax := page(tags{0: [][]byte{bit}, tiff.TagXResolution: [2]uint32{204, 1}, tiff.TagYResolution: [2]uint32{98, 1}})
	turned := page(tags{0: [][]byte{bit}, tiff.TagOrientation: 6})
	both := page(tags{0: [][]byte{bit}, tiff.TagOrientation: 8, tiff.TagXResolution: [2]uint32{300, 1},
		tiff.TagYResolution: [2]uint32{600, 1}})
	for _, big := range []bool{false, true} {
		src := testSource(buildTIFF(little, big, fax, turned, both), "image/tiff")
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
	img := decodedPage(t, testSource(buildTIFF(bigEnd, false, turned), "image/tiff"), 1, 16)
	for _, c := range []struct {
		x, y  int
		black bool
	}{{15, 0, true}, {0, 0, true}, {15, 15, true}, {0, 15, false}, {8, 20, false}} {
		if v := color.GrayModel.Convert(img.At(c.x, c.y)).(color.Gray).Y; (v < 128) != c.black {
			t.Errorf("gray at %d, %d = %d, want black: %v", c.x, c.y, v, c.black)
		}
	}
}

func TestTIFFDamage(t *testing.T) {
	bit := samples(testW, testH, 1, []uint64{0}, []uint64{1})
	complete := buildTIFF(little, false, page(tags{0: [][]byte{bit}}))
	ring := append([]byte(nil), complete...)
	copy(ring[len(ring)-5:], ring[4:8]) // the first directory points to itself as the next one
	for _, c := range []struct {
		name string
		file []byte
		lim  ExtractLimits
		want error
	}{
		{"complete", complete, ExtractLimits{}, nil},
		{"ring", ring, ExtractLimits{}, nil},
		{"header", complete[:8], ExtractLimits{}, ErrDamaged},
		{"none", nil, ExtractLimits{}, ErrDamaged},
		{"pixels", complete, ExtractLimits{MaxPixels: testW*testH - 1}, ErrTooLarge},
		{"no pixels", buildTIFF(little, false, page(tags{tiff.TagWidth: 0})), ExtractLimits{}, ErrDamaged},
		{"no strips", buildTIFF(little, false, page(nil)), ExtractLimits{}, ErrDamaged},
		{"empty strip", buildTIFF(little, false, page(tags{tiff.TagStripOffsets: 1 << 30, tiff.TagStripCounts: 1})), ExtractLimits{}, ErrDamaged},
		{"old JPEG", buildTIFF(little, false, page(tags{0: [][]byte{bit}, tiff.TagCompression: 6})), ExtractLimits{}, ErrUnsupported},
		{"floats", buildTIFF(little, false, page(tags{0: [][]byte{bit}, tiff.TagBits: 32})), ExtractLimits{}, ErrUnsupported},
		{"a giant", buildTIFF(little, false, page(tags{0: [][]byte{bit}, tiff.TagWidth: 1 << 31, tiff.TagHeight: 1 << 31})),
			ExtractLimits{}, ErrTooLarge},
		{"giant tiles", buildTIFF(little, false, page(tags{0: [][]byte{bit}, tiff.TagTileWidth: 1 << 20, tiff.TagTileHeight: 1 << 20})),
			ExtractLimits{}, ErrDamaged},
		{"JPEG of nothing", buildTIFF(little, false, page(tags{0: [][]byte{bit}, tiff.TagBits: 8, tiff.TagCompression: tiffJPEG})),
			ExtractLimits{}, ErrDamaged},
		{"half a strip", buildTIFF(little, false, page(tags{0: [][]byte{bit[:len(bit)/2]}})), ExtractLimits{}, nil},
	} {
		_, err := PageImage(t.Context(), testSource(c.file, "image/tiff"), 1, 100, c.lim)
		if finding(err) != c.want || err != nil && c.want == nil {
			t.Errorf("%s: error %v, want %v", c.name, err, c.want)
		}
	}
	if sizes, err := PageSizes(t.Context(), testSource(ring, "image/tiff"), ExtractLimits{}); len(sizes) != 1 || err != nil {
		t.Errorf("PageSizes of a ring = %v, %v, want one size", sizes, err)
	}
}

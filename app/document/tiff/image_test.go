package tiff

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	"image/jpeg"
	"math/bits"
	"strings"
	"testing"

	"deedkeep/app/document/docio"
	"deedkeep/app/vaulttest/tifffile"
)

var (
	little binary.AppendByteOrder = binary.LittleEndian
	bigEnd binary.AppendByteOrder = binary.BigEndian
)

type tags = tifffile.Tags

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
	all := tags{TagWidth: testW, TagHeight: testH, TagCompression: 1, TagPhotometric: 1}
	for tag, v := range more {
		all[tag] = v
	}
	return all
}

func TestVariants(t *testing.T) {
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
		"1 bit, white is 0": page(tags{0: [][]byte{tib}, TagPhotometric: 0}),
		"2 bits":            page(tags{0: [][]byte{samples(testW, testH, 2, []uint64{0}, []uint64{3})}, TagBits: 2}),
		"4 bits":            page(tags{0: [][]byte{samples(testW, testH, 4, []uint64{0}, []uint64{15})}, TagBits: 4}),
		"8 bits":            page(tags{0: [][]byte{gray}, TagBits: 8}),
		"16 bits":           page(tags{0: [][]byte{samples(testW, testH, 16, []uint64{0}, []uint64{65535})}, TagBits: 16}),
		"gray with alpha": page(tags{0: [][]byte{samples(testW, testH, 8, []uint64{0, 255}, []uint64{0, 0})},
			TagBits: []int{8, 8}, TagSamples: 2, TagExtraSamples: 2}),
		"palette": page(tags{0: [][]byte{bit}, TagPhotometric: 3, TagColorMap: []int{0, 65535, 0, 65535, 0, 65535}}),
		"4-bit palette of few colors": page(tags{0: [][]byte{samples(testW, testH, 4, []uint64{1}, []uint64{2})}, TagBits: 4,
			TagPhotometric: 3,
			TagColorMap:    append(append(append(make([]int, 0), pad(0, 0, 65535)...), pad(0, 0, 65535)...), pad(9000, 0, 65535)...)}),
		"color":        page(tags{0: [][]byte{rgb}, TagBits: three, TagSamples: 3, TagPhotometric: 2}),
		"16-bit color": page(tags{0: [][]byte{rgb16}, TagBits: []int{16, 16, 16}, TagSamples: 3, TagPhotometric: 2}),
		"inks": page(tags{0: [][]byte{samples(testW, testH, 8, []uint64{0, 0, 0, 255}, []uint64{0, 0, 0, 0})},
			TagBits: []int{8, 8, 8, 8}, TagSamples: 4, TagPhotometric: 5}),
		"luma": page(tags{0: [][]byte{samples(testW, testH, 8, []uint64{0, 128, 128}, []uint64{255, 128, 128})},
			TagBits: three, TagSamples: 3, TagPhotometric: 6, TagSubsampling: []int{1, 1}}),
		"color, alpha": page(tags{0: [][]byte{samples(testW, testH, 8, []uint64{0, 0, 0, 255}, []uint64{0, 0, 0, 0})},
			TagBits: []int{8, 8, 8, 8}, TagSamples: 4, TagPhotometric: 2, TagExtraSamples: 1}),
		"strips": page(tags{0: [][]byte{gray[:5*testW], gray[5*testW : 10*testW], gray[10*testW : 15*testW],
			gray[15*testW:]}, TagBits: 8, TagRowsPerStrip: 5}),
		"tiles":    page(tags{0: tiles(), TagBits: 8, TagTileWidth: 16, TagTileHeight: 16}),
		"PackBits": page(tags{0: [][]byte{runs(bit)}, TagCompression: compressionPackBits}),
		"deflate":  page(tags{0: [][]byte{deflate(bit)}, TagCompression: compressionDeflate}),
		"predictor": page(tags{0: [][]byte{deflate(differ(rgb, 3))}, TagBits: three, TagSamples: 3,
			TagPhotometric: 2, TagCompression: compressionOldDeflate, TagPredictor: 2}),
		"lowest bit first": page(tags{0: [][]byte{reverse(bit)}, TagFillOrder: 2}),
		"fax":              page(tags{0: [][]byte{faxPage(false, false)}, TagCompression: compressionG3, TagPhotometric: 0}),
		"fax, black is 0":  page(tags{0: [][]byte{faxPage(true, false)}, TagCompression: compressionG3, TagPhotometric: 1}),
		"fax, 2 dimensions": page(tags{0: [][]byte{faxPage(false, true)}, TagCompression: compressionG3, TagPhotometric: 0,
			TagT4Options: 1}),
		"fax, reversed": page(tags{0: [][]byte{reverse(faxPage(false, true))}, TagCompression: compressionG3, TagPhotometric: 0,
			TagT4Options: 1, TagFillOrder: 2}),
		"fax without ends": page(tags{0: [][]byte{faxPlain()}, TagCompression: compressionRLE, TagPhotometric: 0}),
		"gray JPEG":        page(tags{0: [][]byte{grayJPEG}, TagBits: 8, TagCompression: compressionJPEG}),
		"color JPEG": page(tags{0: [][]byte{colorJPEG}, TagBits: three, TagSamples: 3, TagCompression: compressionJPEG,
			TagPhotometric: 6}),
		"JPEG with tables": page(tags{0: [][]byte{abbreviated}, TagJPEGTables: tables, TagBits: three, TagSamples: 3,
			TagCompression: compressionJPEG, TagPhotometric: 6}),
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
					img, err := decode(t.Context(), tifffile.Build(order, big, page), testW*testH)
					if err != nil {
						t.Fatalf("decode: %v", err)
					}
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
	page[TagStripOffsets] = 8 // offset of the first block that Build writes
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

// decode decodes the first page of a file with at most maxPixels pixels.
func decode(ctx context.Context, content []byte, maxPixels int64) (image.Image, error) {
	file, err := Open(docio.NewReader(ctx, bytes.NewReader(content), int64(len(content))))
	if err != nil {
		return nil, err
	}
	dir, err := file.Page(1)
	if err != nil {
		return nil, err
	}
	page, err := dir.Image(maxPixels)
	if err != nil {
		return nil, err
	}
	r := page.Raster()
	return r.Scale(r.Width, r.Height)
}

func TestDamage(t *testing.T) {
	bit := samples(testW, testH, 1, []uint64{0}, []uint64{1})
	complete := tifffile.Build(little, false, page(tags{0: [][]byte{bit}}))
	ring := append([]byte(nil), complete...)
	copy(ring[len(ring)-5:], ring[4:8]) // the first directory points to itself as the next one
	for _, c := range []struct {
		name string
		file []byte
		max  int64
		want error
	}{
		{"complete", complete, 1 << 20, nil},
		{"ring", ring, 1 << 20, nil},
		{"header", complete[:8], 1 << 20, docio.ErrDamaged},
		{"none", nil, 1 << 20, docio.ErrDamaged},
		{"pixels", complete, testW*testH - 1, docio.ErrTooLarge},
		{"no pixels", tifffile.Build(little, false, page(tags{TagWidth: 0})), 1 << 20, docio.ErrDamaged},
		{"no strips", tifffile.Build(little, false, page(nil)), 1 << 20, docio.ErrDamaged},
		{"empty strip", tifffile.Build(little, false, page(tags{TagStripOffsets: 1 << 30, TagStripCounts: 1})),
			1 << 20, docio.ErrDamaged},
		{"old JPEG", tifffile.Build(little, false, page(tags{0: [][]byte{bit}, TagCompression: 6})), 1 << 20, docio.ErrUnsupported},
		{"floats", tifffile.Build(little, false, page(tags{0: [][]byte{bit}, TagBits: 32})), 1 << 20, docio.ErrUnsupported},
		{"a giant", tifffile.Build(little, false, page(tags{0: [][]byte{bit}, TagWidth: 1 << 31, TagHeight: 1 << 31})),
			1 << 20, docio.ErrTooLarge},
		{"giant tiles", tifffile.Build(little, false, page(tags{0: [][]byte{bit}, TagTileWidth: 1 << 20, TagTileHeight: 1 << 20})),
			1 << 20, docio.ErrDamaged},
		{"JPEG of nothing", tifffile.Build(little, false, page(tags{0: [][]byte{bit}, TagBits: 8,
			TagCompression: compressionJPEG})), 1 << 20, docio.ErrDamaged},
		{"half a strip", tifffile.Build(little, false, page(tags{0: [][]byte{bit[:len(bit)/2]}})), 1 << 20, nil},
	} {
		_, err := decode(t.Context(), c.file, c.max)
		if !errors.Is(err, c.want) {
			t.Errorf("%s: error %v, want %v", c.name, err, c.want)
		}
	}
	file, err := Open(docio.NewReader(t.Context(), bytes.NewReader(ring), int64(len(ring))))
	if err != nil || file.Count() != 1 {
		t.Errorf("a ring has %d pages, %v, want one", file.Count(), err)
	}
}

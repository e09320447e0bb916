package document

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"image/jpeg"
	"image/png"
	"testing"

	"deedkeep/app/document/docio"
	"deedkeep/app/document/tiff"
)

func pngOf(t testing.TB, img image.Image) []byte {
	t.Helper()
	var buf bytes.Buffer
	if err := png.Encode(&buf, img); err != nil {
		t.Fatalf("png.Encode: %v", err)
	}
	return buf.Bytes()
}

// quarters fills the upper left quarter of an image with a color.
func quarters(img draw.Image, c color.Color) image.Image {
	b := img.Bounds()
	draw.Draw(img, image.Rect(0, 0, b.Dx()/2, b.Dy()/2), image.NewUniform(c), image.Point{}, draw.Src)
	return img
}

func TestPageImages(t *testing.T) {
	screen := image.Rect(0, 0, 40, 20)
	red := color.NRGBA{255, 0, 0, 255}
	framed := func() []byte {
		frame := image.NewPaletted(image.Rect(0, 0, 20, 10), color.Palette{red})
		var buf bytes.Buffer
		err := gif.EncodeAll(&buf, &gif.GIF{Image: []*image.Paletted{frame}, Delay: []int{0},
			Config: image.Config{ColorModel: frame.Palette, Width: 40, Height: 20}})
		if err != nil {
			t.Fatalf("gif.EncodeAll: %v", err)
		}
		return buf.Bytes()
	}
	photo := func() []byte {
		img := image.NewRGBA(screen)
		draw.Draw(img, screen, image.White, image.Point{}, draw.Src)
		var buf bytes.Buffer
		if err := jpeg.Encode(&buf, quarters(img, red), &jpeg.Options{Quality: 95}); err != nil {
			t.Fatalf("jpeg.Encode: %v", err)
		}
		return buf.Bytes()
	}
	for _, c := range []struct {
		name, mime string
		file       []byte
	}{
		{"PNG over nothing", "image/png", pngOf(t, quarters(image.NewNRGBA(screen), red))},
		{"PNG of 16 bits", "image/png", pngOf(t, quarters(image.NewNRGBA64(screen), red))},
		{"PNG with palette", "image/png", pngOf(t, quarters(image.NewPaletted(screen, color.Palette{color.Transparent, red}), red))},
		{"GIF with a small frame", "image/gif", framed()},
		{"JPEG", "image/jpeg", photo()},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, width := range []int{40, 20, 80, 400} {
				img := decodedPage(t, testSource(c.file, c.mime), 1, width)
				if want := image.Pt(min(width, 40), min(width, 40)/2); img.Bounds().Size() != want {
					t.Fatalf("%v, want %v", img.Bounds(), want)
				}
				for at, want := range map[image.Point]color.RGBA{
					img.Bounds().Max.Div(4):                                  {255, 0, 0, 255},
					img.Bounds().Max.Sub(img.Bounds().Max.Div(4)):            {255, 255, 255, 255},
					{X: img.Bounds().Dx() / 4, Y: img.Bounds().Dy() * 3 / 4}: {255, 255, 255, 255},
				} {
					r, g, b, _ := img.At(at.X, at.Y).RGBA()
					if far(r, want.R) || far(g, want.G) || far(b, want.B) {
						t.Errorf("width %d: color at %v = %d %d %d, want about %v", width, at, r>>8, g>>8, b>>8, want)
					}
				}
			}
		})
	}
}

func far(v uint32, want uint8) bool { return abs(int(v>>8)-int(want)) > 12 }

func abs(n int) int { return max(n, -n) }

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

func TestImageBounds(t *testing.T) {
	giant := pngOf(t, image.NewGray(image.Rect(0, 0, 8, 8)))
	copy(giant[16:], []byte{0, 1, 0, 0, 0, 1, 0, 0}) // 65536 x 65536; the size is checked before the checksum
	for _, c := range []struct {
		name, mime string
		file       []byte
		lim        ExtractLimits
		want       error
	}{
		{"too many pixels", "image/png", pngOf(t, image.NewGray(image.Rect(0, 0, 10, 10))), ExtractLimits{MaxPixels: 99}, ErrTooLarge},
		{"progressive pixels weigh more", "image/jpeg",
			[]byte("\xff\xd8\xff\xff\xc2\x00\x11\x08\x00\x0a\x00\x0a\x03\x01\x11\x00\x02\x11\x00\x03\x11\x00\xff\xda\x00\x02"),
			ExtractLimits{MaxPixels: 370}, ErrTooLarge},
		{"baseline ones do not", "image/jpeg",
			[]byte("\xff\xd8\xff\xc0\x00\x11\x08\x00\x0a\x00\x0a\x03\x01\x11\x00\x02\x11\x00\x03\x11\x00\xff\xda\x00\x02"),
			ExtractLimits{MaxPixels: 370}, ErrDamaged},
		{"just enough", "image/png", pngOf(t, image.NewGray(image.Rect(0, 0, 10, 10))), ExtractLimits{MaxPixels: 100}, nil},
		{"deep pixels weigh twice", "image/png", pngOf(t, image.NewNRGBA64(image.Rect(0, 0, 10, 10))), ExtractLimits{MaxPixels: 199},
			ErrTooLarge},
		{"a giant's header", "image/png", giant, ExtractLimits{}, ErrDamaged},
		{"no image", "image/webp", []byte("RIFF"), ExtractLimits{}, ErrDamaged},
		{"truncated", "image/png", giant[:40], ExtractLimits{}, ErrDamaged},
	} {
		_, err := PageImage(t.Context(), testSource(c.file, c.mime), 1, 100, c.lim)
		if finding(err) != c.want || err != nil && c.want == nil {
			t.Errorf("%s: error %v, want %v", c.name, err, c.want)
		}
	}
	if _, err := PageImage(t.Context(), testSource(nil, "image/png"), 2, 100, ExtractLimits{}); finding(err) != ErrNoPage {
		t.Errorf("PageImage: %v", err)
	}
	if _, err := PageSizes(t.Context(), testSource(nil, "application/zip"), ExtractLimits{}); finding(err) != ErrUnsupported {
		t.Errorf("PageSizes: %v", err)
	}
	if _, err := PageImage(t.Context(), testSource([]byte("text"), "text/plain"), 1, 100, ExtractLimits{}); finding(err) != ErrUnsupported {
		t.Errorf("PageImage: %v", err)
	}
}

func TestEXIF(t *testing.T) {
	block := func(head string, order binary.AppendByteOrder) []byte {
		b := append([]byte("Exif\x00\x00"), head...)
		b = order.AppendUint16(b, 42)
		b = order.AppendUint32(b, 8)
		b = order.AppendUint16(b, 1)
		b = order.AppendUint16(order.AppendUint16(b, tiff.TagOrientation), 3)
		b = order.AppendUint32(b, 1)
		b = order.AppendUint16(b, 6)
		return append(b, 0, 0, 0, 0, 0, 0)
	}
	segment := func(marker byte, content []byte) []byte {
		return append(binary.BigEndian.AppendUint16([]byte{0xFF, marker}, uint16(len(content)+2)), content...)
	}
	jfif := segment(0xE0, []byte("JFIF\x00"))
	for _, c := range []struct {
		name string
		file []byte
		want int
	}{
		{"little-endian", segment(0xE1, block("II", binary.LittleEndian)), 6},
		{"big-endian, after JFIF and XMP", append(append(jfif, segment(0xE1, []byte("http://ns.adobe.com/"))...),
			segment(0xE1, block("MM", binary.BigEndian))...), 6},
		{"none", append(jfif, segment(0xDA, nil)...), 1},
		{"truncated", segment(0xE1, block("II", binary.LittleEndian))[:30], 1},
		{"directory outside", segment(0xE1, append([]byte("Exif\x00\x00II*\x00"), 255, 255, 255, 255)), 1},
	} {
		content := append([]byte{0xFF, 0xD8}, c.file...)
		doc := docio.NewReader(t.Context(), bytes.NewReader(content), int64(len(content)))
		if got := exifOrientation(doc); got != c.want {
			t.Errorf("%s: orientation %d, want %d", c.name, got, c.want)
		}
	}
}

func TestEncode(t *testing.T) {
	noise := func(mask byte) *image.Gray {
		img := image.NewGray(image.Rect(0, 0, 64, 64))
		for i := range img.Pix {
			img.Pix[i] = byte(i*i>>3) & mask
		}
		return img
	}
	bilevel := noise(0x80)
	for i := range bilevel.Pix {
		bilevel.Pix[i] = -(bilevel.Pix[i] >> 7)
	}
	page := image.NewGray(bilevel.Rect)
	for i := range page.Pix {
		page.Pix[i] = 250 + byte(i%5)
	}
	for _, c := range []struct {
		name   string
		img    image.Image
		mime   string
		colors int
	}{
		{"black and white", bilevel, "image/png", 2},
		{"print", page, "image/png", 16},
		{"gray photo", noise(0xFF), "image/jpeg", 0},
		{"few colors", quarters(image.NewRGBA(bilevel.Rect), color.RGBA{9, 200, 7, 255}), "image/png", 2},
	} {
		p, err := encode(c.img)
		if err != nil {
			t.Fatalf("encode: %v", err)
		}
		img, _, err := image.Decode(bytes.NewReader(p.Bytes))
		if err != nil || p.MIME != c.mime || img.Bounds() != bilevel.Rect {
			t.Fatalf("%s: got %s of %v, %v, want %s of %v", c.name, p.MIME, img.Bounds(), err, c.mime, bilevel.Rect)
		}
		if drawing, ok := img.(*image.Paletted); c.colors > 0 && (!ok || len(drawing.Palette) != c.colors) {
			t.Errorf("%s: got %T, want an image of %d colors", c.name, img, c.colors)
		}
	}
}

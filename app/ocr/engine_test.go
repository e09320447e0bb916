//go:build !race

// Compiling Tesseract takes a minute under the race detector, so these tests run without it.

package ocr_test

import (
	"context"
	"errors"
	"image"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"deedkeep/app/ocr"
	"deedkeep/app/vaulttest"
	"deedkeep/web"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
)

// engine returns an Engine. It fails the test if the Engine can't be closed at the end.
func engine(t *testing.T, memoryPages uint32) *ocr.Engine {
	t.Helper()
	code, err := web.Tesseract()
	if err != nil {
		t.Fatalf("web.Tesseract: %v", err)
	}
	e, err := ocr.New(t.Context(), ocr.Options{
		Wasm: code, CacheDir: vaulttest.CacheDir(), MemoryPages: memoryPages, Languages: []ocr.Language{english(t)},
	})
	if err != nil {
		t.Fatalf("ocr.New: %v", err)
	}
	t.Cleanup(func() {
		if err := e.Close(context.Background()); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return e
}

func english(t *testing.T) ocr.Language {
	t.Helper()
	data, err := web.English()
	if err != nil {
		t.Fatalf("web.English: %v", err)
	}
	return ocr.Language{Name: "eng", Data: data}
}

// sheet returns a white image.
func sheet(w, h int) *image.Gray {
	img := image.NewGray(image.Rect(0, 0, w, h))
	for i := range img.Pix {
		img.Pix[i] = 255
	}
	return img
}

// write draws lines of 12 points at 300 dpi. The first one starts at x, y.
func write(t *testing.T, img *image.Gray, x, y int, lines ...string) {
	t.Helper()
	parsed, err := opentype.Parse(goregular.TTF)
	if err != nil {
		t.Fatalf("opentype.Parse: %v", err)
	}
	face, err := opentype.NewFace(parsed, &opentype.FaceOptions{Size: 12, DPI: 300})
	if err != nil {
		t.Fatalf("opentype.NewFace: %v", err)
	}
	for i, line := range lines {
		d := font.Drawer{Dst: img, Src: image.Black, Face: face, Dot: fixed.P(x, y+60*i)}
		d.DrawString(line)
	}
}

func TestRead(t *testing.T) {
	e := engine(t, 0)
	img := sheet(1400, 700)
	left := []string{"Eudora Pennyfarthing,", "widow, Grantor, did", "grant and convey to", "Obadiah Quillfeather", "all that parcel of",
		"land in the county"}
	right := []string{"Being the same land", "described in a deed", "recorded in Deed", "Book 2417, Page 883", "in the office of the",
		"clerk of the court."}
	write(t, img, 100, 200, left...)
	write(t, img, 820, 200, right...)
	p, err := e.Read(t.Context(), img, 300)
	if err != nil {
		t.Fatalf("Read: %v", err)
	}
	// Tesseract may take the last line of a column for another paragraph.
	want := strings.Join(left, "\n") + "\n" + strings.Join(right, "\n")
	if got := strings.ReplaceAll(p.Text(), "\n\n", "\n"); got != want || strings.Contains(p.Text(), left[5]+"\n"+right[0]) {
		t.Errorf("text is %q, want the columns as separate paragraphs: %q", p.Text(), want)
	}
	if p.Confidence() < 80 || p.Rotation != 0 {
		t.Errorf("confidence %d, rotation %d, want at least 80 and 0", p.Confidence(), p.Rotation)
	}
	first := p.Words[0].Box
	if first.Left < 650 || first.Left > 750 || first.Top < 2200 || first.Bottom > 3200 || first.Right < 1500 {
		t.Errorf("the first word is at %v, want it at the upper left", first)
	}
	if e.Broken() != 0 || e.Memory() < 16<<20 || e.Memory() > 64<<20 {
		t.Errorf("%d broken instances, %d bytes of memory, want none and a small one", e.Broken(), e.Memory())
	}
}

// The words of a rotated page have their boxes on the page as it is displayed.
func TestReadTurned(t *testing.T) {
	e := engine(t, 0)
	page := sheet(900, 700)
	text := []string{"Eudora Pennyfarthing,", "widow, Grantor, did", "grant and convey to", "Obadiah Quillfeather", "all that parcel of"}
	write(t, page, 100, 150, text...)
	for degrees := 90; degrees < 360; degrees += 90 {
		w, h := 900, 700
		if degrees != 180 {
			w, h = h, w
		}
		img := sheet(w, h)
		for y := range h {
			for x := range w {
				// The displayed page must be rotated clockwise by degrees, so it has been rotated the other way.
				switch degrees {
				case 90:
					img.SetGray(x, y, page.GrayAt(h-1-y, x))
				case 180:
					img.SetGray(x, y, page.GrayAt(w-1-x, h-1-y))
				case 270:
					img.SetGray(x, y, page.GrayAt(y, w-1-x))
				}
			}
		}
		p, err := e.Read(t.Context(), img, 300)
		if err != nil || p.Rotation != degrees || strings.ReplaceAll(p.Text(), "\n\n", "\n") != strings.Join(text, "\n") {
			t.Fatalf("Read() = %q, rotation %d, %v, want rotation %d", p.Text(), p.Rotation, err, degrees)
		}
		first := p.Words[0].Box
		at := map[int][2]int{90: {1600, 8000}, 180: {8000, 8000}, 270: {8000, 2000}}[degrees]
		if x, y := (first.Left+first.Right)/2, (first.Top+first.Bottom)/2; x < at[0]-900 || x > at[0]+900 || y < at[1]-1000 || y > at[1]+1000 {
			t.Errorf("%d degrees: the first word is at %v, want it near %v", degrees, first, at)
		}
	}
}

// A page without words returns none, and reading a page of noise takes a limited time.
func TestReadNothing(t *testing.T) {
	e := engine(t, 0)
	noise := sheet(1000, 1000)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range noise.Pix {
		noise.Pix[i] = byte(random.IntN(256))
	}
	for name, img := range map[string]*image.Gray{
		"blank": sheet(800, 1000), "one pixel": sheet(1, 1), "thin": sheet(1, 30000), "flat": sheet(30000, 1), "noise": noise,
		"black": image.NewGray(image.Rect(0, 0, 500, 500)), "empty": sheet(0, 0),
	} {
		t.Run(name, func(t *testing.T) {
			began := time.Now()
			p, err := e.Read(t.Context(), img, 300)
			if err != nil || len(p.Words) > 50 {
				t.Errorf("Read() = %d words, %v, want hardly any", len(p.Words), err)
			}
			if took := time.Since(began); took > 30*time.Second {
				t.Errorf("took %v, want at most 30s", took)
			}
		})
	}
}

// A page that needs too much memory doesn't harm the next one.
func TestReadTooLarge(t *testing.T) {
	e := engine(t, 1000)
	large := sheet(8000, 8000)
	write(t, large, 100, 100, "Deed Book 2417")
	if _, err := e.Read(t.Context(), large, 300); !errors.Is(err, ocr.ErrUnreadable) {
		t.Errorf("Read() = %v, want ErrUnreadable", err)
	}
	img := sheet(900, 200)
	write(t, img, 100, 100, "Deed Book 2417")
	if p, err := e.Read(t.Context(), img, math.NaN()); err != nil || p.Text() != "Deed Book 2417" {
		t.Errorf("Read() after that = %q, %v, want the text", p.Text(), err)
	}
	if e.Broken() != 1 {
		t.Errorf("%d broken instances, want 1", e.Broken())
	}
}

func TestCheckLanguage(t *testing.T) {
	e := engine(t, 0)
	good := english(t).Data
	garbled := append([]byte(nil), good...)
	for i := 1000; i < len(garbled); i += 7 {
		garbled[i] ^= 0xA5
	}
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"good", good, ""},
		{"nothing", nil, "the file is not Tesseract language data"},
		{"text", []byte(strings.Repeat("This is a text. ", 100)), "the file is not Tesseract language data"},
		{"truncated", good[:len(good)/2], "the file is not Tesseract language data"},
		{"without a model", append([]byte{1, 0, 0, 0, 12}, make([]byte, 100)...),
			"the language data has no LSTM model; use a file from tessdata_fast or tessdata_best"},
		{"huge", make([]byte, ocr.MaxLanguageSize+1), "the language data is too large"},
		{"garbled", garbled, "language data that Tesseract can't read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := e.Check(t.Context(), ocr.Language{Name: "xyz", Data: c.data})
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("Check() = %v, want %q", err, c.want)
			}
		})
	}
}

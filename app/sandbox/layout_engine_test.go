//go:build !race

package sandbox_test

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"deedkeep/app/document"
	"deedkeep/app/sandbox"
	"deedkeep/app/vaulttest"
)

func sampleRequest(t testing.TB, name string) sandbox.Request {
	t.Helper()
	for _, s := range vaulttest.Samples(t) {
		if s.Path == name {
			content, err := os.ReadFile(s.File)
			if err != nil {
				t.Fatalf("read file: %v", err)
			}
			return sandbox.Request{Doc: bytes.NewReader(content), Size: int64(len(content)), MIME: s.MIME, Ext: path.Ext(s.Path)[1:]}
		}
	}
	t.Fatalf("no sample %s", name)
	return sandbox.Request{}
}

// TestSampleSizes checks the size of every page, including rotated pages. Page images must have the
// same proportions.
func TestSampleSizes(t *testing.T) {
	p := open(t, sandbox.Options{CacheDir: vaulttest.CacheDir(), Workers: 1})
	for _, c := range []struct {
		name          string
		pages         int
		width, height float64 // in points; 0 if not checked
		pixels        int
	}{
		{"title/warranty-deed-g4-300dpi.tiff", 4, 612, 792, 2550},
		{"title/warranty-deed-bigtiff.tif", 4, 612, 792, 2550},
		{"title/warranty-deed-scan-100dpi.pdf", 4, 612, 792, 0},
		{"title/index-of-deeds-500-pages.pdf", 500, 0, 0, 0},
		{"title/plat-24x36-vector.pdf", 1, 2592, 1728, 0},
		{"title/deed-pages-lzw.tif", 2, 612, 792, 1275},
		{"title/recorded-deed-phone-photo.jpg", 1, 0, 0, -1},
		{"title/plat-reduced.gif", 1, 0, 0, -1},
		{"title/index-of-deeds-rotated.pdf", 5, 792, 612, 0},
	} {
		r := sampleRequest(t, c.name)
		sizes, err := p.Sizes(t.Context(), r, document.ExtractLimits{})
		if err != nil || len(sizes) != c.pages {
			t.Errorf("%s: Sizes = %d pages, %v; want %d", c.name, len(sizes), err, c.pages)
			continue
		}
		s := sizes[0]
		if c.width > 0 && (math.Abs(s.Width-c.width) > 1 || math.Abs(s.Height-c.height) > 1) || c.pixels >= 0 && s.ImageWidth != c.pixels {
			t.Errorf("%s: size of page 1 = %+v, want %v by %v points, %d pixels", c.name, s, c.width, c.height, c.pixels)
		}
		picture, err := p.PageImage(t.Context(), r, 1, 300, document.ExtractLimits{})
		if want := 300 * s.Height / s.Width; err != nil || math.Abs(float64(picture.Height)-want) > 1 {
			t.Errorf("%s: %d by %d pixels, want %v high, %v", c.name, picture.Width, picture.Height, want, err)
		}
	}
	for _, name := range []string{"title/title-report.docx", "title/judgment-search-utf8.txt"} {
		if sizes, err := p.Sizes(t.Context(), sampleRequest(t, name), document.ExtractLimits{}); !errors.Is(err, document.ErrUnsupported) {
			t.Errorf("%s: Sizes = %v, %v; want ErrUnsupported", name, sizes, err)
		}
	}
}

// TestSampleMarks checks that marks are where the phrase is visible on the page.
func TestSampleMarks(t *testing.T) {
	p := open(t, sandbox.Options{CacheDir: vaulttest.CacheDir(), Workers: 1})
	for _, c := range []struct {
		name   string
		page   int
		phrase string
		min    int
	}{
		{"title/open-end-mortgage.pdf", 1, "open-end   MORTGAGE", 1},
		{"title/warranty-deed-g4-ocr-layer.pdf", 1, "instrument no. 201904170093382", 1},
		{"title/index-of-deeds-500-pages.pdf", 500, "page 500 of 500", 1},
		{"title/index-of-deeds-rotated.pdf", 2, "rotated page 2 of 5", 1},
	} {
		marks, err := p.Marks(t.Context(), sampleRequest(t, c.name), c.page, c.phrase, false, document.ExtractLimits{})
		if err != nil || len(marks) < c.min {
			t.Errorf("%s: Marks = %v, %v; want at least %d", c.name, marks, err, c.min)
			continue
		}
		for _, rects := range marks {
			if len(rects) == 0 {
				t.Errorf("%s: got a mark without rectangles, want at least one", c.name)
			}
			for _, r := range rects {
				if w, h := r.Right-r.Left, r.Bottom-r.Top; w <= 0 || h <= 0 || w*h > 0.2 || r.Left < 0 || r.Top < 0 || r.Right > 1 || r.Bottom > 1 {
					t.Errorf("%s: got rectangle %+v, want a small one within the page", c.name, r)
				}
			}
			t.Logf("%s: %+v", c.name, rects)
		}
	}
	deed := sampleRequest(t, "title/open-end-mortgage.pdf")
	if marks, err := p.Marks(t.Context(), deed, 1, "nowhere to be found", false, document.ExtractLimits{}); err != nil || len(marks) != 0 {
		t.Errorf("phrase that doesn't occur: Marks = %v, %v; want none", marks, err)
	}
	if _, err := p.Marks(t.Context(), deed, 13, "mortgage", false, document.ExtractLimits{}); !errors.Is(err, document.ErrNoPage) {
		t.Errorf("page 13 of 12: error = %v, want ErrNoPage", err)
	}
	if _, err := p.Marks(t.Context(), sampleRequest(t, "title/warranty-deed-g4-300dpi.tiff"), 1, "deed", false,
		document.ExtractLimits{}); !errors.Is(err, document.ErrUnsupported) {
		t.Errorf("scan without text: error = %v, want ErrUnsupported", err)
	}
}

// TestSampleWords checks that the words of a page are those of its text, and where they are.
func TestSampleWords(t *testing.T) {
	p := open(t, sandbox.Options{CacheDir: vaulttest.CacheDir(), Workers: 1})
	for _, name := range []string{"title/open-end-mortgage.pdf", "title/warranty-deed-g4-ocr-layer.pdf", "title/index-of-deeds-rotated.pdf"} {
		r := sampleRequest(t, name)
		text := ""
		err := p.Text(t.Context(), r, document.ExtractLimits{}, func(page int, s string) error {
			if page == 1 {
				text = s
			}
			return nil
		})
		if err != nil {
			t.Fatalf("%s: Text: %v", name, err)
		}
		page, err := p.Words(t.Context(), r, 1, document.ExtractLimits{})
		if err != nil {
			t.Fatalf("%s: Words: %v", name, err)
		}
		if got, want := strings.Fields(page.Text()), strings.Fields(text); !slices.Equal(got, want) || len(got) < 8 {
			t.Errorf("%s: got %d words %.300q, want %d, %.300q", name, len(got), got, len(want), want)
		}
	}
	if _, err := p.Words(t.Context(), sampleRequest(t, "title/open-end-mortgage.pdf"), 13, document.ExtractLimits{}); !errors.Is(err, document.ErrNoPage) {
		t.Errorf("page 13 of 12: error = %v, want ErrNoPage", err)
	}
}

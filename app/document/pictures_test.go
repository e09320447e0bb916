//go:build !race

package document_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"image"
	"image/color"
	_ "image/jpeg"
	_ "image/png"
	"maps"
	"math"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"deedkeep/app/document"
	"deedkeep/app/jobs"
	"deedkeep/app/vaulttest"
)

var update = flag.Bool("update", false, "rewrite testdata/pictures.tsv: look at the page images before committing it")

// grid contains the darkness, from 0 to 255, of 8 x 8 parts of an image. The first one is at the
// top left.
type grid [64]int

func darkness(img image.Image) grid {
	var sums, counts grid
	b := img.Bounds()
	for y := range b.Dy() {
		for x := range b.Dx() {
			at := y*8/b.Dy()*8 + x*8/b.Dx()
			sums[at] += 255 - int(color.GrayModel.Convert(img.At(b.Min.X+x, b.Min.Y+y)).(color.Gray).Y)
			counts[at]++
		}
	}
	for i := range sums {
		sums[i] /= max(counts[i], 1)
	}
	return sums
}

// near reports whether two grids may belong to the same image. JPEG compression and rounding in
// filters change a part by a few levels.
func near(a, b grid) bool {
	for i := range a {
		if math.Abs(float64(a[i]-b[i])) > 5 {
			return false
		}
	}
	return true
}

func decode(t testing.TB, p document.Image) image.Image {
	t.Helper()
	img, format, err := image.Decode(bytes.NewReader(p.Bytes))
	if err != nil {
		t.Fatalf("image.Decode: %v", err)
	}
	if "image/"+format != p.MIME || img.Bounds() != image.Rect(0, 0, p.Width, p.Height) {
		t.Fatalf("image is %s of %v, want %s of %d x %d", format, img.Bounds(), p.MIME, p.Width, p.Height)
	}
	return img
}

const goldenFile = "testdata/pictures.tsv"

// TestSamplePageImages renders the first and the last page of each sample 400 pixels wide and
// compares them with reviewed images. The size and type must be equal. The content is compared by
// the darkness of its parts.
func TestSamplePageImages(t *testing.T) {
	golden := readGolden(t)
	e := engine(t)
	seen := goldenImages{}
	for _, s := range vaulttest.Samples(t) {
		if !s.Accept || s.MIME != "application/pdf" && !strings.HasPrefix(s.MIME, "image/") {
			continue
		}
		src := source(t, e, s)
		sizes, err := document.PageSizes(t.Context(), src, document.ExtractLimits{})
		pages := len(sizes)
		if err != nil || s.Pages != 0 && pages != s.Pages {
			t.Errorf("%s has %d pages, %v; want %d", s.Path, pages, err, s.Pages)
		}
		for _, n := range []int{1, pages}[:min(pages, 2)] {
			key, line := golden.check(t, src, path.Base(s.Path), n)
			seen[key] = line
		}
	}
	if *update {
		golden.write(t, seen)
	} else if len(seen) != len(golden) && vaulttest.SampleFolder(t) != "" {
		t.Errorf("%d page images, want the %d in %s", len(seen), len(golden), goldenFile)
	}
	if len(seen) < 20 {
		t.Errorf("%d page images checked, want at least 20", len(seen))
	}
}

// goldenImages maps the name and page of a document to a line with type, size, and grid.
type goldenImages map[string]string

func readGolden(t *testing.T) goldenImages {
	t.Helper()
	content, err := os.ReadFile(goldenFile)
	if err != nil && !*update {
		t.Fatalf("os.ReadFile: %v", err)
	}
	golden := goldenImages{}
	for line := range strings.Lines(string(content)) {
		key, rest, _ := strings.Cut(strings.TrimSpace(line), "\t")
		golden[key] = rest
	}
	return golden
}

// write writes the lines in seen to the file. It keeps the lines of other documents.
func (g goldenImages) write(t *testing.T, seen goldenImages) {
	t.Helper()
	maps.Copy(g, seen)
	var all strings.Builder
	for _, key := range slices.Sorted(maps.Keys(g)) {
		fmt.Fprintf(&all, "%s\t%s\n", key, g[key])
	}
	if err := os.WriteFile(goldenFile, []byte(all.String()), 0o644); err != nil {
		t.Fatalf("os.WriteFile: %v", err)
	}
}

// check compares the image of page n with its line. It returns the line for the current image.
func (g goldenImages) check(t *testing.T, src document.Source, name string, n int) (key, line string) {
	t.Helper()
	key = fmt.Sprintf("%s#%d", name, n)
	p, err := document.PageImage(t.Context(), src, n, 400, document.ExtractLimits{})
	for _, finding := range []error{document.ErrTooLarge, document.ErrDamaged, document.ErrUnsupported} {
		if errors.Is(err, finding) {
			if want := g[key]; want != finding.Error() && !*update {
				t.Errorf("%s: %v, want %s", key, err, want)
			}
			return key, finding.Error()
		}
	}
	if err != nil {
		t.Errorf("PageImage(%s): %v", key, err)
		return key, ""
	}
	got := darkness(decode(t, p))
	head := fmt.Sprintf("%s %d x %d", p.MIME, p.Width, p.Height)
	wantHead, cells, _ := strings.Cut(g[key], "\t")
	var want grid
	for i, cell := range strings.Fields(cells) {
		if _, err := fmt.Sscan(cell, &want[i%64]); err != nil {
			t.Fatalf("Sscan: %v", err)
		}
	}
	if !*update && (head != wantHead || !near(got, want)) {
		t.Errorf("%s is %s\n%v, want %s\n%v", key, head, got, wantHead, want)
	}
	return key, fmt.Sprintf("%s\t%s", head, strings.Trim(fmt.Sprint([64]int(got)), "[]"))
}

// The thumbnails of title documents need little disk space: at most 10 KB each.
func TestThumbnailSize(t *testing.T) {
	const maxBytes = 10_000
	e := engine(t)
	count, total := 0, 0
	for _, s := range vaulttest.Samples(t) {
		scanned := s.MIME == "application/pdf" || strings.HasPrefix(s.MIME, "image/")
		if !s.Accept || !scanned || !strings.HasPrefix(s.Path, "title/") {
			continue
		}
		p, err := document.PageImage(t.Context(), source(t, e, s), 1, jobs.ThumbnailWidth, document.ExtractLimits{})
		if err != nil {
			continue // TestSamplePageImages checks which pages have no image
		}
		if len(p.Bytes) > maxBytes {
			t.Errorf("thumbnail of %s: %d bytes, want at most %d", s.Path, len(p.Bytes), maxBytes)
		}
		count, total = count+1, total+len(p.Bytes)
	}
	if count < 4 {
		t.Fatalf("%d thumbnails, want at least 4", count)
	}
	t.Logf("%d thumbnails have %d bytes on average", count, total/count)
}

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
	"deedkeep/app/vaulttest"
)

var update = flag.Bool("update", false, "write testdata/pictures.tsv anew: look at the pictures before committing it")

// grid is how dark each of 8 x 8 parts of a picture is, 0 to 255, from the top
// left.
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

// near reports whether two grids are of the same picture: JPEG and the
// rounding of filters move a part by a few levels.
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
	img, kind, err := image.Decode(bytes.NewReader(p.Bytes))
	if err != nil {
		t.Fatalf("image.Decode: %v", err)
	}
	if "image/"+kind != p.MIME || img.Bounds() != image.Rect(0, 0, p.Width, p.Height) {
		t.Fatalf("%s of %v, said to be %s of %d x %d", kind, img.Bounds(), p.MIME, p.Width, p.Height)
	}
	return img
}

const goldenFile = "testdata/pictures.tsv"

// TestSamplePictures holds the picture of each sample's first and last page, 400
// pixels wide, against what somebody has looked at: size and kind exactly, the
// rest by how dark its parts are.
func TestSamplePictures(t *testing.T) {
	golden := readGolden(t)
	e := engine(t)
	seen := pictures{}
	for _, s := range vaulttest.Samples(t) {
		if !s.Accept || s.MIME != "application/pdf" && !strings.HasPrefix(s.MIME, "image/") {
			continue
		}
		src := source(t, e, s)
		pages, err := document.PageCount(t.Context(), src, document.ExtractLimits{})
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
		t.Errorf("%d pictures, %d in %s", len(seen), len(golden), goldenFile)
	}
	if len(seen) < 20 {
		t.Errorf("%d pictures looked at", len(seen))
	}
}

// pictures are the golden lines by name and page: kind and size, then the grid.
type pictures map[string]string

func readGolden(t *testing.T) pictures {
	t.Helper()
	content, err := os.ReadFile(goldenFile)
	if err != nil && !*update {
		t.Fatalf("os.ReadFile: %v", err)
	}
	golden := pictures{}
	for line := range strings.Lines(string(content)) {
		key, rest, _ := strings.Cut(strings.TrimSpace(line), "\t")
		golden[key] = rest
	}
	return golden
}

// write keeps the lines of documents that were not seen.
func (g pictures) write(t *testing.T, seen pictures) {
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

// check compares page n with its line and returns what the line should be.
func (g pictures) check(t *testing.T, src document.Source, name string, n int) (key, line string) {
	t.Helper()
	key = fmt.Sprintf("%s#%d", name, n)
	p, err := document.PageImage(t.Context(), src, n, 400, document.ExtractLimits{})
	for _, refused := range []error{document.ErrTooLarge, document.ErrDamaged, document.ErrUnsupported} {
		if errors.Is(err, refused) {
			if want := g[key]; want != refused.Error() && !*update {
				t.Errorf("%s: %v, want %s", key, err, want)
			}
			return key, refused.Error()
		}
	}
	if err != nil {
		t.Errorf("%s: %v", key, err)
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

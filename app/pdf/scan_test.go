//go:build !race

package pdf_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"
)

// scanned is a PDF of 200 pages, of which those for which scan says so are covered by
// an image.
func scanned(scan func(page int) bool) []byte {
	const pages = 200
	objects := []string{catalog, "", stream("", "612 0 0 792 0 0 cm /X Do"), stream("", "0 0 9 9 re f"), image}
	var kids strings.Builder
	for n := range pages {
		content := 4
		if scan(n) {
			content = 3
		}
		fmt.Fprintf(&kids, "%d 0 R ", len(objects)+1)
		objects = append(objects, fmt.Sprintf("<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents %d 0 R/Resources<</XObject<</X 5 0 R>>>>>>", content))
	}
	objects[1] = fmt.Sprintf("<</Type/Pages/Count %d/Kids[%s]>>", pages, kids.String())
	return build(objects...)
}

// The share of scans among all pages counts where 20 of them mislead.
func TestImageHeavyBySample(t *testing.T) {
	// The pages that are looked at first are 0, 10, 20, 31, … 199.
	first := map[int]int{}
	for n := range 20 {
		first[n*199/19] = n
	}
	sampled := func(page int) bool { _, is := first[page]; return is }
	e := engine(t)
	for _, c := range []struct {
		name string
		scan func(page int) bool
		want bool
	}{
		{"18 of 20, 60% of all", func(n int) bool { return sampled(n) && first[n] < 18 || !sampled(n) && n%20 < 11 }, false},
		{"12 of 20, 94% of all", func(n int) bool { return !sampled(n) || first[n] < 12 }, true},
		{"9 of 20, no doubt", func(n int) bool { return !sampled(n) || first[n] < 9 }, false},
		{"all", func(int) bool { return true }, true},
		{"none", func(int) bool { return false }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			content := scanned(c.scan)
			d, err := e.Open(t.Context(), bytes.NewReader(content), int64(len(content)))
			if err != nil {
				t.Fatal(err)
			}
			begun := time.Now()
			got, err := d.ImageHeavy(t.Context())
			if err != nil || got != c.want {
				t.Errorf("image-heavy: got %t, %v; want %t", got, err, c.want)
			}
			// A fifth of the least deadline of an inspection that is in use.
			if took := time.Since(begun); took > 4*time.Second {
				t.Errorf("took %v", took)
			}
			if err := d.Close(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

//go:build !race

package pdf_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"
)

// scanned returns a PDF with 200 pages. An image covers each page for which scan returns true.
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
		objects = append(objects, fmt.Sprintf(
			"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents %d 0 R/Resources<</XObject<</X 5 0 R>>>>>>", content))
	}
	objects[1] = fmt.Sprintf("<</Type/Pages/Count %d/Kids[%s]>>", pages, kids.String())
	return build(objects...)
}

// TestImageHeavyBySample checks that the share of scans among all pages counts if the first 20
// pages are misleading.
func TestImageHeavyBySample(t *testing.T) {
	// Pages 0, 10, 20, 31, … 199 are examined first.
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
				t.Fatalf("Open: %v", err)
			}
			begun := time.Now()
			got, err := d.ImageHeavy(t.Context())
			if err != nil || got != c.want {
				t.Errorf("ImageHeavy() = %t, %v, want %t", got, err, c.want)
			}
			// The limit is a fifth of the shortest inspection deadline in use.
			if took := time.Since(begun); took > 4*time.Second {
				t.Errorf("took %v, want at most 4s", took)
			}
			if err := d.Close(t.Context()); err != nil {
				t.Errorf("Close: %v", err)
			}
		})
	}
}

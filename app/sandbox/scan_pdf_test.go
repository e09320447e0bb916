//go:build !race

package sandbox_test

import (
	"bytes"
	"fmt"
)

// scanPDF returns a PDF in which an uncompressed gray image of imageBytes bytes covers each page.
// The image is 100 pixels wide.
func scanPDF(pages, imageBytes int) []byte {
	var out bytes.Buffer
	var offsets []int
	object := func(format string, args ...any) {
		offsets = append(offsets, out.Len())
		fmt.Fprintf(&out, "%d 0 obj\n", len(offsets))
		fmt.Fprintf(&out, format, args...)
		out.WriteString("\nendobj\n")
	}
	out.WriteString("%PDF-1.4\n")
	object("<</Type/Catalog/Pages 2 0 R>>")
	var kids bytes.Buffer
	for i := range pages {
		fmt.Fprintf(&kids, "%d 0 R ", 3+3*i)
	}
	object("<</Type/Pages/Count %d/Kids[%s]>>", pages, kids.Bytes())
	pixels := bytes.Repeat([]byte{0xcc}, imageBytes)
	for range pages {
		n := len(offsets)
		object("<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents %d 0 R/Resources<</XObject<</S %d 0 R>>>>>>", n+2, n+3)
		const draw = "612 0 0 792 0 0 cm /S Do"
		object("<</Length %d>>stream\n%s\nendstream", len(draw), draw)
		object("<</Type/XObject/Subtype/Image/Width 100/Height %d/BitsPerComponent 8/ColorSpace/DeviceGray/Length %d>>stream\n%s\nendstream",
			imageBytes/100, imageBytes, pixels)
	}
	start := out.Len()
	fmt.Fprintf(&out, "xref\n0 %d\n0000000000 65535 f \n", len(offsets)+1)
	for _, at := range offsets {
		fmt.Fprintf(&out, "%010d 00000 n \n", at)
	}
	fmt.Fprintf(&out, "trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n", len(offsets)+1, start)
	return out.Bytes()
}

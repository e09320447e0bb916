//go:build !race

package pdf_test

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"deedkeep/app/pdf"
)

// build returns a PDF with the given objects. They are numbered from 1. The first one is the
// catalog.
func build(objects ...string) []byte {
	var out bytes.Buffer
	offsets := make([]int, len(objects))
	out.WriteString("%PDF-1.4\n")
	for i, o := range objects {
		offsets[i] = out.Len()
		fmt.Fprintf(&out, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	start := out.Len()
	fmt.Fprintf(&out, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, at := range offsets {
		fmt.Fprintf(&out, "%010d 00000 n \n", at)
	}
	fmt.Fprintf(&out, "trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, start)
	return out.Bytes()
}

func stream(dict, content string) string {
	return fmt.Sprintf("<<%s/Length %d>>stream\n%s\nendstream", dict, len(content), content)
}

const catalog = "<</Type/Catalog/Pages 2 0 R>>"

func onePage(content string, rest ...string) []byte {
	return build(append([]string{
		catalog, "<</Type/Pages/Count 1/Kids[3 0 R]>>",
		"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources<</XObject<</X 5 0 R>>>>>>", content,
	}, rest...)...)
}

// image is an image with one pixel. A matrix can scale it to any size.
var image = stream("/Type/XObject/Subtype/Image/Width 1/Height 1/BitsPerComponent 8/ColorSpace/DeviceGray", "x")

func form(resources, content string) string {
	return stream("/Type/XObject/Subtype/Form/BBox[0 0 9999 9999]/Resources<</XObject<<"+resources+">>>>", content)
}

// deepTree returns a PDF whose page tree has n levels.
func deepTree(n int) []byte {
	objects := []string{catalog}
	for i := range n {
		objects = append(objects, fmt.Sprintf("<</Type/Pages/Count 1/Kids[%d 0 R]>>", i+3))
	}
	return build(append(objects, "<</Type/Page/MediaBox[0 0 9 9]>>")...)
}

// blanks returns n spaces in compressed form.
func blanks(t *testing.T, n int) string {
	t.Helper()
	var compressed bytes.Buffer
	z := zlib.NewWriter(&compressed)
	chunk := bytes.Repeat([]byte{' '}, 1<<20)
	for ; n > 0; n -= len(chunk) {
		if _, err := z.Write(chunk); err != nil {
			t.Fatalf("Write: %v", err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatalf("Close: %v", err)
	}
	return compressed.String()
}

func TestHostile(t *testing.T) {
	e := engine(t)
	many := strings.Repeat("q 1 0 0 1 0 0 cm /X Do Q\n", 100_000)
	for _, c := range []struct {
		name  string
		doc   []byte
		pages int // 0 means that Open returns ErrUnreadable
		heavy bool
		scan  error // error that ImageHeavy returns
	}{
		{"false count", build(catalog, "<</Type/Pages/Count 400/Kids[3 0 R]>>", "<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>"), 0, false, nil},
		{"negative count", build(catalog, "<</Type/Pages/Count -5/Kids[]>>"), 0, false, nil},
		// If the count is above PDFium's own limit, PDFium counts the pages itself.
		{"max count", build(catalog, "<</Type/Pages/Count 2147483647/Kids[3 0 R]>>", "<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>"),
			1, false, nil},
		{"deep page tree", deepTree(100_000), 0, false, nil},
		{"garbage", bytes.Repeat([]byte("%PDF-1.7 obj << endobj "), 10_000), 0, false, nil},
		{"header only", []byte("%PDF-1.7\n"), 0, false, nil},
		{"nothing", nil, 0, false, nil},
		{"recursive form", onePage(stream("", "/X Do"), form("/X 5 0 R", "/X Do")), 1, false, nil},
		{"many small pictures", onePage(stream("", many), image), 1, false, nil},
		{"page of no size", build(catalog, "<</Type/Pages/Count 1/Kids[3 0 R]>>",
			"<</Type/Page/Parent 2 0 R/MediaBox[0 0 0 0]/Contents 4 0 R>>", stream("", " ")), 1, false, nil},
		{"gigabyte of blanks", onePage(stream("/Filter/FlateDecode", blanks(t, 1<<30)), image), 1, false, pdf.ErrUnreadable},
	} {
		t.Run(c.name, func(t *testing.T) {
			began := time.Now()
			d, err := e.Open(t.Context(), bytes.NewReader(c.doc), int64(len(c.doc)))
			if c.pages == 0 {
				if !errors.Is(err, pdf.ErrUnreadable) {
					t.Fatalf("Open: error %v, want %v", err, pdf.ErrUnreadable)
				}
				return
			}
			if err != nil || d.Pages() != c.pages {
				t.Fatalf("Open: got %v, want %d pages", err, c.pages)
			}
			heavy, err := d.ImageHeavy(t.Context())
			if heavy != c.heavy || !errors.Is(err, c.scan) {
				t.Errorf("ImageHeavy() = %v, %v, want %v, %v", heavy, err, c.heavy, c.scan)
			}
			if err := d.Close(t.Context()); err != nil {
				t.Errorf("Close: %v", err)
			}
			if took := time.Since(began); took > 30*time.Second {
				t.Errorf("took %v, want at most 30s", took)
			}
		})
	}
}

// readCounter counts the bytes that are read from a document.
type readCounter struct {
	*bytes.Reader
	bytes int64
}

func (r *readCounter) ReadAt(p []byte, offset int64) (int, error) {
	r.bytes += int64(len(p))
	return r.Reader.ReadAt(p, offset)
}

// Streams without an end make PDFium read a document without a cross-reference table again and again:
// 3.4 GB of these 300 KB. The next document isn't affected.
func TestOpenReadsAreLimited(t *testing.T) {
	e := engine(t)
	raw := []byte("%PDF-1.7\n" + strings.Repeat("1 0 obj<</Length 9>>stream\n", 11_000))
	r := &readCounter{Reader: bytes.NewReader(raw)}
	if _, err := e.Open(t.Context(), r, r.Size()); !errors.Is(err, pdf.ErrUnreadable) {
		t.Errorf("Open: error %v, want %v", err, pdf.ErrUnreadable)
	}
	if r.bytes > 100<<20 {
		t.Errorf("%d bytes were read, want at most 100 MiB", r.bytes)
	}
	next := onePage(stream("", "/X Do"), image)
	d, err := e.Open(t.Context(), bytes.NewReader(next), int64(len(next)))
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	if err := d.Close(t.Context()); err != nil {
		t.Errorf("Close: %v", err)
	}
}

func TestImageHeavy(t *testing.T) {
	e := engine(t)
	draw := func(m string) string { return "q " + m + " cm /X Do Q " }
	strips := strings.Repeat(draw("600 0 0 5 0 0"), 80) // 80 strips, each 5 high, on a page that is 800 high
	for _, c := range []struct {
		name  string
		doc   []byte
		heavy bool
	}{
		{"whole page", onePage(stream("", draw("600 0 0 800 0 0")), image), true},
		{"exactly half", onePage(stream("", draw("600 0 0 400 0 0")), image), true},
		{"less than half", onePage(stream("", draw("600 0 0 399 0 0")), image), false},
		{"turned", onePage(stream("", draw("0 800 -600 0 600 0")), image), true},
		{"strips", onePage(stream("", strips), image), true},
		{"strips but one", onePage(stream("", strips[len(strips)/80:]), image), false},
		{"in a form", onePage(stream("", draw("2 0 0 2 0 0")), form("/X 6 0 R", draw("300 0 0 400 0 0")), image), true},
		{"in a small form", onePage(stream("", draw(".5 0 0 .5 0 0")), form("/X 6 0 R", draw("600 0 0 800 0 0")), image), false},
		{"in a form in a form", onePage(stream("", "/X Do"), form("/X 6 0 R", "/X Do"), form("/X 7 0 R", draw("600 0 0 800 0 0")), image), true},
		{"three forms deep", onePage(stream("", "/X Do"), form("/X 6 0 R", "/X Do"), form("/X 7 0 R", "/X Do"),
			form("/X 8 0 R", draw("600 0 0 800 0 0")), image), false},
		{"no picture", onePage(stream("", "0 0 600 800 re f"), image), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, err := e.Open(t.Context(), bytes.NewReader(c.doc), int64(len(c.doc)))
			if err != nil {
				t.Fatalf("Open: %v", err)
			}
			if heavy, err := d.ImageHeavy(t.Context()); err != nil || heavy != c.heavy {
				t.Errorf("ImageHeavy() = %v, %v, want %v", heavy, err, c.heavy)
			}
			if err := d.Close(t.Context()); err != nil {
				t.Errorf("Close: %v", err)
			}
		})
	}
}

// TestShareOfScans checks that a document is image-heavy if four out of five pages are scans.
func TestShareOfScans(t *testing.T) {
	e := engine(t)
	for _, c := range []struct {
		scans, texts int
		heavy        bool
	}{{4, 1, true}, {3, 1, false}, {80, 20, true}, {60, 40, false}} {
		n := c.scans + c.texts
		objects := []string{catalog, "", image, stream("", "600 0 0 800 0 0 cm /X Do"), stream("", "0 0 9 9 re f")}
		kids := ""
		for i := range n {
			content := 4
			if i*c.texts/n != (i+1)*c.texts/n {
				content = 5
			}
			kids += fmt.Sprintf("%d 0 R ", len(objects)+1)
			objects = append(objects, fmt.Sprintf(
				"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents %d 0 R/Resources<</XObject<</X 3 0 R>>>>>>", content))
		}
		objects[1] = fmt.Sprintf("<</Type/Pages/Count %d/Kids[%s]>>", n, kids)
		doc := build(objects...)
		d, err := e.Open(t.Context(), bytes.NewReader(doc), int64(len(doc)))
		if err != nil {
			t.Fatalf("Open: %v", err)
		}
		if heavy, err := d.ImageHeavy(t.Context()); err != nil || heavy != c.heavy {
			t.Errorf("%d scans, %d other pages: ImageHeavy() = %v, %v, want %v", c.scans, c.texts, heavy, err, c.heavy)
		}
		if err := d.Close(t.Context()); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
}

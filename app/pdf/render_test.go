//go:build !race

package pdf_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	stdimage "image"
	"image/color"
	"strings"
	"testing"

	"deedkeep/app/pdf"
)

// fieldPage returns a PDF with one page of 200 x 100 points that is rotated by 90 degrees. The
// upright page has two lines of text at the top and a black form field below them.
func fieldPage() []byte {
	stream := func(head, content string) string {
		return fmt.Sprintf("<<%s/Length %d>>stream\n%s\nendstream", head, len(content), content)
	}
	objects := []string{
		"<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[4 0 R]/DA(/Helv 12 Tf 0 g)>>>>",
		"<</Type/Pages/Kids[3 0 R]/Count 1>>",
		"<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 100]/Rotate 90/Annots[4 0 R 8 0 R 9 0 R]/Contents 5 0 R/Resources<</Font<</F 7 0 R>>>>>>",
		"<</Type/Annot/Subtype/Widget/FT/Tx/T(parcel)/F 4/Rect[120 0 200 100]/V(119.04)/AP<</N 6 0 R>>>>",
		stream("", "BT /F 10 Tf 0 1 -1 0 20 5 Tm (Grant) Tj 0 1 -1 0 35 5 Tm (Deed) Tj ET"),
		stream("/Type/XObject/Subtype/Form/BBox[0 0 80 100]", "0 0 0 rg 0 0 80 100 re f"),
		"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
		"<</Type/Annot/Subtype/FreeText/F 2/Rect[0 0 1 1]/Contents(noted)>>",
		"<</Type/Annot/Subtype/Link/F 2/Rect[0 0 1 1]/Contents(a link)>>",
	}
	var b strings.Builder
	b.WriteString("%PDF-1.7\n")
	for i, object := range objects {
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, object)
	}
	b.WriteString("trailer<</Root 1 0 R>>\n%%EOF\n")
	return []byte(b.String())
}

func open(t testing.TB, e *pdf.Engine, content []byte) *pdf.Document {
	t.Helper()
	d, err := e.Open(t.Context(), bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(func() {
		if err := d.Close(context.Background()); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return d
}

func TestRender(t *testing.T) {
	d := open(t, engine(t), fieldPage())
	w, h, err := d.PageSize(t.Context(), 1)
	if err != nil || w != 100 || h != 200 {
		t.Errorf("PageSize() = %v, %v, %v, want 100, 200", w, h, err)
	}
	// The form environment is created only once, so render the page twice.
	for range 2 {
		img, err := d.Render(t.Context(), 1, 50)
		if err != nil {
			t.Fatalf("Render: %v", err)
		}
		if img.Bounds() != stdimage.Rect(0, 0, 50, 100) {
			t.Fatalf("image of %v, want 50 x 100", img.Bounds())
		}
		for _, c := range []struct {
			x, y int
			want uint8
		}{{2, 2, 255}, {48, 55, 255}, {2, 65, 0}, {48, 98, 0}} {
			got := color.RGBAModel.Convert(img.At(c.x, c.y)).(color.RGBA)
			if got.R != c.want || got.G != c.want || got.B != c.want || got.A != 255 {
				t.Errorf("%v at %d, %d, want %d", got, c.x, c.y, c.want)
			}
		}
	}
	text, err := d.Text(t.Context(), 1, 0)
	if err != nil || text != "Grant\nDeed\n119.04\nnoted" {
		t.Errorf("Text() = %q, %v, want Grant, Deed, 119.04, and noted on a line each", text, err)
	}
	if text, err = d.Text(t.Context(), 1, 3); err != nil || text != "Gra" {
		t.Errorf("Text() of 3 bytes = %q, %v, want %q", text, err, "Gra")
	}
}

// TestRenderColors checks that red and blue aren't swapped.
func TestRenderColors(t *testing.T) {
	red := bytes.Replace(fieldPage(), []byte("0 0 0 rg"), []byte("1 0 0 rg"), 1)
	img, err := open(t, engine(t), red).Render(t.Context(), 1, 50)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	if got := img.(*stdimage.RGBA).RGBAAt(25, 90); got.R != 255 || got.G != 0 || got.B != 0 {
		t.Errorf("color %v, want red", got)
	}
}

func TestPageMissing(t *testing.T) {
	d := open(t, engine(t), fieldPage())
	for _, page := range []int{-1, 0, 2} {
		if _, err := d.Render(t.Context(), page, 50); !errors.Is(err, pdf.ErrUnreadable) {
			t.Errorf("Render(%d): error %v, want %v", page, err, pdf.ErrUnreadable)
		}
		if _, err := d.Text(t.Context(), page, 0); !errors.Is(err, pdf.ErrUnreadable) {
			t.Errorf("Text(%d): error %v, want %v", page, err, pdf.ErrUnreadable)
		}
		if _, _, err := d.PageSize(t.Context(), page); !errors.Is(err, pdf.ErrUnreadable) {
			t.Errorf("PageSize(%d): error %v, want %v", page, err, pdf.ErrUnreadable)
		}
	}
	if _, err := d.Text(t.Context(), 1, 0); err != nil {
		t.Errorf("Text(1): %v", err)
	}
}

func TestClosedDocument(t *testing.T) {
	e := engine(t)
	d, err := e.Open(t.Context(), bytes.NewReader(fieldPage()), int64(len(fieldPage())))
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	if _, err := d.Render(t.Context(), 1, 50); err != nil {
		t.Fatalf("Render: %v", err)
	}
	if err := d.Close(t.Context()); err != nil {
		t.Fatalf("Close: %v", err)
	}
	if _, err := d.Render(t.Context(), 1, 50); !errors.Is(err, pdf.ErrUnreadable) {
		t.Errorf("Render: %v", err)
	}
	if e.Broken() != 0 {
		t.Errorf("Broken() = %d after closing a document with a form, want 0", e.Broken())
	}
}

//go:build !race

package document_test

import (
	"bytes"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"deedkeep/app/document"
	"deedkeep/app/pdf"
	"deedkeep/app/vaulttest"
	"deedkeep/web"
)

// pagesOf returns a PDF that has one page for each content stream. The streams are compressed.
func pagesOf(t *testing.T, contents ...string) document.Source {
	t.Helper()
	var b, kids bytes.Buffer
	object := func(n int, format string, args ...any) {
		fmt.Fprintf(&b, "%d 0 obj\n"+format+"\nendobj\n", append([]any{n}, args...)...)
	}
	b.WriteString("%PDF-1.7\n")
	object(1, "<</Type/Catalog/Pages 2 0 R>>")
	object(3, "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>")
	for i, content := range contents {
		var packed bytes.Buffer
		w := zlib.NewWriter(&packed)
		if _, err := w.Write([]byte(content)); err != nil {
			t.Fatalf("Write: %v", err)
		}
		if err := w.Close(); err != nil {
			t.Fatalf("Close: %v", err)
		}
		n := 4 + 2*i
		fmt.Fprintf(&kids, "%d 0 R ", n)
		object(n, "<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 100]/Contents %d 0 R/Resources<</Font<</F 3 0 R>>>>>>", n+1)
		object(n+1, "<</Filter/FlateDecode/Length %d>>stream\n%s\nendstream", packed.Len(), packed.String())
	}
	object(2, "<</Type/Pages/Kids[%s]/Count %d>>", kids.String(), len(contents))
	b.WriteString("trailer<</Root 1 0 R>>\n%%EOF\n")
	return document.Source{Doc: bytes.NewReader(b.Bytes()), Size: int64(b.Len()), MIME: "application/pdf"}
}

// TestBrokenPage checks that Text still reads the pages after a page that breaks the engine.
func TestBrokenPage(t *testing.T) {
	wasm, err := web.PDFium()
	if err != nil {
		t.Fatalf("web.PDFium: %v", err)
	}
	e, err := pdf.New(t.Context(), pdf.Options{Wasm: wasm, CacheDir: vaulttest.CacheDir(), MemoryPages: 640})
	if err != nil {
		t.Fatalf("pdf.New: %v", err)
	}
	t.Cleanup(func() {
		if err := e.Close(context.Background()); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	show := func(text string) string { return "BT /F 10 Tf 5 50 Td (" + text + ") Tj ET" }
	bomb := strings.Repeat(" ", 64<<20)
	for _, c := range []struct {
		name     string
		contents []string
		want     string
		err      error
	}{
		{"in the middle", []string{show("one"), bomb, show("three"), show("four")}, "1 one 3 three 4 four ", nil},
		{"at the end", []string{show("one"), bomb}, "1 one ", nil},
		{"alone", []string{bomb}, "", document.ErrDamaged},
		{"again and again", []string{bomb, bomb, bomb, bomb, show("five")}, "", document.ErrDamaged},
	} {
		t.Run(c.name, func(t *testing.T) {
			src := pagesOf(t, c.contents...)
			src.PDF = pdfium{e}
			got, broken := "", e.Broken()
			err := document.Text(t.Context(), src, document.ExtractLimits{}, func(page int, text string) error {
				got += fmt.Sprintf("%d %s ", page, text)
				return nil
			})
			if got != c.want || !errors.Is(err, c.err) {
				t.Errorf("Text = %q, %v, want %q, %v", got, err, c.want, c.err)
			}
			if e.Broken() == broken {
				t.Error("no page broke the engine, want one that does")
			}
		})
	}
}

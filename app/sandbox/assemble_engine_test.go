//go:build !race

package sandbox_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"deedkeep/app/document"
	"deedkeep/app/pdf"
	"deedkeep/app/sandbox"
	"deedkeep/app/vaulttest"
)

// A worker with all protections creates a document of pages of several documents, with the same bytes
// each time. Its pages are those of the parts.
func TestAssemble(t *testing.T) {
	p := open(t, sandbox.Options{CacheDir: vaulttest.CacheDir(), Workers: 1})
	var parts []sandbox.Part
	const scan, fax = "title/warranty-deed-scan-100dpi.pdf", "title/warranty-deed-g4-300dpi.tiff"
	for _, name := range []string{scan, fax, scan} {
		r := sampleRequest(t, name)
		parts = append(parts, sandbox.Part{Doc: r.Doc, Size: r.Size, MIME: r.MIME, Pages: []pdf.PageTurn{{Page: 2, Turns: 1}, {Page: 1}}})
	}
	var before []byte
	for range 2 {
		path := filepath.Join(t.TempDir(), "out.pdf")
		out, err := os.Create(path)
		if err != nil {
			t.Fatalf("create file: %v", err)
		}
		size, err := p.Assemble(t.Context(), sandbox.Request{}, parts, out, document.ExtractLimits{})
		if err != nil {
			t.Fatalf("Assemble: %v", err)
		}
		sizes, err := p.Sizes(t.Context(), sandbox.Request{Doc: out, Size: size, MIME: "application/pdf", Ext: "pdf"}, document.ExtractLimits{})
		if err != nil || len(sizes) != 6 || sizes[0].Width < sizes[0].Height || sizes[1].Width > sizes[1].Height {
			t.Errorf("pages %v, %v; want 6, the first one turned", sizes, err)
		}
		if err := out.Close(); err != nil {
			t.Errorf("close file: %v", err)
		}
		content, err := os.ReadFile(path)
		if err != nil || before != nil && string(content) != string(before) {
			t.Errorf("the document of %d bytes differs from the first one, %v", len(content), err)
		}
		before = content
	}
	parts[1].Pages[0].Page = 9
	if _, err := p.Assemble(t.Context(), sandbox.Request{}, parts, &file{}, document.ExtractLimits{}); !errors.Is(err, document.ErrNoPage) {
		t.Errorf("a missing page: error %v, want %v", err, document.ErrNoPage)
	}
}

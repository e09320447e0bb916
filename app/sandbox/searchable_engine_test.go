//go:build !race

package sandbox_test

import (
	"errors"
	"image"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deedkeep/app/document"
	"deedkeep/app/sandbox"
	"deedkeep/app/vaulttest"
)

// A worker with all protections creates searchable PDFs, one after another. PDFium finds the words.
func TestSearchable(t *testing.T) {
	p := open(t, sandbox.Options{CacheDir: vaulttest.CacheDir(), Workers: 1})
	words := strings.NewReader(`{"number":1,"page":{"words":[{"w":"Willoughby","x":{"l":1000,"t":2000,"r":4000,"b":2400},"c":90,"n":1,"p":1}]}}`)
	for name, r := range map[string]sandbox.Request{
		"PDF": sampleRequest(t, "title/warranty-deed-scan-100dpi.pdf"), "TIFF": sampleRequest(t, "title/warranty-deed-g4-300dpi.tiff"),
		"PNG": pngRequest(t, image.NewGray(image.Rect(0, 0, 300, 400))),
	} {
		out, err := os.Create(filepath.Join(t.TempDir(), "out.pdf"))
		if err != nil {
			t.Fatalf("create file: %v", err)
		}
		size, err := p.Searchable(t.Context(), r, words, words.Size(), out, document.ExtractLimits{})
		if err != nil {
			t.Fatalf("%s: Searchable: %v", name, err)
		}
		copied := sandbox.Request{Doc: out, Size: size, MIME: "application/pdf", Ext: "pdf"}
		found, err := p.Words(t.Context(), copied, 1, document.ExtractLimits{})
		if err != nil || !strings.Contains(found.Text(), "Willoughby") {
			t.Errorf("%s: words %q, %v; want Willoughby", name, found.Text(), err)
		}
		if err := out.Close(); err != nil {
			t.Errorf("close file: %v", err)
		}
	}
	for name, c := range map[string]struct {
		r    sandbox.Request
		lim  document.ExtractLimits
		want error
	}{
		"text":           {sandbox.Request{Doc: strings.NewReader("Deed"), Size: 4, MIME: "text/plain", Ext: "txt"}, document.ExtractLimits{}, document.ErrUnsupported},
		"image bomb":     {sampleRequest(t, "refuse/image-bomb-60000x60000.png"), document.ExtractLimits{}, document.ErrTooLarge},
		"too many pages": {sampleRequest(t, "title/warranty-deed-g4-300dpi.tiff"), document.ExtractLimits{MaxPages: 1}, document.ErrTooLarge},
		"cyclic pages":   {sampleRequest(t, "refuse/cyclic-page-tree.pdf"), document.ExtractLimits{}, document.ErrDamaged},
	} {
		if _, err := p.Searchable(t.Context(), c.r, words, words.Size(), &file{}, c.lim); !errors.Is(err, c.want) {
			t.Errorf("%s: error %v, want %v", name, err, c.want)
		}
	}
	full := errors.New("the disk is full")
	if _, err := p.Searchable(t.Context(), pngRequest(t, image.NewGray(image.Rect(0, 0, 9, 9))), words, words.Size(), &file{err: full},
		document.ExtractLimits{}); !errors.Is(err, full) {
		t.Errorf("a full disk: error %v, want %v", err, full)
	}
}

// file discards what is written to it, or fails.
type file struct{ err error }

func (f *file) WriteAt(p []byte, _ int64) (int, error) { return len(p), f.err }

//go:build !race

package sandbox_test

import (
	"bytes"
	"errors"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deedkeep/app/document"
	"deedkeep/app/ocr"
	"deedkeep/app/sandbox"
	"deedkeep/app/vaulttest"
)

func pngRequest(t *testing.T, img image.Image) sandbox.Request {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatalf("png.Encode: %v", err)
	}
	return sandbox.Request{Doc: bytes.NewReader(b.Bytes()), Size: int64(b.Len()), MIME: "image/png", Ext: "png", Class: sandbox.Background}
}

// A page that can't be read, or that nothing can be read on, doesn't disturb the next one. A language
// whose data is bad doesn't take down English.
func TestReadPage(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string][]byte{"bad": []byte("garbage"), "huge": nil} {
		if err := os.WriteFile(filepath.Join(dir, name+".traineddata"), content, 0o600); err != nil {
			t.Fatalf("write file: %v", err)
		}
	}
	if err := os.Truncate(filepath.Join(dir, "huge.traineddata"), ocr.MaxLanguageSize+1); err != nil {
		t.Fatalf("truncate file: %v", err)
	}
	p := open(t, sandbox.Options{CacheDir: vaulttest.CacheDir(), Workers: 1, LowPriority: true,
		OCR: sandbox.OCR{Languages: []string{"eng", "bad", "huge", "missing"}, Dir: dir}})
	if _, known := p.BadLanguages(); known {
		t.Error("BadLanguages() is known before a worker has started")
	}
	for _, c := range []struct {
		name string
		r    sandbox.Request
		page int
		want error
	}{
		{"one pixel high", pngRequest(t, image.NewGray(image.Rect(0, 0, 30000, 1))), 1, nil},
		{"one pixel wide", pngRequest(t, image.NewGray(image.Rect(0, 0, 1, 30000))), 1, nil},
		{"no such page", pngRequest(t, image.NewGray(image.Rect(0, 0, 9, 9))), 2, document.ErrNoPage},
		{"image bomb", sampleRequest(t, "refuse/image-bomb-60000x60000.png"), 1, document.ErrTooLarge},
		{"no pages", sandbox.Request{Doc: strings.NewReader("Deed"), Size: 4, MIME: "text/plain", Ext: "txt"}, 1, document.ErrUnsupported},
	} {
		if page, err := p.ReadPage(t.Context(), c.r, c.page, document.ExtractLimits{}); !errors.Is(err, c.want) || len(page.Words) > 0 {
			t.Errorf("%s: %d words, error %v, want none, %v", c.name, len(page.Words), err, c.want)
		}
	}
	page, err := p.ReadPage(t.Context(), sampleRequest(t, "title/warranty-deed-g4-ocr-layer.pdf"), 4, document.ExtractLimits{})
	if text := strings.Join(strings.Fields(page.Text()), " "); err != nil || !strings.Contains(text, "hereunto set their hands and seals") {
		t.Errorf("ReadPage() = %.300q, %v, want the text of an acknowledgment", text, err)
	}
	bad, _ := p.BadLanguages()
	want := []struct{ name, reason string }{{"bad", "not Tesseract language data"}, {"huge", "too large"}, {"missing", "no such file"}}
	for i, w := range want {
		if len(bad) != len(want) || bad[i].Name != w.name || !strings.Contains(bad[i].Reason, w.reason) {
			t.Fatalf("BadLanguages() = %v, want %v", bad, want)
		}
	}
	if s := p.Stats(); s.Alive != 1 || s.Served != 6 {
		t.Errorf("Stats() = %+v, want one live worker and 6 documents", s)
	}
}

func TestInvalidLanguages(t *testing.T) {
	for _, name := range []string{"", "../eng", "eng+deu", "a", "eng.traineddata"} {
		p := open(t, sandbox.Options{OCR: sandbox.OCR{Languages: []string{name}}})
		r := sandbox.Request{Doc: strings.NewReader(""), MIME: "image/png"}
		_, err := p.ReadPage(t.Context(), r, 1, document.ExtractLimits{})
		if err == nil || !strings.Contains(err.Error(), "is not a valid language") {
			t.Errorf("ReadPage() with the language %q = %v, want an error that names it", name, err)
		}
	}
}

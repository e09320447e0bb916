//go:build !race

// Compiling PDFium takes ten seconds under the race detector, so these tests run without it.

package pdf_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path"
	"path/filepath"
	"testing"
	"time"

	"deedkeep/app/pdf"
	"deedkeep/app/vaulttest"
	"deedkeep/web"
)

// engine returns an Engine. It fails the test if the Engine can't be closed at the end.
func engine(t *testing.T) *pdf.Engine {
	t.Helper()
	wasm, err := web.PDFium()
	if err != nil {
		t.Fatalf("web.PDFium: %v", err)
	}
	e, err := pdf.New(t.Context(), pdf.Options{Wasm: wasm, CacheDir: vaulttest.CacheDir()})
	if err != nil {
		t.Fatalf("pdf.New: %v", err)
	}
	t.Cleanup(func() {
		if err := e.Close(context.Background()); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return e
}

func content(t *testing.T, s vaulttest.Sample) *bytes.Reader {
	t.Helper()
	b, err := os.ReadFile(s.File)
	if err != nil {
		t.Fatalf("os.ReadFile: %v", err)
	}
	return bytes.NewReader(b)
}

func TestSamples(t *testing.T) {
	e := engine(t)
	heavy := map[string]bool{
		"issue5747.pdf": true, "warranty-deed-g4-ocr-layer.pdf": true, "warranty-deed-scan-jpeg.pdf": true,
		"warranty-deed-scan-100dpi.pdf": true,
		"scan-301-pages.pdf":            true,
		// These have text in front of images that are as large as the page. By the rule, such pages
		// are scans.
		"bug1771477.pdf": true, "testPDFPackage.pdf": true,
	}
	for _, s := range vaulttest.Samples(t) {
		if s.Kind != "pdf" {
			continue
		}
		t.Run(path.Base(s.Path), func(t *testing.T) {
			began := time.Now()
			r := content(t, s)
			d, err := e.Open(t.Context(), r, r.Size())
			switch want := wantError(s); {
			case want != nil:
				if !errors.Is(err, want) {
					t.Fatalf("Open: error %v, want %v", err, want)
				}
			case err != nil:
				t.Fatalf("Open: %v", err)
			default:
				if s.Pages != 0 && d.Pages() != s.Pages {
					t.Errorf("Pages() = %d, want %d", d.Pages(), s.Pages)
				}
				if path.Base(s.Path) == "flate-bomb-content.pdf" {
					break
				}
				got, err := d.ImageHeavy(t.Context())
				if err != nil || got != heavy[path.Base(s.Path)] {
					t.Errorf("ImageHeavy() = %v, %v, want %v", got, err, heavy[path.Base(s.Path)])
				}
				if err := d.Close(t.Context()); err != nil {
					t.Errorf("Close: %v", err)
				}
			}
			if took := time.Since(began); took > 30*time.Second {
				t.Errorf("took %v, want at most 30s", took)
			}
			if m := e.Memory(); m > 256<<20 {
				t.Errorf("Memory() = %d, want at most 256 MiB", m)
			}
		})
	}
}

// wantError returns the error that corresponds to the rejection in the manifest.
func wantError(s vaulttest.Sample) error {
	switch s.Rejection {
	case "PDF is password-protected":
		return pdf.ErrPassword
	case "PDF could not be read":
		return pdf.ErrUnreadable
	}
	return nil
}

// failingReader fails to read bytes at or after a given offset.
type failingReader struct {
	*bytes.Reader
	from int64
}

var errDisk = errors.New("disk is closed")

func (r failingReader) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) > r.from {
		return 0, errDisk
	}
	return r.Reader.ReadAt(p, off)
}

func TestReaderFails(t *testing.T) {
	e := engine(t)
	for _, s := range vaulttest.Samples(t) {
		if s.Path != "title/open-end-mortgage.pdf" {
			continue
		}
		r := content(t, s)
		_, err := e.Open(t.Context(), failingReader{r, r.Size() / 2}, r.Size())
		if !errors.Is(err, errDisk) || errors.Is(err, pdf.ErrUnreadable) {
			t.Errorf("Open of a failing reader: error %v, want %v", err, errDisk)
		}
		d, err := e.Open(t.Context(), r, r.Size())
		if err != nil || d.Pages() != s.Pages {
			t.Errorf("Open after a failed read: %d pages, %v, want %d", d.Pages(), err, s.Pages)
		}
	}
}

// closingReader fails every read after closed has been set.
type closingReader struct {
	*bytes.Reader
	closed bool
}

func (c *closingReader) ReadAt(p []byte, off int64) (int, error) {
	if c.closed {
		return 0, errDisk
	}
	return c.Reader.ReadAt(p, off)
}

func TestReaderFailsLater(t *testing.T) {
	e := engine(t)
	for _, s := range vaulttest.Samples(t) {
		if s.Path != "title/open-end-mortgage.pdf" {
			continue
		}
		r := &closingReader{Reader: content(t, s)}
		d, err := e.Open(t.Context(), r, r.Size())
		if err != nil {
			t.Fatalf("Open: %v", err)
		}
		r.closed = true
		if heavy, err := d.ImageHeavy(t.Context()); !errors.Is(err, errDisk) || heavy {
			t.Errorf("ImageHeavy() = %v, %v, want %v", heavy, err, errDisk)
		}
	}
}

func TestBrokenInstance(t *testing.T) {
	e := engine(t)
	var good, bomb *bytes.Reader
	for _, s := range vaulttest.Samples(t) {
		switch s.Path {
		case "title/open-end-mortgage.pdf":
			good = content(t, s)
		case "refuse/flate-bomb-object-stream.pdf":
			bomb = content(t, s)
		}
	}
	first, err := e.Open(t.Context(), good, good.Size())
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	if _, err := e.Open(t.Context(), bomb, bomb.Size()); !errors.Is(err, pdf.ErrUnreadable) {
		t.Fatalf("Open: %v", err)
	}
	if e.Broken() != 1 || e.Memory() != 0 {
		t.Errorf("Broken() = %d, Memory() = %d, want 1, 0", e.Broken(), e.Memory())
	}
	if _, err := first.ImageHeavy(t.Context()); !errors.Is(err, pdf.ErrUnreadable) {
		t.Errorf("ImageHeavy of a document of the broken instance: error %v, want %v", err, pdf.ErrUnreadable)
	}
	if err := first.Close(t.Context()); err != nil {
		t.Errorf("Close: %v", err)
	}
	second, err := e.Open(t.Context(), good, good.Size())
	if err != nil || second.Pages() != 12 {
		t.Fatalf("Open of the next document: %v", err)
	}
	for range 2 {
		if err := second.Close(t.Context()); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
}

func TestCanceled(t *testing.T) {
	e := engine(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Open(ctx, bytes.NewReader(nil), 0); !errors.Is(err, context.Canceled) {
		t.Errorf("Open with an ended context: error %v, want %v", err, context.Canceled)
	}
}

// compiled returns the files with compiled code in a cache directory.
func compiled(t *testing.T, cache string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(cache, "wazero-*", "*"))
	if err != nil {
		t.Fatalf("filepath.Glob: %v", err)
	}
	return files
}

// TestDamagedCache checks that PDFium starts even if a bit in the cache is flipped or the cache
// isn't a directory. A flipped bit is repaired.
func TestDamagedCache(t *testing.T) {
	wasm, err := web.PDFium()
	if err != nil {
		t.Fatalf("web.PDFium: %v", err)
	}
	open := func(cache string) {
		t.Helper()
		e, err := pdf.New(t.Context(), pdf.Options{Wasm: wasm, CacheDir: cache})
		if err != nil {
			t.Fatalf("pdf.New: %v", err)
		}
		if err := e.Close(t.Context()); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
	open(vaulttest.CacheDir())
	cache := t.TempDir()
	other := filepath.Join(cache, "other")
	if err := os.WriteFile(other, nil, 0o600); err != nil {
		t.Fatalf("os.WriteFile: %v", err)
	}
	for _, from := range compiled(t, vaulttest.CacheDir()) {
		content, err := os.ReadFile(from)
		if err != nil {
			t.Fatalf("os.ReadFile: %v", err)
		}
		content[len(content)/2] ^= 1
		to := filepath.Join(cache, filepath.Base(filepath.Dir(from)), filepath.Base(from))
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			t.Fatalf("os.MkdirAll: %v", err)
		}
		if err := os.WriteFile(to, content, 0o600); err != nil {
			t.Fatalf("os.WriteFile: %v", err)
		}
	}
	damaged, err := os.ReadFile(compiled(t, cache)[0])
	if err != nil {
		t.Fatalf("os.ReadFile: %v", err)
	}
	open(cache)
	files := compiled(t, cache)
	if len(files) != 2 { // PDFium, and the module with its callbacks
		t.Fatalf("%d cached files, want 2", len(files))
	}
	if repaired, err := os.ReadFile(files[0]); err != nil || bytes.Equal(repaired, damaged) {
		t.Errorf("the damaged cache file is unchanged, %v, want it rewritten", err)
	}
	if _, err := os.Stat(other); err != nil {
		t.Errorf("os.Stat: %v", err)
	}
	open(other)
}

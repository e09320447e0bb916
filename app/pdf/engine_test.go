//go:build !race

// PDFium compiles in ten seconds under the race detector; these tests use the
// plain binary.

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

// engine is shared by the tests of this file, each of which leaves it usable:
// that it is, is part of what they prove.
func engine(t *testing.T) *pdf.Engine {
	t.Helper()
	wasm, err := web.PDFium()
	if err != nil {
		t.Fatal(err)
	}
	e, err := pdf.New(t.Context(), pdf.Options{Wasm: wasm, CacheDir: vaulttest.Cache()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return e
}

func content(t *testing.T, s vaulttest.Sample) *bytes.Reader {
	t.Helper()
	b, err := os.ReadFile(s.File)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.NewReader(b)
}

func TestSamples(t *testing.T) {
	e := engine(t)
	heavy := map[string]bool{
		"issue5747.pdf": true, "warranty-deed-g4-ocr-layer.pdf": true, "warranty-deed-scan-jpeg.pdf": true,
		"warranty-deed-scan-100dpi.pdf": true,
		"scan-301-pages.pdf":            true,
		// Text before pictures as large as the page: scans by the rule.
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
			switch want := blame(s); {
			case want != nil:
				if !errors.Is(err, want) {
					t.Fatalf("%v, want %v", err, want)
				}
			case err != nil:
				t.Fatal(err)
			default:
				if s.Pages != 0 && d.Pages() != s.Pages {
					t.Errorf("%d pages, want %d", d.Pages(), s.Pages)
				}
				if path.Base(s.Path) == "flate-bomb-content.pdf" {
					break
				}
				got, err := d.ImageHeavy(t.Context())
				if err != nil || got != heavy[path.Base(s.Path)] {
					t.Errorf("image-heavy is %v, %v", got, err)
				}
				if err := d.Close(t.Context()); err != nil {
					t.Error(err)
				}
			}
			if took := time.Since(began); took > 30*time.Second {
				t.Errorf("took %v", took)
			}
			if m := e.Memory(); m > 256<<20 {
				t.Errorf("holds %d bytes", m)
			}
		})
	}
}

// blame returns the error that the manifest's refusal stands for.
func blame(s vaulttest.Sample) error {
	switch s.Refusal {
	case "PDF is password-protected":
		return pdf.ErrPassword
	case "PDF could not be read":
		return pdf.ErrUnreadable
	}
	return nil
}

// refusing is a document whose bytes cannot be had from some offset on.
type refusing struct {
	*bytes.Reader
	from int64
}

var errDisk = errors.New("disk is gone")

func (r refusing) ReadAt(p []byte, off int64) (int, error) {
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
		_, err := e.Open(t.Context(), refusing{r, r.Size() / 2}, r.Size())
		if !errors.Is(err, errDisk) || errors.Is(err, pdf.ErrUnreadable) {
			t.Errorf("%v", err)
		}
		d, err := e.Open(t.Context(), r, r.Size())
		if err != nil || d.Pages() != s.Pages {
			t.Errorf("afterwards: %v", err)
		}
	}
}

// fading is a document whose bytes cannot be had any more once it is opened.
type fading struct {
	*bytes.Reader
	gone bool
}

func (f *fading) ReadAt(p []byte, off int64) (int, error) {
	if f.gone {
		return 0, errDisk
	}
	return f.Reader.ReadAt(p, off)
}

func TestReaderFailsLater(t *testing.T) {
	e := engine(t)
	for _, s := range vaulttest.Samples(t) {
		if s.Path != "title/open-end-mortgage.pdf" {
			continue
		}
		r := &fading{Reader: content(t, s)}
		d, err := e.Open(t.Context(), r, r.Size())
		if err != nil {
			t.Fatal(err)
		}
		r.gone = true
		if heavy, err := d.ImageHeavy(t.Context()); !errors.Is(err, errDisk) || heavy {
			t.Errorf("%v, %v", heavy, err)
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
		t.Fatal(err)
	}
	if _, err := e.Open(t.Context(), bomb, bomb.Size()); !errors.Is(err, pdf.ErrUnreadable) {
		t.Fatal(err)
	}
	if e.Broken() != 1 || e.Memory() != 0 {
		t.Errorf("broken %d, memory %d", e.Broken(), e.Memory())
	}
	if _, err := first.ImageHeavy(t.Context()); !errors.Is(err, pdf.ErrUnreadable) {
		t.Errorf("document of the broken instance: %v", err)
	}
	if err := first.Close(t.Context()); err != nil {
		t.Errorf("close: %v", err)
	}
	second, err := e.Open(t.Context(), good, good.Size())
	if err != nil || second.Pages() != 12 {
		t.Fatalf("next document: %v", err)
	}
	for range 2 {
		if err := second.Close(t.Context()); err != nil {
			t.Errorf("close: %v", err)
		}
	}
}

func TestCanceled(t *testing.T) {
	e := engine(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Open(ctx, bytes.NewReader(nil), 0); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// compiled returns the files of compiled code in a cache.
func compiled(t *testing.T, cache string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(cache, "wazero-*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestDamagedCache: a cache with a flipped bit, or one that is no folder, costs
// time only, and a damaged one is made again.
func TestDamagedCache(t *testing.T) {
	wasm, err := web.PDFium()
	if err != nil {
		t.Fatal(err)
	}
	open := func(cache string) {
		t.Helper()
		e, err := pdf.New(t.Context(), pdf.Options{Wasm: wasm, CacheDir: cache})
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	open(vaulttest.Cache())
	cache := t.TempDir()
	other := filepath.Join(cache, "other")
	if err := os.WriteFile(other, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, from := range compiled(t, vaulttest.Cache()) {
		content, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		content[len(content)/2] ^= 1
		to := filepath.Join(cache, filepath.Base(filepath.Dir(from)), filepath.Base(from))
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	damaged, err := os.ReadFile(compiled(t, cache)[0])
	if err != nil {
		t.Fatal(err)
	}
	open(cache)
	files := compiled(t, cache)
	if len(files) != 1 {
		t.Fatalf("%d files", len(files))
	}
	if healed, err := os.ReadFile(files[0]); err != nil || bytes.Equal(healed, damaged) {
		t.Errorf("the cache is as it was, %v", err)
	}
	if _, err := os.Stat(other); err != nil {
		t.Error(err)
	}
	open(other)
}

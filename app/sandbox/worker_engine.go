package sandbox

import (
	"context"
	"errors"
	"io"

	"deedkeep/app/document"
	"deedkeep/app/ocr"
	"deedkeep/app/pdf"
)

// maxEngineMemory is the maximum size of an engine's WebAssembly memory, in bytes. A worker that uses
// more is replaced because WebAssembly memory never shrinks.
const maxEngineMemory = 128 << 20

// mimePDF is the media type of the documents that PDFium opens.
const mimePDF = "application/pdf"

// engines are the engines that a worker loads before its first document.
type engines struct {
	PDF bool `json:"pdf,omitempty"` // PDFium
	OCR bool `json:"ocr,omitempty"` // Tesseract
}

// cover reports whether e contains all engines in need.
func (e engines) cover(need engines) bool { return (e.PDF || !need.PDF) && (e.OCR || !need.OCR) }

// with returns the engines in e or in more.
func (e engines) with(more engines) engines { return engines{e.PDF || more.PDF, e.OCR || more.OCR} }

// needs returns the engines that t may need.
func needs(t task) engines {
	if t.Task == taskInspect {
		return engines{PDF: t.Ext == "pdf"}
	}
	return engines{PDF: t.MIME == mimePDF, OCR: t.Task == taskOCR}
}

// Assets are the files of the engines that a worker may need. They are read when they are needed.
type Assets struct {
	PDFium    func() ([]byte, error) // code of PDFium
	Tesseract func() ([]byte, error) // code of Tesseract
	English   func() ([]byte, error) // Tesseract's data for English
}

// engine loads the engines before the first document, while the worker can still access the cache.
// A worker that was started for another document type doesn't load them.
type engine struct {
	assets   Assets
	cacheDir string // "" after the protections have been applied
	pdf      *pdf.Engine
	ocr      *ocr.Engine
}

// load returns PDFium. On first use, it compiles PDFium or loads it from the cache. Without a
// cache, it also works inside the sandbox.
func (e *engine) load(ctx context.Context) (*pdf.Engine, error) {
	if e.pdf != nil {
		return e.pdf, nil
	}
	wasm, err := e.assets.PDFium()
	if err != nil {
		return nil, err
	}
	e.pdf, err = pdf.New(ctx, pdf.Options{Wasm: wasm, CacheDir: e.cacheDir})
	return e.pdf, err
}

// Open opens a PDF. Its errors are those of package pdf.
func (e *engine) Open(ctx context.Context, doc io.ReaderAt, size int64) (document.PDF, error) {
	engine, err := e.load(ctx)
	if err != nil {
		return nil, err
	}
	opened, err := engine.Open(ctx, doc, size)
	if err != nil {
		return nil, err
	}
	return opened, nil
}

// Assemble implements document.Assembler.
func (e *engine) Assemble(ctx context.Context, next func() (pdf.Part, error), w io.Writer) error {
	engine, err := e.load(ctx)
	if err != nil {
		return err
	}
	return engine.Assemble(ctx, next, w)
}

// needsRestart reports whether the worker should be replaced because of an engine.
func (e *engine) needsRestart() bool {
	return e.pdf != nil && (e.pdf.Broken() > 0 || e.pdf.Memory() > maxEngineMemory) ||
		e.ocr != nil && (e.ocr.Broken() > 0 || e.ocr.Memory() > maxEngineMemory)
}

func (e *engine) close(ctx context.Context) (err error) {
	if e.pdf != nil {
		err = e.pdf.Close(ctx)
	}
	if e.ocr != nil {
		err = errors.Join(err, e.ocr.Close(ctx))
	}
	return err
}

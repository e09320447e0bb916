package sandbox

import (
	"context"
	"io"

	"deedkeep/app/document"
	"deedkeep/app/pdf"
)

// maxEngineMemory is the maximum size of PDFium's WebAssembly memory, in bytes. A worker that uses
// more is replaced because WebAssembly memory never shrinks.
const maxEngineMemory = 128 << 20

// mimePDF is the media type of the documents that PDFium opens.
const mimePDF = "application/pdf"

// needsEngine reports whether t may need PDFium.
func needsEngine(t task) bool {
	if t.Task == taskInspect {
		return t.Ext == "pdf"
	}
	return t.MIME == mimePDF
}

// engine loads PDFium before the first document, while the worker can still access the cache. A
// worker that was started for another document type doesn't load it.
type engine struct {
	assets   func() ([]byte, error)
	cacheDir string // "" after the protections have been applied
	pdf      *pdf.Engine
}

// load returns PDFium. On first use, it compiles PDFium or loads it from the cache. Without a
// cache, it also works inside the sandbox.
func (e *engine) load(ctx context.Context) (*pdf.Engine, error) {
	if e.pdf != nil {
		return e.pdf, nil
	}
	wasm, err := e.assets()
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

// needsRestart reports whether the worker should be replaced because of PDFium.
func (e *engine) needsRestart() bool {
	return e.pdf != nil && (e.pdf.Broken() > 0 || e.pdf.Memory() > maxEngineMemory)
}

func (e *engine) close(ctx context.Context) error {
	if e.pdf == nil {
		return nil
	}
	return e.pdf.Close(ctx)
}

package sandbox

import (
	"context"
	"io"

	"deedkeep/app/document"
	"deedkeep/app/pdf"
)

// maxEngineMemory is the WebAssembly memory above which a child is replaced: it
// never shrinks.
const maxEngineMemory = 128 << 20

// mimePDF is the type of what PDFium opens.
const mimePDF = "application/pdf"

// needsEngine reports whether PDFium may be asked for t.
func needsEngine(t task) bool {
	if t.Task == taskInspect {
		return t.Ext == "pdf"
	}
	return t.MIME == mimePDF
}

// engine is PDFium, compiled before the first document: only then can the child open
// files, and so the cache. A child that was started for another type of document has none.
type engine struct {
	assets   func() ([]byte, error)
	cacheDir string // "" once the sandbox is closed
	pdf      *pdf.Engine
}

// load compiles PDFium, or takes it from the cache, the first time. Without a cache that
// works in a closed sandbox too.
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

// Open implements document.PDFEngine. Its errors are those of package pdf.
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

// needsRestart reports whether the child should be replaced.
func (e *engine) needsRestart() bool {
	return e.pdf != nil && (e.pdf.Broken() > 0 || e.pdf.Memory() > maxEngineMemory)
}

func (e *engine) close(ctx context.Context) error {
	if e.pdf == nil {
		return nil
	}
	return e.pdf.Close(ctx)
}

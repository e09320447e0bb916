// Package pdf reads PDF documents with PDFium, which runs as WebAssembly on wazero.
//
// A document is parsed only inside a WebAssembly memory with a fixed maximum size. It isn't copied
// there. PDFium sees a file system with a single file, which it reads through the caller's
// io.ReaderAt. Page numbers start at 1 in the exported methods and at 0 in PDFium's functions.
package pdf

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/tetratelabs/wazero"

	"deedkeep/app/wasm"
)

// Errors that a document causes. Any other error of this package is caused by the server or the
// caller.
var (
	// ErrPassword reports that the document can't be opened without a password.
	ErrPassword = errors.New("PDF is password-protected")
	// ErrUnreadable reports that PDFium can't determine the page count, can't load a page, or crashed
	// while processing the document.
	ErrUnreadable = errors.New("can't read the PDF")
)

// Options configures an Engine.
type Options struct {
	Wasm        []byte // code of PDFium, uncompressed
	CacheDir    string // cache directory for compiled code, created if it doesn't exist; "" compiles each time (about a second)
	MemoryPages uint32 // maximum WebAssembly memory in pages of 64 KiB; 0 means 4096
}

// Engine is a compiled PDFium. Its methods and those of its documents are safe for concurrent use,
// but only one of them runs at a time.
type Engine struct {
	*wasm.Engine
	callback wazero.CompiledModule // callbackModule
	current  *instance             // state of Live
}

// New compiles PDFium or loads the compiled code from the cache. The caller must close the Engine.
func New(ctx context.Context, o Options) (*Engine, error) {
	code, err := wasm.Compile(ctx, wasm.Options{Code: o.Wasm, CacheDir: o.CacheDir, MemoryPages: o.MemoryPages})
	if err != nil {
		return nil, err
	}
	e := &Engine{Engine: code}
	err = e.exportHost(ctx)
	if err == nil {
		err = e.compileCallback(ctx)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start PDFium: %w", err), code.Close(ctx))
	}
	return e, nil
}

// Open opens the document of size bytes in r. It returns ErrPassword, ErrUnreadable, an error of r,
// or an error of the engine. The caller must close the Document. ctx is checked between calls to
// PDFium but can't interrupt a call.
func (e *Engine) Open(ctx context.Context, r io.ReaderAt, size int64) (*Document, error) {
	e.Lock()
	defer e.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	in, err := e.instance(ctx)
	if err != nil {
		return nil, fmt.Errorf("start PDFium: %w", err)
	}
	reads := &budgetReader{ReaderAt: r, limited: true, left: openReads(size)}
	f := in.addFile(reads, size)
	var d *Document
	err = e.Run(ctx, func() (err error) {
		d, err = load(ctx, e, in, f)
		return err
	})
	reads.limited = false
	if err != nil {
		in.Files.Remove(f)
		return nil, classify(f, err)
	}
	return d, nil
}

// instance returns the live instance. It starts one if there is none.
func (e *Engine) instance(ctx context.Context) (*instance, error) {
	if e.Live != nil {
		return e.current, nil
	}
	module, err := e.Instantiate(ctx)
	if err != nil {
		return nil, err
	}
	in := &instance{Instance: module}
	e.current = in
	return in, e.Start(ctx, func() error {
		for _, name := range []string{"emscripten_stack_init", "__wasm_call_ctors", "FPDF_InitLibrary"} {
			in.Call(ctx, name)
		}
		in.scratch = in.Alloc(ctx, scratchSize)
		return nil
	})
}

// classify returns the error to report for err, which occurred while working on f.
func classify(f *wasm.File, err error) error {
	if f.Err != nil {
		return f.Err
	}
	var fault *wasm.FaultError
	if errors.As(err, &fault) {
		return fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	return err
}

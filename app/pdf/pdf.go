// Package pdf reads PDF documents with PDFium, which runs as WebAssembly on wazero.
//
// A document is parsed only inside a WebAssembly memory with a fixed maximum size. It isn't copied
// there. PDFium sees a file system with a single file, which it reads through the caller's
// io.ReaderAt. If a document breaks an instance of PDFium, the next document gets a new instance.
//
// A call in an endless loop can't be stopped because interruptible WebAssembly takes three to nine
// times as long. An Engine should therefore run in a process that another process can kill (package
// sandbox).
//
// An Engine has at most one instance of PDFium and runs one call at a time. Page numbers start at 1
// in the exported methods and at 0 in PDFium's functions.
package pdf

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

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

// DefaultMemoryPages is the default of Options.MemoryPages. 4096 pages of 64 KiB are 256 MiB.
const DefaultMemoryPages = 4096

// Options configures an Engine.
type Options struct {
	Wasm        []byte // code of PDFium, uncompressed
	CacheDir    string // cache directory for compiled code, created if it doesn't exist; "" compiles each time (about a second)
	MemoryPages uint32 // maximum WebAssembly memory in pages of 64 KiB; 0 means DefaultMemoryPages
}

// Engine is a compiled PDFium. Its methods and those of its documents are safe for concurrent use,
// but only one of them runs at a time.
type Engine struct {
	mu       sync.Mutex
	code     *wasm.Engine
	callback wazero.CompiledModule // callbackModule
	live     *instance             // nil until the next document needs one
	broken   int
}

// New compiles PDFium or loads the compiled code from the cache. The caller must close the Engine.
func New(ctx context.Context, o Options) (*Engine, error) {
	if o.MemoryPages == 0 {
		o.MemoryPages = DefaultMemoryPages
	}
	code, err := wasm.Compile(ctx, wasm.Options{Code: o.Wasm, CacheDir: o.CacheDir, MemoryPages: o.MemoryPages})
	if err != nil {
		return nil, err
	}
	e := &Engine{code: code}
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
	e.mu.Lock()
	defer e.mu.Unlock()
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
	err = wasm.CatchFault(func() (err error) {
		d, err = load(ctx, e, in, f)
		return err
	})
	reads.limited = false
	if err != nil {
		in.files.Remove(f)
		return nil, e.classify(ctx, in, f, err)
	}
	return d, nil
}

// Memory returns the size of the live instance's WebAssembly memory in bytes, or 0 if there is no
// live instance.
func (e *Engine) Memory() int64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.live == nil {
		return 0
	}
	return int64(e.live.Memory.Size())
}

// Broken returns the number of instances that were dropped because a document broke them.
func (e *Engine) Broken() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.broken
}

// Close closes the engine and frees its memory. Documents that are still open can't be used after
// that.
func (e *Engine) Close(ctx context.Context) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return errors.Join(e.drop(ctx), e.code.Close(ctx))
}

// instance returns the live instance. It starts one if there is none.
func (e *Engine) instance(ctx context.Context) (*instance, error) {
	if e.live != nil {
		return e.live, nil
	}
	in, err := start(ctx, e)
	if err != nil {
		return nil, errors.Join(err, e.drop(ctx))
	}
	return in, nil
}

// drop closes the live instance and frees its memory.
func (e *Engine) drop(ctx context.Context) error {
	if e.live == nil {
		return nil
	}
	in := e.live
	e.live = nil
	in.dead = true
	var err error
	if in.callback != nil {
		err = in.callback.Close(ctx)
	}
	return errors.Join(err, in.Close(ctx))
}

// classify returns the error to report for err, which occurred while working on f. It drops the
// instance if PDFium broke.
func (e *Engine) classify(ctx context.Context, in *instance, f *wasm.File, err error) error {
	var fault *wasm.FaultError
	if errors.As(err, &fault) && in == e.live {
		e.broken++
		if dropped := e.drop(ctx); dropped != nil {
			return fmt.Errorf("close PDFium: %w", dropped)
		}
	}
	if f.Err != nil {
		return f.Err
	}
	if fault != nil {
		return fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	return err
}

// Package pdf reads PDF documents with PDFium, which runs as WebAssembly on wazero.
//
// A document is parsed inside a WebAssembly memory of a fixed maximum size and nowhere else.
// It isn't copied there: PDFium sees one file, which is the caller's io.ReaderAt, and no other
// file system. Whatever a document did to an instance of PDFium, the next document gets a
// fresh one if PDFium broke.
//
// A call that spins can't be stopped: WebAssembly that can be interrupted takes three to nine
// times as long. An Engine therefore belongs in a process that another one can kill (package
// sandbox).
//
// An Engine has at most one instance of PDFium and runs one call at a time. Pages count from 1
// in the exported methods and from 0 in PDFium's functions.
package pdf

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/tetratelabs/wazero"
)

// Findings about a document. Every other error of this package is the machine's or the
// caller's.
var (
	// ErrPassword reports that the document can't be opened without a password.
	ErrPassword = errors.New("pdf needs a password")
	// ErrUnreadable reports that PDFium can't count the pages of the document, can't load the
	// page, or broke while it worked on the document.
	ErrUnreadable = errors.New("pdf could not be read")
)

// DefaultMemoryPages is the default of Options.MemoryPages: 4096 pages of 64 KiB are 256 MiB.
const DefaultMemoryPages = 4096

// Options configure an Engine.
type Options struct {
	Wasm        []byte // PDFium, uncompressed
	CacheDir    string // folder for compiled code, created if it doesn't exist; "" compiles each time (about a second)
	MemoryPages uint32 // max WebAssembly memory in pages of 64 KiB; 0 is DefaultMemoryPages
}

// Engine is PDFium, compiled. Its methods and those of its documents may be called from
// several goroutines, and run one at a time.
type Engine struct {
	mu      sync.Mutex
	runtime wazero.Runtime
	cache   wazero.CompilationCache // nil without CacheDir
	module  wazero.CompiledModule
	live    *instance // nil until the next document needs one
	broken  int
}

// New compiles PDFium, or loads it from the cache. The caller closes the Engine.
func New(ctx context.Context, o Options) (*Engine, error) {
	if o.MemoryPages == 0 {
		o.MemoryPages = DefaultMemoryPages
	}
	if o.CacheDir == "" {
		return compile(ctx, o, nil)
	}
	e, err := compileCached(ctx, o)
	if err != nil && removeCompiledCode(o.CacheDir) == nil {
		e, err = compileCached(ctx, o)
	}
	if err != nil {
		// A cache that can't be read or written costs time, but PDFium still works.
		return compile(ctx, o, nil)
	}
	return e, nil
}

// Open opens the document of size bytes in r. It returns ErrPassword, ErrUnreadable, the error
// of r, or an error of the engine. The caller closes the Document. ctx is checked between
// calls into PDFium, never during one.
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
	f := in.files.add(r, size)
	d, err := load(ctx, e, in, f)
	if err != nil {
		in.files.remove(f)
		return nil, e.classify(ctx, in, f, err)
	}
	return d, nil
}

// Memory returns how many bytes of WebAssembly memory the live instance has, 0 if there is
// none.
func (e *Engine) Memory() int64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.live == nil {
		return 0
	}
	return int64(e.live.memory.Size())
}

// Broken returns how many instances were dropped because a document broke them.
func (e *Engine) Broken() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.broken
}

// Close frees the engine. Documents that are still open become unusable.
func (e *Engine) Close(ctx context.Context) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	err := e.drop(ctx)
	err = errors.Join(err, e.runtime.Close(ctx))
	if e.cache != nil {
		err = errors.Join(err, e.cache.Close(ctx))
	}
	return err
}

// instance returns the live instance, and starts one if there is none.
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
	if in.module == nil {
		return nil
	}
	return in.module.Close(ctx)
}

// classify returns an error of the work on f as the finding or fault that it is. It drops the
// instance if PDFium broke.
func (e *Engine) classify(ctx context.Context, in *instance, f *file, err error) error {
	var fault *faultError
	if errors.As(err, &fault) && in == e.live {
		e.broken++
		if dropped := e.drop(ctx); dropped != nil {
			return fmt.Errorf("drop PDFium: %w", dropped)
		}
	}
	if f.err != nil {
		return f.err
	}
	if fault != nil {
		return fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	return err
}

// Package pdf reads PDF documents with PDFium, which runs as WebAssembly on
// wazero.
//
// It promises that the bytes of a document are parsed inside a WebAssembly
// memory of a fixed greatest size and nowhere else; that they are not copied
// there as a whole: PDFium sees one file, which is the caller's io.ReaderAt,
// and nothing else of any file system; and that whatever a document did to an
// instance of PDFium, the next document meets a fresh one.
//
// It refuses to stop a call that spins: WebAssembly that can be interrupted
// costs three to nine times the time. An Engine therefore belongs into a
// process that somebody else can kill (package reader).
//
// One Engine holds at most one instance of PDFium and lets one call in at a
// time.
package pdf

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/tetratelabs/wazero"
)

// Errors that a document is to blame for. Every other error of this package is
// the machine's or the caller's.
var (
	// ErrPassword says that the document needs a password to open.
	ErrPassword = errors.New("pdf needs a password")
	// ErrUnreadable says that no page count can be had of the document, or that
	// PDFium broke down over it.
	ErrUnreadable = errors.New("pdf could not be read")
)

// DefaultMemoryPages is the greatest size of the WebAssembly memory unless
// Options say otherwise: 4096 pages of 64 KiB are 256 MiB.
const DefaultMemoryPages = 4096

// Options are what an Engine is made of.
type Options struct {
	Wasm        []byte // PDFium, not packed
	CacheDir    string // folder of compiled code, made if absent; "" compiles each time (about a second)
	MemoryPages uint32 // greatest WebAssembly memory in pages of 64 KiB; 0 is DefaultMemoryPages
}

// Engine is PDFium, compiled. Its methods, and those of its documents, may be
// called from several goroutines; they wait for each other.
type Engine struct {
	mu      sync.Mutex
	runtime wazero.Runtime
	cache   wazero.CompilationCache // nil without CacheDir
	module  wazero.CompiledModule
	live    *instance // nil until the next document needs one
	broken  int
}

// New compiles PDFium, or takes it from the cache. The caller closes the
// Engine.
func New(ctx context.Context, o Options) (*Engine, error) {
	if o.MemoryPages == 0 {
		o.MemoryPages = DefaultMemoryPages
	}
	if o.CacheDir == "" {
		return compile(ctx, o, nil)
	}
	e, err := compileCached(ctx, o)
	if err != nil && forget(o.CacheDir) == nil {
		e, err = compileCached(ctx, o)
	}
	if err != nil {
		// A cache that cannot be read or written costs time, not the service.
		return compile(ctx, o, nil)
	}
	return e, nil
}

// Open opens the document of size bytes that r holds. It returns ErrPassword,
// ErrUnreadable, the error of r, or an error of the engine. The caller closes
// the Document. ctx is looked at between calls into PDFium only.
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
		return nil, e.judge(ctx, in, f, err)
	}
	return d, nil
}

// Memory returns the bytes of WebAssembly memory that the live instance holds;
// 0 when there is none.
func (e *Engine) Memory() int64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.live == nil {
		return 0
	}
	return int64(e.live.memory.Size())
}

// Broken returns how many instances were given up because a document broke
// them.
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

// instance returns the live instance, starting one if there is none.
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

// drop gives the live instance and its memory up.
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

// judge says whom an error that came up over f is to be blamed on, and drops
// the instance where PDFium did not end the call by itself.
func (e *Engine) judge(ctx context.Context, in *instance, f *file, err error) error {
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

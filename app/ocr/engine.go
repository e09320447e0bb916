package ocr

import (
	"context"
	"errors"
	"fmt"
	"image"
	"sync"

	"deedkeep/app/wasm"
)

// ErrUnreadable reports that Tesseract crashed on an image or used too much memory.
var ErrUnreadable = errors.New("can't read the words of the page")

// DefaultMemoryPages is the default of Options.MemoryPages. 4096 pages of 64 KiB are 256 MiB.
const DefaultMemoryPages = 4096

// Options configures an Engine.
type Options struct {
	Wasm        []byte     // code of Tesseract, uncompressed
	CacheDir    string     // cache directory for compiled code, created if it doesn't exist; "" compiles each time (about a second)
	MemoryPages uint32     // maximum WebAssembly memory in pages of 64 KiB; 0 means DefaultMemoryPages
	Languages   []Language // at least one, the most frequent first
}

// Engine is a compiled Tesseract. It has at most one instance and reads one page at a time.
//
// A call in an endless loop can't be stopped because interruptible WebAssembly takes several times as
// long. An Engine should therefore run in a process that another process can kill
// (package sandbox).
type Engine struct {
	mu        sync.Mutex
	code      *wasm.Engine
	languages []Language
	live      *instance // nil until the next page needs one
	broken    int
}

// New compiles Tesseract or loads the compiled code from the cache. The caller must close the
// Engine.
func New(ctx context.Context, o Options) (*Engine, error) {
	if o.MemoryPages == 0 {
		o.MemoryPages = DefaultMemoryPages
	}
	code, err := wasm.Compile(ctx, wasm.Options{Code: o.Wasm, CacheDir: o.CacheDir, MemoryPages: o.MemoryPages, Exports: exports})
	if err != nil {
		return nil, err
	}
	e := &Engine{code: code, languages: o.Languages}
	if err := e.exportHost(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("start Tesseract: %w", err), code.Close(ctx))
	}
	return e, nil
}

// Languages returns the languages that the engine reads.
func (e *Engine) Languages() []Language {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.languages
}

// SetLanguages sets the languages that the engine reads, before its first page.
func (e *Engine) SetLanguages(languages []Language) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.languages = languages
}

// Check returns an error if Tesseract can't read the data of a language.
func (e *Engine) Check(ctx context.Context, l Language) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := l.check(); err != nil {
		return err
	}
	err := e.drop(ctx)
	if err == nil {
		err = e.start(ctx, []Language{l})
	}
	var fault *wasm.FaultError
	if errors.As(err, &fault) {
		err = ErrLanguage
	}
	return errors.Join(err, e.drop(ctx))
}

// recognize returns the words of an upright image with the given resolution in dots per inch.
func (e *Engine) recognize(ctx context.Context, img *image.Gray, dpi int) ([]tsvWord, error) {
	var words []tsvWord
	if e.live == nil {
		if err := e.start(ctx, e.languages); err != nil {
			return nil, errors.Join(fmt.Errorf("start Tesseract: %w", err), e.drop(ctx))
		}
	}
	err := wasm.CatchFault(func() (err error) {
		words, err = e.live.recognize(ctx, img, dpi)
		return err
	})
	var fault *wasm.FaultError
	if errors.As(err, &fault) {
		e.broken++
		if dropped := e.drop(ctx); dropped != nil {
			return nil, fmt.Errorf("close Tesseract: %w", dropped)
		}
		return nil, fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	return words, err
}

// recognize returns the words of an image in reading order.
func (in *instance) recognize(ctx context.Context, img *image.Gray, dpi int) ([]tsvWord, error) {
	const autoLayout = 3 // PSM_AUTO
	w, h := img.Rect.Dx(), img.Rect.Dy()
	pixels := in.Alloc(ctx, w*h)
	to := in.Read(pixels, uint32(w*h))
	for y := range h {
		copy(to[y*w:(y+1)*w], img.Pix[y*img.Stride:])
	}
	in.Call(ctx, "SetPageSegMode_1", in.api, autoLayout)
	// The last two parameters, an orientation and an angle, say that the image is upright.
	in.Call(ctx, "SetImage_5", in.api, pixels, uint32(w), uint32(h), 1, uint32(w), 1, 0)
	in.Call(ctx, "free", pixels) // Tesseract has copied them
	in.Call(ctx, "SetSourceResolution_1", in.api, uint32(dpi))
	var words []tsvWord
	var err error
	if in.Call(ctx, "Recognize_1", in.api, 0) == 0 {
		if text := in.Call(ctx, "GetTSVText_1", in.api, 0); text != 0 {
			words, err = parseTSV(in.text(text), w, h)
			in.Call(ctx, "free", text)
		}
	}
	in.Call(ctx, "Clear_0", in.api)
	return words, err
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

// Broken returns the number of instances that were dropped because a page broke them.
func (e *Engine) Broken() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.broken
}

// Close closes the engine and frees its memory.
func (e *Engine) Close(ctx context.Context) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return errors.Join(e.drop(ctx), e.code.Close(ctx))
}

// drop closes the live instance and frees its memory.
func (e *Engine) drop(ctx context.Context) error {
	in := e.live
	e.live = nil
	if in == nil {
		return nil
	}
	return in.Close(ctx)
}

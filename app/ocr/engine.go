package ocr

import (
	"context"
	"errors"
	"fmt"
	"image"

	"deedkeep/app/wasm"
)

// ErrUnreadable reports that Tesseract crashed on an image or used too much memory.
var ErrUnreadable = errors.New("can't read the words of the page")

// Options configures an Engine.
type Options struct {
	Wasm        []byte     // code of Tesseract, uncompressed
	CacheDir    string     // cache directory for compiled code, created if it doesn't exist; "" compiles each time (about a second)
	MemoryPages uint32     // maximum WebAssembly memory in pages of 64 KiB; 0 means 4096
	Languages   []Language // at least one, the most frequent first
}

// Engine is a compiled Tesseract. It reads one page at a time.
type Engine struct {
	*wasm.Engine
	languages []Language
	current   *instance // state of Live
}

// New compiles Tesseract or loads the compiled code from the cache. The caller must close the
// Engine.
func New(ctx context.Context, o Options) (*Engine, error) {
	code, err := wasm.Compile(ctx, wasm.Options{Code: o.Wasm, CacheDir: o.CacheDir, MemoryPages: o.MemoryPages, Exports: exports})
	if err != nil {
		return nil, err
	}
	e := &Engine{Engine: code, languages: o.Languages}
	if err := e.exportHost(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("start Tesseract: %w", err), code.Close(ctx))
	}
	return e, nil
}

// Languages returns the languages that the engine reads.
func (e *Engine) Languages() []Language {
	e.Lock()
	defer e.Unlock()
	return e.languages
}

// SetLanguages sets the languages that the engine reads, before its first page.
func (e *Engine) SetLanguages(languages []Language) {
	e.Lock()
	defer e.Unlock()
	e.languages = languages
}

// Check returns an error if Tesseract can't read the data of a language.
func (e *Engine) Check(ctx context.Context, l Language) error {
	e.Lock()
	defer e.Unlock()
	if err := l.check(); err != nil {
		return err
	}
	err := e.Drop(ctx)
	if err == nil {
		err = e.start(ctx, []Language{l})
	}
	var fault *wasm.FaultError
	if errors.As(err, &fault) {
		err = ErrLanguage
	}
	return errors.Join(err, e.Drop(ctx))
}

// recognize returns the words of an upright image with the given resolution in dots per inch.
func (e *Engine) recognize(ctx context.Context, img *image.Gray, dpi int) ([]tsvWord, error) {
	var words []tsvWord
	if e.Live == nil {
		if err := e.start(ctx, e.languages); err != nil {
			return nil, fmt.Errorf("start Tesseract: %w", err)
		}
	}
	err := e.Run(ctx, func() (err error) {
		words, err = e.current.recognize(ctx, img, dpi)
		return err
	})
	var fault *wasm.FaultError
	if errors.As(err, &fault) {
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

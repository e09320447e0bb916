package sandbox

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"deedkeep/app/config"
	"deedkeep/app/ocr"
)

// OCR lists the languages that ReadPage can read. The data for English is part of the binary. Any
// other language has a file <language>.traineddata in Dir.
type OCR struct {
	Languages []string `json:"languages,omitempty"` // such as eng, the most frequent first; none means English
	Dir       string   `json:"dir,omitempty"`
}

// english is the language whose data is part of the binary.
const english = "eng"

func (o OCR) check() error {
	if len(o.Languages) == 0 {
		return nil
	}
	return config.CheckLanguages(o.Languages)
}

// LanguageFile returns the name of the file with the data of a language.
func LanguageFile(name string) string { return name + ".traineddata" }

// BadLanguage is a language whose data can't be used. Workers read the other languages.
type BadLanguage struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// BadLanguages returns the languages that the most recently started worker can't read. known is
// false if ReadPage has not started a worker yet.
func (p *Pool) BadLanguages() (list []BadLanguage, known bool) {
	last := p.starter.bad.Load()
	if last == nil {
		return nil, false
	}
	return *last, true
}

// prepare loads the engines while the worker can still access files. It returns the languages that
// can't be used.
func (e *engine) prepare(ctx context.Context, s setup) (bad []BadLanguage) {
	// If loading an engine fails, the error is reported with the first document that needs it.
	if s.Load.PDF {
		_, _ = e.load(ctx)
	}
	if s.Load.OCR {
		bad = e.loadLanguages(ctx, s.OCR)
	}
	e.cacheDir = "" // not accessible after the protections are applied
	return bad
}

// loadOCR returns Tesseract, which reads English unless loadLanguages has changed that. On first
// use, it compiles Tesseract or loads it from the cache. Without a cache, it also works inside the
// sandbox.
func (e *engine) loadOCR(ctx context.Context) (*ocr.Engine, error) {
	if e.ocr != nil {
		return e.ocr, nil
	}
	code, err := e.assets.Tesseract()
	if err != nil {
		return nil, err
	}
	data, err := e.assets.English()
	if err != nil {
		return nil, err
	}
	e.ocr, err = ocr.New(ctx, ocr.Options{Wasm: code, CacheDir: e.cacheDir, Languages: []ocr.Language{{Name: english, Data: data}}})
	return e.ocr, err
}

// loadLanguages loads Tesseract with the languages. It returns those that can't be used. If none is
// left, Tesseract reads English.
func (e *engine) loadLanguages(ctx context.Context, o OCR) (bad []BadLanguage) {
	reader, err := e.loadOCR(ctx)
	if err != nil {
		return nil
	}
	embedded := reader.Languages()[0]
	var languages []ocr.Language
	for _, name := range o.Languages {
		l := embedded
		if name != english {
			l, err = o.load(ctx, reader, name)
			if err != nil {
				bad = append(bad, BadLanguage{name, printable(err.Error())})
				continue
			}
		}
		languages = append(languages, l)
	}
	if len(languages) > 0 {
		reader.SetLanguages(languages)
	}
	return bad
}

// load reads the data of a language and checks it.
func (o OCR) load(ctx context.Context, reader *ocr.Engine, name string) (l ocr.Language, err error) {
	l = ocr.Language{Name: name}
	if l.Data, err = readLanguage(filepath.Join(o.Dir, LanguageFile(name))); err != nil {
		return l, err
	}
	return l, reader.Check(ctx, l)
}

// readLanguage returns the content of a language data file, which must be a regular file.
func readLanguage(path string) (data []byte, err error) {
	info, err := os.Stat(path) // opening a pipe would wait
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("not a regular file")
	case info.Size() > ocr.MaxLanguageSize:
		return nil, ocr.ErrLanguageLarge
	}
	file, err := os.Open(path) // #nosec G304 -- the administrator's folder, and a checked name
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return io.ReadAll(io.LimitReader(file, ocr.MaxLanguageSize))
}

// Package web embeds the pages, scripts, styles, and icons of the web interface, and the
// third-party files that the binary needs: engines for PDF and OCR, libraries, and licenses.
//
// "go generate ./..." fetches the third-party files from the packages that
// package-lock.json pins, into directories that git ignores. The other files are ours:
//
//	pages/layout.html         the layout of every page; part-*.html: parts that pages share
//	static/style/base.css     colors, sizes, HTML elements, the page layout
//	static/style/parts.css    components; the other style sheets belong to single pages
//	static/script/page.js     behavior of every page; the other modules belong to single pages
//	static/icons/<name>.svg   icons, 20 by 20
//	static/favicon.svg        the icon of the browser's tab
//	vendor/PLACEHOLDER        committed, so that the package builds without generated files
//	wasm/PLACEHOLDER          the same
//	vendor/<name>.min.js      scripts that pages load
//	vendor/swagger-ui.*.gz    Swagger UI, the viewer of /docs, gzip
//	wasm/pdfium.wasm.gz       PDFium, gzip
//	wasm/tesseract.wasm.gz    Tesseract, gzip
//	wasm/eng.traineddata.gz   Tesseract's data for English, gzip
//	wasm/LICENSE.<name>       license text of <name>
//	wasm/modules.json.gz      license texts of the compiled-in Go modules and of Go,
//	                          gzip of {"<module> <version>": "<text>", …}
//	wasm/version.json         the version of the source (Generated)
//
// If any third-party file was missing when the binary was built, it reports ErrAssetsMissing.
package web

import (
	"bytes"
	"compress/gzip"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
)

// ErrAssetsMissing is returned if the binary was built before "go generate ./..." had run. Commands
// that need an asset fail with this error.
var ErrAssetsMissing = errors.New(`assets are missing: run "go generate ./..."`)

//go:embed all:wasm
var assets embed.FS

const (
	pdfiumFile    = "wasm/pdfium.wasm.gz"
	tesseractFile = "wasm/tesseract.wasm.gz"
	englishFile   = "wasm/eng.traineddata.gz"
	modulesFile   = "wasm/modules.json.gz"
	licensePrefix = "LICENSE."
)

// Ready returns ErrAssetsMissing if any file that "go generate ./..." creates is missing.
func Ready() error {
	if err := ready(assets, pdfiumFile, tesseractFile, englishFile, modulesFile); err != nil {
		return err
	}
	return ready(files, libraries...)
}

func ready(files fs.FS, names ...string) error {
	for _, name := range names {
		if _, err := fs.Stat(files, name); err != nil {
			return ErrAssetsMissing
		}
	}
	return nil
}

// PDFium returns the uncompressed WebAssembly binary of PDFium (about 4.6 MB), or ErrAssetsMissing.
func PDFium() ([]byte, error) { return unpack(assets, pdfiumFile) }

// Tesseract returns the uncompressed WebAssembly binary of Tesseract (about 2.9 MB), or
// ErrAssetsMissing.
func Tesseract() ([]byte, error) { return unpack(assets, tesseractFile) }

// English returns Tesseract's uncompressed data for English (about 5.2 MB), or ErrAssetsMissing.
func English() ([]byte, error) { return unpack(assets, englishFile) }

// Licenses returns the license texts of all third-party parts of the binary, or ErrAssetsMissing.
// The key is the name of an engine or, for Go and its modules, "<name> <version>".
func Licenses() (map[string]string, error) { return licenses(assets) }

func unpack(files fs.FS, name string) ([]byte, error) {
	packed, err := fs.ReadFile(files, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrAssetsMissing
	}
	if err != nil {
		return nil, err
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("unpack %s: %w", name, err)
	}
	content, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("unpack %s: %w", name, err)
	}
	return content, nil
}

func licenses(files fs.FS) (map[string]string, error) {
	entries, err := fs.ReadDir(files, "wasm")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	content, err := unpack(files, modulesFile)
	if err != nil {
		return nil, err
	}
	texts := make(map[string]string)
	if err := json.Unmarshal(content, &texts); err != nil {
		return nil, fmt.Errorf("read %s: %w", modulesFile, err)
	}
	engines := 0
	for _, entry := range entries {
		name, found := strings.CutPrefix(entry.Name(), licensePrefix)
		if !found {
			continue
		}
		text, err := fs.ReadFile(files, "wasm/"+entry.Name())
		if err != nil {
			return nil, err
		}
		texts[name] = string(text)
		engines++
	}
	if engines == 0 {
		return nil, ErrAssetsMissing
	}
	return texts, nil
}

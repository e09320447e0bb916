// Package web holds what is embedded into the binary: our own pages, and what was
// not written here, the WebAssembly engines with the licenses they come under.
//
// The engines' files are fetched by "go generate ./..." from the packages that
// package-lock.json pins, and lie in folders that version control ignores; the rest
// is written here:
//
//	pages/layout.html           the frame of every page; part_*.html: parts of several
//	style/base.css              colors, sizes, bare elements, the frame
//	style/parts.css             what pages are put together from; the others: one place
//	script/page.js              what every page does; the others: one place
//	icons/<name>.svg            20 by 20, in strokes; picture/: whole pictures
//	engine/PLACEHOLDER          committed, so that the package always builds
//	library/PLACEHOLDER         the same
//	library/<name>.min.js       scripts that pages load
//	library/swagger-ui.*.gz     what /docs shows the interface with, gzip
//	engine/pdfium.wasm.gz       PDFium, gzip
//	engine/LICENSE.<name>       license text of <name>
//	engine/modules.json.gz      license texts of the Go modules inside, and Go's,
//	                            gzip of {"<module> <version>": "<text>", …}
//	engine/version.json         the version of the source (Generated)
//
// It promises that a binary built without them says so, and never works with
// an engine that is only partly there.
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

// ErrAssetsMissing says that the binary was built before "go generate ./...".
// Its text is what every command that needs an asset ends with.
var ErrAssetsMissing = errors.New(`assets are missing: run "go generate ./..."`)

//go:embed all:engine
var assets embed.FS

const (
	pdfiumFile    = "engine/pdfium.wasm.gz"
	modulesFile   = "engine/modules.json.gz"
	licensePrefix = "LICENSE."
)

// Ready is nil when everything that "go generate ./..." brings is there, else
// ErrAssetsMissing.
func Ready() error {
	if err := ready(assets); err != nil {
		return err
	}
	return readyLibrary(files)
}

func ready(files fs.FS) error {
	for _, name := range []string{pdfiumFile, modulesFile} {
		if _, err := fs.Stat(files, name); err != nil {
			return ErrAssetsMissing
		}
	}
	return nil
}

// PDFium returns the WebAssembly binary of PDFium, unpacked (about 4.6 MB), or
// ErrAssetsMissing.
func PDFium() ([]byte, error) { return pdfium(assets) }

// Licenses returns the license texts of everything inside that was not written
// here, or ErrAssetsMissing: of an engine by its name, of a Go module and of Go by
// name and version with a blank between.
func Licenses() (map[string]string, error) { return licenses(assets) }

func pdfium(files fs.FS) ([]byte, error) { return unpack(files, pdfiumFile) }

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
	entries, err := fs.ReadDir(files, "engine")
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
		text, err := fs.ReadFile(files, "engine/"+entry.Name())
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

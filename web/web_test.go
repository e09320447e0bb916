package web

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"testing/fstest"
)

func TestLockFileNamesNoHost(t *testing.T) {
	lock, err := os.ReadFile("package-lock.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{"://", `"resolved"`} {
		if bytes.Contains(lock, []byte(word)) {
			t.Errorf("package-lock.json contains %s", word)
		}
	}
}

func TestLockFilePinsEveryPackage(t *testing.T) {
	var lock struct {
		Packages map[string]struct {
			Version, Integrity string
			Dependencies       map[string]string
		}
	}
	content, err := os.ReadFile("package-lock.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(content, &lock); err != nil {
		t.Fatal(err)
	}
	for name, p := range lock.Packages {
		if name != "" && (p.Version == "" || !strings.HasPrefix(p.Integrity, "sha512-")) {
			t.Errorf("%s has no version or no hash", name)
		}
	}
	if got := lock.Packages["node_modules/@embedpdf/pdfium"].Version; got != "2.15.1" {
		t.Errorf("PDFium is pinned to %q", got)
	}
	for name, version := range lock.Packages[""].Dependencies {
		if strings.ContainsAny(version, "^~*<>x ") {
			t.Errorf("%s has a range: %s", name, version)
		}
	}
}

func TestMissingAssets(t *testing.T) {
	const want = `assets are missing: run "go generate ./..."`
	for name, files := range map[string]fstest.MapFS{
		"nothing":     {},
		"placeholder": {"engine/PLACEHOLDER": {Data: []byte("here")}},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := pdfium(files); !errors.Is(err, ErrAssetsMissing) || err.Error() != want {
				t.Errorf("pdfium: %v", err)
			}
			if _, err := licenses(files); !errors.Is(err, ErrAssetsMissing) {
				t.Errorf("licenses: %v", err)
			}
		})
	}
}

func TestAssets(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write([]byte("\x00asm")); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	var modules bytes.Buffer
	z = gzip.NewWriter(&modules)
	if _, err := z.Write([]byte(`{"example.org/m v1.0.0":"conditions"}`)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	files := fstest.MapFS{
		"engine/PLACEHOLDER":    {},
		"engine/pdfium.wasm.gz": {Data: packed.Bytes()},
		"engine/LICENSE.pdfium": {Data: []byte("terms")},
	}
	if err := ready(files); !errors.Is(err, ErrAssetsMissing) {
		t.Errorf("ready without the modules' licences: %v", err)
	}
	if _, err := licenses(files); !errors.Is(err, ErrAssetsMissing) {
		t.Errorf("licences without the modules': %v", err)
	}
	files["engine/modules.json.gz"] = &fstest.MapFile{Data: modules.Bytes()}
	if err := ready(files); err != nil {
		t.Error(err)
	}
	wasm, err := pdfium(files)
	if err != nil || string(wasm) != "\x00asm" {
		t.Errorf("pdfium: %q, %v", wasm, err)
	}
	texts, err := licenses(files)
	if err != nil || len(texts) != 2 || texts["pdfium"] != "terms" || texts["example.org/m v1.0.0"] != "conditions" {
		t.Errorf("licenses: %v, %v", texts, err)
	}
	files["engine/pdfium.wasm.gz"].Data = packed.Bytes()[:packed.Len()-6]
	if _, err := pdfium(files); err == nil || errors.Is(err, ErrAssetsMissing) {
		t.Errorf("cut engine: %v", err)
	}
}

package web

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
)

// npm packages must not run install scripts, and lock files must not contain host names.
func TestLockFilesNameNoHost(t *testing.T) {
	for _, folder := range []string{".", "../.ci/tools"} {
		lock, err := os.ReadFile(folder + "/package-lock.json")
		if err != nil {
			t.Fatalf("read the lock file: %v", err)
		}
		for _, word := range []string{"://", `"resolved"`} {
			if bytes.Contains(lock, []byte(word)) {
				t.Errorf("%s/package-lock.json contains %s", folder, word)
			}
		}
		set, err := os.ReadFile(folder + "/.npmrc")
		if err != nil || !bytes.Contains(set, []byte("ignore-scripts=true")) {
			t.Errorf("%s/.npmrc lets packages run scripts: %v", folder, err)
		}
	}
}

func TestLockFilePinsEveryPackage(t *testing.T) {
	var lock struct {
		Packages map[string]struct {
			Version, Integrity            string
			Dependencies, DevDependencies map[string]string
		}
	}
	content, err := os.ReadFile("package-lock.json")
	if err != nil {
		t.Fatalf("read the lock file: %v", err)
	}
	if err := json.Unmarshal(content, &lock); err != nil {
		t.Fatalf("parse the lock file: %v", err)
	}
	for name, p := range lock.Packages {
		if name != "" && (p.Version == "" || !strings.HasPrefix(p.Integrity, "sha512-")) {
			t.Errorf("%s has no version or no hash", name)
		}
	}
	for name, version := range map[string]string{
		"@embedpdf/pdfium": "2.15.1", "tesseract.js-core": "7.0.0", "@tesseract.js-data/eng": "1.0.0",
	} {
		if got := lock.Packages["node_modules/"+name].Version; got != version {
			t.Errorf("%s is pinned to %q, want %s", name, got, version)
		}
	}
	for _, list := range []map[string]string{lock.Packages[""].Dependencies, lock.Packages[""].DevDependencies} {
		for name, version := range list {
			if strings.ContainsAny(version, "^~*<>x ") {
				t.Errorf("%s has a range: %s", name, version)
			}
		}
	}
}

func TestMissingAssets(t *testing.T) {
	const want = `assets are missing: run "go generate ./..."`
	for name, files := range map[string]fstest.MapFS{
		"nothing":     {},
		"placeholder": {"wasm/PLACEHOLDER": {Data: []byte("here")}},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := unpack(files, pdfiumFile); !errors.Is(err, ErrAssetsMissing) || err.Error() != want {
				t.Errorf("unpack() = %v, want ErrAssetsMissing with the text %q", err, want)
			}
			if _, err := licenses(files); !errors.Is(err, ErrAssetsMissing) {
				t.Errorf("licenses() = %v, want ErrAssetsMissing", err)
			}
		})
	}
}

func TestAssets(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write([]byte("\x00asm")); err != nil {
		t.Fatalf("compress: %v", err)
	}
	if err := z.Close(); err != nil {
		t.Fatalf("compress: %v", err)
	}
	var modules bytes.Buffer
	z = gzip.NewWriter(&modules)
	if _, err := z.Write([]byte(`{"example.org/m v1.0.0":"conditions"}`)); err != nil {
		t.Fatalf("compress: %v", err)
	}
	if err := z.Close(); err != nil {
		t.Fatalf("compress: %v", err)
	}
	files := fstest.MapFS{
		"wasm/PLACEHOLDER":    {},
		"wasm/pdfium.wasm.gz": {Data: packed.Bytes()},
		"wasm/LICENSE.pdfium": {Data: []byte("terms")},
	}
	if err := ready(files, pdfiumFile, modulesFile); !errors.Is(err, ErrAssetsMissing) {
		t.Errorf("ready() without the licenses of modules = %v, want ErrAssetsMissing", err)
	}
	if _, err := licenses(files); !errors.Is(err, ErrAssetsMissing) {
		t.Errorf("licenses() without those of modules = %v, want ErrAssetsMissing", err)
	}
	files["wasm/modules.json.gz"] = &fstest.MapFile{Data: modules.Bytes()}
	if err := ready(files, pdfiumFile, modulesFile); err != nil {
		t.Errorf("ready() = %v, want no error", err)
	}
	wasm, err := unpack(files, pdfiumFile)
	if err != nil || string(wasm) != "\x00asm" {
		t.Errorf("unpack() = %q, %v, want the unpacked engine", wasm, err)
	}
	texts, err := licenses(files)
	if err != nil || len(texts) != 2 || texts["pdfium"] != "terms" || texts["example.org/m v1.0.0"] != "conditions" {
		t.Errorf("licenses() = %v, %v, want those of pdfium and of the module", texts, err)
	}
	files["wasm/pdfium.wasm.gz"].Data = packed.Bytes()[:packed.Len()-6]
	if _, err := unpack(files, pdfiumFile); err == nil || errors.Is(err, ErrAssetsMissing) {
		t.Errorf("unpack() of a truncated engine = %v, want an error other than ErrAssetsMissing", err)
	}
}

// Embedded gzip files are sent compressed. For clients that don't accept gzip, they are
// decompressed.
func TestPackedAsset(t *testing.T) {
	a, err := OpenAssets()
	if err != nil {
		t.Fatalf("open assets: %v", err)
	}
	address, err := a.URL("swagger-ui.css")
	if err != nil {
		t.Fatalf("URL: %v", err)
	}
	ask := func(method, encoding string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), method, address, http.NoBody)
		r.Header.Set("Accept-Encoding", encoding)
		w := httptest.NewRecorder()
		a.ServeHTTP(w, r)
		if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "text/css; charset=utf-8" || w.Header().Get("Vary") != "Accept-Encoding" {
			t.Errorf("%s with Accept-Encoding %q: status %d, header %v, want 200, text/css, and Vary", method, encoding, w.Code, w.Header())
		}
		return w
	}
	plain, packed, head := ask("GET", ""), ask("GET", "br, gzip"), ask("HEAD", "gzip")
	if plain.Header().Get("Content-Encoding") != "" || packed.Header().Get("Content-Encoding") != "gzip" {
		t.Errorf("Content-Encoding is %q without gzip and %q with, want none and gzip",
			plain.Header().Get("Content-Encoding"), packed.Header().Get("Content-Encoding"))
	}
	if size := packed.Header().Get("Content-Length"); size != strconv.Itoa(packed.Body.Len()) ||
		size != head.Header().Get("Content-Length") || head.Body.Len() != 0 {
		t.Errorf("Content-Length of the compressed asset is %s, want %d, also for HEAD", size, packed.Body.Len())
	}
	z, err := gzip.NewReader(packed.Body)
	if err != nil {
		t.Fatalf("decompress: %v", err)
	}
	unpacked, err := io.ReadAll(z)
	if err != nil || !bytes.Equal(unpacked, plain.Body.Bytes()) || !bytes.Contains(unpacked, []byte(".swagger-ui")) {
		t.Errorf("the compressed asset has %d bytes, %v, the plain one %d; want the same content", len(unpacked), err, plain.Body.Len())
	}
}

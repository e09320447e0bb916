package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
)

//go:embed style/*.css script/*.js picture/*.svg all:library
var files embed.FS

// AssetPath is where assets are served, before their fingerprint.
const AssetPath = "/assets/"

// Assets are the styles, scripts and pictures that pages load, each under an address
// with the fingerprint of its content, so that a browser may keep it for ever:
//
//	/assets/<12 hex digits of its SHA-256>/<name>
type Assets struct {
	addresses map[string]string // name → address
	content   map[string]asset  // address → content
}

type asset struct {
	kind          string
	plain, packed []byte // packed with gzip, where that is smaller
	file          string // of library, where it lies packed already; then neither
}

// OpenAssets reads every asset, or returns ErrAssetsMissing. They are what the binary
// has embedded: the first call packs them for all.
func OpenAssets() (*Assets, error) { return opened() }

var opened = sync.OnceValues(openAssets)

func openAssets() (*Assets, error) {
	if err := readyLibrary(files); err != nil {
		return nil, err
	}
	a := &Assets{map[string]string{}, map[string]asset{}}
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path.Base(name) == "PLACEHOLDER" {
			return err
		}
		content, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		if own, packed := strings.CutSuffix(path.Base(name), ".gz"); packed {
			return a.put(own, content, asset{file: name})
		}
		return a.add(path.Base(name), content)
	})
	return a, err
}

func (a *Assets) add(name string, content []byte) error {
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := z.Write(content); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	made := asset{plain: content}
	if packed.Len() < len(content) {
		made.packed = packed.Bytes()
	}
	return a.put(name, content, made)
}

// put gives an asset its address, after the content that it was made of.
func (a *Assets) put(name string, content []byte, made asset) error {
	if a.addresses[name] != "" {
		return fmt.Errorf("two assets are called %s", name)
	}
	made.kind = kind(name)
	sum := sha256.Sum256(content)
	address := AssetPath + hex.EncodeToString(sum[:6]) + "/" + name
	a.addresses[name], a.content[address] = address, made
	return nil
}

func kind(name string) string {
	switch path.Ext(name) { // whatever the system's own table says
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	}
	return mime.TypeByExtension(path.Ext(name))
}

// URL gives the address of an asset by its name; an error when there is none.
func (a *Assets) URL(name string) (string, error) {
	if address := a.addresses[name]; address != "" {
		return address, nil
	}
	return "", fmt.Errorf("there is no asset %q", name)
}

// ServeHTTP answers GET and HEAD for an address that URL gave, else 404.
func (a *Assets) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	found, ok := a.content[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Content-Type", found.kind)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	asPacked := strings.Contains(r.Header.Get("Accept-Encoding"), "gzip")
	body, length, err := found.open(asPacked)
	if err != nil {
		h.Del("Cache-Control")
		http.Error(w, "damaged", http.StatusInternalServerError)
		return
	}
	if found.plain == nil || found.packed != nil {
		h.Set("Vary", "Accept-Encoding")
		if asPacked {
			h.Set("Content-Encoding", "gzip")
		}
	}
	if length >= 0 {
		h.Set("Content-Length", strconv.FormatInt(length, 10))
	}
	if r.Method == http.MethodHead {
		return
	}
	_, _ = io.Copy(w, body) // whoever has gone needs nothing
}

// open gives the bytes as they are sent, and how many there are; -1 is nobody knows.
func (a asset) open(packed bool) (body io.Reader, length int64, err error) {
	switch {
	case a.plain != nil && packed && a.packed != nil:
		return bytes.NewReader(a.packed), int64(len(a.packed)), nil
	case a.plain != nil:
		return bytes.NewReader(a.plain), int64(len(a.plain)), nil
	}
	// What is embedded stays where the program lies, and is not held in memory twice.
	file, err := files.Open(a.file)
	if err != nil {
		return nil, 0, err
	}
	if packed {
		about, err := file.Stat()
		if err != nil {
			return nil, 0, err
		}
		return file, about.Size(), nil
	}
	body, err = gzip.NewReader(file)
	return body, -1, err
}

// libraries are the scripts and styles that "go generate ./..." brings.
var libraries = []string{"library/htmx.min.js", "library/sortable.min.js", "library/tus.min.js", "library/swagger-ui.js.gz", "library/swagger-ui.css.gz"}

func readyLibrary(files fs.FS) error {
	for _, name := range libraries {
		if _, err := fs.Stat(files, name); errors.Is(err, fs.ErrNotExist) {
			return ErrAssetsMissing
		} else if err != nil {
			return err
		}
	}
	return nil
}

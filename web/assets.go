package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"
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
}

// OpenAssets reads every asset, or returns ErrAssetsMissing.
func OpenAssets() (*Assets, error) {
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
		return a.add(path.Base(name), content)
	})
	return a, err
}

func (a *Assets) add(name string, content []byte) error {
	if a.addresses[name] != "" {
		return fmt.Errorf("two assets are called %s", name)
	}
	kind := mime.TypeByExtension(path.Ext(name))
	switch path.Ext(name) { // whatever the system's own table says
	case ".js":
		kind = "text/javascript; charset=utf-8"
	case ".css":
		kind = "text/css; charset=utf-8"
	case ".svg":
		kind = "image/svg+xml"
	}
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
	made := asset{kind: kind, plain: content}
	if packed.Len() < len(content) {
		made.packed = packed.Bytes()
	}
	sum := sha256.Sum256(content)
	address := AssetPath + hex.EncodeToString(sum[:6]) + "/" + name
	a.addresses[name], a.content[address] = address, made
	return nil
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
	h, body := w.Header(), found.plain
	if found.packed != nil {
		h.Set("Vary", "Accept-Encoding")
		if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			h.Set("Content-Encoding", "gzip")
			body = found.packed
		}
	}
	h.Set("Content-Type", found.kind)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	if r.Method == http.MethodHead {
		return
	}
	_, _ = w.Write(body) // whoever has gone needs nothing
}

// libraries are the scripts that "go generate ./..." brings.
var libraries = []string{"library/htmx.min.js", "library/sortable.min.js", "library/tus.min.js"}

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

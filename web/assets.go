package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
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

// AssetPath is the path prefix of all assets. It is followed by the fingerprint.
const AssetPath = "/assets/"

// Assets contains the style sheets, scripts, and images that pages load. The address of each asset
// contains a fingerprint of its content, so that browsers can cache it forever:
//
//	/assets/<12 hex digits of its SHA-256>/<name>
type Assets struct {
	addresses map[string]string // asset name → address
	content   map[string]asset  // address → asset
}

type asset struct {
	mediaType     string
	plain, packed []byte // packed is the gzip-compressed content, or nil if that isn't smaller
	file          string // path of an embedded gzip file; plain and packed are then nil
}

// OpenAssets reads all assets. It returns ErrAssetsMissing if they haven't been generated. The
// first call reads and compresses the embedded files; later calls return the same result.
func OpenAssets() (*Assets, error) { return openAssetsOnce() }

var openAssetsOnce = sync.OnceValues(openAssets)

func openAssets() (*Assets, error) {
	if err := ready(files, libraries...); err != nil {
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

// put stores an asset under its address, which contains the fingerprint of content.
func (a *Assets) put(name string, content []byte, made asset) error {
	if a.addresses[name] != "" {
		return fmt.Errorf("two assets are called %s", name)
	}
	made.mediaType = mediaType(name)
	sum := sha256.Sum256(content)
	address := AssetPath + hex.EncodeToString(sum[:6]) + "/" + name
	a.addresses[name], a.content[address] = address, made
	return nil
}

func mediaType(name string) string {
	switch path.Ext(name) { // doesn't use the operating system's MIME table
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	}
	return mime.TypeByExtension(path.Ext(name))
}

// URL returns the address of the named asset, or an error if it doesn't exist.
func (a *Assets) URL(name string) (string, error) {
	if address := a.addresses[name]; address != "" {
		return address, nil
	}
	return "", fmt.Errorf("there is no asset %q", name)
}

// ServeHTTP serves the assets under the addresses that URL returns. For all other addresses, it
// sends a 404 response.
func (a *Assets) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	found, ok := a.content[r.URL.Path]
	if !ok {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Content-Type", found.mediaType)
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
	_, _ = io.Copy(w, body) // an error means that the client has disconnected
}

// open returns the content to send and its length, or a length of -1 if it is unknown.
func (a asset) open(packed bool) (body io.Reader, length int64, err error) {
	switch {
	case a.plain != nil && packed && a.packed != nil:
		return bytes.NewReader(a.packed), int64(len(a.packed)), nil
	case a.plain != nil:
		return bytes.NewReader(a.plain), int64(len(a.plain)), nil
	}
	// Embedded files are mapped into memory, so stream them instead of holding a second copy in
	// memory.
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

// libraries lists the third-party scripts and styles that "go generate ./..." copies.
var libraries = []string{"library/htmx.min.js", "library/sortable.min.js", "library/tus.min.js", "library/swagger-ui.js.gz",
	"library/swagger-ui.css.gz"}

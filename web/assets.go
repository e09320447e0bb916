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

// Assets holds the styles, scripts, and images that pages load. The address of each contains a
// fingerprint of its content, so that browsers may cache it forever:
//
//	/assets/<12 hex digits of its SHA-256>/<name>
type Assets struct {
	addresses map[string]string // name → address
	content   map[string]asset  // address → content
}

type asset struct {
	mediaType     string
	plain, packed []byte // packed: gzip, nil if it isn't smaller
	file          string // a gzip file of library; plain and packed are nil then
}

// OpenAssets reads every asset, or returns ErrAssetsMissing. All callers share one result: the
// first call compresses the embedded files.
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

// put stores an asset under its address, which contains a fingerprint of content.
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
	switch path.Ext(name) { // independent of the system's MIME table
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	}
	return mime.TypeByExtension(path.Ext(name))
}

// URL returns the address of an asset, or an error if there is no asset of that name.
func (a *Assets) URL(name string) (string, error) {
	if address := a.addresses[name]; address != "" {
		return address, nil
	}
	return "", fmt.Errorf("there is no asset %q", name)
}

// ServeHTTP responds to GET and HEAD for an address that URL returned, and with 404 for others.
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
	_, _ = io.Copy(w, body) // an error means that the client is gone
}

// open returns the bytes to send and their number, -1 if that is unknown.
func (a asset) open(packed bool) (body io.Reader, length int64, err error) {
	switch {
	case a.plain != nil && packed && a.packed != nil:
		return bytes.NewReader(a.packed), int64(len(a.packed)), nil
	case a.plain != nil:
		return bytes.NewReader(a.plain), int64(len(a.plain)), nil
	}
	// Embedded files stay in the program's mapped memory; reading them would hold a second copy.
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

// libraries lists the scripts and styles that "go generate ./..." copies.
var libraries = []string{"library/htmx.min.js", "library/sortable.min.js", "library/tus.min.js", "library/swagger-ui.js.gz",
	"library/swagger-ui.css.gz"}

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

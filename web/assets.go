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

//go:embed static/style/*.css static/script/*.js static/*.svg all:vendor
var files embed.FS

// AssetPath is the path prefix of all assets. It is followed by the fingerprint.
const AssetPath = "/assets/"

// Assets contains the style sheets, scripts, and images that pages load. All addresses share a fingerprint of
// the content of all assets, so that browsers can cache each forever, and a script imports another one as
// "./<name>":
//
//	/assets/<12 hex digits of a SHA-256>/<name>
type Assets struct {
	folder  string           // the path of all addresses
	content map[string]asset // by name
}

// asset is the content of an asset. Each function returns the same bytes to all callers, and computes them in the
// first call.
type asset struct {
	mediaType string
	plain     func() []byte // nil if the embedded gzip file is damaged
	packed    func() []byte // as gzip; nil if that isn't smaller
}

// OpenAssets reads all assets. It returns ErrAssetsMissing if they haven't been generated. The
// first call reads the embedded files; later calls return the same result.
func OpenAssets() (*Assets, error) { return openAssetsOnce() }

var openAssetsOnce = sync.OnceValues(openAssets)

func openAssets() (*Assets, error) {
	if err := ready(files, libraries...); err != nil {
		return nil, err
	}
	a := &Assets{content: map[string]asset{}}
	all := sha256.New()
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path.Base(name) == "PLACEHOLDER" {
			return err
		}
		content, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		_, _ = fmt.Fprintf(all, "%s %d\n%s", name, len(content), content) // a hash never fails
		stored := func() []byte { return content }
		if own, packed := strings.CutSuffix(path.Base(name), ".gz"); packed {
			return a.put(own, asset{plain: sync.OnceValue(func() []byte { return uncompress(content) }), packed: stored})
		}
		return a.put(path.Base(name), asset{plain: stored, packed: sync.OnceValue(func() []byte { return compress(content) })})
	})
	a.folder = AssetPath + hex.EncodeToString(all.Sum(nil)[:6]) + "/"
	return a, err
}

// compress returns content as gzip, or nil if that isn't smaller.
func compress(content []byte) []byte {
	var packed bytes.Buffer
	z, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression) // the level is valid
	_, _ = z.Write(content)                                    // writing to a buffer can't fail
	_ = z.Close()
	if packed.Len() >= len(content) {
		return nil
	}
	return packed.Bytes()
}

// uncompress returns the content of a gzip file, or nil if it is damaged.
func uncompress(packed []byte) []byte {
	unpacked, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil
	}
	content, err := io.ReadAll(unpacked)
	if err != nil {
		return nil
	}
	return content
}

// put stores an asset under its name.
func (a *Assets) put(name string, made asset) error {
	if _, ok := a.content[name]; ok {
		return fmt.Errorf("duplicate asset name %s", name)
	}
	made.mediaType = mediaType(name)
	a.content[name] = made
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
	if _, ok := a.content[name]; ok {
		return a.folder + name, nil
	}
	return "", fmt.Errorf("asset %q not found", name)
}

// ServeHTTP serves the assets under the addresses that URL returns. For all other addresses, it
// sends a 404 response.
func (a *Assets) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, current := strings.CutPrefix(r.URL.Path, a.folder)
	found, ok := a.content[name]
	if !current || !ok {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Content-Type", found.mediaType)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	packed, accepted := found.packed(), strings.Contains(r.Header.Get("Accept-Encoding"), "gzip")
	if packed != nil {
		h.Set("Vary", "Accept-Encoding")
	}
	body := packed
	if packed != nil && accepted {
		h.Set("Content-Encoding", "gzip")
	} else if body = found.plain(); body == nil {
		h.Del("Cache-Control")
		http.Error(w, "damaged", http.StatusInternalServerError)
		return
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	if r.Method == http.MethodHead {
		return
	}
	_, _ = w.Write(body) // an error means that the client has disconnected
}

// libraries lists the third-party scripts and styles that "go generate ./..." copies.
var libraries = []string{"vendor/htmx.min.js", "vendor/idiomorph.min.js", "vendor/sortable.min.js", "vendor/tus.min.js",
	"vendor/swagger-ui.js.gz", "vendor/swagger-ui.css.gz"}

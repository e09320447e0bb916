package documents

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"deedkeep/app/blobstore"
	"deedkeep/app/model"
	"deedkeep/app/ui/page"
)

// imageWidths lists the widths of page images in pixels. There are only a few widths, so that users
// can share cached images. The width of 850 pixels corresponds to a letter page at 100 dpi, and
// 2,550 pixels to 300 dpi. The largest width is for plats, which are 36 inches wide.
var imageWidths = []int{200, 425, 850, 1275, 1700, 2550, 5100}

const defaultImageWidth = 1275

// Widths returns the image widths for the viewer's script, as a JSON array.
func (viewerData) Widths() string { return strings.ReplaceAll(fmt.Sprint(imageWidths), " ", ",") }

// roundUpWidth returns the smallest image width that is at least width, or the largest one if there
// is none.
func roundUpWidth(width int) int {
	for _, w := range imageWidths {
		if width <= w {
			return w
		}
	}
	return imageWidths[len(imageWidths)-1]
}

// pathInt returns the named integer in the request path. It returns NotFound unless the integer is
// between 1 and maxValue.
func pathInt(r *page.Request, name string, maxValue int) (int, error) {
	text := r.PathValue(name)
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > maxValue || text != strconv.Itoa(n) {
		return 0, page.NotFound(r)
	}
	return n, nil
}

// Page numbers and image widths above these limits are rejected.
const (
	maxPageNumber = 1_000_000
	maxImageWidth = 1_000_000
)

// pageImage sends the image of a page. The image is at least as wide as the query parameter w, in
// pixels. In the audit log, the request continues the user's current view of the document or starts
// a new one.
func (p *Pages) pageImage(r *page.Request) error {
	file, n, err := p.readPage(r)
	if err != nil {
		return err
	}
	width := defaultImageWidth
	if text := r.URL.Query().Get("w"); text != "" {
		if width, err = strconv.Atoi(text); err != nil || width < 1 || width > maxImageWidth {
			return page.NotFound(r)
		}
	}
	width = roundUpWidth(width)
	tag := imageETag(file, n, width)
	if r.Method == http.MethodGet {
		p.App.Events.ContinueView(r.Actor, fileOpened, model.RecordRef("file", file.ID))
	}
	if notModified(r, tag) {
		return nil
	}
	picture, err := p.App.Previews.PageImage(r.Context(), r.Actor, file.ID, n, width)
	if err != nil {
		r.W.Header().Del("ETag")
		return err
	}
	return p.sendImage(r, picture, tag)
}

// readPage returns the requested document and page number.
func (p *Pages) readPage(r *page.Request) (file model.File, n int, err error) {
	if n, err = pathInt(r, "page", maxPageNumber); err != nil {
		return file, 0, err
	}
	file, err = p.App.Files.Get(r.Context(), r.PathID)
	return file, n, err
}

// rotatePages stores the rotation of pages. The viewer's script sends it as model.PageTurns.
func (p *Pages) rotatePages(r *page.Request) error {
	file, edit, err := p.App.Files.Turn(r.Context(), r.Actor, r.PathID, model.PageTurns(r.PostForm.Get("turns")))
	if err != nil {
		return err
	}
	undo := p.NewNotice(r, "", p.EditUndo(r, edit, 0), "").Undo
	return r.SendJSON(http.StatusOK, map[string]any{"turns": file.ShownTurns(),
		"undo": map[string]string{"path": undo.Path, "token": undo.Token}})
}

// renderingVersion must be changed whenever images are rendered differently. This invalidates
// cached images.
const renderingVersion = "1"

// imageETag returns the ETag of an image. It doesn't reveal the document's digest.
func imageETag(file model.File, n, width int) string {
	sum := sha256.Sum256([]byte(fmt.Sprintf("picture %s of %s: page %d, width %d", renderingVersion, file.Digest, n, width)))
	return `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`
}

// imageMaxAge is how long, in seconds, a browser may use a cached image without asking the server
// whether it is still valid.
const imageMaxAge = "3600"

// notModified sets the caching headers of an image. If the browser already has the image, it sends
// a 304 response and reports true. The cache is not shared between sessions.
func notModified(r *page.Request, tag string) bool {
	h := r.W.Header()
	h.Set("ETag", tag)
	h.Set("Cache-Control", "private, max-age="+imageMaxAge)
	h.Set("Vary", "Cookie")
	for _, etag := range strings.Split(r.Header.Get("If-None-Match"), ",") {
		if strings.TrimPrefix(strings.TrimSpace(etag), "W/") == tag {
			r.W.WriteHeader(http.StatusNotModified)
			return true
		}
	}
	return false
}

// sendImage sends a rendered image and closes its file.
func (p *Pages) sendImage(r *page.Request, picture *blobstore.PreviewFile, tag string) error {
	defer picture.Close() //nolint:errcheck // read-only
	var head [8]byte
	if _, err := picture.ReadAt(head[:], 0); err != nil {
		return fmt.Errorf("send page image of %d bytes: %w", picture.Size(), err)
	}
	mediaType := "image/jpeg"
	if string(head[1:4]) == "PNG" {
		mediaType = "image/png"
	}
	r.SetDataHeaders(mediaType, page.DocumentPolicy, r.W.Header().Get("Cache-Control"))
	r.W.Header().Set("Content-Length", strconv.FormatInt(picture.Size(), 10))
	if r.Method == http.MethodHead {
		return nil // HEAD only makes the server render the image
	}
	if _, err := io.Copy(r.W, picture); err != nil {
		p.Log.DebugContext(r.Context(), "page image not sent", "tag", tag, "error", err)
	}
	return nil
}

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

// imageWidths are the pictures of pages that are made, in pixels: few, so that readers
// share them. 850 is a letter page at 100 dots per inch, 2,550 at 300; more is for
// plats, of which a page is 36 inches wide.
var imageWidths = []int{200, 425, 850, 1275, 1700, 2550, 5100}

const defaultImageWidth = 1275

// Widths tells the viewer's script of them: [200, …].
func (viewerData) Widths() string { return strings.ReplaceAll(fmt.Sprint(imageWidths), " ", ",") }

// roundUpWidth gives the least of widths that is not less.
func roundUpWidth(width int) int {
	for _, w := range imageWidths {
		if width <= w {
			return w
		}
	}
	return imageWidths[len(imageWidths)-1]
}

// pathInt is a whole number of the path from 1 to most; NotFound for anything else.
func pathInt(r *http.Request, name string, most int) (int, error) {
	text := r.PathValue(name)
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > most || text != strconv.Itoa(n) {
		return 0, page.NotFound(r)
	}
	return n, nil
}

// maxPageNumber is beyond every document's pages, maxImageWidth beyond every screen.
const (
	maxPageNumber = 1_000_000
	maxImageWidth = 1_000_000
)

// pageImage answers a picture of a page, ?w= pixels wide or a little more. It is a
// part of a view, which counts where none has begun.
func (p *Pages) pageImage(w http.ResponseWriter, r *http.Request, who page.Visitor) error {
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
		p.Events.GoesOn(who.Actor, fileOpened, page.FileRecordName(file.ID))
	}
	if notModified(w, r, tag) {
		return nil
	}
	picture, err := p.Vault.Previews.Page(r.Context(), who.Actor, file.ID, n, width)
	if err != nil {
		w.Header().Del("ETag")
		return err
	}
	return p.sendImage(w, r, picture, tag)
}

// readPage is the document and the page of an address.
func (p *Pages) readPage(r *http.Request) (file model.File, n int, err error) {
	id, err := page.PathNumber(r)
	if err != nil {
		return file, 0, err
	}
	if n, err = pathInt(r, "page", maxPageNumber); err != nil {
		return file, 0, err
	}
	file, err = p.Vault.Files.Get(r.Context(), id)
	return file, n, err
}

// pictures of one build are drawn alike; a later one counts up.
const renderingVersion = "1"

// imageETag tells one picture from all others without telling the document's digest.
func imageETag(file model.File, page, width int) string {
	sum := sha256.Sum256([]byte(fmt.Sprintf("picture %s of %s: page %d, width %d", renderingVersion, file.Digest, page, width)))
	return `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`
}

// imageMaxAge is how long a browser shows a picture without asking again, in seconds;
// after that it asks whether it may still, by the tag.
const imageMaxAge = "3600"

// notModified says how a picture is kept, by whom, and answers 304 where the browser
// has it. Another session asks anew.
func notModified(w http.ResponseWriter, r *http.Request, tag string) bool {
	h := w.Header()
	h.Set("ETag", tag)
	h.Set("Cache-Control", "private, max-age="+imageMaxAge)
	h.Set("Vary", "Cookie")
	for _, known := range strings.Split(r.Header.Get("If-None-Match"), ",") {
		if strings.TrimPrefix(strings.TrimSpace(known), "W/") == tag {
			w.WriteHeader(http.StatusNotModified)
			return true
		}
	}
	return false
}

// sendImage sends a picture that was made here, and closes it.
func (p *Pages) sendImage(w http.ResponseWriter, r *http.Request, picture *blobstore.PreviewFile, tag string) error {
	defer picture.Close() //nolint:errcheck // it was only read
	var head [8]byte
	if _, err := picture.ReadAt(head[:], 0); err != nil {
		return fmt.Errorf("picture of %d bytes: %w", picture.Size(), err)
	}
	h := w.Header()
	h.Set("Content-Type", "image/jpeg")
	if string(head[1:4]) == "PNG" {
		h.Set("Content-Type", "image/png")
	}
	h.Set("Content-Length", strconv.FormatInt(picture.Size(), 10))
	h.Set("Content-Security-Policy", page.DocumentPolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	if r.Method == http.MethodHead {
		return nil // it is made now, which is what was wanted
	}
	if _, err := io.Copy(w, picture); err != nil {
		p.Log.DebugContext(r.Context(), "picture not delivered", "tag", tag, "error", err)
	}
	return nil
}

package documents

import (
	"html/template"
	"io"
	"net/http"
	"strconv"
	"strings"

	"deedkeep/app/errs"
	"deedkeep/app/jobs"
	"deedkeep/app/model"
	"deedkeep/app/ui/page"
)

// thumbnail sends a small image of a document's first page. If there is no image yet, it sends an
// icon with the document's type. Because lists show many thumbnails, a thumbnail counts as a view
// of the document only if the page is readable in it.
func (p *Pages) thumbnail(r *page.Request) error {
	file, err := p.App.Files.Get(r.Context(), r.PathID)
	if err != nil {
		return err
	}
	if file.Processing {
		return sendPlaceholder(r, file, "no-store")
	}
	tag := imageETag(file, 0, 0)
	if notModified(r, tag) {
		return nil
	}
	picture, err := p.App.Previews.Thumbnail(r.Context(), r.Actor, r.PathID)
	if errs.KindOf(err) == errs.NotFound {
		r.W.Header().Del("ETag")
		return sendPlaceholder(r, file, "private, max-age=60")
	}
	if err != nil {
		return err
	}
	if r.Method == http.MethodGet && p.thumbnailIsReadable(r) {
		p.App.Events.ContinueView(r.Actor, fileOpened, model.RecordRef("file", r.PathID))
	}
	return p.sendImage(r, picture, tag)
}

// A page counts as readable in its thumbnail if its width is less than these limits. Such a page is
// hardly reduced in a thumbnail of the maximum width.
const (
	readablePixels = 2 * jobs.MaxThumbnailWidth
	readablePoints = 72 * jobs.MaxThumbnailWidth / 100
)

// thumbnailIsReadable reports whether the first page is readable in its thumbnail. If the page size
// is unknown, it reports true.
func (p *Pages) thumbnailIsReadable(r *page.Request) bool {
	sizes, err := p.App.Previews.PageSizes(r.Context(), r.Actor, r.PathID)
	if err != nil {
		return true
	}
	first := sizes[0]
	return first.ImageWidth > 0 && first.ImageWidth < readablePixels || first.ImageWidth == 0 && first.Width < readablePoints
}

// sendPlaceholder sends an icon that shows the document's type.
func sendPlaceholder(r *page.Request, file model.File, keep string) error {
	kind := strings.ToUpper(page.Truncate(file.Extension(), 4))
	drawn := `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 85 110" width="170" height="220">` +
		`<rect width="85" height="110" fill="#fff"/><path d="M14 22h57M14 34h57M14 46h57M14 58h40" stroke="#d5d8dc" stroke-width="4"/>` +
		`<text x="42.5" y="92" text-anchor="middle" font-family="system-ui,sans-serif" font-size="18" font-weight="600" fill="#6b7280">` +
		template.HTMLEscapeString(kind) + `</text></svg>`
	r.SetDataHeaders("image/svg+xml", page.DocumentPolicy, keep)
	r.W.Header().Set("Content-Length", strconv.Itoa(len(drawn)))
	_, _ = io.WriteString(r.W, drawn) // an error means that the client has disconnected
	return nil
}

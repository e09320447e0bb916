// Package help serves the guides of package guides as pages, with a search over them.
package help

import (
	"bytes"
	"errors"
	"io/fs"
	"net/http"
	"strings"
	"time"

	"deedkeep/app/guides"
	"deedkeep/app/httpx"
	"deedkeep/app/ui/page"
)

// Pages contains the handlers of this package's pages.
type Pages struct{ *page.Site }

// New returns the handlers of this package's pages.
func New(s *page.Site) *Pages { return &Pages{Site: s} }

// Routes returns the routes of the pages.
func (p *Pages) Routes() []page.Route {
	return []page.Route{
		page.NewRoute("GET /help", page.MayRead, p.listPage),
		page.NewRoute("GET /help/{topic}", page.MayRead, p.guidePage),
		page.NewRoute("GET /help/screenshots/{name}", page.MayRead, p.screenshot),
	}
}

// guideGroup is the guides for one audience.
type guideGroup struct {
	Audience guides.Audience
	Guides   []guides.Guide
}

// helpPage is the data of the list of guides.
type helpPage struct {
	Query  string
	Hits   []guides.Hit
	Groups []guideGroup
}

// listPage serves the list of guides or, with the parameter q, the sections that match a search.
func (p *Pages) listPage(r *page.Request) error {
	data := helpPage{Query: strings.TrimSpace(r.URL.Query().Get("q"))}
	if data.Query != "" {
		data.Hits = guides.Search(data.Query)
	}
	for _, g := range guides.List() {
		if n := len(data.Groups); n == 0 || data.Groups[n-1].Audience != g.Audience {
			data.Groups = append(data.Groups, guideGroup{Audience: g.Audience})
		}
		last := &data.Groups[len(data.Groups)-1]
		last.Guides = append(last.Guides, g)
	}
	return p.RenderPage(r, http.StatusOK, "help.html", page.Page{Heading: "Help", Section: "help", Data: data, Styles: []string{"help.css"}})
}

// guidePage serves a guide. An earlier name of a guide redirects to its page.
func (p *Pages) guidePage(r *page.Request) error {
	g, ok := guides.Find(r.PathValue("topic"))
	switch {
	case !ok:
		return page.NotFound(r)
	case g.Topic != r.PathValue("topic"):
		return r.Redirect(g.Path())
	}
	return p.RenderPage(r, http.StatusOK, "help-guide.html",
		page.Page{Heading: g.Title, Section: "help", Data: g.Render(), Styles: []string{"help.css"}})
}

// screenshot serves a PNG file of a guide.
func (p *Pages) screenshot(r *page.Request) error {
	content, err := guides.Screenshot(r.PathValue("name"))
	if errors.Is(err, fs.ErrNotExist) {
		return page.NotFound(r)
	}
	if err != nil {
		return err
	}
	r.SetDataHeaders("image/png", httpx.DataPolicy, "private, max-age=3600")
	http.ServeContent(r.W, r.Request, "", time.Time{}, bytes.NewReader(content))
	return nil
}

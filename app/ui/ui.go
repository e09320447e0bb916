// Package ui serves the web interface: pages and signed download links. It contains no business
// logic but calls the services of package instance.
//
// Package page contains what all pages share. The other packages each handle a group of pages and list their routes with
// the required access level. Package ui combines these routes.
package ui

import (
	"net/http"
	"slices"
	"strings"

	"deedkeep/app/ui/account"
	"deedkeep/app/ui/admin"
	"deedkeep/app/ui/documents"
	"deedkeep/app/ui/help"
	"deedkeep/app/ui/instruments"
	"deedkeep/app/ui/live"
	"deedkeep/app/ui/page"
	"deedkeep/app/ui/records"
	"deedkeep/app/ui/records/titlework"
	"deedkeep/app/ui/suggestions"
	"deedkeep/web"
)

// Options are the options of New.
type Options = page.Options

// New returns the handler for all requests outside /v1. The handler sets http.Request.Pattern to
// the pattern of the matching route.
func New(opts Options) (http.Handler, error) {
	s, err := page.New(opts)
	if err != nil {
		return nil, err
	}
	docs := documents.New(s)
	s.Mount(routes(s, docs))
	return handler(s, docs), nil
}

// handler returns the handler for pages, assets, and signed links.
func handler(s *page.Site, docs *documents.Pages) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Check the path exactly as it was sent, because a signed link has only one valid spelling.
		switch path := r.URL.EscapedPath(); {
		case strings.HasPrefix(path, "/dl/"):
			r.Pattern = "/dl/{file}/{expiry}/{signature}/{filename}"
			s.GetOnly(w, r, docs.Download)
		case strings.HasPrefix(path, web.AssetPath):
			r.Pattern = web.AssetPath + "{version}/{name}"
			s.GetOnly(w, r, s.Assets.ServeHTTP)
		default:
			s.ServePage(w, r)
		}
	})
}

// routes returns the routes of all pages.
func routes(s *page.Site, docs *documents.Pages) []page.Route {
	sheets := instruments.New(s)
	return slices.Concat(
		[]page.Route{page.NewRoute("GET /docs", page.BeforeSetup, s.APIDocs)},
		account.New(s).Routes(),
		records.New(s, docs.ShowDocument, sheets.Sheet).Routes(),
		suggestions.New(s).Routes(),
		titlework.New(s).Routes(),
		sheets.Routes(),
		docs.Routes(),
		admin.New(s).Routes(),
		help.New(s).Routes(),
		live.New(s).Routes(),
	)
}

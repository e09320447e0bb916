// Package ui is the voice for people: pages, and the signed links under which
// documents are seen and saved. Like app/api it decides nothing.
//
// Every page is one line of the table in routes.go, which says who may have it; what
// is asked before a handler runs (who is it, was it sent from here, may they) is
// asked there and nowhere else. Failures become pages in failure.go.
//
// It never wraps the writer of a download: the kernel sends the file itself.
package ui

import (
	"net/http"
	"slices"
	"strings"

	"deedkeep/app/ui/account"
	"deedkeep/app/ui/admin"
	"deedkeep/app/ui/documents"
	"deedkeep/app/ui/page"
	"deedkeep/app/ui/records"
	"deedkeep/web"
)

// Options are the options of New.
type Options = page.Options

// Room is the type of Options.Room.
type Room = page.Room

// New returns the handler of everything outside /v1. It sets http.Request.Pattern of the
// request that it was handed to the pattern of the route.
func New(opts Options) (http.Handler, error) {
	s, err := page.New(opts)
	if err != nil {
		return nil, err
	}
	docs := documents.New(s)
	s.Mount(routes(s, docs))
	return handler(s, docs), nil
}

// handler returns the handler of pages, assets, and signed links.
func handler(s *page.Site, docs *documents.Pages) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The request line itself is compared: a link has one spelling.
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
	return slices.Concat(
		[]page.Route{page.NewRoute("GET /docs", page.BeforeSetup, s.APIDocs)},
		account.New(s).Routes(),
		records.New(s, docs.ShowDocument).Routes(),
		docs.Routes(),
		admin.New(s).Routes(),
	)
}

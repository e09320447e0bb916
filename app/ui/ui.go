// Package ui serves the web interface: pages and the signed links of documents. It decides nothing;
// it calls the vault.
//
// Package page holds what all pages share. Each of its siblings (account, admin, documents,
// records) handles a group of pages and lists their routes with the permission that each requires.
// This package mounts them.
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

// Options configure New.
type Options = page.Options

// BodyLimiter is the type of Options.Room.
type BodyLimiter = page.BodyLimiter

// New returns the handler of everything outside /v1. It sets http.Request.Pattern to the pattern of
// the route.
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
		// Compares the request line itself: a link has one spelling.
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

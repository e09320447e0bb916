// Package suggestions serves the pages that suggest instruments: from a runsheet file, from the names and the text of
// documents, and from one document with several instruments. Nothing is stored until a person accepts the
// suggestions.
package suggestions

import "deedkeep/app/ui/page"

// Pages contains the handlers of this package's pages.
type Pages struct{ *page.Site }

// New returns the handlers of this package's pages.
func New(s *page.Site) *Pages { return &Pages{Site: s} }

// Routes returns the routes of the pages.
func (p *Pages) Routes() []page.Route {
	return []page.Route{
		page.NewRoute("GET /abstracts/{id}/runsheet/upload", page.MayWrite, p.uploadPage),
		page.NewRawRoute("POST /abstracts/{id}/runsheet/upload", page.MayWrite, p.readRunsheet),
		page.NewRoute("POST /abstracts/{id}/runsheet/accept", page.MayWrite, p.acceptRunsheet),
		page.NewRoute("GET /abstracts/{id}/suggestions", page.MayWrite, p.documentSuggestions),
		page.NewRoute("POST /abstracts/{id}/suggestions", page.MayWrite, p.acceptDocuments),
		page.NewRoute("GET /documents/{n}/packet", page.MayWrite, p.packetPage),
		page.NewRoute("POST /documents/{n}/packet", page.MayWrite, p.acceptPacket),
		page.NewRoute("POST /abstracts/{id}/instruments/undo", page.MayWrite, p.undo),
	}
}

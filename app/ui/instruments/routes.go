// Package instruments serves the runsheets of abstracts and the pages of their instruments: the table
// that users edit in place, the form of an instrument, pasted rows, and downloads.
package instruments

import (
	"deedkeep/app/spreadsheet"
	"deedkeep/app/ui/page"
)

// Pages contains the handlers of this package's pages.
type Pages struct{ *page.Site }

// New returns the handlers of this package's pages.
func New(s *page.Site) *Pages { return &Pages{s} }

// Routes returns the routes of the pages.
func (p *Pages) Routes() []page.Route {
	const runsheet = "GET /abstracts/{id}/runsheet"
	var files []page.Route
	for _, f := range spreadsheet.Formats() {
		files = append(files, page.NewRoute(runsheet+f.Extension, page.MayRead, p.runsheetFile(f)))
	}
	return append(files, []page.Route{
		page.NewRoute("GET /abstracts/{id}/runsheet", page.MayRead, p.runsheetPage),
		page.NewRoute("GET /abstracts/{id}/instruments/new", page.MayWrite, p.newInstrumentPage),
		page.NewRoute("POST /abstracts/{id}/instruments", page.MayWrite, p.createInstrument),
		page.NewRoute("POST /abstracts/{id}/instruments/row", page.MayWrite, p.createRow),
		page.NewRoute("GET /abstracts/{id}/instruments/state", page.MayRead, p.sheetState),
		page.NewRoute("POST /abstracts/{id}/instruments/sort", page.MayWrite, p.sortRunsheet),
		page.NewRoute("GET /abstracts/{id}/instruments/paste", page.MayWrite, p.pastePage),
		page.NewRoute("POST /abstracts/{id}/instruments/paste", page.MayWrite, p.pasteRows),
		page.NewRoute("GET /instruments/{n}", page.MayRead, p.instrumentPage),
		page.NewRoute("POST /instruments/{n}", page.MayWrite, p.saveInstrument),
		page.NewRoute("GET /instruments/{n}/edit", page.MayWrite, p.editInstrumentPage),
		page.NewRoute("POST /instruments/{n}/cell", page.MayWrite, p.saveCell),
		page.NewRoute("POST /instruments/{n}/move", page.MayWrite, p.moveInstrument),
		page.NewRoute("POST /instruments/{n}/trash", page.MayWrite, p.trashInstrument),
		page.NewRoute("POST /instruments/{n}/restore", page.MayWrite, p.restoreInstrument),
	}...)
}

// Package documents serves the pages that show, search, upload, and download documents, and the
// trash.
package documents

import "deedkeep/app/ui/page"

// Pages contains the handlers of this package's pages.
type Pages struct{ *page.Site }

// New returns the handlers of this package's pages.
func New(s *page.Site) *Pages { return &Pages{Site: s} }

// Routes returns the routes of the pages.
func (p *Pages) Routes() []page.Route {
	return []page.Route{
		page.NewRoute("GET /trash", page.MayWrite, p.trashListPage),
		page.NewRoute("POST /trash", page.MayWrite, p.restoreTrash),
		page.NewRoute("GET "+purgePath, page.MayAdminister, p.purgePage),
		page.NewRoute("POST "+purgePath, page.MayAdminister, p.purgeRecord),
		page.NewRoute("GET "+emptyPath, page.MayAdminister, p.emptyTrashPage),
		page.NewRoute("POST "+emptyPath, page.MayAdminister, p.emptyTrash),
		page.NewRoute("GET /documents/{n}", page.MayRead, p.documentPage),
		page.NewRoute("GET /side-by-side", page.MayRead, p.sideBySidePage),
		page.NewRoute("GET /documents/{n}/pages/{page}", page.MayRead, p.pageImage),
		page.NewRoute("POST /documents/{n}/rotation", page.MayWrite, p.rotatePages),
		page.NewRoute("GET /documents/{n}/pages/{page}/marks", page.MayRead, p.pageMarks),
		page.NewRoute("GET /documents/{n}/pages/{page}/text", page.MayRead, p.pageText),
		page.NewRoute("GET /documents/{n}/pages/{page}/words", page.MayRead, p.pageWords),
		page.NewRoute("GET /documents/{n}/instruments", page.MayRead, p.panelPart),
		page.NewRoute("POST /documents/{n}/instruments", page.MayWrite, p.saveInstrument),
		page.NewRoute("POST /documents/{n}/instruments/trash", page.MayWrite, p.trashInstrument),
		page.NewRoute("POST /documents/{n}/instruments/restore", page.MayWrite, p.restoreInstrument),
		page.NewRoute("GET /documents/{n}/find", page.MayRead, p.findInDocument),
		page.NewRoute("GET /documents/{n}/thumbnail", page.MayRead, p.thumbnail),
		page.NewRoute("GET /documents/{n}/text", page.MayRead, p.documentTextPage),
		page.NewRoute("GET /documents/{n}/download", page.MayRead, p.downloadDocument),
		page.NewRoute("GET /documents/{n}/searchable.pdf", page.MayRead, p.downloadSearchable),
		page.NewRoute("GET /documents/{n}/original", page.MayRead, p.originalDocument),
		page.NewRoute("GET /documents/{n}/print", page.MayRead, p.printPage),
		page.NewRoute("GET /abstracts/{id}/zip", page.MayRead, p.zipAbstract),
		page.NewRawRoute("OPTIONS /uploads", page.Anyone, p.uploadOptions),
		page.NewRawRoute("POST /uploads", page.Anyone, p.tusHandler(p.uploadBegin)),
		page.NewRawRoute("GET /uploads/{id}", page.Anyone, p.tusHandler(p.uploadShow)),
		page.NewRawRoute("PATCH /uploads/{id}", page.Anyone, p.tusHandler(p.uploadWrite)),
		page.NewRawRoute("DELETE /uploads/{id}", page.Anyone, p.tusHandler(p.uploadCancel)),
		page.NewRawRoute("POST /abstracts/{id}/documents", page.MayWrite, p.uploadToAbstract),
		page.NewRoute("GET /vault/{n}/zip", page.MayRead, p.zipFolder),
		page.NewRawRoute("POST /vault/documents", page.MayWrite, p.uploadToFolder),
		page.NewRawRoute("POST /vault/{n}/documents", page.MayWrite, p.uploadToFolder),
	}
}

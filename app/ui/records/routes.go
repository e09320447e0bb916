// Package records serves the dashboard, the search page, and the pages of abstracts, orders, and
// folders.
package records

import (
	"slices"

	"deedkeep/app/ui/page"
	"deedkeep/app/ui/records/titlework"
	"deedkeep/app/vault"
)

// Pages contains the handlers of this package's pages.
type Pages struct {
	*page.Site
	showDocument documentHandler
	work         *titlework.Pages
	readSheet    sheetReader
}

// documentHandler renders a document's viewer page after a new document name was rejected.
type documentHandler func(r *page.Request, rejected page.NameProblem) error

// sheetReader returns the template data of the runsheet of an abstract, and the runsheet.
type sheetReader func(r *page.Request, record vault.AbstractWithFiles) (data any, stored vault.Runsheet, err error)

// New returns the handlers of this package's pages. showDocument renders the viewer page if a form
// on that page was rejected. readSheet reads runsheets.
func New(s *page.Site, showDocument documentHandler, readSheet sheetReader) *Pages {
	return &Pages{Site: s, showDocument: showDocument, work: titlework.New(s), readSheet: readSheet}
}

// Routes returns the routes of the pages.
func (p *Pages) Routes() []page.Route {
	return append(slices.Concat(p.fileRoutes(), p.viewRoutes(), p.folderRoutes()), []page.Route{
		page.NewRoute("GET /{$}", page.MayRead, p.dashboardPage),
		page.NewRoute("POST /undo", page.MayWrite, p.undoEdit),
		page.NewRoute("POST /undo/bulk", page.MayWrite, p.undoMany),
		page.NewRoute("POST /orders/bulk", page.MayWrite, p.changeOrders),
		page.NewRoute("POST /abstracts/bulk", page.MayWrite, p.changeAbstracts),
		page.NewRoute("POST /instruments/bulk", page.MayWrite, p.changeInstruments),
		page.NewRoute("GET /documents/latest", page.MayRead, p.latestDocumentsPart),
		page.NewRoute("GET /documents/failed", page.MayRead, p.failedPage),
		page.NewRoute("POST /me/orders-seen", page.SignedIn, p.markOrdersSeen),
		page.NewRoute("GET /find", page.MayRead, p.findPage),
		page.NewRoute("GET /find/box", page.MayRead, p.findBox),
		page.NewRoute("GET /find/recent", page.MayRead, p.findRecent),
		page.NewRoute("GET /find/how", page.MayRead, p.findHelpPage),
		page.NewRoute("POST /documents/retry", page.MayWrite, p.retryFailedDocuments),
		page.NewRoute("GET /orders", page.MayRead, p.orderListPage),
		page.NewRoute("POST /orders", page.MayWrite, p.createOrder),
		page.NewRoute("GET /orders/new", page.MayWrite, p.newOrderPage),
		page.NewRoute("GET /orders/number", page.MayRead, p.orderNumberPart),
		page.NewRoute("GET /orders/{id}", page.MayRead, p.orderPage),
		page.NewRoute("POST /orders/{id}", page.MayWrite, p.editOrder),
		page.NewRoute("POST /orders/{id}/status", page.MayWrite, p.setOrderStatus),
		page.NewRoute("POST /orders/{id}/assignment", page.MayWrite, p.assignOrder),
		page.NewRoute("POST /orders/{id}/trash", page.MayWrite, p.trashOrder),
		page.NewRoute("POST /orders/{id}/restore", page.MayWrite, p.restoreOrder),
		page.NewRoute("GET /orders/{id}/history", page.MayRead, p.orderHistoryPage),
		page.NewRoute("GET /orders/{id}/prior-searches", page.MayRead, p.priorToOrder),
		page.NewRoute("GET /documents/{n}/row", page.MayRead, p.documentRowPart),
		page.NewRoute("POST /documents/{n}/rename", page.MayWrite, p.renameDocument),
		page.NewRoute("POST /documents/{n}/trash", page.MayWrite, p.trashDocument),
		page.NewRoute("POST /documents/{n}/restore", page.MayWrite, p.restoreDocument),
		page.NewRoute("POST /documents/{n}/retry", page.MayWrite, p.retryDocument),
		page.NewRoute("GET /abstracts", page.MayRead, p.abstractListPage),
		page.NewRoute("POST /abstracts", page.MayWrite, p.createAbstract),
		page.NewRoute("GET /instruments", page.MayRead, p.instrumentListPage),
		page.NewRoute("GET /abstracts/new", page.MayWrite, p.newAbstractPage),
		page.NewRoute("POST /abstracts/new", page.MayWrite, p.newAbstractAgain),
		page.NewRoute("GET /abstracts/{id}", page.MayRead, p.abstractPage),
		page.NewRoute("POST /abstracts/{id}", page.MayWrite, p.editAbstract),
		page.NewRoute("POST /abstracts/{id}/status", page.MayWrite, p.setAbstractStatus),
		page.NewRoute("POST /abstracts/{id}/documents/sort", page.MayWrite, p.reorderDocuments),
		page.NewRoute("POST /abstracts/{id}/trash", page.MayWrite, p.trashAbstract),
		page.NewRoute("POST /abstracts/{id}/restore", page.MayWrite, p.restoreAbstract),
		page.NewRoute("GET /abstracts/{id}/history", page.MayRead, p.abstractHistory),
		page.NewRoute("GET /abstracts/{id}/prior-searches", page.MayRead, p.priorToAbstract),
		page.NewRoute("GET /abstracts/{id}/documents", page.MayRead, p.documentUpdates),
		page.NewRoute("GET /documents/move", page.MayRead, p.movePage),
		page.NewRoute("GET /documents/{n}/move", page.MayRead, p.movePage),
		page.NewRoute("POST /documents/move", page.MayWrite, p.moveDocuments),
		page.NewRoute("POST /documents/trash", page.MayWrite, p.trashDocuments),
	}...)
}

// folderRoutes returns the routes of folders.
func (p *Pages) folderRoutes() []page.Route {
	return []page.Route{
		page.NewRoute("GET /vault", page.MayRead, p.folderPage),
		page.NewRoute("POST /vault", page.MayWrite, p.createFolder),
		page.NewRoute("GET /vault/{n}", page.MayRead, p.folderPage),
		page.NewRoute("GET /vault/to-abstracts", page.MayWrite, p.toAbstractsPage),
		page.NewRoute("POST /vault/to-abstracts", page.MayWrite, p.moveToAbstract),
		page.NewRoute("GET /vault/{n}/to-abstracts", page.MayWrite, p.toAbstractsPage),
		page.NewRoute("POST /vault/{n}/to-abstracts", page.MayWrite, p.moveToAbstract),
		page.NewRoute("POST /vault/{n}/rename", page.MayWrite, p.renameFolder),
		page.NewRoute("POST /vault/{n}/move", page.MayWrite, p.moveFolder),
		page.NewRoute("POST /vault/{n}/remove", page.MayWrite, p.removeFolder),
	}
}

// viewRoutes returns the routes of columns and saved views.
func (p *Pages) viewRoutes() []page.Route {
	return []page.Route{
		page.NewRoute("POST /columns", page.MayRead, p.chooseColumns),
		page.NewRoute("POST /columns/widths", page.MayRead, p.chooseWidths),
		page.NewRoute("POST /views/{n}/start", page.SignedIn, p.setStart),
		page.NewRoute("POST /views", page.MayRead, p.saveView),
		page.NewRoute("POST /views/{n}", page.MayRead, p.changeView),
		page.NewRoute("POST /views/{n}/delete", page.MayRead, p.deleteView),
	}
}

// fileRoutes returns the routes that send lists as files.
func (p *Pages) fileRoutes() []page.Route {
	return slices.Concat(p.listFiles("/orders", func(r *page.Request) (*tableList, listReader, error) {
		list, reader, err := p.orders(r)
		if err != nil {
			return nil, nil, err
		}
		return &list.tableList, reader, nil
	}), p.listFiles("/abstracts", func(r *page.Request) (*tableList, listReader, error) {
		list, reader, err := p.abstracts(r)
		if err != nil {
			return nil, nil, err
		}
		return &list.tableList, reader, nil
	}), p.listFiles("/instruments", func(r *page.Request) (*tableList, listReader, error) {
		list, reader, err := p.instruments(r)
		if err != nil {
			return nil, nil, err
		}
		return &list.tableList, reader, nil
	}))
}

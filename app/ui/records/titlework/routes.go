package titlework

import (
	"deedkeep/app/ui/page"
)

// Routes returns the routes of the pages.
func (p *Pages) Routes() []page.Route {
	return []page.Route{
		page.NewRoute("GET /work", page.MayRead, p.workPage),
		page.NewRoute("GET /abstracts/{id}/progress", page.MayRead, p.progressPart),
		page.NewRoute("GET /abstracts/{id}/people", page.MayRead, p.peoplePage),
		page.NewRoute("POST /abstracts/{id}/people", page.MayWrite, p.savePeople),
		page.NewRoute("GET /abstracts/{id}/order-link", page.MayRead, p.orderPicker),
		page.NewRoute("POST /abstracts/{id}/order-link", page.MayWrite, p.linkOrder),
		page.NewRoute("GET /abstracts/{id}/names-run", page.MayRead, namesRun.page(p)),
		page.NewRoute("POST /abstracts/{id}/names-run", page.MayWrite, namesRun.save(p)),
		page.NewRoute("GET /abstracts/{id}/requirements", page.MayRead, requirements.page(p)),
		page.NewRoute("POST /abstracts/{id}/requirements", page.MayWrite, requirements.save(p)),
		page.NewRoute("GET /abstracts/{id}/certificates", page.MayRead, p.certificatesPage),
		page.NewRoute("POST /abstracts/{id}/certificates", page.MayWrite, p.certify),
		page.NewRoute("POST /abstracts/{id}/certificates/void", page.MayWrite, p.void),
		page.NewRoute("POST /abstracts/{id}/bring-down", page.MayWrite, p.bringDown),
		page.NewRoute("GET /abstracts/{id}/print", page.MayRead, p.printPage),
		page.NewRoute("GET /abstracts/{id}/notes", page.MayRead, p.notesOf("abstract")),
		page.NewRoute("POST /abstracts/{id}/notes", page.MayWrite, p.addNoteTo("abstract")),
		page.NewRoute("GET /orders/{id}/notes", page.MayRead, p.notesOf("order")),
		page.NewRoute("POST /orders/{id}/notes", page.MayWrite, p.addNoteTo("order")),
		page.NewRoute("GET /orders/{id}/abstract-link", page.MayRead, p.abstractPicker),
		page.NewRoute("POST /orders/{id}/abstract-link", page.MayWrite, p.linkAbstract),
		page.NewRoute("GET /documents/{n}/notes", page.MayRead, p.notesOf("file")),
		page.NewRoute("POST /documents/{n}/notes", page.MayWrite, p.addNoteTo("file")),
		page.NewRoute("GET /documents/{n}/areas", page.MayRead, p.areas),
		page.NewRoute("POST /notes/{n}", page.MayWrite, p.changeNote),
		page.NewRoute("POST /notes/{n}/delete", page.MayWrite, p.deleteNote),
		page.NewRoute("POST /notes/{n}/restore", page.MayWrite, p.restoreNote),
	}
}

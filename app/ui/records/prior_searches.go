package records

import (
	"net/http"

	"deedkeep/app/search"
	"deedkeep/app/ui/page"
	"deedkeep/app/ui/records/titlework"
)

// priorView is the template data of the prior searches of an order or an abstract
// (part-prior-searches.html).
type priorView struct {
	search.PriorSearches
	Path    string // address of the record
	Heading string // of the record
	Order   bool   // the record is an order
	OwnPage bool   // on the page of the prior searches, where its heading is that of the page
	Partial bool   // instruments and documents were not searched yet, so the page requests the rest
	Missing bool   // the prior searches can't be shown
}

// abstractIDs returns the IDs of the abstracts that are linked to an order.
func abstractIDs(linked []titlework.OrderAbstract) (ids []uint64) {
	for _, a := range linked {
		ids = append(ids, a.Abstract.ID)
	}
	return ids
}

// priorToAbstract serves the prior searches of an abstract.
func (p *Pages) priorToAbstract(r *page.Request) error {
	record, template, err := p.readAbstract(r)
	if err != nil {
		return err
	}
	view := priorView{Path: p.AbstractPath(record.Abstract.ID), Heading: p.App.Heading(record.Abstract, template)}
	view.Missing = p.App.Derive(r.Context(), search.PartPriorSearches, func() (err error) {
		view.PriorSearches, err = p.App.Search.PriorToAbstract(r.Context(), r.Actor, record.Abstract)
		return err
	})
	return p.showPrior(r, "abstracts", view)
}

// priorToOrder serves the prior searches of an order.
func (p *Pages) priorToOrder(r *page.Request) error {
	o, err := p.App.Orders.Get(r.Context(), r.PathID)
	if err != nil {
		return err
	}
	view := priorView{Path: p.OrderPath(o.ID), Heading: "Order " + o.Number, Order: true}
	view.Missing = p.App.Derive(r.Context(), search.PartPriorSearches, func() (err error) {
		view.PriorSearches, err = p.App.Search.PriorToOrder(r.Context(), r.Actor, o)
		return err
	})
	return p.showPrior(r, "orders", view)
}

func (p *Pages) showPrior(r *page.Request, section string, view priorView) error {
	if r.IsPart() {
		return p.RenderPart(r, http.StatusOK, "prior-searches.html", "prior-searches", view)
	}
	view.OwnPage = true
	return p.RenderPage(r, http.StatusOK, "prior-searches.html", page.Page{Heading: "Prior searches for " + view.Heading, Section: section,
		Data: view, Styles: []string{"record.css"}})
}

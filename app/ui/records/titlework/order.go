package titlework

import (
	"deedkeep/app/model"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

// OrderAbstract is an abstract that is linked to an order, for the page of the order.
type OrderAbstract struct {
	vault.AbstractWithFiles
	Path, Heading      string
	Searcher, Examiner string
	Due                model.Order // has the due date of the assignment and the status of the abstract
}

// OrderAbstracts returns the abstracts that are linked to an order, newest first.
func (p *Pages) OrderAbstracts(r *page.Request, order uint64) (list []OrderAbstract, err error) {
	abstracts, err := p.App.TitleWork.AbstractsOfOrder(r.Context(), order)
	if err != nil || len(abstracts) == 0 {
		return nil, err
	}
	staff, err := p.Staff(r.Context())
	if err != nil {
		return nil, err
	}
	for _, a := range abstracts {
		headings, err := p.App.Abstracts.Headings(r.Context(), a.Abstract)
		if err != nil {
			return nil, err
		}
		work, err := p.App.TitleWork.Get(r.Context(), a.Abstract.ID)
		if err != nil {
			return nil, err
		}
		list = append(list, OrderAbstract{AbstractWithFiles: a, Path: p.AbstractPath(a.Abstract.ID), Heading: headings[0],
			Searcher: staff.Name(work.Assignment.SearcherID), Examiner: staff.Name(work.Assignment.ExaminerID),
			Due: model.Order{DueDate: work.Assignment.DueDate, Status: a.Abstract.Status}})
	}
	return list, nil
}

// OrderNotes returns the notes about an order.
func (p *Pages) OrderNotes(r *page.Request, order uint64) (Notes, error) {
	return p.notes(r, noteRecord{"order", order})
}

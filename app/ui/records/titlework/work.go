package titlework

import (
	"context"
	"net/http"

	"deedkeep/app/model"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

// DeskRows is the number of abstracts that the dashboard shows of the user's own work.
const DeskRows = 10

// maxWorkRows is the maximum number of abstracts on the page of the user's own work.
const maxWorkRows = 500

// MyWork is the template data of the open abstracts that a user works on, by due date.
type MyWork struct {
	Rows []WorkRow
	More bool // there are others
}

// WorkRow is an abstract that a user works on.
type WorkRow struct {
	vault.AssignedAbstract
	Path, OrderPath string
	Part            string      // what the user does: search, examine, or both
	Due             model.Order // has the due date of the assignment and the status of the abstract
}

// LoadMyWork returns up to limit open abstracts that the visitor works on.
func LoadMyWork(ctx context.Context, p *page.Site, visitor page.Visitor, limit int) (view MyWork, err error) {
	if visitor.Kind != model.ActorUser {
		return view, nil
	}
	list, more, err := p.App.TitleWork.AssignedTo(ctx, visitor.ID, limit)
	view.More = more
	for _, a := range list {
		row := WorkRow{AssignedAbstract: a, Path: p.AbstractPath(a.Abstract.ID), Part: "Examiner",
			Due: model.Order{DueDate: a.Assignment.DueDate, Status: a.Abstract.Status}}
		switch a.Assignment.SearcherID {
		case a.Assignment.ExaminerID:
			row.Part = "Searcher and examiner"
		case visitor.ID:
			row.Part = "Searcher"
		}
		if a.Order.ID != 0 {
			row.OrderPath = p.OrderPath(a.Order.ID)
		}
		view.Rows = append(view.Rows, row)
	}
	return view, err
}

// workPage serves the page of the user's own work.
func (p *Pages) workPage(r *page.Request) error {
	view, err := LoadMyWork(r.Context(), p.Site, r.Visitor, maxWorkRows)
	if err != nil {
		return err
	}
	return p.RenderPage(r, http.StatusOK, "work.html", page.Page{Heading: "My work", Section: "desk", Data: view})
}

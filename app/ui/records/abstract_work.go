package records

import (
	"context"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

// Main views of an abstract's page.
const (
	runsheetView  = "runsheet"
	documentsView = "documents"
)

// abstractWork is the title work in the header of an abstract's page.
type abstractWork struct {
	Order              model.Order // zero value if the abstract has none
	Searcher, Examiner string      // names; "" if no one is assigned
	Due                model.Order // due date of the assignment, with the abstract's status
}

// Any reports whether there is anything to show.
func (w abstractWork) Any() bool {
	return w.Order.ID != 0 || w.Searcher != "" || w.Examiner != "" || w.Due.DueDate != ""
}

// addWork adds the order, people, and due date to the header of an abstract's page.
func (p *Pages) addWork(ctx context.Context, view *abstractView) error {
	work, err := p.Vault.TitleWork.Get(ctx, view.ID)
	if err != nil {
		return err
	}
	view.Work.Due = model.Order{DueDate: work.Assignment.DueDate, Status: view.Status}
	if work.OrderID != 0 {
		if view.Work.Order, err = p.Vault.Orders.Get(ctx, work.OrderID); err != nil &&
			errs.KindOf(err) != errs.NotFound { // it may be in the trash
			return err
		}
	}
	for _, person := range []struct {
		id   uint64
		name *string
	}{{work.Assignment.SearcherID, &view.Work.Searcher}, {work.Assignment.ExaminerID, &view.Work.Examiner}} {
		if person.id == 0 {
			continue
		}
		u, err := p.Vault.Users.Get(ctx, person.id)
		if err != nil && errs.KindOf(err) != errs.NotFound {
			return err
		}
		*person.name = u.Name
	}
	return nil
}

// addViews reads the runsheet and the documents of an abstract and selects which of them the page
// shows. Without a choice, it is the runsheet if there is one.
func (p *Pages) addViews(r *page.Request, view *abstractView, filed vault.AbstractWithFiles) (err error) {
	if view.Runsheet, view.RunsheetRows, err = p.readSheet(r, filed); err != nil {
		return err
	}
	query := r.URL.Query()
	switch {
	case query.Get("view") == runsheetView, query.Get("view") == documentsView:
		view.View = query.Get("view")
	case query.Has("page"), query.Has("rename"), view.RunsheetRows == 0:
		view.View = documentsView
	default:
		view.View = runsheetView
	}
	view.Documents, err = p.listDocuments(r, filed)
	return err
}

// scripts returns the scripts of the page.
func (s abstractView) scripts(mayWrite bool) []string {
	list := []string{"views.js"}
	if mayWrite {
		list = append(list, "sortable.min.js", "record.js")
	}
	switch {
	case s.View == runsheetView:
		list = append(list, "runsheet.js", "runsheetedit.js")
	case mayWrite:
		list = append(list, "abstract.js", "tus.min.js", "upload.js")
	}
	return list
}

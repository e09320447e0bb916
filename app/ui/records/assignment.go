package records

import (
	"net/url"
	"strconv"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/ui/page"
	"deedkeep/app/ui/records/titlework"
	"deedkeep/app/vault"
)

// Values of the parameter "assignee" besides the IDs of users.
const (
	assigneeMe   = "me"
	assigneeNone = "none"
)

// bulkTake is the value of the button that assigns records to the user.
const bulkTake = "take"

// assignOrder assigns an order to a user, to the visitor, or to no one.
func (p *Pages) assignOrder(r *page.Request) error {
	assignee := r.PostForm.Get("assignee")
	if r.PostForm.Get("do") == bulkTake {
		assignee = strconv.FormatUint(r.Visitor.ID, 10)
	}
	edits, err := p.App.Orders.Edit(r.Context(), r.Actor, r.PathID, model.OrderPatch{Fields: assigneeInput(assignee)})
	back := page.ReturnAddress(r, p.OrderPath(r.PathID))
	if errs.KindOf(err) == errs.Invalid {
		return p.RedirectWithFailure(r, back, "The order was not assigned. "+page.ErrorSentence(err))
	}
	if err != nil {
		return err
	}
	o, err := p.App.Orders.Get(r.Context(), r.PathID)
	if err != nil {
		return err
	}
	staff, err := p.work.Staff(r.Context())
	if err != nil {
		return err
	}
	notice, undo := "Order “"+o.Number+"” is assigned to no one.", ""
	if o.AssigneeID != 0 {
		notice = "Order “" + o.Number + "” assigned to " + staff.Name(o.AssigneeID) + "." + staff.AwayNote(o.AssigneeID)
	}
	for _, e := range edits {
		undo = p.EditUndo(r, e, 0)
	}
	return p.RedirectWithUndo(r, back, notice, undo)
}

// awayNote returns a sentence for each user to whom a form assigns records and who is away, after a space, or "".
func (p *Pages) awayNote(r *page.Request) string {
	var ids []uint64
	for _, name := range []string{"assignee", "searcher", "examiner"} {
		id, _ := strconv.ParseUint(r.PostForm.Get(name), 10, 63) // 0: no one
		ids = append(ids, id)
	}
	staff, err := p.work.Staff(r.Context())
	if err != nil {
		p.App.Log.Warn("can't read who is away", "error", err) // the records are changed already
	}
	return staff.AwayNote(ids...)
}

// assigneeInput returns the field that assigns an order to the user with an ID, or to no one.
func assigneeInput(id string) model.Inputs {
	if id == assigneeNone {
		id = ""
	}
	return model.Inputs{"assignee": model.StringInput(id)}
}

// filterAssignee adds the requested filter by assignee to q. visitor is the user whom "me" means.
func filterAssignee(asked url.Values, q *vault.Query, visitor uint64) {
	value := asked.Get("assignee")
	id, err := strconv.ParseUint(value, 10, 63)
	switch {
	case value == assigneeMe:
		id = visitor
	case value == assigneeNone:
		id = 0
	case err != nil || id == 0:
		asked.Del("assignee")
		return
	}
	q.Filters = append(q.Filters, assigneeFilter(id))
}

// assigneeFilter returns the filter for the orders of a user, or for those without an assignee if the ID is 0.
func assigneeFilter(id uint64) vault.Filter {
	if id == 0 {
		return vault.Filter{Column: model.ColumnAssignee}
	}
	return vault.Filter{Column: model.ColumnAssignee, Value: strconv.FormatUint(id, 10)}
}

// People returns the users by whom the list can be filtered: those who can work on orders, and the one that it is
// filtered by.
func (l orderList) People() []titlework.Person {
	id, _ := strconv.ParseUint(l.Asked.Get("assignee"), 10, 63) // 0: no one
	return l.Staff.Assignable(id)
}

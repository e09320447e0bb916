package titlework

import (
	"net/http"
	"strconv"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/ui/page"
)

// People is the template data of the order and the people of an abstract.
type People struct {
	section
	Order              model.Order // zero if the abstract isn't linked to a live order
	Linked             bool        // the abstract is linked to an order, which may be in the trash
	Assignment         model.Assignment
	Due                model.Order // has the due date of the assignment and the status of the abstract
	Searcher, Examiner string
	Prior, PriorPath   string   // the abstract that this one brings down
	PriorVoid          bool     // its certificate through the start of this search was voided
	NotTaken           []string // what stayed there
	Users              []Person
	Problems           map[string]string
	Theirs             string // the stored assignment, after another user changed it in the meantime
}

// LoadPeople returns the order and the people of an abstract.
func (p *Pages) LoadPeople(r *page.Request, a model.Abstract) (People, error) {
	s, err := p.sourceOf(r, a, model.Template{})
	if err != nil {
		return People{}, err
	}
	return p.people(r, s)
}

// Any reports whether the abstract has an order, people, or a due date.
func (p People) Any() bool {
	return p.Order.ID != 0 || p.Searcher != "" || p.Examiner != "" || p.Due.DueDate != ""
}

// people returns the order and the people of an abstract.
func (p *Pages) people(r *page.Request, s source) (view People, err error) {
	ctx, a := r.Context(), s.work.Assignment
	view = People{section: s.section("people", s.work.Versions.Assignment), Linked: s.work.OrderID != 0, Assignment: a}
	view.Due = model.Order{DueDate: a.DueDate, Status: s.abstract.Status}
	if view.Linked {
		if view.Order, err = p.App.Orders.Get(ctx, s.work.OrderID); err != nil && errs.KindOf(err) != errs.NotFound {
			return view, err
		}
	}
	if s.work.PriorID != 0 {
		prior, heading, err := p.App.Abstracts.WithHeading(ctx, s.work.PriorID)
		if err != nil && errs.KindOf(err) != errs.NotFound {
			return view, err
		}
		if err == nil {
			view.Prior, view.PriorPath, view.NotTaken = heading, p.AbstractPath(prior.Abstract.ID), s.work.NotTaken
			work, err := p.App.TitleWork.Get(ctx, prior.Abstract.ID)
			if err != nil {
				return view, err
			}
			view.PriorVoid = work.IsVoidThrough(s.abstract.Custom.Text(model.KeySearchFrom))
		}
	}
	staff, err := p.Staff(ctx)
	view.Users = staff.Assignable(a.SearcherID, a.ExaminerID)
	view.Searcher, view.Examiner = staff.Name(a.SearcherID), staff.Name(a.ExaminerID)
	return view, err
}

// OrderGone reports whether the linked order is in the trash.
func (p People) OrderGone() bool { return p.Linked && p.Order.ID == 0 }

func (p *Pages) showPeople(r *page.Request, status int, s source, view People) error {
	return p.show(r, status, s, "titlework_people", "Order, searcher, and examiner", view)
}

// peoplePage serves the order and the people of an abstract, or the form of the assignment.
func (p *Pages) peoplePage(r *page.Request) error {
	s, err := p.read(r)
	if err != nil {
		return err
	}
	view, err := p.people(r, s)
	if err != nil {
		return err
	}
	view.Editing, view.Focus = isEditing(r), r.IsPart()
	return p.showPeople(r, http.StatusOK, s, view)
}

// savePeople saves who works on an abstract and by when.
func (p *Pages) savePeople(r *page.Request) error {
	s, err := p.read(r)
	if err != nil {
		return err
	}
	form := r.PostForm
	members := model.Inputs{"searcher": model.StringInput(formText(form, "searcher", 0)),
		"examiner": model.StringInput(formText(form, "examiner", 0)),
		"due_date": model.StringInput(page.TypedDate("due_date", formText(form, "due_date", 0), p.LocalNow()))}
	work, err := p.App.TitleWork.SetAssignment(r.Context(), r.Actor, s.abstract.ID, members, match(r))
	if why, ok := rejected(err); ok {
		view, err := p.people(r, s)
		if err != nil {
			return err
		}
		view.Editing, view.Clash, view.Problems = true, why.clash, why.problems
		if why.clash {
			view.Theirs = view.summary()
		}
		view.Assignment = model.Assignment{SearcherID: formID(r, "searcher"), ExaminerID: formID(r, "examiner"),
			DueDate: page.TypedDate("due_date", formText(form, "due_date", 0), p.LocalNow())}
		return p.showPeople(r, why.status, s, view)
	}
	if err != nil {
		return err
	}
	staff, err := p.Staff(r.Context())
	if err != nil {
		return err
	}
	notice := "Searcher, examiner, and due date saved." + staff.AwayNote(newIn(work.Assignment, s.work.Assignment)...)
	undo := p.EditUndo(r, s.edit("assignment", work.Versions.Assignment), s.work.Versions.Assignment)
	if !r.IsPart() {
		return p.RedirectWithUndo(r, s.path+"#people", notice, undo)
	}
	s.work = work
	view, err := p.people(r, s)
	if err != nil {
		return err
	}
	p.setSaved(r, &view.section, notice, undo)
	changed(r)
	return p.showPeople(r, http.StatusOK, s, view)
}

// newIn returns the people who work on an abstract now and didn't before.
func newIn(now, before model.Assignment) (ids []uint64) {
	for _, id := range []uint64{now.SearcherID, now.ExaminerID} {
		if id != before.SearcherID && id != before.ExaminerID {
			ids = append(ids, id)
		}
	}
	return ids
}

// formID returns the ID in a form field, or 0 if there is none.
func formID(r *page.Request, name string) uint64 {
	id, err := strconv.ParseUint(r.PostForm.Get(name), 10, 63)
	if err != nil {
		return 0
	}
	return id
}

// summary describes the assignment in one line.
func (p People) summary() string {
	name := func(text string) string {
		if text == "" {
			return "none"
		}
		return text
	}
	return "Searcher: " + name(p.Searcher) + ". Examiner: " + name(p.Examiner) + ". Due: " + name(page.FormatDate(p.Assignment.DueDate)) + "."
}

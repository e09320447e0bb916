package records

import (
	"crypto/rand"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/ui/page"
	"deedkeep/app/ui/records/titlework"
	"deedkeep/app/vault"
)

// abstractForm is the template data of the form for a new abstract.
type abstractForm struct {
	Templates []model.Template // templates available for new abstracts
	Template  model.Template   // selected template; zero value if there is none
	Property  []page.Input
	Fields    []page.Input
	Once      string             // identifies this form, so that submitting it twice creates only one abstract
	Wrong     []page.Input       // inputs with invalid values, for the list of problems
	Order     model.Order        // order that the abstract is for, whose values prefill the form; zero value if there is none
	From      string             // opaque ID of that order
	Due       []page.Input       // due date of the assignment, if there is an order
	People    []titlework.Person // who can be the searcher, if there is an order
	Searcher  uint64
	Problems  map[string]string // of the searcher
	Unmatched string            // product of the order if the template has no such search type
	Bare      bool              // the submitted form was blank: submitting it again creates the abstract anyway
	Problem   string            // a problem that doesn't belong to a field
}

// newAbstractPage shows the form for the template in the query or, if there is none, for the
// default template.
func (p *Pages) newAbstractPage(r *page.Request) error {
	form := r.URL.Query()
	form.Set("once", rand.Text())
	return p.showNewAbstract(r, form)
}

// newAbstractAgain shows the form with the submitted values after the user selected another
// template.
func (p *Pages) newAbstractAgain(r *page.Request) error {
	return p.showNewAbstract(r, r.PostForm)
}

// showNewAbstract shows the form, prefilled from the order that the form refers to.
func (p *Pages) showNewAbstract(r *page.Request, form url.Values) error {
	order, err := p.sourceOrder(r, form)
	if err != nil {
		return err
	}
	if order.ID != 0 {
		templates, err := p.App.Templates.List(r.Context())
		if err != nil {
			return err
		}
		if !form.Has("template") {
			if match, found := order.MatchingTemplate(templates); found {
				form.Set("template", strconv.FormatUint(match.ID, 10))
			}
		}
		form = prefillFromOrder(form, order, model.ChooseTemplate(templates, templateOf(form)))
	}
	return p.renderNewAbstract(r, http.StatusOK, form, nil)
}

func (p *Pages) renderNewAbstract(r *page.Request, status int, form url.Values, rejected map[string]string) error {
	view := abstractForm{Once: form.Get("once"), From: form.Get("order")}
	var err error
	if view.Order, err = p.sourceOrder(r, form); err != nil && errs.KindOf(err) != errs.NotFound { // the order may be in the trash now
		return err
	}
	if view.Templates, err = p.App.Templates.List(r.Context()); err != nil {
		return err
	}
	view.Template = model.ChooseTemplate(view.Templates, templateOf(form))
	view.Property = page.SubmittedFieldInputs(model.Abstract{}.FieldValues(), form, rejected, p.LocalNow())
	view.Fields = page.SubmittedInputs(view.Template.Fields, form, rejected, p.LocalNow())
	view.Problem, view.Bare = rejected["template_id"], rejected[confirmBlankField] != ""
	switch {
	case view.Order.ID != 0:
		staff, err := p.work.Staff(r.Context())
		if err != nil {
			return err
		}
		view.addOrder(form, rejected, p.LocalNow())
		view.People = staff.Assignable()
	case view.From != "":
		view.From, view.Problem = "", "The order was deleted. If you continue, the abstract is created without an order."
	}
	for _, list := range [][]page.Input{view.Property, view.Fields} {
		for i := range list {
			list[i].Fresh = true
		}
	}
	if err := p.offerUsed(r, view.Property, view.Fields); err != nil {
		return err
	}
	view.Wrong = wrongInputs(view.Due, view.Property, view.Fields)
	if r.IsPart() {
		return p.RenderPart(r, status, "abstract-new.html", "form", view)
	}
	return p.RenderPage(r, status, "abstract-new.html", page.Page{Heading: "New abstract", Section: "abstracts", Data: view})
}

// addOrder adds what the form shows about the order that the abstract is for.
func (a *abstractForm) addOrder(form url.Values, rejected map[string]string, now time.Time) {
	due := page.Input{Name: "due_date", Label: "Due date", Type: model.Date,
		Values: page.SubmittedValues(model.Date, "due_date", form["due_date"], now)}
	due.Problem = rejected["due_date"]
	a.Due = []page.Input{due}
	markCarriedOver(a.Order, a.Template, a.Due, a.Property, a.Fields)
	a.Problems, a.Searcher = rejected, a.Order.AssigneeID
	if form.Has("searcher") {
		a.Searcher, _ = strconv.ParseUint(form.Get("searcher"), 10, 63) // 0: no one
	}
	a.Unmatched = a.Order.UnmatchedProduct(a.Template)
}

// CarriedSearcher reports whether the selected searcher is the assignee of the order.
func (a abstractForm) CarriedSearcher() bool {
	isSearcher := func(person titlework.Person) bool { return person.ID == a.Searcher && a.Searcher == a.Order.AssigneeID }
	return slices.ContainsFunc(a.People, isSearcher)
}

// templateOf returns the ID of the template that a form selects, or 0 for the default template.
func templateOf(form url.Values) uint64 {
	id, _ := strconv.ParseUint(form.Get("template"), 10, 63)
	return id
}

// confirmBlankField is the name of the form field that confirms the creation of a blank abstract.
const confirmBlankField = "bare"

// createAbstract creates an abstract. If it is for an order, the order is linked at the same time. If
// the same form is submitted twice, the second request redirects to the abstract that the first one
// created.
func (p *Pages) createAbstract(r *page.Request) error {
	form := r.PostForm
	templates, err := p.App.Templates.List(r.Context())
	if err != nil {
		return err
	}
	template := model.ChooseTemplate(templates, templateOf(form))
	if old := page.EarlyDateProblems(page.SubmittedInputs(template.Fields, form, nil, p.LocalNow()), form); len(old) > 0 {
		return p.renderNewAbstract(r, http.StatusUnprocessableEntity, form, old)
	}
	if isBlankForm(form, template, p.LocalNow()) && form.Get(confirmBlankField) == "" {
		return p.renderNewAbstract(r, http.StatusUnprocessableEntity, form, map[string]string{confirmBlankField: "empty"})
	}
	order, err := p.sourceOrder(r, form)
	if errs.KindOf(err) == errs.NotFound {
		return p.renderNewAbstract(r, http.StatusUnprocessableEntity, form, nil)
	}
	if err != nil {
		return err
	}
	staged, err := p.App.Files.Stage(r.Context())
	if err != nil {
		return err
	}
	defer staged.Discard()
	draft := abstractDraft(form, template, p.LocalNow())
	return createRecord(p, r, "Abstract created. Drop documents anywhere on this page to upload them.",
		func(created vault.AbstractWithFiles) string { return p.AbstractPath(created.Abstract.ID) },
		func(idempotency vault.Idempotency[vault.AbstractWithFiles]) (vault.AbstractWithFiles, error) {
			if order.ID == 0 {
				return p.App.Abstracts.Create(r.Context(), r.Actor, draft, staged, idempotency)
			}
			members := model.Inputs{"due_date": model.StringInput(page.TypedDate("due_date", form.Get("due_date"), p.LocalNow()))}
			if form.Has("searcher") {
				members["searcher"] = model.StringInput(form.Get("searcher"))
			}
			return p.App.TitleWork.CreateForOrder(r.Context(), r.Actor, order.ID, draft, members, staged, idempotency)
		}, p.renderNewAbstract)
}

// abstractDraft returns the abstract that a form describes.
func abstractDraft(form url.Values, template model.Template, now time.Time) model.AbstractDraft {
	return model.AbstractDraft{
		TemplateID: model.NewIDInput(templateOf(form)),
		Fields:     page.SubmittedFields(model.Abstract{}.FieldValues(), form, now),
		Custom:     page.SubmittedCustom(template.Fields, form, now),
	}
}

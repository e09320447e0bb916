package ui

import (
	"crypto/rand"
	"errors"
	"net/http"
	"net/url"
	"strconv"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/vault"
)

// newAbstract is the form of a new abstract.
type newAbstract struct {
	Templates []model.Template // that new abstracts may use
	Template  model.Template   // the one chosen; the zero one where there is none
	Property  []input
	Fields    []input
	Once      string      // of this form: sent twice, it makes one abstract
	Wrong     []input     // what was refused, for a list of links
	Order     model.Order // that it begins with; the zero one where there is none
	From      string      // that order, in the form
	Bare      bool        // nothing was typed: the next press makes it so
	Problem   string      // what is wrong with no field of the form
}

// propertyLabels are the fields of every abstract, in the order of a form.
var propertyLabels = []struct{ name, label string }{
	{"address", "Street address"}, {"city", "City"}, {"county", "County"}, {"state", "State"}, {"tax_map", "Parcel or tax map number"},
}

// propertyInputs are those fields with what they hold.
func propertyInputs(value func(name string) string, refused map[string]string) []input {
	var list []input
	for _, f := range propertyLabels {
		in := newLine(f.name, f.label, value(f.name))
		in.Problem = refused[f.name]
		list = append(list, in)
	}
	return list
}

// newAbstractPage shows the form for the template of the address, or the default one.
func (p *pages) newAbstractPage(w http.ResponseWriter, r *http.Request, who visitor) error {
	form := r.URL.Query()
	form.Set("once", rand.Text())
	return p.newAbstractFrom(w, r, who, form)
}

// newAbstractAgain shows the form as it was filled in, for another template.
func (p *pages) newAbstractAgain(w http.ResponseWriter, r *http.Request, who visitor) error {
	return p.newAbstractFrom(w, r, who, r.PostForm)
}

// newAbstractFrom shows the form, with what the order says that it names.
func (p *pages) newAbstractFrom(w http.ResponseWriter, r *http.Request, who visitor, form url.Values) error {
	order, err := p.orderOf(r, form)
	if err != nil {
		return err
	}
	if order.ID != 0 {
		form = filledFrom(form, order)
	}
	return p.newAbstractForm(w, r, who, http.StatusOK, form, nil)
}

func (p *pages) newAbstractForm(w http.ResponseWriter, r *http.Request, who visitor, status int, form url.Values, refused map[string]string) error {
	made := newAbstract{Once: form.Get("once"), From: form.Get("order")}
	var err error
	if made.Order, err = p.orderOf(r, form); err != nil && errs.KindOf(err) != errs.NotFound { // it may be in the trash meanwhile
		return err
	}
	if made.Templates, err = p.Vault.Templates.List(r.Context()); err != nil {
		return err
	}
	made.Template = chosenTemplate(made.Templates, form.Get("template"))
	made.Property = propertyInputs(form.Get, refused)
	made.Fields = typed(made.Template.Fields, form, refused)
	for _, list := range [][]input{made.Property, made.Fields} {
		for i := range list {
			list[i].Fresh = true
			if list[i].Problem != "" {
				list[i].Focus = len(made.Wrong) == 0
				made.Wrong = append(made.Wrong, list[i])
			}
		}
	}
	made.Problem, made.Bare = refused["template_id"], refused[bareForm] != ""
	if isPart(r) {
		return p.part(w, r, who, status, "abstractnew.html", "form", made)
	}
	return p.show(w, r, who, status, "abstractnew.html", page{Heading: "New abstract", Section: "abstracts", Data: made})
}

// chosenTemplate is the one of a number, else the default, else the first.
func chosenTemplate(list []model.Template, number string) (chosen model.Template) {
	for i, t := range list {
		if strconv.FormatUint(t.ID, 10) == number {
			return t
		}
		if i == 0 || t.Default {
			chosen = t
		}
	}
	return chosen
}

// bareForm is the field by which somebody says that an abstract is made with nothing
// filled in.
const bareForm = "bare"

// createAbstract makes it. A form that was sent twice leads to what it made at first.
func (p *pages) createAbstract(w http.ResponseWriter, r *http.Request, who visitor) error {
	form := r.PostForm
	templates, err := p.Vault.Templates.List(r.Context())
	if err != nil {
		return err
	}
	template := chosenTemplate(templates, form.Get("template"))
	if old := oldDates(typed(template.Fields, form, nil), form); len(old) > 0 {
		return p.newAbstractForm(w, r, who, http.StatusUnprocessableEntity, form, old)
	}
	if nothingTyped(form, template) && form.Get(bareForm) == "" {
		return p.newAbstractForm(w, r, who, http.StatusUnprocessableEntity, form, map[string]string{bareForm: "empty"})
	}
	tray, err := p.Vault.Files.NewTray(r.Context())
	if err != nil {
		return err
	}
	defer tray.Discard()
	line := func(name string) model.Input { return model.StringInput(form.Get(name)) }
	number, _ := strconv.ParseInt(form.Get("template"), 10, 64) // none: the default one
	keep := once(who, form, "/abstracts", func(made vault.Filed) string { return p.abstractPath(made.Abstract.ID) })
	made, err := p.Vault.Abstracts.Create(r.Context(), who.Actor, model.AbstractDraft{
		TemplateID:    model.IDInput{Present: number > 0, Valid: true, Value: number},
		Custom:        sentCustom(template.Fields, form),
		PropertyDraft: model.PropertyDraft{Address: line("address"), City: line("city"), County: line("county"), State: line("state")},
		TaxMap:        line("tax_map"),
	}, tray, keep)
	if errors.Is(err, vault.ErrKept) {
		replay, found, err := p.Vault.Replay(r.Context(), keep.Slot)
		if err != nil || !found {
			return errors.Join(err, absentPath(r))
		}
		redirect(w, r, local(replay.Header["Location"]))
		return nil
	}
	if named, ok := errors.AsType[*errs.Error](err); ok && named.Kind == errs.Invalid {
		return p.newAbstractForm(w, r, who, http.StatusUnprocessableEntity, form, problems(named.Fields))
	}
	if err != nil {
		return err
	}
	return p.see(w, r, p.abstractPath(made.Abstract.ID), "The abstract is made. Drop its documents anywhere on this page.")
}

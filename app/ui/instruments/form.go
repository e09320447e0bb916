package instruments

import (
	"context"
	"net/http"
	"net/url"
	"slices"

	"deedkeep/app/model"
	"deedkeep/app/ui/instrumentform"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

// formPage is the template data of the page with the form of an instrument.
type formPage struct {
	*instrumentform.Form
	Path     string // address that the form is sent to
	Sheet    string // address of the runsheet
	Abstract string // heading of the abstract
	Notes    []instrumentform.Note
}

// newForm returns the form for an instrument of an abstract. A new instrument has the abstract's county
// and state.
func (p *Pages) newForm(ctx context.Context, i vault.InstrumentView) (form formPage, err error) {
	work, err := p.App.Instruments.Work(ctx, i.AbstractID)
	if err != nil {
		return form, err
	}
	c := instrumentform.Context{Sheet: work.Sheet, Now: p.LocalNow()}
	for _, f := range work.Files {
		c.Documents = append(c.Documents, instrumentform.Choice{Value: formatID(f.ID), Label: f.Filename})
	}
	reader := p.newDocumentReader(work)
	for _, link := range i.Documents {
		if slices.ContainsFunc(work.Files, func(f model.File) bool { return f.ID == link.FileID }) {
			continue
		}
		other, err := reader.read(ctx, link.FileID)
		if err != nil {
			return form, err
		}
		if other.Name != "" {
			c.Documents = append(c.Documents, instrumentform.Choice{Value: formatID(link.FileID),
				Label: other.Name + " (not in this abstract)"})
		}
	}
	form = formPage{Sheet: p.AbstractPath(i.AbstractID), Abstract: work.Heading, Path: page.InstrumentPath(i.ID)}
	if i.ID == 0 {
		i.County, i.State, form.Path = work.Abstract.County, work.Abstract.State, p.AbstractPath(i.AbstractID)+"/instruments"
	}
	form.Form = instrumentform.New(instrumentform.OnPage, i, c)
	form.Notes, err = instrumentform.Notes(ctx, p.Site, i.ID, 0)
	return form, err
}

// newInstrumentPage shows the form for a new instrument. Values in the query prefill it; "documents" is
// the ID of a document that contains the instrument.
func (p *Pages) newInstrumentPage(r *page.Request) error {
	form, err := p.newForm(r.Context(), vault.InstrumentView{Instrument: model.Instrument{AbstractID: r.PathID}})
	if err != nil {
		return err
	}
	for name, values := range r.URL.Query() {
		form.Fill(name, values[0])
	}
	form.Focus()
	return p.showForm(r, http.StatusOK, "New instrument", form)
}

func (p *Pages) showForm(r *page.Request, status int, heading string, form formPage) error {
	return p.RenderPage(r, status, "instrument.html", page.Page{
		Heading: heading, Section: "abstracts", Data: form,
		Scripts: []string{"record.js", "instrument.js"}, Styles: []string{"record.css", "runsheet.css"},
	})
}

// createInstrument adds an instrument from the form. If the same form is submitted twice, the second
// request redirects as the first one did.
func (p *Pages) createInstrument(r *page.Request) error {
	form, err := p.newForm(r.Context(), vault.InstrumentView{Instrument: model.Instrument{AbstractID: r.PathID}})
	if err != nil {
		return err
	}
	form.Once = r.PostForm.Get("once")
	patch := form.Merge(r.PostForm)
	if form.Asks() {
		form.Focus()
		return p.showForm(r, http.StatusUnprocessableEntity, "New instrument", form)
	}
	if r.PostForm.Get(instrumentform.Answer) == instrumentform.AddToDuplicate {
		id, notice, undo, err := instrumentform.AddTo(p.Site, r, r.PathID, 0, patch)
		if err != nil {
			return err
		}
		return p.RedirectWithUndo(r, p.afterSaving(r, model.Instrument{ID: id, AbstractID: r.PathID}), notice, undo)
	}
	pathOf := func(created vault.InstrumentView) string { return p.afterSaving(r, created.Instrument) }
	err = page.CreateRecord(p.Site, r, "Instrument added.", pathOf, createUndo,
		func(once vault.Idempotency[vault.InstrumentView]) (vault.InstrumentView, error) {
			return p.App.Instruments.Create(r.Context(), r.Actor, r.PathID, patch, once)
		},
		func(r *page.Request, status int, _ url.Values, rejected map[string]string) error {
			form.SetProblems(rejected)
			return p.showForm(r, status, "New instrument", form)
		})
	if form.AsksDuplicate(r, patch, err) {
		return p.showForm(r, http.StatusUnprocessableEntity, "New instrument", form)
	}
	return err
}

// afterSaving returns the address of the page after an instrument was saved.
func (p *Pages) afterSaving(r *page.Request, i model.Instrument) string {
	if instrumentform.Then(r) == "new" {
		return p.AbstractPath(i.AbstractID) + "/instruments/new"
	}
	return p.rowPath(i)
}

// editInstrumentPage shows the form of an instrument.
func (p *Pages) editInstrumentPage(r *page.Request) error {
	i, err := p.App.Instruments.Get(r.Context(), r.PathID)
	if err != nil {
		return err
	}
	form, err := p.newForm(r.Context(), i)
	if err != nil {
		return err
	}
	form.Focus()
	return p.showForm(r, http.StatusOK, i.Heading(i.Type), form)
}

// saveInstrument saves the form of an instrument, or shows it again with problems or conflicts.
func (p *Pages) saveInstrument(r *page.Request) error {
	var form formPage
	var heading string
	var was uint64
	saved, again, status, err := instrumentform.Save(p.Site, r, func() (*instrumentform.Form, error) {
		i, err := p.App.Instruments.Get(r.Context(), r.PathID)
		if err != nil {
			return nil, err
		}
		form, err = p.newForm(r.Context(), i)
		heading, was = i.Heading(i.Type), i.Version
		return form.Form, err
	})
	switch {
	case err != nil:
		return err
	case again != nil:
		return p.showForm(r, status, heading, form)
	}
	undo := p.EditUndo(r, vault.Edit{Type: "instrument", ID: saved.ID, Version: saved.Version}, was)
	return p.RedirectWithUndo(r, p.afterSaving(r, saved.Instrument), "Instrument saved.", undo)
}

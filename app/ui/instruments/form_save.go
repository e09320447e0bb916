package instruments

import (
	"crypto/rand"
	"errors"
	"net/http"
	"net/url"
	"strconv"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

// parseID parses an ID, and returns 0 if text isn't one.
func parseID(text string) uint64 {
	id, err := strconv.ParseUint(text, 10, 63)
	if err != nil {
		return 0
	}
	return id
}

// eachField calls do for each field of the form.
func eachField(do func(fieldSpec)) {
	for _, group := range fieldGroups {
		for _, spec := range group.fields {
			do(spec)
		}
	}
}

// newInstrumentPage shows the form for a new instrument. Values in the query prefill it; "documents"
// is the ID of a document that contains the instrument.
func (p *Pages) newInstrumentPage(r *page.Request) error {
	d, err := p.readFormData(r.Context(), r.PathID, nil)
	if err != nil {
		return err
	}
	values := map[string]string{"county": d.filed.Abstract.County, "state": d.filed.Abstract.State}
	query := r.URL.Query()
	eachField(func(spec fieldSpec) {
		if query.Has(spec.name) && spec.name != fieldRelations {
			values[spec.name] = query.Get(spec.name)
		}
	})
	return p.showNew(r, http.StatusOK, d, values, rand.Text(), nil)
}

// showNew shows the form for a new instrument.
func (p *Pages) showNew(r *page.Request, status int, d formData, values map[string]string, once string, rejected map[string]string) error {
	view := d.newForm(0, values, rejected)
	view.Path, view.Once = p.AbstractPath(d.filed.Abstract.ID)+"/instruments", once
	return p.showForm(r, status, "New instrument", d, view)
}

func (p *Pages) showForm(r *page.Request, status int, heading string, d formData, view instrumentForm) error {
	view.Sheet = p.sheetPath(d.filed.Abstract.ID)
	view.markWrong()
	return p.RenderPage(r, status, "instrument.html", page.Page{
		Heading: heading, Section: "abstracts", Data: view, Scripts: []string{"record.js",
			"instrument.js"}, Styles: []string{"record.css", "runsheet.css"},
	})
}

// createInstrument adds an instrument from the form. If the same form is submitted twice, the second
// request redirects as the first one did.
func (p *Pages) createInstrument(r *page.Request) error {
	values := map[string]string{}
	eachField(func(spec fieldSpec) {
		if value, sent := submittedValue(spec, r.PostForm); sent && spec.name != fieldPosition {
			values[spec.name] = value
		}
	})
	idempotency := page.FormIdempotency(r, "", func(created vault.InstrumentView) string { return p.afterSaving(r, created.Instrument) })
	created, err := p.Vault.Instruments.Create(r.Context(), r.Actor, r.PathID, patchOf(values), idempotency)
	domainErr, ok := errors.AsType[*errs.Error](err)
	switch {
	case errors.Is(err, vault.ErrAlreadyProcessed):
		stored, found, err := p.Vault.StoredResponse(r.Context(), idempotency.KeyHash)
		if err != nil || !found {
			return errors.Join(err, page.NotFound(r))
		}
		return r.Redirect(page.LocalAddress(stored.Header["Location"]))
	case ok && domainErr.Kind == errs.Invalid:
		d, err := p.readFormData(r.Context(), r.PathID, nil)
		if err != nil {
			return err
		}
		return p.showNew(r, http.StatusUnprocessableEntity, d, values, r.PostForm.Get("once"), page.FieldProblems(domainErr.Fields))
	case err != nil:
		return err
	}
	return p.RedirectWithNotice(r, p.afterSaving(r, created.Instrument), "Instrument added.")
}

// afterSaving returns the address of the page after an instrument was saved.
func (p *Pages) afterSaving(r *page.Request, i model.Instrument) string {
	if r.PostForm.Get("then") == "new" {
		return p.AbstractPath(i.AbstractID) + "/instruments/new"
	}
	return p.rowPath(i)
}

// editInstrumentPage shows the form of an instrument.
func (p *Pages) editInstrumentPage(r *page.Request) error {
	i, err := p.Vault.Instruments.Get(r.Context(), r.PathID)
	if err != nil {
		return err
	}
	d, err := p.readFormData(r.Context(), i.AbstractID, i.Documents)
	if err != nil {
		return err
	}
	merged := mergeForm(i, nil)
	return p.showEdit(r, http.StatusOK, i, d, merged, nil)
}

// showEdit shows the form of an instrument with the values of a merged form.
func (p *Pages) showEdit(r *page.Request, status int, i vault.InstrumentView, d formData, merged mergedForm,
	rejected map[string]string) error {
	view := d.newForm(i.ID, merged.values, rejected)
	view.Path = page.InstrumentPath(i.ID)
	if len(merged.clashes) > 0 {
		view.Conflict = true
		log, err := p.events(r)
		if err != nil {
			return err
		}
		for _, in := range view.inputs() {
			if theirs, clash := merged.clashes[in.Name]; clash {
				fields := []string{in.Name}
				in.Clash, in.Theirs = true, page.Truncate(d.shownValue(in.Name, theirs), 300)
				in.Others = p.changedText(log, in.Theirs, fields...)
			}
		}
	}
	for _, in := range view.inputs() {
		in.Was = merged.was[in.Name]
	}
	return p.showForm(r, status, i.Heading(i.Type), d, view)
}

// shownValue returns another user's value of a field as shown next to a conflict.
func (d formData) shownValue(field, value string) string {
	switch field {
	case fieldType:
		t, _ := d.types.ByID(parseID(value))
		return t.Name
	case fieldStatus:
		return page.FormatStatus(value)
	case fieldRelations, fieldDocuments:
		return "another list"
	case "consideration":
		return page.FormatValues(model.Money, []string{value})
	}
	return value
}

// mergedForm is a submitted form, merged with the stored values.
type mergedForm struct {
	values  map[string]string // what the form shows
	changed map[string]string // what is saved
	clashes map[string]string // stored values of fields that both this user and another user changed
	was     map[string]string // fingerprints of the stored values
}

// mergeForm compares a form with the stored values, field by field. A field counts as unchanged if its
// fingerprint is the same as when the form was rendered. Without a form, it returns the stored values.
func mergeForm(i vault.InstrumentView, form url.Values) mergedForm {
	m := mergedForm{map[string]string{}, map[string]string{}, map[string]string{}, map[string]string{}}
	eachField(func(spec fieldSpec) {
		by := func(value string) string { return page.Fingerprint(spec.inputKind(), []string{value}) }
		stored := storedValue(i, spec.name)
		m.values[spec.name], m.was[spec.name] = stored, by(stored)
		mine, sent := submittedValue(spec, form)
		was := form.Get("was." + spec.name)
		switch {
		case !sent || by(mine) == by(stored), was == by(mine), form.Get("pick."+spec.name) == "theirs":
		case was != "" && was != by(stored):
			m.values[spec.name], m.clashes[spec.name] = mine, stored
		default:
			m.values[spec.name], m.changed[spec.name] = mine, mine
		}
	})
	return m
}

// saveInstrument saves the form of an instrument. If other users changed fields that this form doesn't
// change, their values are kept. If both changed the same field, the form is shown again with both
// values, and the user has to choose.
func (p *Pages) saveInstrument(r *page.Request) error {
	for tries := 1; ; tries++ {
		i, err := p.Vault.Instruments.Get(r.Context(), r.PathID)
		if err != nil {
			return err
		}
		merged, status, rejected := mergeForm(i, r.PostForm), http.StatusPreconditionFailed, map[string]string(nil)
		if len(merged.clashes) == 0 {
			saved, err := p.Vault.Instruments.Patch(r.Context(), r.Actor, i.ID, patchOf(merged.changed), matchVersion(i.Version))
			domainErr, ok := errors.AsType[*errs.Error](err)
			switch {
			case ok && domainErr.Kind == errs.PreconditionFailed && tries < maxRetries:
				continue
			case ok && domainErr.Kind == errs.Invalid:
				status, rejected = http.StatusUnprocessableEntity, page.FieldProblems(domainErr.Fields)
			case err != nil:
				return err
			default:
				return p.RedirectWithNotice(r, p.afterSaving(r, saved.Instrument), "Instrument saved.")
			}
		}
		d, err := p.readFormData(r.Context(), i.AbstractID, i.Documents)
		if err != nil {
			return err
		}
		return p.showEdit(r, status, i, d, merged, rejected)
	}
}

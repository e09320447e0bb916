package documents

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"strconv"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/ui/instrumentform"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

// Values of the form field "then": the action after an instrument is saved.
const (
	thenNext    = "next"    // the next instrument that the document describes, or else one of the next document; the default
	thenAnother = "another" // another new instrument of this document
	thenStay    = "stay"    // the same instrument
)

// instrumentSaver saves the form of the panel.
type instrumentSaver struct {
	*Pages
	r     *page.Request
	s     *viewerData
	then  string
	shown int // page that the viewer shows; 0 if unknown
}

// notInAbstract is the message for an instrument of a document in a folder.
const notInAbstract = "This document is not in an abstract. Move it to an abstract, then add its instruments."

const nothingEntered = "Nothing was entered, so no instrument was created."

// saveInstrument creates or changes an instrument of a document.
func (p *Pages) saveInstrument(r *page.Request) error {
	s, err := p.viewerOf(r, true)
	if err != nil {
		return err
	}
	if s.File.AbstractID == 0 {
		return &errs.Error{Kind: errs.Conflict, Message: notInAbstract}
	}
	save := &instrumentSaver{Pages: p, r: r, s: s, then: cmp.Or(instrumentform.Then(r), thenNext)}
	save.shown, _ = strconv.Atoi(r.PostForm.Get("shown")) // 0 if unknown
	r.PostForm.Del("shown")                               // a repeated form stays the same if the user turned a page
	id, _ := strconv.ParseUint(r.PostForm.Get("instrument"), 10, 63)
	if id == 0 {
		return save.create()
	}
	return save.change(id)
}

// create records a new instrument. If nothing was entered, it records none.
func (is *instrumentSaver) create() error {
	form := is.form(vault.InstrumentView{})
	patch := form.Merge(is.r.PostForm)
	form.Once = is.r.PostForm.Get("once")
	if form.Part == nil {
		form.Start, _ = strconv.Atoi(is.r.PostForm.Get("start")) // 0 if it isn't a packet
	}
	delete(patch.Input, "documents")
	if len(patch.Input) == 0 {
		if is.then == thenNext && form.Part != nil && form.Part.Next > 0 {
			return is.stay(panelState{saved: nothingEntered, blank: true, focus: true, start: form.Part.Next})
		}
		if is.then != thenNext || is.s.Next == nil {
			form.Problem = "Enter at least one field."
			form.Focus()
			return is.reject(http.StatusUnprocessableEntity, form)
		}
		return is.leave(nothingEntered, "")
	}
	if form.Asks() {
		form.Focus()
		return is.reject(http.StatusUnprocessableEntity, form)
	}
	pages := is.assignPages(form)
	patch.Input["documents"] = model.RowsInput([]model.DocumentLink{{FileID: is.s.File.ID, Pages: pages}})
	if is.r.PostForm.Get(instrumentform.Answer) == instrumentform.AddToDuplicate {
		return is.addToDuplicate(patch)
	}
	once := page.FormIdempotency(is.r, "", func(vault.InstrumentView) string { return is.s.PanelView() })
	created, err := is.App.Instruments.Create(is.r.Context(), is.r.Actor, is.s.File.AbstractID, patch, once)
	domainErr, ok := errors.AsType[*errs.Error](err)
	switch {
	case errors.Is(err, vault.ErrAlreadyProcessed):
		return is.follow(vault.InstrumentView{}, "This instrument was already saved.", "")
	case ok && domainErr.Kind == errs.Invalid:
		form.SetProblems(page.FieldProblems(domainErr.Fields))
		return is.reject(http.StatusUnprocessableEntity, form)
	case form.AsksDuplicate(is.r, patch, err):
		return is.reject(http.StatusUnprocessableEntity, form)
	case err != nil:
		return err
	}
	return is.follow(created, created.Heading(created.Type)+" saved.", createUndo(is.s.File.ID, created))
}

// addToDuplicate adds the document to the instrument that the form repeats.
func (is *instrumentSaver) addToDuplicate(patch vault.InstrumentPatch) error {
	id, notice, undo, err := instrumentform.AddTo(is.Site, is.r, is.s.File.AbstractID, is.s.File.ID, patch)
	if err != nil {
		return err
	}
	if err := is.reload(); err != nil {
		return err
	}
	i, _ := is.s.Sheet.Find(id) // or else it was deleted in the meantime
	return is.Follow(is.r, is.afterAdding(i), notice, undo)
}

// reload reads what the panel shows after a change.
func (is *instrumentSaver) reload() (err error) {
	is.s, err = is.viewerOf(is.r, true)
	return err
}

// form returns the form for an instrument with its stored values.
func (is *instrumentSaver) form(i vault.InstrumentView) *panelForm {
	start, _ := strconv.Atoi(is.r.PostForm.Get("start")) // 0 if it isn't a packet
	return is.formOf(is.s, i, start)
}

// assignPages returns the pages of the document for a new instrument; see model.PacketPages.
func (is *instrumentSaver) assignPages(form *panelForm) string {
	pages := form.Field(instrumentform.Pages).Value()
	packet := is.then == thenAnother || form.Start > 0
	if !packet || is.s.File.Pages == nil || form.Part != nil && pages == form.Part.Pages {
		return pages
	}
	return model.PacketPages(pages, max(form.Start, 1), is.shown, *is.s.File.Pages, is.then == thenAnother)
}

// change saves the changes of an instrument.
func (is *instrumentSaver) change(id uint64) error {
	var form *panelForm
	var was uint64
	now, again, status, err := instrumentform.Save(is.Site, is.r, func() (*instrumentform.Form, error) {
		if form != nil { // changed in the meantime
			if err := is.reload(); err != nil {
				return nil, err
			}
		}
		old, found := is.s.Sheet.Find(id)
		if !found {
			return nil, page.NotFound(is.r)
		}
		form, was = is.form(old), old.Version
		return form.Form, nil
	})
	switch {
	case err != nil:
		return err
	case again != nil:
		return is.reject(status, form)
	}
	undo := is.EditUndo(is.r, vault.Edit{Type: "instrument", ID: now.ID, Version: now.Version}, was)
	return is.follow(now, now.Heading(now.Type)+" saved.", undo)
}

// afterAdding returns the address of the page after the document was added to an instrument.
func (is *instrumentSaver) afterAdding(i vault.InstrumentView) string {
	if is.then == thenNext {
		if start := is.s.nextPart(is.nextStart(i)); start > 0 {
			return is.partView(start)
		}
		if is.s.Next != nil {
			return page.WithQueryValue(is.s.Next.Path, "panel", panelNext)
		}
	}
	return page.WithQueryValue(is.s.panelView(panelOpen), "instrument", strconv.FormatUint(i.ID, 10))
}

// partView returns the address of the viewer with the form for a new instrument that starts at a page.
func (is *instrumentSaver) partView(start int) string {
	to := page.WithQueryValue(is.s.panelView(panelNew), "start", strconv.Itoa(start))
	return page.WithQueryValue(to, "page", strconv.Itoa(start))
}

// reject shows the panel with the submitted values and their problems.
func (is *instrumentSaver) reject(status int, form *panelForm) error {
	return is.showPanel(is.r, status, is.s, panelState{}, form)
}

// follow continues after an instrument was saved. undo is the address that undoes it, or "".
func (is *instrumentSaver) follow(saved vault.InstrumentView, notice, undo string) error {
	if err := is.reload(); err != nil {
		return err
	}
	if saved.ID != 0 { // for a script whose user typed more in the meantime
		is.r.W.Header().Set("Content-Location", page.WithQueryValue(is.s.PanelPath(), "instrument", strconv.FormatUint(saved.ID, 10)))
	}
	state := panelState{saved: notice, blank: true, focus: true, undo: undo, changed: saved.ID}
	switch is.then {
	case thenStay:
		state.instrument, state.blank, state.focus = saved.ID, false, false
	case thenAnother:
		state.start = is.nextStart(saved)
	default:
		if state.start = is.s.nextPart(is.nextStart(saved)); state.start > 0 {
			break
		}
		if is.s.Next != nil {
			return is.leave(notice, undo)
		}
		state.saved += " This was the last document."
	}
	return is.stay(state)
}

// stay shows the panel of the same document.
func (is *instrumentSaver) stay(state panelState) error {
	if is.r.IsPart() {
		return is.showPanel(is.r, http.StatusOK, is.s, state, nil)
	}
	to := is.s.panelView(panelNew)
	if state.instrument != 0 {
		to = page.WithQueryValue(is.s.panelView(panelOpen), "instrument", strconv.FormatUint(state.instrument, 10))
	} else if state.start > 0 {
		to = is.partView(state.start)
	}
	return is.RedirectWithUndo(is.r, to, state.saved, state.undo)
}

// nextStart returns the page after the last page of an instrument, which is the first page of the
// next instrument of a packet. It returns 0 if that is unknown.
func (is *instrumentSaver) nextStart(saved vault.InstrumentView) int {
	_, last, ok := model.ParsePages(instrumentform.LinkedPages(saved.Instrument, is.s.File.ID))
	if !ok || is.s.File.Pages == nil {
		return 0
	}
	return min(last+1, *is.s.File.Pages)
}

// leave opens the next document with the panel.
func (is *instrumentSaver) leave(notice, undo string) error {
	return is.Follow(is.r, page.WithQueryValue(is.s.Next.Path, "panel", panelNext), notice, undo)
}

// trashInstrument moves an instrument of a document to the trash.
func (p *Pages) trashInstrument(r *page.Request) error {
	return p.moveInstrument(r, "The instrument is in the trash.", func(id uint64) (string, error) {
		undo := page.UndoAddress(instrumentActionPath(r.PathID, "restore"), url.Values{"instrument": {strconv.FormatUint(id, 10)}})
		if err := p.CheckUnchanged(r, "instrument", id, "created"); err != nil {
			return "", err
		}
		return undo, p.App.Instruments.Trash(r.Context(), r.Actor, id, vault.Match{})
	})
}

// restoreInstrument restores an instrument of a document from the trash.
func (p *Pages) restoreInstrument(r *page.Request) error {
	return p.moveInstrument(r, "Instrument restored.", func(id uint64) (string, error) {
		_, err := p.App.Instruments.Restore(r.Context(), r.Actor, id, vault.Idempotency[vault.InstrumentView]{})
		return "", err
	})
}

// moveInstrument moves the submitted instrument to the trash or restores it, and shows the panel. act returns the address
// that undoes it, or "".
func (p *Pages) moveInstrument(r *page.Request, notice string, act func(id uint64) (undo string, err error)) error {
	if _, err := p.App.Files.Get(r.Context(), r.PathID); err != nil {
		return err
	}
	id, err := strconv.ParseUint(r.PostForm.Get("instrument"), 10, 63)
	if err != nil {
		return page.NotFound(r)
	}
	undo, err := act(id)
	if err != nil {
		return err
	}
	s, err := p.viewerOf(r, true)
	if err != nil {
		return err
	}
	state := panelState{saved: notice, undo: undo}
	if r.IsPart() {
		return p.showPanel(r, http.StatusOK, s, state, nil)
	}
	return p.RedirectWithUndo(r, page.ReturnAddress(r, s.panelView(panelOpen)), state.saved, state.undo)
}

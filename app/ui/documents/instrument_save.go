package documents

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"strconv"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

// Values of the form field "then": the action after an instrument is saved.
const (
	thenNext    = "next"    // a new instrument of the next document; the default
	thenAnother = "another" // another new instrument of this document
	thenStay    = "stay"    // the same instrument
)

// maxRetries is how many times a change is attempted if other users change the same instrument at
// the same time. Then it fails.
const maxRetries = 5

// instrumentSaver saves the form of the panel.
type instrumentSaver struct {
	*Pages
	r     *page.Request
	s     *viewerData
	then  string
	shown int // page that the viewer shows; 0 if unknown
}

// notInAbstract is the message for an instrument of a document in the vault.
const notInAbstract = "This document is not in an abstract. Move it to an abstract, then add its instruments."

// saveInstrument creates or changes an instrument of a document.
func (p *Pages) saveInstrument(r *page.Request) error {
	s, err := p.viewerOf(r)
	if err != nil {
		return err
	}
	if s.File.AbstractID == 0 {
		return &errs.Error{Kind: errs.Conflict, Message: notInAbstract}
	}
	save := instrumentSaver{Pages: p, r: r, s: s, then: cmp.Or(r.PostForm.Get("then"), thenNext)}
	save.shown, _ = strconv.Atoi(r.PostForm.Get("shown")) // 0 if unknown
	r.PostForm.Del("shown")                               // a repeated form stays the same if the user turned a page
	id, _ := strconv.ParseUint(r.PostForm.Get("instrument"), 10, 63)
	if id == 0 {
		return save.create()
	}
	return save.change(id)
}

// form returns the form filled with the submitted values, and the changes.
func (v instrumentSaver) form(old model.Instrument) (*instrumentForm, model.InstrumentInput, error) {
	sheet, err := v.Vault.Instruments.Runsheet(v.r.Context(), v.s.File.AbstractID)
	if err != nil {
		return nil, nil, err
	}
	types, err := v.Vault.Instruments.Types(v.r.Context())
	if err != nil {
		return nil, nil, err
	}
	form := newInstrumentForm(old, types, sheet, v.s.File.ID)
	input := form.merge(old, v.s.File.ID, v.r.PostForm, v.LocalNow())
	return form, input, nil
}

// create records a new instrument. If nothing was entered, it records none.
func (v instrumentSaver) create() error {
	form, input, err := v.form(model.Instrument{})
	if err != nil {
		return err
	}
	form.Start, _ = strconv.Atoi(v.r.PostForm.Get("start")) // 0 if it isn't a packet
	delete(input, "documents")
	if len(input) == 0 {
		if v.then != thenNext || v.s.Next == nil {
			form.Problem = "Enter at least one field."
			form.focusFirst(func(*panelField) bool { return true })
			return v.reject(http.StatusUnprocessableEntity, form)
		}
		return v.leave("Nothing was entered, so no instrument was created.", "", 0)
	}
	pages := v.assignPages(form)
	input["documents"] = page.EncodeJSON([]model.DocumentLink{{FileID: v.s.File.ID, Pages: pages}})
	patch := vault.InstrumentPatch{Input: input}
	created, err := v.Vault.Instruments.Create(v.r.Context(), v.r.Actor, v.s.File.AbstractID, patch, v.idempotency())
	domainErr, ok := errors.AsType[*errs.Error](err)
	switch {
	case errors.Is(err, vault.ErrAlreadyProcessed):
		return v.follow(vault.InstrumentView{}, "This instrument was already saved.", "")
	case ok && domainErr.Kind == errs.Invalid:
		form.setProblems(page.FieldProblems(domainErr.Fields))
		return v.reject(http.StatusUnprocessableEntity, form)
	case err != nil:
		return err
	}
	return v.follow(created, created.Heading(created.Type)+" saved.", "trash")
}

// idempotency returns the idempotency key of the form. It depends on the form's token and content, so
// a form that is sent again because the response was lost creates one instrument.
func (v instrumentSaver) idempotency() vault.Idempotency[vault.InstrumentView] {
	if v.r.PostForm.Get("once") == "" {
		return vault.Idempotency[vault.InstrumentView]{}
	}
	form := v.r.PostForm.Encode()
	content := sha256.Sum256([]byte(form))
	return vault.Idempotency[vault.InstrumentView]{
		KeyHash:     sha256.Sum256([]byte("page\n" + v.r.Record() + "\nPOST " + v.r.URL.Path + "\n" + form)),
		RequestHash: hex.EncodeToString(content[:]),
		Render: func(vault.InstrumentView) (int, map[string]string, []byte, error) {
			return http.StatusSeeOther, map[string]string{"Location": v.s.PanelView()}, nil, nil
		},
	}
}

// assignPages returns the pages of the document for a new instrument. If more instruments of the
// document follow and the user set no pages, they end at the page that is shown.
func (v instrumentSaver) assignPages(form *instrumentForm) string {
	pages := form.field(pagesName).Value()
	start := strconv.Itoa(max(form.Start, 1))
	packet := v.then == thenAnother || form.Start > 0
	if v.s.File.Pages == nil || *v.s.File.Pages < 2 || !packet || pages != "" && pages != start {
		return pages
	}
	if v.shown > max(form.Start, 1) && v.then == thenAnother {
		return start + "-" + strconv.Itoa(v.shown)
	}
	return start
}

// change saves the changes of an instrument.
func (v instrumentSaver) change(id uint64) error {
	for tries := 1; ; tries++ {
		old, err := v.Vault.Instruments.Get(v.r.Context(), id)
		if err == nil && old.AbstractID != v.s.File.AbstractID {
			err = page.NotFound(v.r)
		}
		if err != nil {
			return err
		}
		form, input, err := v.form(old.Instrument)
		if err != nil {
			return err
		}
		if form.Conflict {
			log, err := v.Vault.Events.List(v.r.Context(), vault.Query{Limit: 20, Descending: true,
				Filters: []vault.Filter{{Column: vault.ColumnRecord, Value: page.RecordName("instrument", id)}}})
			if err != nil {
				return err
			}
			form.describeConflicts(log.Items, v.Zone)
			return v.reject(http.StatusPreconditionFailed, form)
		}
		match := vault.Match{Given: true, Versions: []uint64{old.Version}}
		now, err := v.Vault.Instruments.Patch(v.r.Context(), v.r.Actor, id, vault.InstrumentPatch{Input: input}, match)
		domainErr, ok := errors.AsType[*errs.Error](err)
		switch {
		case ok && domainErr.Kind == errs.PreconditionFailed && tries < maxRetries:
			continue
		case ok && domainErr.Kind == errs.Invalid:
			form.setProblems(page.FieldProblems(domainErr.Fields))
			return v.reject(http.StatusUnprocessableEntity, form)
		case err != nil:
			return err
		}
		return v.follow(now, now.Heading(now.Type)+" saved.", "")
	}
}

// reject shows the panel with the submitted values and their problems.
func (v instrumentSaver) reject(status int, form *instrumentForm) error {
	return v.showPanel(v.r, status, v.s, panelState{}, form)
}

// follow continues after an instrument was saved. undo is the action that undoes it, or "".
func (v instrumentSaver) follow(saved vault.InstrumentView, notice, undo string) error {
	state := panelState{saved: notice, focus: true, undo: undo, undoID: saved.ID}
	switch {
	case v.then == thenStay:
		state.instrument, state.focus = saved.ID, false
	case v.then == thenAnother:
		state.start = v.nextStart(saved)
	case v.s.Next != nil:
		return v.leave(notice, undo, saved.ID)
	default:
		state.saved += " This was the last document."
	}
	if v.r.IsPart() {
		return v.showPanel(v.r, http.StatusOK, v.s, state, nil)
	}
	to := v.s.panelView("new")
	if state.instrument != 0 {
		to = page.WithQueryValue(v.s.panelView("1"), "instrument", strconv.FormatUint(state.instrument, 10))
	} else if state.start > 0 {
		to = page.WithQueryValue(page.WithQueryValue(to, "start", strconv.Itoa(state.start)), "page", strconv.Itoa(state.start))
	}
	return v.RedirectWithUndo(v.r, to, state.saved, v.undoAddress(undo, saved.ID))
}

// nextStart returns the page after the last page of an instrument, which is the first page of the
// next instrument of a packet. It returns 0 if that is unknown.
func (v instrumentSaver) nextStart(saved vault.InstrumentView) int {
	_, last, ok := model.ParsePages(linkedPages(saved.Instrument, v.s.File.ID))
	if !ok || v.s.File.Pages == nil {
		return 0
	}
	return min(last+1, *v.s.File.Pages)
}

func (v instrumentSaver) undoAddress(undo string, id uint64) string {
	if undo == "" || id == 0 {
		return ""
	}
	return instrumentUndo(v.s.File.ID, undo, id)
}

// leave opens the next document with the form for a new instrument. A script gets the address in a
// header, because it can't read the address of a redirect.
func (v instrumentSaver) leave(notice, undo string, id uint64) error {
	to := page.WithQueryValue(v.s.Next.Path, "panel", "new")
	if !v.r.IsPart() {
		return v.RedirectWithUndo(v.r, to, notice, v.undoAddress(undo, id))
	}
	v.SetUndoNotice(v.r, notice, v.undoAddress(undo, id))
	h := v.r.W.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("HX-Redirect", to)
	v.r.W.WriteHeader(http.StatusNoContent)
	return nil
}

// trashInstrument moves an instrument of a document to the trash.
func (p *Pages) trashInstrument(r *page.Request) error {
	return p.moveInstrument(r, "restore", "The instrument is in the trash.", func(id uint64) error {
		return p.Vault.Instruments.Trash(r.Context(), r.Actor, id, vault.Match{})
	})
}

// restoreInstrument restores an instrument of a document from the trash.
func (p *Pages) restoreInstrument(r *page.Request) error {
	return p.moveInstrument(r, "trash", "Instrument restored.", func(id uint64) error {
		_, err := p.Vault.Instruments.Restore(r.Context(), r.Actor, id, vault.Idempotency[vault.InstrumentView]{})
		return err
	})
}

// moveInstrument moves the submitted instrument to the trash or restores it, and shows the panel.
func (p *Pages) moveInstrument(r *page.Request, undo, notice string, act func(id uint64) error) error {
	s, err := p.viewerOf(r)
	if err != nil {
		return err
	}
	id, err := strconv.ParseUint(r.PostForm.Get("instrument"), 10, 63)
	if err != nil {
		return page.NotFound(r)
	}
	if err := act(id); err != nil {
		return err
	}
	state := panelState{saved: notice, undo: undo, undoID: id}
	if r.IsPart() {
		return p.showPanel(r, http.StatusOK, s, state, nil)
	}
	return p.RedirectWithUndo(r, page.ReturnAddress(r, s.panelView("1")), state.saved, instrumentUndo(s.File.ID, undo, id))
}

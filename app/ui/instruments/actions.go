package instruments

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/runsheet"
	"deedkeep/app/spreadsheet"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

// rowPath returns the address of an instrument in its runsheet.
func (p *Pages) rowPath(i model.Instrument) string {
	return p.AbstractPath(i.AbstractID) + "#instrument-" + strconv.FormatUint(i.ID, 10)
}

// instrumentPage redirects to an instrument in its runsheet.
func (p *Pages) instrumentPage(r *page.Request) error {
	i, err := p.App.Instruments.Get(r.Context(), r.PathID)
	if err != nil {
		return err
	}
	return r.Redirect(p.rowPath(i.Instrument))
}

// moveInstrument moves an instrument to the submitted place in the runsheet.
func (p *Pages) moveInstrument(r *page.Request) error {
	position, err := strconv.Atoi(r.PostForm.Get("position"))
	if err != nil || position < 1 {
		return errs.InvalidField("position", errs.NotInteger)
	}
	i, err := p.App.Instruments.Get(r.Context(), r.PathID)
	if err != nil {
		return err
	}
	before, err := p.App.Instruments.Runsheet(r.Context(), i.AbstractID)
	if err != nil {
		return err
	}
	moved, err := p.App.Instruments.Patch(r.Context(), r.Actor, i.ID, vault.InstrumentPatch{Position: position}, vault.Match{})
	if err != nil {
		return err
	}
	undo, err := p.sequenceUndo(r, i.AbstractID, before.SequenceChange)
	if err != nil {
		return err
	}
	if r.WantsJSON() {
		return p.sendState(r, http.StatusOK, moved, sheetState{Undo: p.undoState(r, undo)})
	}
	return p.RedirectWithUndo(r, p.rowPath(moved.Instrument), fmt.Sprintf("Moved to position %d.", moved.Position), undo)
}

// sortRunsheet sorts a runsheet by recording date, or undoes that.
func (p *Pages) sortRunsheet(r *page.Request) error {
	if r.WantsJSON() {
		return p.setSequence(r)
	}
	if change := r.PostForm.Get("undo"); change != "" {
		if err := p.App.Instruments.RestoreSequence(r.Context(), r.Actor, r.PathID, change); err != nil {
			return err
		}
		return p.RedirectWithNotice(r, page.ReturnAddress(r, p.AbstractPath(r.PathID)), "Sequence restored.")
	}
	before, err := p.App.Instruments.Runsheet(r.Context(), r.PathID)
	if err != nil {
		return err
	}
	if err := p.App.Instruments.SetSequence(r.Context(), r.Actor, r.PathID, nil, vault.Match{}); err != nil {
		return err
	}
	undo, err := p.sequenceUndo(r, r.PathID, before.SequenceChange)
	if err != nil {
		return err
	}
	return p.RedirectWithUndo(r, p.AbstractPath(r.PathID), "Runsheet sorted by recording date.", undo)
}

// sequenceUndo returns the address that undoes the last change of the sequence of a runsheet, or "" if it is still was.
func (p *Pages) sequenceUndo(r *page.Request, abstract uint64, was string) (string, error) {
	now, err := p.App.Instruments.Runsheet(r.Context(), abstract)
	if err != nil || now.SequenceChange == was {
		return "", err
	}
	return page.UndoAddress(p.AbstractPath(abstract)+"/instruments/sort", url.Values{"undo": {now.SequenceChange}}), nil
}

// sequenceChanged says why a sequence isn't set.
const sequenceChanged = "The runsheet was reordered in the meantime, so your change wasn't saved."

// setSequence sets the sequence that the script sends, unless another one than it shows was chosen in the
// meantime. Without one, it sorts the runsheet by recording date.
func (p *Pages) setSequence(r *page.Request) error {
	state, match, notice := vault.InstrumentView{Instrument: model.Instrument{AbstractID: r.PathID}}, vault.Match{},
		"Runsheet sorted by recording date."
	var ids []uint64
	if list := r.PostForm.Get("sequence"); list != "" {
		for _, text := range strings.Split(list, ",") {
			id, err := strconv.ParseUint(text, 10, 63)
			if err != nil {
				return errs.InvalidField("sequence", errs.NotInteger)
			}
			ids = append(ids, id)
		}
		shown, err := p.App.Instruments.Runsheet(r.Context(), r.PathID)
		if err != nil {
			return err
		}
		now := make([]string, len(shown.Instruments))
		for n, i := range shown.Instruments {
			now[n] = formatID(i.ID)
		}
		if strings.Join(now, ",") != r.PostForm.Get("was") {
			return p.sendState(r, http.StatusPreconditionFailed, state, sheetState{Problem: sequenceChanged})
		}
		match, notice = vault.MatchVersion(shown.Version), "Sequence restored."
	}
	before, err := p.App.Instruments.Runsheet(r.Context(), r.PathID)
	if err != nil {
		return err
	}
	err = p.App.Instruments.SetSequence(r.Context(), r.Actor, r.PathID, ids, match)
	switch kind := errs.KindOf(err); {
	case err != nil && (kind == errs.PreconditionFailed || kind == errs.Invalid):
		return p.sendState(r, http.StatusPreconditionFailed, state, sheetState{Problem: sequenceChanged})
	case err != nil:
		return err
	}
	undo, err := p.sequenceUndo(r, r.PathID, before.SequenceChange)
	if err != nil {
		return err
	}
	return p.sendState(r, http.StatusOK, state, sheetState{Notice: notice, Undo: p.undoState(r, undo)})
}

// trashInstrument moves an instrument to the trash.
func (p *Pages) trashInstrument(r *page.Request) error {
	i, err := p.App.Instruments.Get(r.Context(), r.PathID)
	if err != nil {
		return err
	}
	if err := p.CheckUnchanged(r, "instrument", i.ID, "created"); err != nil {
		return err
	}
	if err := p.App.Instruments.Trash(r.Context(), r.Actor, i.ID, vault.Match{}); err != nil {
		return err
	}
	notice, undo := "“"+i.Heading(i.Type)+"” is in the trash.", page.InstrumentPath(i.ID)+"/restore"
	if r.WantsJSON() {
		return p.sendState(r, http.StatusOK, i, sheetState{Notice: notice, Undo: p.undoState(r, undo)})
	}
	return p.RedirectWithUndo(r, page.ReturnAddress(r, p.AbstractPath(i.AbstractID)), notice, undo)
}

// restoreInstrument restores an instrument from the trash.
func (p *Pages) restoreInstrument(r *page.Request) error {
	i, err := p.App.Instruments.Restore(r.Context(), r.Actor, r.PathID, vault.Idempotency[vault.InstrumentView]{})
	if err != nil {
		return err
	}
	notice := "“" + i.Heading(i.Type) + "” restored."
	if r.WantsJSON() {
		return p.sendState(r, http.StatusOK, i, sheetState{Notice: notice, Undo: p.undoState(r, createUndo(i))})
	}
	return p.RedirectWithNotice(r, p.rowPath(i.Instrument), notice)
}

// runsheetFile returns the handler that sends the runsheet of an abstract as a file.
func (p *Pages) runsheetFile(f spreadsheet.Format) page.HandlerFunc {
	return func(r *page.Request) error {
		record, err := p.App.Abstracts.Get(r.Context(), r.PathID)
		if err != nil {
			return err
		}
		rows, err := p.App.Instruments.Rows(r.Context(), r.PathID)
		if err != nil {
			return err
		}
		if r.Method != http.MethodHead {
			p.App.Events.RunsheetDownloaded(r.Actor, model.RecordRef("abstract", r.PathID), f.Extension)
		}
		return p.SendTable(r, strings.TrimSpace("Runsheet "+plainName(record.Abstract.FileNumber())), f, runsheet.File(rows))
	}
}

// plainName returns a file number without characters that file names can't have.
func plainName(number string) string {
	return page.Truncate(strings.Map(func(r rune) rune {
		if r < ' ' || strings.ContainsRune(`\/:*?"<>|`, r) {
			return '-'
		}
		return r
	}, number), 80)
}

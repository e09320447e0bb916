package instruments

import (
	"cmp"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/ui/instrumentform"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

// problemKey is the member of a response that says why nothing was saved.
const problemKey = "problem"

// sheetState is the response to the runsheet's script after a change: the rows that changed, and the
// sequence and gaps of the complete runsheet.
type sheetState struct {
	ID       uint64      `json:"id,omitempty"` // instrument that was changed
	Rows     []rowMarkup `json:"rows"`
	Sequence []uint64    `json:"sequence"`
	Gaps     []gapState  `json:"gaps"`
	Chosen   bool        `json:"chosen"` // a person chose the sequence
	Notice   string      `json:"notice,omitempty"`
	Undo     *undoState  `json:"undo,omitempty"`    // what undoes the change, also after the page was left
	Problem  string      `json:"problem,omitempty"` // why the change was not saved
}

// undoState is the form of an Undo button.
type undoState struct {
	Path  string `json:"path"`
	Token string `json:"token"`
}

// undoState returns the form of an undo address, or nil if there is none.
func (p *Pages) undoState(r *page.Request, undo string) *undoState {
	form := p.NewNotice(r, "", undo, "").Undo
	if form.Path == "" {
		return nil
	}
	return &undoState{form.Path, form.Token}
}

// createUndo returns the address that undoes the creation of an instrument.
func createUndo(i vault.InstrumentView) string {
	return page.InstrumentPath(i.ID) + "/trash"
}

// rowMarkup is the HTML of a row of the runsheet.
type rowMarkup struct {
	ID   uint64 `json:"id"`
	HTML string `json:"html"`
}

// gapState is a gap in the chain of title above an instrument.
type gapState struct {
	Above uint64 `json:"above"`
	Name  string `json:"name"`
}

// cellInput returns the input for an instrument after a user changed a cell, or says why nothing can be saved.
// "keep" is a doubtful value that the user keeps.
func (p *Pages) cellInput(r *page.Request, old model.Instrument, types model.DocumentTypes) (
	in model.Inputs, denied map[string]string,
) {
	column, value := r.PostForm.Get("field"), r.PostForm.Get("value")
	in, problem := parseCell(column, value, old, types, p.LocalNow())
	if problem != "" {
		return nil, map[string]string{problemKey: problem}
	}
	of, _ := types.ByID(old.TypeID)
	if question := instrumentform.InputQuestion(old, of, in, p.LocalNow()); question != "" && r.PostForm.Get("keep") != value {
		return nil, map[string]string{"question": question}
	}
	return in, nil
}

// cellPatch returns the change of a cell. The user is asked if it makes an instrument repeat another one, unless "both"
// is the value with which the user keeps both.
func cellPatch(r *page.Request, in model.Inputs) vault.InstrumentPatch {
	kept := r.PostForm.Has("both") && r.PostForm.Get("both") == r.PostForm.Get("value")
	return vault.InstrumentPatch{Input: in, AskRepeat: !kept}
}

// rejectCell tells the script why a cell wasn't saved, or returns err if it isn't about the cell.
func rejectCell(r *page.Request, err error) error {
	if repeat, ok := errors.AsType[*vault.RepeatError](err); ok {
		return r.SendJSON(http.StatusUnprocessableEntity, map[string]any{"question": page.RepeatText(repeat.Repeat) + ".",
			"duplicate": repeat.Existing, "position": repeat.Position})
	}
	if problem, ok := errors.AsType[*errs.Error](err); ok && problem.Kind == errs.Invalid {
		return r.SendJSON(http.StatusUnprocessableEntity, map[string]string{
			problemKey: strings.Join(page.ProblemTexts(problem.Fields), " ")})
	}
	return err
}

// saveCell saves a cell of the runsheet. If another user changed the same cell in the meantime, it
// says so and saves nothing.
func (p *Pages) saveCell(r *page.Request) error {
	column, value := r.PostForm.Get("field"), r.PostForm.Get("value")
	if editedFields(column) == nil {
		return page.NotFound(r)
	}
	if r.PostForm.Has("change") {
		return p.undoCell(r, column)
	}
	types, err := p.App.Instruments.Types(r.Context())
	if err != nil {
		return err
	}
	return vault.RetryEdit(func() error {
		old, err := p.App.Instruments.Get(r.Context(), r.PathID)
		if err != nil {
			return err
		}
		if now := cellText(old, column); now != normalized(r.PostForm.Get("was")) && now != normalized(value) {
			text, err := p.conflictText(r, column, now, false)
			if err != nil {
				return err
			}
			return p.sendState(r, http.StatusPreconditionFailed, old, sheetState{Problem: text})
		}
		in, denied := p.cellInput(r, old.Instrument, types)
		if denied != nil {
			return r.SendJSON(http.StatusUnprocessableEntity, denied)
		}
		saved, err := p.App.Instruments.Patch(r.Context(), r.Actor, old.ID, cellPatch(r, in), vault.MatchVersion(old.Version))
		if err != nil {
			return rejectCell(r, err)
		}
		undo := p.EditUndo(r, vault.Edit{Type: "instrument", ID: saved.ID, Version: saved.Version}, old.Version)
		return p.sendState(r, http.StatusOK, saved, sheetState{Undo: p.undoState(r, undo)})
	})
}

// undoCell undoes or repeats the change of a cell. If another user changed the cell in the meantime, it says so and
// changes nothing.
func (p *Pages) undoCell(r *page.Request, column string) error {
	was, err := strconv.ParseUint(r.PostForm.Get("version"), 10, 63)
	if err != nil || r.PostForm.Get("record") != p.PublicRecordName("instrument", r.PathID) {
		return page.NotFound(r)
	}
	old, err := p.App.Instruments.Get(r.Context(), r.PathID)
	if err != nil {
		return err
	}
	e := vault.Edit{Type: "instrument", ID: r.PathID, Version: was}
	now := cellText(old, column)
	changed := now != normalized(r.PostForm.Get("was"))
	if !changed {
		e.Version, err = p.App.UndoEdit(r.Context(), r.Actor, e)
		changed = errs.KindOf(err) == errs.PreconditionFailed
	}
	if changed {
		text, err := p.conflictText(r, column, now, true)
		if err != nil {
			return err
		}
		return p.sendState(r, http.StatusPreconditionFailed, old, sheetState{Problem: text})
	}
	if err != nil {
		return rejectCell(r, err)
	}
	saved, err := p.App.Instruments.Get(r.Context(), r.PathID)
	if err != nil {
		return err
	}
	return p.sendState(r, http.StatusOK, saved, sheetState{Undo: p.undoState(r, p.EditUndo(r, e, was))})
}

// normalized returns text without the differences that browsers make.
func normalized(text string) string { return strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n")) }

// formatID returns an ID as text.
func formatID(id uint64) string { return strconv.FormatUint(id, 10) }

// conflictText says who changed a cell in the meantime, and when.
func (p *Pages) conflictText(r *page.Request, column, now string, restores bool) (string, error) {
	log, err := p.LatestEvents(r.Context(), "instrument", r.PathID)
	if err != nil {
		return "", err
	}
	text := page.ChangedText(log, p.Zone(), now, editedFields(column)...)
	if restores {
		return text + " Your change wasn't undone.", nil
	}
	return text + " Your entry wasn't saved. Select Change and save it to replace theirs, or Discard to keep theirs.", nil
}

// createRow adds an instrument whose first cell a user filled in.
func (p *Pages) createRow(r *page.Request) error {
	if editedFields(r.PostForm.Get("field")) == nil {
		return page.NotFound(r)
	}
	types, err := p.App.Instruments.Types(r.Context())
	if err != nil {
		return err
	}
	in, denied := p.cellInput(r, model.Instrument{}, types)
	if denied != nil {
		return r.SendJSON(http.StatusUnprocessableEntity, denied)
	}
	created, err := p.App.Instruments.Create(r.Context(), r.Actor, r.PathID, cellPatch(r, in),
		vault.Idempotency[vault.InstrumentView]{})
	if err != nil {
		return rejectCell(r, err)
	}
	return p.sendState(r, http.StatusOK, created, sheetState{Undo: p.undoState(r, createUndo(created))})
}

// sheetState sends the runsheet's state after a change by someone else: of the instrument that the query names, or of the
// complete runsheet.
func (p *Pages) sheetState(r *page.Request) error {
	var changed vault.InstrumentView
	if id, err := strconv.ParseUint(r.URL.Query().Get("instrument"), 10, 63); err == nil {
		changed, err = p.App.Instruments.Get(r.Context(), id)
		if err != nil && errs.KindOf(err) != errs.NotFound { // it may be in the trash
			return err
		}
	}
	if changed.AbstractID != r.PathID {
		changed = vault.InstrumentView{Instrument: model.Instrument{AbstractID: r.PathID}}
	}
	return p.sendState(r, http.StatusOK, changed, sheetState{})
}

// sendState sends the runsheet's state after a change of an instrument, with the rows of the
// instrument and of those that it relates to. Without an instrument, it sends all rows.
func (p *Pages) sendState(r *page.Request, status int, changed vault.InstrumentView, state sheetState) error {
	work, err := p.App.Instruments.Work(r.Context(), changed.AbstractID)
	if err != nil {
		return err
	}
	s, err := p.newSheet(r, work)
	if err != nil {
		return err
	}
	state.ID, state.Sequence, state.Gaps, state.Rows, state.Chosen = changed.ID, s.Sequence, s.gaps, []rowMarkup{}, s.Chosen
	state.Notice = cmp.Or(state.Notice, s.NoGaps)
	for _, row := range s.Rows {
		if changed.ID != 0 && row.ID != changed.ID && !areRelated(row.Instrument, changed.Instrument) {
			continue
		}
		text, err := p.RenderText("abstract.html", "runsheet-row", row)
		if err != nil {
			return err
		}
		state.Rows = append(state.Rows, rowMarkup{row.ID, text})
	}
	return r.SendJSON(status, state)
}

// areRelated reports whether one of the instruments has a relation to the other.
func areRelated(a, b model.Instrument) bool {
	refers := func(from, to model.Instrument) bool {
		return slices.ContainsFunc(from.Relations, func(r model.Relation) bool { return r.InstrumentID == to.ID })
	}
	return refers(a, b) || refers(b, a)
}

package instruments

import (
	"crypto/rand"
	"errors"
	"net/http"

	"deedkeep/app/errs"
	"deedkeep/app/runsheet"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

// pasteView is the template data of the page for pasting rows, and of the preview.
type pasteView struct {
	Path, Sheet, Abstract string
	Text, Column, Once    string
	Problem               string
	Good, Bad             []pastedRow
	valid                 []vault.Suggestion // Good
}

func (p *Pages) newPasteView(r *page.Request) (view pasteView, err error) {
	filed, err := p.Vault.Abstracts.Get(r.Context(), r.PathID)
	if err != nil {
		return view, err
	}
	headings, err := p.Vault.Abstracts.Headings(r.Context(), filed.Abstract)
	if err != nil {
		return view, err
	}
	view = pasteView{Path: p.AbstractPath(r.PathID) + "/instruments/paste", Sheet: p.RunsheetPath(r.PathID), Abstract: headings[0],
		Text: r.PostForm.Get("text"), Column: r.PostForm.Get("column"), Once: r.PostForm.Get("once")}
	if view.Once == "" {
		view.Once = rand.Text()
	}
	return view, nil
}

// pastePage shows a form for rows copied from a spreadsheet.
func (p *Pages) pastePage(r *page.Request) error {
	view, err := p.newPasteView(r)
	if err != nil {
		return err
	}
	return p.showPaste(r, http.StatusOK, view)
}

func (p *Pages) showPaste(r *page.Request, status int, view pasteView) error {
	if r.IsPart() {
		return p.RenderPart(r, status, "paste.html", "paste-preview", view)
	}
	return p.RenderPage(r, status, "paste.html", page.Page{
		Heading: "Paste rows", Section: "abstracts", Data: view, Styles: []string{"record.css", "runsheet.css"},
	})
}

// pasteRows shows what pasted rows would add and which rows are rejected. If the form confirms it, it
// adds the instruments instead.
func (p *Pages) pasteRows(r *page.Request) error {
	view, err := p.newPasteView(r)
	if err != nil {
		return err
	}
	types, err := p.Vault.Instruments.Types(r.Context())
	if err != nil {
		return err
	}
	entries, err := parsePaste(view.Text, view.Column, types)
	if err == nil {
		err = p.checkPaste(r, &view, entries)
	}
	if err != nil || r.PostForm.Get("confirm") == "" || len(view.Good) == 0 {
		return p.showChecked(r, view, err)
	}
	inputs := make([]vault.NewInstrument, len(view.valid))
	for n, g := range view.valid {
		inputs[n] = g.Input()
	}
	_, err = p.Vault.Instruments.CreateMany(r.Context(), r.Actor, r.PathID, inputs,
		page.FormIdempotency(r, "", func(vault.Added) string { return view.Sheet }))
	if err != nil && !errors.Is(err, vault.ErrAlreadyProcessed) {
		return p.showChecked(r, view, err)
	}
	notice := page.Plural(len(view.Good), "instrument", "instruments") + " added."
	if n := len(view.Bad); n > 0 {
		notice += " " + page.Plural(n, "row was", "rows were") + " not added."
	}
	return p.RedirectWithNotice(r, view.Sheet, notice)
}

// checkPaste validates pasted rows and adds them to the view.
func (p *Pages) checkPaste(r *page.Request, view *pasteView, entries []runsheet.Entry) error {
	valid, rejected, err := p.Vault.Instruments.CheckRunsheet(r.Context(), r.Actor, r.PathID, entries)
	types := map[int]string{}
	for _, e := range entries {
		types[e.Row] = entryText(e, columnType)
	}
	for _, row := range rejected {
		view.Bad = append(view.Bad, pastedRow{Row: row.Row, Problem: pasteProblem(row.Fields, types[row.Row])})
	}
	for _, g := range valid {
		view.Good = append(view.Good, newPastedRow(g))
	}
	view.valid = valid
	return err
}

// showChecked shows pasted rows and, if err is about them, why they can't be added.
func (p *Pages) showChecked(r *page.Request, view pasteView, err error) error {
	if err == nil {
		return p.showPaste(r, http.StatusOK, view)
	}
	if domainErr, ok := errors.AsType[*errs.Error](err); !ok || domainErr.Kind != errs.Invalid {
		return err
	}
	view.Problem = page.ErrorSentence(err)
	return p.showPaste(r, http.StatusUnprocessableEntity, view)
}

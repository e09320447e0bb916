package instruments

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"deedkeep/app/errs"
	"deedkeep/app/model"
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
	view = pasteView{Path: p.AbstractPath(r.PathID) + "/instruments/paste", Sheet: p.sheetPath(r.PathID), Abstract: headings[0],
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
	rows, err := parsePaste(view.Text, view.Column, types, r.Actor)
	if domainErr, ok := errors.AsType[*errs.Error](err); ok && domainErr.Kind == errs.Invalid {
		view.Problem = domainErr.Message
		return p.showPaste(r, http.StatusUnprocessableEntity, view)
	}
	if err != nil {
		return err
	}
	for _, row := range rows {
		if row.Problem == "" {
			view.Good = append(view.Good, row)
		} else {
			view.Bad = append(view.Bad, row)
		}
	}
	if r.PostForm.Get("confirm") == "" || len(view.Good) == 0 {
		return p.showPaste(r, http.StatusOK, view)
	}
	notice, err := p.addPasted(r, view)
	if err != nil {
		return err
	}
	return p.RedirectWithNotice(r, view.Sheet, notice)
}

// addPasted adds the valid rows and returns a notice. If it fails and the form is sent again, it
// continues after the rows that it has added.
func (p *Pages) addPasted(r *page.Request, view pasteView) (notice string, err error) {
	before, err := p.Vault.Instruments.Runsheet(r.Context(), r.PathID)
	if err != nil {
		return "", err
	}
	numbered := slices.ContainsFunc(view.Good, func(row pastedRow) bool { return row.Position > 0 })
	targets := map[int]uint64{} // instruments by the number that relations refer to
	for _, i := range before.Instruments {
		if !numbered {
			targets[i.Position] = i.ID
		}
	}
	added := map[int]vault.InstrumentView{}
	for n, row := range view.Good {
		created, err := p.Vault.Instruments.Create(r.Context(), r.Actor, r.PathID, vault.InstrumentPatch{Input: row.Input},
			page.FormIdempotency(r, fmt.Sprint("row ", row.Row), func(vault.InstrumentView) string { return view.Sheet }))
		if errors.Is(err, vault.ErrAlreadyProcessed) {
			continue
		}
		if err != nil {
			return "", err
		}
		added[n] = created
		if row.Position > 0 {
			targets[row.Position] = created.ID
		}
	}
	lost := 0
	for n, row := range view.Good {
		if i, ok := added[n]; ok && len(row.relations) > 0 {
			missing, err := p.addRelations(r, i, row.relations, targets)
			if err != nil {
				return "", err
			}
			lost += missing
		}
	}
	notice = page.Plural(len(view.Good), "instrument", "instruments") + " added."
	if n := len(view.Bad); n > 0 {
		notice += " " + page.Plural(n, "row was", "rows were") + " not added."
	}
	if lost > 0 {
		notice += " " + page.Plural(lost, "relation refers", "relations refer") + " to a row that doesn't exist."
	}
	return notice, nil
}

// addRelations adds the relations of a pasted row to other rows. It returns how many of them refer to
// a row that doesn't exist.
func (p *Pages) addRelations(r *page.Request, i vault.InstrumentView, entries []runsheet.RelationEntry,
	targets map[int]uint64) (missing int, err error) {
	relations := slices.Clone(i.Relations)
	for _, e := range entries {
		if target := targets[e.Position]; target != 0 && target != i.ID {
			relations = append(relations, model.Relation{Kind: e.Kind, InstrumentID: target})
		} else {
			missing++
		}
	}
	_, err = p.Vault.Instruments.Patch(r.Context(), r.Actor, i.ID, vault.InstrumentPatch{
		Input: model.InstrumentInput{fieldRelations: list(relations)}}, vault.Match{})
	if errs.KindOf(err) == errs.Invalid { // such as two instruments that release each other
		return len(entries), nil
	}
	return missing, err
}

package instruments

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/runsheet"
	"deedkeep/app/ui/page"
	"deedkeep/app/ui/tablerow"
	"deedkeep/app/vault"
)

// pasteView is the template data of the page for pasting rows, and of the preview.
type pasteView struct {
	Path, Sheet, Abstract string
	Text, Column, Once    string
	Seen                  string // identifies what the preview shows, so that nothing else is added
	Problem               string
	Columns               []runsheet.Column
	Rows                  []tablerow.Row
	Swapped               []int
	Good, Bad             int
	Chosen, Skipped       int  // how many of the good rows are stored, by the choices for rows that are on the runsheet, and how many aren't
	NoInputs              int  // rejected rows whose inputs follow later
	Guessed               bool // the rows have no header
	Types                 model.DocumentTypes
}

func (p *Pages) newPasteView(r *page.Request) (view pasteView, err error) {
	_, heading, err := p.App.Abstracts.WithHeading(r.Context(), r.PathID)
	if err != nil {
		return view, err
	}
	view = pasteView{Path: p.AbstractPath(r.PathID) + "/instruments/paste", Sheet: p.AbstractPath(r.PathID), Abstract: heading,
		Text: r.PostForm.Get("text"), Column: r.PostForm.Get("column"), Once: r.PostForm.Get("once")}
	for _, text := range r.PostForm["swapped"] {
		if row, err := strconv.Atoi(text); err == nil && !slices.Contains(view.Swapped, row) {
			view.Swapped = append(view.Swapped, row)
		}
	}
	if row, err := strconv.Atoi(r.PostForm.Get("swap")); err == nil {
		if at := slices.Index(view.Swapped, row); at >= 0 {
			view.Swapped = slices.Delete(view.Swapped, at, at+1)
		} else {
			view.Swapped = append(view.Swapped, row)
		}
	}
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
	types, err := p.App.Instruments.Types(r.Context())
	if err != nil {
		return err
	}
	view.Types = types.Offered()
	once := page.AddedIdempotency(r, view.Sheet)
	checked, err := p.checkPaste(r, &view)
	if err != nil || r.PostForm.Get("confirm") == "" || view.Good == 0 {
		return p.showChecked(r, view, err)
	}
	done, err := p.IsProcessed(r.Context(), once)
	if err != nil {
		return err
	}
	if !done && !view.isSeen(r.PostForm.Get("seen")) {
		return p.showChecked(r, view, nil)
	}
	inputs, stores := page.ChosenRows(checked.Valid, r.PostForm, func(vault.Suggestion) bool { return true })
	if stores == 0 && !done {
		view.Problem = "All rows are on the runsheet already. Select what to do with them."
		return p.showPaste(r, http.StatusUnprocessableEntity, view)
	}
	added, again, err := p.CreateInstruments(r, r.PathID, inputs, once)
	if errors.Is(err, vault.ErrRunsheetChanged) {
		view.Rows, view.Good, view.Bad = nil, 0, 0
		if _, err := p.checkPaste(r, &view); err != nil {
			return err
		}
		view.Problem = page.ErrorSentence(err)
		return p.showPaste(r, http.StatusUnprocessableEntity, view)
	}
	if err != nil {
		return p.showChecked(r, view, err)
	}
	notice := page.AddedText(added, again)
	if view.Bad > 0 {
		notice += " " + page.Plural(view.Bad, "row was", "rows were") + " left out."
	}
	return p.RedirectWithUndo(r, view.Sheet, notice, p.UndoAdded(r.PathID, 0, once, added))
}

// isSeen reports whether the preview with the submitted hash had the same rows.
func (view *pasteView) isSeen(submitted string) bool {
	return submitted == "" || submitted == view.Seen
}

// checkPaste reads the submitted rows with the corrections and choices of the form, and adds them to the
// view.
func (p *Pages) checkPaste(r *page.Request, view *pasteView) (checked vault.CheckedRunsheet, err error) {
	cells, err := readTable(view.Text)
	if err != nil {
		return checked, err
	}
	table, guess := pastedTable(cells, view.Column)
	tablerow.Correct(table.Rows, r.PostForm)
	if view.Text, err = writeTable(table); err != nil {
		return checked, err
	}
	if len(table.Rows) > maxPastedRows {
		return checked, errTooManyRows
	}
	view.Guessed = table.Header == nil
	options := runsheet.Options{Columns: map[int]string{}, Swapped: view.Swapped}
	if view.Guessed {
		options.Columns = table.Guess(guess, view.Types, p.LocalNow())
	}
	for n := range maxPastedColumns {
		if field := r.PostForm.Get(fmt.Sprintf("field.%d", n)); field != "" {
			options.Columns[n] = field
		}
	}
	if checked, err = p.App.Instruments.CheckRunsheet(r.Context(), r.Actor, r.PathID, table, options); err != nil {
		return checked, err
	}
	view.show(table, checked, r.PostForm)
	return checked, nil
}

// show adds what pasted rows contain to the view.
func (view *pasteView) show(table runsheet.Table, checked vault.CheckedRunsheet, form url.Values) {
	view.Columns = slices.DeleteFunc(slices.Clone(checked.Columns), func(c runsheet.Column) bool { return c.Blank })
	cells := table.CellsByRow()
	for _, e := range checked.Entries {
		row := tablerow.New(table, e.Row, cells[e.Row], view.Columns)
		if at := slices.IndexFunc(checked.Valid, func(g vault.Suggestion) bool { return g.Row == e.Row }); at >= 0 {
			accept(&row, checked.Valid[at], view.Columns, e.Swapped)
			row.Repeats, row.Choices = page.RepeatText(checked.Valid[at].Repeat), page.RowChoices(checked.Valid[at], form)
			view.Good++
		} else if at := slices.IndexFunc(checked.Rejected, func(r vault.RejectedRow) bool { return r.Row == e.Row }); at >= 0 {
			row.Reject(checked.Rejected[at].Fields, view.Columns, e.Swapped)
			view.Bad++
		}
		view.Rows = append(view.Rows, row)
	}
	view.NoInputs = tablerow.LimitInputs(view.Rows)
	_, view.Chosen = page.ChosenRows(checked.Valid, form, func(vault.Suggestion) bool { return true })
	view.Skipped = view.Good - view.Chosen
	fields := ""
	for _, c := range checked.Columns {
		fields += c.Field + " "
	}
	for _, g := range checked.Valid {
		fields += fmt.Sprint(g.Existing, g.Possible, " ")
	}
	view.Seen = page.Fingerprint(model.Paragraph, []string{view.Text, fields, fmt.Sprint(view.Swapped)})
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

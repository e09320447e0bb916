package titlework

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"deedkeep/app/model"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

// rowList is a list of rows that is edited as a whole: the names run, or the requirements and exceptions.
type rowList struct {
	name          string // in a vault.Edit
	part, heading string // name of the template, and heading of its page
	notice        string // shown after the list was saved
	text          string // the field that names a row
	// more handles the other buttons of the form. done is false if none of them was used. more can be nil.
	more   func(p *Pages, r *page.Request, s source, view *Rows, rows []Row) (edited []Row, done bool, err error)
	fields []model.FieldLabel
	read   func(p *Pages, r *page.Request, s source) (Rows, error)
	set    func(w *vault.TitleWork, ctx context.Context, actor model.Actor, abstract uint64, rows model.Input,
		match vault.Match) (model.TitleWork, error)
}

// Rows is the template data of a list of rows.
type Rows struct {
	section
	Rows        []Row
	Base        []string           // fingerprints of the stored rows that the form was rendered with
	Flagged     []Row              // requirements and exceptions of the instruments, which are edited there
	Instruments []instrumentChoice // that a row can be linked to
	FocusRow    int                // row whose control has the focus after its button was used; 0: the blank row
	Phrases     []model.Phrase     // that can be inserted in a row
	offered     []string           // indexes that the rows offer as check boxes
}

// Row is a row of a list. In a form, its values are as submitted.
type Row struct {
	N                int               // position, starting with 1
	values           map[string]string // by field
	Was              string            // fingerprint of the stored row that it was; "" if it is new
	Problems         map[string]string // by field
	Instrument, Path string            // heading and address of the instrument that it is linked to; "" if there is none
	Run              model.NameRun     // when the name was run, and whether it is to be run again
	By               string            // who ran the name
	Phrase           phraseSearch      // phrase to insert
}

// Value returns the value of a field, or "" if there is none.
func (r Row) Value(field string) string { return r.values[field] }

// isBlank reports whether the row has no values. Its kind isn't one, because a new row has a kind, too.
func (r Row) isBlank(fields []model.FieldLabel) bool {
	return !slices.ContainsFunc(fields, func(f model.FieldLabel) bool {
		return f.Type != model.Choice && r.values[f.Name] != ""
	})
}

// input returns the input of the row.
func (r Row) input(fields []model.FieldLabel) model.Input {
	members := model.Inputs{}
	for _, f := range fields {
		if members[f.Name] = model.StringInput(r.values[f.Name]); f.Rows != nil {
			members[f.Name] = model.StringsInput(r.list(f.Name))
		}
	}
	return model.ObjectInput(members)
}

// splitList splits a list that a user typed like the names of parties, but also at commas.
func splitList(text string) []string { return model.SplitNames(strings.ReplaceAll(text, ",", ";")) }

func (r Rows) numbered() Rows {
	for i := range r.Rows {
		r.Rows[i].N = i + 1
	}
	return r
}

// maxUnknownChoices is the maximum number of instruments in a submitted form that neither the runsheet nor a stored row
// has. Each row shows all choices.
const maxUnknownChoices = 20

// edited returns the form with rows. If there are none, it has a blank one.
func (r Rows) edited(rows []Row) Rows {
	stored := r.Rows
	r.Editing, r.Rows = true, rows
	if len(rows) == 0 {
		r.Rows = []Row{{}}
	}
	// A row can be linked to an instrument of another abstract, such as the prior one.
	limit := len(r.Instruments) + len(stored) + maxUnknownChoices
	for _, row := range slices.Concat(stored, r.Rows) {
		id, err := strconv.ParseUint(row.values["instrument_id"], 10, 63)
		isChoice := slices.ContainsFunc(r.Instruments, func(c instrumentChoice) bool { return c.ID == id })
		if err == nil && !isChoice && len(r.Instruments) < limit {
			r.Instruments = append(r.Instruments, instrumentChoice{id, cmp.Or(row.Instrument, fmt.Sprintf("Instrument %d", id))})
		}
	}
	r.offerIndexes()
	return r.numbered()
}

// page returns the handler of the page of a list, or of its form.
func (l rowList) page(p *Pages) page.HandlerFunc {
	return func(r *page.Request) error {
		s, err := p.read(r)
		if err != nil {
			return err
		}
		view, err := l.read(p, r, s)
		if err != nil {
			return err
		}
		view.Focus = r.IsPart()
		if isEditing(r) {
			view.setBase(l.fields)
			view = view.edited(append(view.Rows, Row{}))
		}
		return p.show(r, http.StatusOK, s, l.part, l.heading, view)
	}
}

// submitted returns the rows of a submitted form, up to one more than an abstract can have. Dates whose year has two
// digits are not after latest.
func (l rowList) submitted(form url.Values, latest time.Time) (rows []Row) {
	for i := range min(len(form[l.fields[0].Name]), model.MaxTitleRows+1) {
		row := Row{values: map[string]string{}, Was: formText(form, "was", i), Phrase: phraseSearch{Text: formText(form, "phrase", i)}}
		for _, f := range l.fields {
			switch row.values[f.Name] = formText(form, f.Name, i); {
			case f.Rows != nil:
				row.values[f.Name] = submittedList(form, f.Name, i)
			case f.Type == model.Date:
				row.values[f.Name] = model.TypedDate(row.values[f.Name], latest)
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// formText returns the nth value of a form field, or "" if there is none.
func formText(form url.Values, name string, n int) string {
	if values := form[name]; n < len(values) {
		return strings.TrimSpace(strings.ReplaceAll(values[n], "\r\n", "\n"))
	}
	return ""
}

// editRows handles the buttons of a form that add or remove a row without saving. done is false if
// another button was used.
func editRows(r *page.Request, rows []Row) (edited []Row, done bool) {
	do := r.PostForm.Get("do")
	if do == "add" {
		return append(rows, Row{}), true
	}
	n, ok := rowOf(do, "remove-", rows)
	if !ok {
		return rows, false
	}
	return slices.Delete(rows, n-1, n), true
}

// rowOf returns the position of the row whose button was used, such as 3 for "remove-3". ok is false if it was another
// button.
func rowOf(do, prefix string, rows []Row) (n int, ok bool) {
	number, found := strings.CutPrefix(do, prefix)
	n, err := strconv.Atoi(number)
	return n, found && err == nil && n >= 1 && n <= len(rows)
}

// rowProblems returns the problems of the nth row, by field. The keys of problems are such as
// "rows.0.name".
func rowProblems(problems map[string]string, n int) map[string]string {
	prefix := fmt.Sprintf("rows.%d", n)
	found := map[string]string{}
	for field, text := range problems {
		if rest, ok := strings.CutPrefix(field, prefix); ok && (rest == "" || rest[0] == '.') {
			name, _, _ := strings.Cut(strings.TrimPrefix(rest, "."), ".") // "indexes.2" is a problem of indexes
			found[name] = text
		}
	}
	return found
}

// generalProblem returns the problem that doesn't belong to a row.
func generalProblem(problems map[string]string) string {
	for _, field := range []string{"", "rows"} {
		if problems[field] != "" {
			return problems[field]
		}
	}
	return ""
}

// save returns the handler that saves a list, or adds or removes a row of its form. Rows that someone else changed in the
// meantime stay as they are.
func (l rowList) save(p *Pages) page.HandlerFunc {
	return func(r *page.Request) error {
		return vault.RetryEdit(func() error { return l.saveOnce(p, r) })
	}
}

func (l rowList) saveOnce(p *Pages, r *page.Request) error {
	s, err := p.read(r)
	if err != nil {
		return err
	}
	view, err := l.read(p, r, s)
	if err != nil {
		return err
	}
	view.setBase(l.fields)
	rows, unsaved := editRows(r, l.submitted(r.PostForm, model.LatestPast(p.LocalNow())))
	if !unsaved && l.more != nil {
		rows, unsaved, err = l.more(p, r, s, &view, rows)
	}
	if err != nil {
		return err
	}
	if unsaved {
		view.Base = r.PostForm["base"]
		return p.show(r, http.StatusOK, s, l.part, l.heading, view.edited(rows))
	}
	rows = slices.DeleteFunc(rows, func(row Row) bool { return row.isBlank(l.fields) })
	if !r.PostForm.Has("base") {
		return l.store(p, r, s, view, rows, vault.Match{}, l.notice)
	}
	rows, clash, kept := l.merge(r.PostForm["base"], view.Rows, rows)
	if clash {
		return p.show(r, http.StatusPreconditionFailed, s, l.part, l.heading, view.edited(rows))
	}
	notice := l.notice
	if kept {
		notice += " Rows that someone else changed in the meantime were kept."
	}
	return l.store(p, r, s, view, rows, vault.MatchVersion(view.Version), notice)
}

// store stores rows in place of those of view, and shows the list with a notice.
func (l rowList) store(p *Pages, r *page.Request, s source, view Rows, rows []Row, match vault.Match, notice string) error {
	list := model.ListInput()
	for _, row := range rows {
		list.Items = append(list.Items, row.input(l.fields))
	}
	work, err := l.set(p.App.TitleWork, r.Context(), r.Actor, s.abstract.ID, list, match)
	if why, ok := rejected(err); ok && !why.clash {
		return p.show(r, why.status, s, l.part, l.heading, view.rejected(rows, why))
	}
	if err != nil {
		return err
	}
	before := view.Version
	s.work = work
	if view, err = l.read(p, r, s); err != nil {
		return err
	}
	undo := p.EditUndo(r, s.edit(l.name, view.Version), before)
	if !r.IsPart() {
		return p.RedirectWithUndo(r, s.path+"#"+path.Base(view.Path), notice, undo)
	}
	p.setSaved(r, &view.section, notice, undo)
	changed(r)
	return p.show(r, http.StatusOK, s, l.part, l.heading, view)
}

// rejected returns the form with rows that weren't saved.
func (r Rows) rejected(rows []Row, why rejection) Rows {
	r = r.edited(rows)
	for i := range rows {
		r.Rows[i].Problems = rowProblems(why.problems, i)
	}
	r.Problem = generalProblem(why.problems)
	return r
}

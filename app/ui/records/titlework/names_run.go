package titlework

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"deedkeep/app/model"
	"deedkeep/app/ui/page"
)

// NamesRun is the template data of the names run of an abstract.
type NamesRun struct {
	section
	Rows   []NameRow
	Theirs []NameRow // stored rows, after another user changed them in the meantime
}

// NameRow is a row of the names run. In a form, its values are as submitted.
type NameRow struct {
	N                               int // position, starting with 1
	Name, From, To, Indexes, Result string
	Pending                         bool // to be run again
	By                              string
	At                              time.Time
	Problems                        map[string]string // by field
}

// Blank reports whether the row has no values.
func (n NameRow) Blank() bool { return n.Name+n.From+n.To+n.Indexes+n.Result == "" }

// Input returns the input of the row.
func (n NameRow) Input() model.Input {
	return model.ObjectInput(map[string]model.Input{"name": model.StringInput(n.Name), "from": model.StringInput(n.From),
		"to": model.StringInput(n.To), "indexes": model.StringsInput(splitList(n.Indexes)), "result": model.StringInput(n.Result)})
}

// Pending reports whether there are names to run again.
func (v NamesRun) Pending() bool {
	return slices.ContainsFunc(v.Rows, func(row NameRow) bool { return row.Pending })
}

// namesRun returns the names run of an abstract.
func (p *Pages) namesRun(s source) NamesRun {
	view := NamesRun{section: s.section("names-run", s.work.Versions.NamesRun)}
	for _, run := range s.work.NamesRun {
		view.Rows = append(view.Rows, NameRow{Name: run.Name, From: run.From, To: run.To, Indexes: strings.Join(run.Indexes, ", "),
			Result: run.Result, Pending: run.Pending, By: page.ActorText(run.By), At: run.At})
	}
	return view.numbered()
}

func (v NamesRun) numbered() NamesRun {
	for i := range v.Rows {
		v.Rows[i].N = i + 1
	}
	return v
}

// edited returns the form with rows. If there are none, it has a blank one.
func (v NamesRun) edited(rows []NameRow) NamesRun {
	v.Editing, v.Rows = true, rows
	if len(rows) == 0 {
		v.Rows = []NameRow{{}}
	}
	return v.numbered()
}

const namesRunHeading = "Names run"

func (p *Pages) showNamesRun(r *page.Request, status int, s source, view NamesRun) error {
	return p.show(r, status, s, "titlework_names", namesRunHeading, view)
}

// namesRunPage serves the names run of an abstract, or its form.
func (p *Pages) namesRunPage(r *page.Request) error {
	s, err := p.read(r)
	if err != nil {
		return err
	}
	view := p.namesRun(s)
	view.Focus = r.IsPart()
	if isEditing(r) {
		view = view.edited(append(view.Rows, NameRow{}))
	}
	return p.showNamesRun(r, http.StatusOK, s, view)
}

// submittedNames returns the rows of a submitted form.
func submittedNames(form url.Values, latest time.Time) (rows []NameRow) {
	for i := range form["name"] {
		rows = append(rows, NameRow{Name: formText(form, "name", i), From: formDate(form, "from", i, latest),
			To:      formDate(form, "to", i, latest),
			Indexes: formText(form, "indexes", i), Result: formText(form, "result", i)})
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

// formDate is formText for a date, which is not after latest if its year has two digits.
func formDate(form url.Values, name string, n int, latest time.Time) string {
	return model.TypedDate(formText(form, name, n), latest)
}

// editRows handles the buttons of a form that add or remove a row without saving. done is false if
// another button was used.
func editRows[T any](r *page.Request, rows []T) (edited []T, done bool) {
	do := r.PostForm.Get("do")
	if do == "add" {
		return append(rows, *new(T)), true
	}
	n, err := strconv.Atoi(strings.TrimPrefix(do, "remove-"))
	if err != nil || n < 1 || n > len(rows) {
		return rows, false
	}
	return slices.Delete(rows, n-1, n), true
}

// splitList splits a list that a user typed like the names of parties, but also at commas.
func splitList(text string) []string { return model.SplitNames(strings.ReplaceAll(text, ",", ";")) }

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

// saveNamesRun saves the names run of an abstract, or adds or removes a row of the form.
func (p *Pages) saveNamesRun(r *page.Request) error {
	s, err := p.read(r)
	if err != nil {
		return err
	}
	view := p.namesRun(s)
	stored := view.Rows
	rows, unsaved := editRows(r, submittedNames(r.PostForm, model.LatestPast(p.LocalNow())))
	if unsaved {
		view.Version, _ = strconv.ParseUint(r.PostForm.Get("version"), 10, 64) // 0 if missing
		return p.showNamesRun(r, http.StatusOK, s, view.edited(rows))
	}
	rows = slices.DeleteFunc(rows, NameRow.Blank)
	work, err := p.Vault.TitleWork.SetNamesRun(r.Context(), r.Actor, s.abstract.ID, model.RowsInput(rows), match(r))
	if why, ok := rejected(err); ok {
		view = view.edited(rows)
		for i := range rows {
			view.Rows[i].Problems = rowProblems(why.problems, i)
		}
		view.Problem = generalProblem(why.problems)
		if view.Clash = why.clash; view.Clash {
			view.Theirs = stored
		}
		return p.showNamesRun(r, why.status, s, view)
	}
	if err != nil {
		return err
	}
	if !r.IsPart() {
		return p.RedirectWithNotice(r, s.path+"#names-run", "Names run saved.")
	}
	s.work = work
	view = p.namesRun(s)
	view.Focus = true
	changed(r)
	return p.showNamesRun(r, http.StatusOK, s, view)
}

package instrumentform

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"deedkeep/app/errs"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

// SetProblems sets the problems of the fields. The first field with a problem gets the focus.
func (f *Form) SetProblems(problems map[string]string) {
	for _, field := range f.fields() {
		var texts []string
		for _, key := range slices.Sorted(maps.Keys(problems)) {
			name, place, _ := strings.Cut(key, ".")
			if !slices.Contains(field.apiNames(), name) {
				continue
			}
			row, control, _ := strings.Cut(place, ".")
			if n, err := strconv.Atoi(row); err == nil && n < len(field.Rows) {
				field.Rows[n].Wrong = control
				texts = append(texts, fmt.Sprintf("Row %d: %s", n+1, problems[key]))
			} else {
				texts = append(texts, problems[key])
			}
		}
		field.Problem = strings.Join(texts, " ")
		if field.Problem != "" {
			f.Wrong = append(f.Wrong, field.Input)
		}
	}
	f.Focus()
}

// Asks reports whether the form has questions that the user hasn't answered.
func (f *Form) Asks() bool {
	return slices.ContainsFunc(f.fields(), func(field *Field) bool { return field.Asked() })
}

// Focus moves the focus to the first field with a problem, a question, or a conflict, or else to the first
// field.
func (f *Form) Focus() {
	list := f.fields()
	f.FocusField(list[max(0, slices.IndexFunc(list, func(field *Field) bool { return field.Invalid() || field.Clash }))].Key())
}

// FocusField moves the focus to a field.
func (f *Form) FocusField(name string) {
	for _, field := range f.fields() {
		field.Input.Focus = field.Key() == name
	}
}

// Open reports whether a folded group is open: it has a relation, a problem, a warning, a question, a conflict, or the
// focus.
func (g Group) Open() bool {
	return slices.ContainsFunc(g.Fields, func(field *Field) bool {
		entered := slices.ContainsFunc(field.Rows, func(row Row) bool { return row.Kind != "" || row.Target != "" || row.Text != "" })
		return entered || field.Warning != "" || field.Problem != "" || field.Question != "" || field.Clash || field.Input.Focus
	})
}

// Save saves the submitted form of an instrument. If other users changed fields that this form doesn't
// change, their values are kept. If both changed the same field, or if values are invalid, it saves
// nothing and returns the form to show again, with the status of the response. read returns the form
// with the stored values, again if they changed in the meantime.
func Save(p *page.Site, r *page.Request, read func() (*Form, error)) (
	saved vault.InstrumentView, again *Form, status int, err error) {
	err = vault.RetryEdit(func() error {
		form, err := read()
		if err != nil {
			return err
		}
		patch := form.Merge(r.PostForm)
		if form.Conflict {
			log, err := p.LatestEvents(r.Context(), "instrument", form.ID)
			for _, field := range form.fields() {
				field.DescribeConflict(log, p.Zone(), field.apiNames()...)
			}
			form.Focus()
			again, status = form, http.StatusPreconditionFailed
			return err
		}
		again, status = form, http.StatusUnprocessableEntity
		if form.Asks() {
			form.Focus()
			return nil
		}
		saved, err = p.App.Instruments.Patch(r.Context(), r.Actor, form.ID, patch, vault.MatchVersion(form.stored.Version))
		if problem, ok := errors.AsType[*errs.Error](err); ok && problem.Kind == errs.Invalid {
			form.SetProblems(page.FieldProblems(problem.Fields))
			return nil
		}
		if form.AsksDuplicate(r, patch, err) {
			return nil
		}
		again = nil
		return err
	})
	return saved, again, status, err
}

package titlework

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"deedkeep/app/model"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

// maxInstrumentChoices is the maximum number of instruments that a row can be linked to. The page of
// an abstract with more of them would be slow.
const maxInstrumentChoices = 300

// Requirements is the template data of the requirements and exceptions of an abstract.
type Requirements struct {
	section
	Rows        []RequirementRow // those of the abstract
	Flagged     []RequirementRow // those of its instruments
	Theirs      []RequirementRow // stored rows, after another user changed them in the meantime
	Instruments []instrumentChoice
}

// RequirementRow is a requirement or an exception. In a form, its values are as submitted.
type RequirementRow struct {
	N                   int // position, starting with 1
	Kind, Text, Cleared string
	InstrumentID        uint64
	Instrument          string            // heading of the instrument; "" if it is gone
	Path                string            // address of the instrument
	Problems            map[string]string // by field
}

// instrumentChoice is an instrument that a row can be linked to.
type instrumentChoice struct {
	ID      uint64
	Heading string
}

// requirementList is one of the two lists that a part shows.
type requirementList struct {
	Kind, Heading string
	Rows          []RequirementRow
}

// Lists returns the requirements and the exceptions. Those of the abstract come before those of its
// instruments.
func (v Requirements) Lists() []requirementList {
	lists := []requirementList{{Kind: model.RequirementKind, Heading: "Requirements (Schedule B-I)"},
		{Kind: model.ExceptionKind, Heading: "Exceptions (Schedule B-II)"}}
	for i := range lists {
		for _, row := range slices.Concat(v.Rows, v.Flagged) {
			if row.Kind == lists[i].Kind {
				lists[i].Rows = append(lists[i].Rows, row)
			}
		}
	}
	return lists
}

// Blank reports whether the row has no values.
func (q RequirementRow) Blank() bool { return q.Text == "" && q.Cleared == "" && q.InstrumentID == 0 }

// Input returns the input of the row.
func (q RequirementRow) Input() model.Input {
	return model.ObjectInput(map[string]model.Input{"kind": model.StringInput(q.Kind), "text": model.StringInput(q.Text),
		"cleared": model.StringInput(q.Cleared), "instrument_id": model.NumberInput(q.InstrumentID)})
}

// requirements returns the requirements and exceptions of an abstract.
func (p *Pages) requirements(r *page.Request, s source) (view Requirements, err error) {
	view = Requirements{section: s.section("requirements", s.work.Versions.Requirements)}
	sheet, err := p.Vault.Instruments.Runsheet(r.Context(), s.abstract.ID)
	if err != nil {
		return view, err
	}
	for _, i := range sheet.Instruments {
		if len(view.Instruments) < maxInstrumentChoices {
			view.Instruments = append(view.Instruments, instrumentChoice{i.ID, i.Heading(i.Type)})
		}
		for _, flag := range []struct{ kind, text string }{{model.RequirementKind, i.Requirement}, {model.ExceptionKind, i.Exception}} {
			if flag.text != "" {
				view.Flagged = append(view.Flagged, s.requirementRow(flag.kind, flag.text, i.Cleared, i))
			}
		}
	}
	for _, row := range s.work.Requirements {
		view.Rows = append(view.Rows, p.storedRow(r, s, sheet, row))
	}
	return view.numbered(), nil
}

// requirementRow returns a row that is linked to an instrument of the abstract.
func (s source) requirementRow(kind, text, cleared string, i vault.InstrumentView) RequirementRow {
	return RequirementRow{Kind: kind, Text: text, Cleared: cleared, InstrumentID: i.ID, Instrument: i.Heading(i.Type),
		Path: instrumentPath(s.path, i.ID)}
}

// storedRow returns a row of the abstract. Its instrument may be one of another abstract: of the one
// that this one brings down, or of the one that it was moved to.
func (p *Pages) storedRow(r *page.Request, s source, sheet vault.Runsheet, row model.RequirementRow) RequirementRow {
	for _, i := range sheet.Instruments {
		if i.ID == row.InstrumentID {
			return s.requirementRow(row.Kind, row.Text, row.Cleared, i)
		}
	}
	shown := RequirementRow{Kind: row.Kind, Text: row.Text, Cleared: row.Cleared, InstrumentID: row.InstrumentID}
	if row.InstrumentID != 0 {
		if i, err := p.Vault.Instruments.Get(r.Context(), row.InstrumentID); err == nil {
			shown.Instrument, shown.Path = i.Heading(i.Type), instrumentPath(p.AbstractPath(i.AbstractID), i.ID)
		}
	}
	return shown
}

// instrumentPath returns the address of an instrument on the page of its abstract.
func instrumentPath(abstract string, id uint64) string {
	return fmt.Sprintf("%s#instrument-%d", abstract, id)
}

func (v Requirements) numbered() Requirements {
	for i := range v.Rows {
		v.Rows[i].N = i + 1
	}
	return v
}

// edited returns the form with rows. If there are none, it has a blank one.
func (v Requirements) edited(rows []RequirementRow) Requirements {
	v.Editing, v.Rows = true, rows
	if len(rows) == 0 {
		v.Rows = []RequirementRow{{}}
	}
	for i := range v.Rows {
		row := &v.Rows[i]
		if row.InstrumentID != 0 && !slices.ContainsFunc(v.Instruments, func(c instrumentChoice) bool { return c.ID == row.InstrumentID }) {
			name := row.Instrument
			if name == "" {
				name = fmt.Sprintf("Instrument %d", row.InstrumentID)
			}
			v.Instruments = append(v.Instruments, instrumentChoice{row.InstrumentID, name})
		}
	}
	return v.numbered()
}

// Kinds returns the kinds of rows with their names.
func (v Requirements) Kinds() [][2]string {
	return [][2]string{{model.RequirementKind, "Requirement (B-I)"}, {model.ExceptionKind, "Exception (B-II)"}}
}

func (p *Pages) showRequirements(r *page.Request, status int, s source, view Requirements) error {
	return p.show(r, status, s, "titlework_requirements", "Requirements and exceptions", view)
}

// requirementsPage serves the requirements and exceptions of an abstract, or their form.
func (p *Pages) requirementsPage(r *page.Request) error {
	s, err := p.read(r)
	if err != nil {
		return err
	}
	view, err := p.requirements(r, s)
	if err != nil {
		return err
	}
	view.Focus = r.IsPart()
	if isEditing(r) {
		view = view.edited(append(view.Rows, RequirementRow{}))
	}
	return p.showRequirements(r, http.StatusOK, s, view)
}

// submittedRequirements returns the rows of a submitted form.
func submittedRequirements(form url.Values, latest time.Time) (rows []RequirementRow) {
	for i := range form["text"] {
		instrument, _ := strconv.ParseUint(formText(form, "instrument", i), 10, 63) // 0: none
		rows = append(rows, RequirementRow{Kind: formText(form, "kind", i), Text: formText(form, "text", i),
			Cleared: formDate(form, "cleared", i, latest), InstrumentID: instrument})
	}
	return rows
}

// saveRequirements saves the requirements and exceptions of an abstract, or adds or removes a row of
// the form.
func (p *Pages) saveRequirements(r *page.Request) error {
	s, err := p.read(r)
	if err != nil {
		return err
	}
	view, err := p.requirements(r, s)
	if err != nil {
		return err
	}
	stored := view.Rows
	rows, unsaved := editRows(r, submittedRequirements(r.PostForm, model.LatestPast(p.LocalNow())))
	if unsaved {
		view.Version, _ = strconv.ParseUint(r.PostForm.Get("version"), 10, 64) // 0 if missing
		return p.showRequirements(r, http.StatusOK, s, view.edited(rows))
	}
	rows = slices.DeleteFunc(rows, RequirementRow.Blank)
	work, err := p.Vault.TitleWork.SetRequirements(r.Context(), r.Actor, s.abstract.ID, model.RowsInput(rows), match(r))
	if why, ok := rejected(err); ok {
		view = view.edited(rows)
		for i := range rows {
			view.Rows[i].Problems = rowProblems(why.problems, i)
		}
		view.Problem = generalProblem(why.problems)
		if view.Clash = why.clash; view.Clash {
			view.Theirs = stored
		}
		return p.showRequirements(r, why.status, s, view)
	}
	if err != nil {
		return err
	}
	if !r.IsPart() {
		return p.RedirectWithNotice(r, s.path+"#requirements", "Requirements and exceptions saved.")
	}
	s.work = work
	if view, err = p.requirements(r, s); err != nil {
		return err
	}
	view.Focus = true
	changed(r)
	return p.showRequirements(r, http.StatusOK, s, view)
}

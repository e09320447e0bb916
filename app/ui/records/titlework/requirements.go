package titlework

import (
	"fmt"
	"slices"
	"strconv"

	"deedkeep/app/model"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

// maxInstrumentChoices is the maximum number of instruments that a row can be linked to. The page of
// an abstract with more of them would be slow.
const maxInstrumentChoices = 300

var requirements = rowList{name: "requirements", part: "titlework_requirements",
	heading: "Requirements and exceptions", notice: "Requirements and exceptions saved.", text: "text",
	more: (*Pages).moreRequirements, fields: model.RequirementFields(), read: (*Pages).readRequirements,
	set: (*vault.TitleWork).SetRequirements}

// instrumentChoice is an instrument that a row can be linked to.
type instrumentChoice struct {
	ID      uint64
	Heading string
}

// requirementList is one of the two lists that a part shows.
type requirementList struct {
	Kind, Heading string
	Rows          []Row
}

// Lists returns the requirements and the exceptions. Those of the abstract come before those of its
// instruments.
func (r Rows) Lists() []requirementList {
	lists := []requirementList{{Kind: model.RequirementKind, Heading: "Requirements (Schedule B-I)"},
		{Kind: model.ExceptionKind, Heading: "Exceptions (Schedule B-II)"}}
	for i := range lists {
		for _, row := range slices.Concat(r.Rows, r.Flagged) {
			if row.values["kind"] == lists[i].Kind {
				lists[i].Rows = append(lists[i].Rows, row)
			}
		}
	}
	return lists
}

// readRequirements returns the requirements and exceptions of an abstract.
func (p *Pages) readRequirements(r *page.Request, s source) (view Rows, err error) {
	view = Rows{section: s.section("requirements", s.work.Versions.Requirements)}
	sheet, err := p.App.Instruments.Runsheet(r.Context(), s.abstract.ID)
	if err != nil {
		return view, err
	}
	for _, i := range sheet.Instruments {
		if len(view.Instruments) < maxInstrumentChoices {
			view.Instruments = append(view.Instruments, instrumentChoice{i.ID, i.Heading(i.Type)})
		}
		for _, row := range []model.RequirementRow{{Kind: model.RequirementKind, Text: i.Requirement},
			{Kind: model.ExceptionKind, Text: i.Exception}} {
			if row.Text != "" {
				row.Cleared, row.InstrumentID = i.Cleared, i.ID
				view.Flagged = append(view.Flagged, s.requirementRow(row, i))
			}
		}
	}
	for _, row := range s.work.Requirements {
		view.Rows = append(view.Rows, p.storedRow(r, s, sheet, row))
	}
	err = p.offerPhrases(r, &view)
	return view.numbered(), err
}

// requirementRow returns a row that is linked to an instrument of the abstract.
func (s source) requirementRow(row model.RequirementRow, i vault.InstrumentView) Row {
	return Row{values: requirementValues(row), Instrument: i.Heading(i.Type), Path: instrumentPath(s.path, i.ID)}
}

func requirementValues(row model.RequirementRow) map[string]string {
	values := map[string]string{"kind": row.Kind, "text": row.Text, "cleared": row.Cleared}
	if row.InstrumentID != 0 {
		values["instrument_id"] = strconv.FormatUint(row.InstrumentID, 10)
	}
	return values
}

// storedRow returns a row of the abstract. Its instrument may be one of another abstract: of the one
// that this one brings down, or of the one that it was moved to.
func (p *Pages) storedRow(r *page.Request, s source, sheet vault.Runsheet, row model.RequirementRow) Row {
	for _, i := range sheet.Instruments {
		if i.ID == row.InstrumentID {
			return s.requirementRow(row, i)
		}
	}
	shown := Row{values: requirementValues(row)}
	if row.InstrumentID != 0 {
		if i, err := p.App.Instruments.Get(r.Context(), row.InstrumentID); err == nil {
			shown.Instrument, shown.Path = i.Heading(i.Type), instrumentPath(p.AbstractPath(i.AbstractID), i.ID)
		}
	}
	return shown
}

// instrumentPath returns the address of an instrument on the page of its abstract.
func instrumentPath(abstract string, id uint64) string {
	return fmt.Sprintf("%s#instrument-%d", abstract, id)
}

// Kinds returns the kinds of rows with their names.
func (r Rows) Kinds() [][2]string {
	return [][2]string{{model.RequirementKind, "Requirement (B-I)"}, {model.ExceptionKind, "Exception (B-II)"}}
}

package titlework

import (
	"slices"
	"strings"

	"deedkeep/app/model"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

var namesRun = rowList{name: "names_run", part: "titlework_names", heading: "Names run", notice: "Names run saved.",
	fields: model.NameRunFields(), read: (*Pages).readNamesRun, set: (*vault.TitleWork).SetNamesRun}

// readNamesRun returns the names run of an abstract.
func (p *Pages) readNamesRun(r *page.Request, s source) (Rows, error) {
	view := Rows{section: s.section("names-run", s.work.Versions.NamesRun)}
	staff, err := p.Staff(r.Context())
	if err != nil {
		return view, err
	}
	for _, run := range s.work.NamesRun {
		view.Rows = append(view.Rows, Row{Run: run, By: staff.ActorName(run.By), values: map[string]string{"name": run.Name, "from": run.From, "to": run.To,
			"indexes": strings.Join(run.Indexes, ", "), "result": run.Result}})
	}
	return view.numbered(), nil
}

// Pending reports whether there are names to run again.
func (r Rows) Pending() bool {
	return slices.ContainsFunc(r.Rows, func(row Row) bool { return row.Run.Pending })
}

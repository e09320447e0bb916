package titlework

import (
	"slices"
	"strings"

	"deedkeep/app/model"
	"deedkeep/app/titlecheck"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

var namesRun = rowList{name: "names_run", part: "titlework_names", heading: "Names run", notice: "Names run saved.",
	text: "name", more: (*Pages).addNames, fields: model.NameRunFields(), read: (*Pages).readNamesRun, set: (*vault.TitleWork).SetNamesRun}

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

// addNames adds a row for each name of the chain that isn't in the form. The indices are those of the first row.
func (p *Pages) addNames(r *page.Request, s source, rows []Row) ([]Row, error) {
	sheet, err := p.App.Instruments.Runsheet(r.Context(), s.abstract.ID)
	if err != nil {
		return rows, err
	}
	s.work.NamesRun = nil
	for _, row := range rows {
		s.work.NamesRun = append(s.work.NamesRun, model.NameRun{Name: row.values["name"]})
	}
	indexes := ""
	if len(rows) > 0 {
		indexes = rows[0].values["indexes"]
	}
	rows = slices.DeleteFunc(rows, func(row Row) bool { return row.isBlank(model.NameRunFields()) })
	for _, run := range titlecheck.NamesToRun(s.search(sheet)) {
		if len(rows) >= model.MaxTitleRows {
			break
		}
		rows = append(rows, Row{values: map[string]string{"name": run.Name, "from": run.From, "to": run.To, "indexes": indexes}})
	}
	return rows, nil
}

// Pending reports whether there are names to run again.
func (r Rows) Pending() bool {
	return slices.ContainsFunc(r.Rows, func(row Row) bool { return row.Run.Pending })
}

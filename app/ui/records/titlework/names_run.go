package titlework

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"deedkeep/app/model"
	"deedkeep/app/titlecheck"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

var namesRun = rowList{name: "names_run", part: "titlework_names", heading: "Names run", notice: "Names run saved.",
	text: "name", more: (*Pages).moreNames, fields: model.NameRunFields(), read: (*Pages).readNamesRun, set: (*vault.TitleWork).SetNamesRun}

// readNamesRun returns the names run of an abstract.
func (p *Pages) readNamesRun(r *page.Request, s source) (Rows, error) {
	view := Rows{section: s.section("names-run", s.work.Versions.NamesRun)}
	staff, err := p.Staff(r.Context())
	if err != nil {
		return view, err
	}
	for _, run := range s.work.NamesRun {
		view.Rows = append(view.Rows, Row{Run: run, By: staff.ActorName(run.By), values: map[string]string{"name": run.Name,
			"from": run.From, "to": run.To, "indexes": strings.Join(run.Indexes, "\n"), "result": run.Result}})
	}
	if isEditing(r) || r.Method == http.MethodPost {
		view.offered, err = p.indexesOf(r.Context(), s.template)
	}
	return view.numbered(), err
}

// indexesOf returns the indexes that a form offers as check boxes: the options of the template's field or, if it has none,
// those of the first template that has some, or those of a new vault.
func (p *Pages) indexesOf(ctx context.Context, own model.Template) ([]string, error) {
	if options := indexOptions(own); len(options) > 0 {
		return options, nil
	}
	templates, err := p.App.Templates.List(ctx)
	for _, template := range slices.Concat(templates, model.NewWorkspace().Templates) {
		if options := indexOptions(template); len(options) > 0 {
			return options, err
		}
	}
	return nil, err
}

func indexOptions(t model.Template) []string {
	field, _ := t.CertificateField("indices_searched")
	return field.Options
}

// maxOfferedIndexes is the maximum number of indexes that each row offers, besides its own ones.
const maxOfferedIndexes = 30

// indexChoice is a check box for an index.
type indexChoice struct {
	Name    string
	Checked bool
}

// offerIndexes adds the indexes of the rows to the offered ones, so that one that was typed is a check box in each row.
func (r *Rows) offerIndexes() {
	r.offered = slices.Clone(r.offered)
	for _, row := range r.Rows {
		for _, index := range row.list("indexes") {
			if len(r.offered) < maxOfferedIndexes && !contains(r.offered, index) {
				r.offered = append(r.offered, index)
			}
		}
	}
}

// Indexes returns the check boxes of a row.
func (r Rows) Indexes(row Row) (choices []indexChoice) {
	own := row.list("indexes")
	for _, index := range r.offered {
		choices = append(choices, indexChoice{index, contains(own, index)})
	}
	for _, index := range own {
		if !contains(r.offered, index) {
			choices = append(choices, indexChoice{index, true})
		}
	}
	return choices
}

// list returns the values of a field that is a list.
func (r Row) list(field string) []string {
	if r.values[field] == "" {
		return nil
	}
	return strings.Split(r.values[field], "\n")
}

// IndexText returns the indexes of the row, separated by commas.
func (r Row) IndexText() string { return strings.Join(r.list("indexes"), ", ") }

// submittedList returns the values of a list that was submitted with the nth row, one per line: those of its check boxes,
// and those that were typed. If they are the ones that the row had, they keep their sequence and spelling.
func submittedList(form url.Values, field string, n int) string {
	var list []string
	for _, value := range slices.Concat(form[fmt.Sprintf("%s-%d", field, n+1)], splitList(formText(form, field, n))) {
		if value = strings.Join(strings.Fields(value), " "); value != "" && len(list) <= model.MaxListItems && !contains(list, value) {
			list = append(list, value)
		}
	}
	had := formText(form, "had", n)
	before := Row{values: map[string]string{field: had}}.list(field)
	if len(before) <= model.MaxListItems && containsAll(before, list) && containsAll(list, before) {
		return had
	}
	return strings.Join(list, "\n")
}

// contains reports whether a list has a value, ignoring case and repeated spaces.
func contains(list []string, value string) bool {
	words := strings.Join(strings.Fields(value), " ")
	return slices.ContainsFunc(list, func(have string) bool { return strings.EqualFold(strings.Join(strings.Fields(have), " "), words) })
}

func containsAll(list, values []string) bool {
	return !slices.ContainsFunc(values, func(value string) bool { return !contains(list, value) })
}

// moreNames handles the buttons that add the names of the chain and check the indexes of a row for all names.
func (p *Pages) moreNames(r *page.Request, s source, view *Rows, rows []Row) (edited []Row, done bool, err error) {
	do := r.PostForm.Get("do")
	if do == "fill" {
		rows, err = p.addNames(r, s, rows)
		return rows, true, err
	}
	n, ok := rowOf(do, "indexes-", rows)
	if !ok {
		return rows, false, nil
	}
	view.FocusRow = n
	for i, row := range rows {
		if !row.isBlank(model.NameRunFields()) {
			rows[i].values["indexes"] = rows[n-1].values["indexes"]
		}
	}
	return rows, true, nil
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

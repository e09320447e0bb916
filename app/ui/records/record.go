package records

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"slices"

	"deedkeep/app/model"
	"deedkeep/app/search"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

// recordView is the template data that the pages of abstracts and orders have in common.
type recordView struct {
	Path        string
	Statuses    []string       // configured statuses, plus the current one if it isn't among them
	Clash       string         // why the status was not changed
	StatusSaved *page.Notice   // that the status was set; nil if it wasn't
	Missing     []missingField // required fields without a value
	Groups      []fieldGroup
	Saved       fieldGroup    // the group that was saved, if only a part of the page is rendered
	SameMore    bool          // more records have the same number than are shown
	Related     search.Groups // records of the same property
	History     []historyLine
}

// missingField is a blank required field and its group.
type missingField struct {
	page.Input
	Group string
}

// fieldGroup is a group of fields that users edit together.
type fieldGroup struct {
	Name, Heading, Path string
	Fields              []page.Input
	Kept                []page.Input // values of fields that are no longer in the template
	Editing             bool
	Version             uint64       // version of the record that is shown
	Conflict            bool         // this user and another user entered different values in a field
	Notice              *page.Notice // that the group was saved, and the other users' changes that were kept
	Focus               bool         // the Edit button gets the focus after its form is closed
	Part                bool         // belongs to a part of the title work, which shows it
}

// Filled returns the fields with a value, and required ones without it.
func (g fieldGroup) Filled() []page.Input {
	return slices.DeleteFunc(slices.Clone(g.Fields), g.isBlank)
}

// Blank returns the fields without a value.
func (g fieldGroup) Blank() []page.Input {
	return slices.DeleteFunc(slices.Clone(g.Fields), func(in page.Input) bool { return !g.isBlank(in) })
}

// isBlank reports whether a field is shown among those without a value.
func (g fieldGroup) isBlank(in page.Input) bool { return in.Empty() && !in.Missing() && !g.Part }

// newRecordView returns the template data for a record with the given version and status.
func newRecordView(path string, version uint64, status string, statuses []string, groups []fieldGroup) recordView {
	v := recordView{Path: path, Statuses: statuses, Groups: groups}
	if status != "" && !slices.Contains(statuses, status) {
		v.Statuses = append(slices.Clone(statuses), status)
	}
	for i := range v.Groups {
		g := &v.Groups[i]
		g.Path, g.Version = path, version
		g.setFingerprints(page.Fingerprint)
		for _, in := range g.Fields {
			if in.Missing() {
				v.Missing = append(v.Missing, missingField{in, g.Name})
			}
		}
	}
	return v
}

// newFieldGroups returns the field groups of a record: property, short custom fields, and long
// custom fields. It omits groups without fields. others are fields that aren't the record's own, but whose values it can
// have kept.
func newFieldGroups(property, details, notes fieldGroup, defs, others []model.Field, custom model.CustomValues) []fieldGroup {
	known := map[string]bool{}
	for i, in := range page.StoredInputs(defs, custom) {
		known[defs[i].Key] = true
		if in.Type == model.Paragraph {
			notes.Fields = append(notes.Fields, in)
		} else {
			details.Fields = append(details.Fields, in)
		}
	}
	for key, raw := range custom {
		if known[key] {
			continue
		}
		def := model.Field{Key: key, Label: model.FormatStatus(key), Type: model.Text}
		if at := slices.IndexFunc(others, func(f model.Field) bool { return f.Key == key }); at >= 0 {
			def = others[at]
		}
		details.Kept = append(details.Kept, page.NewInput(def, model.StoredTexts(raw)))
	}
	slices.SortFunc(details.Kept, func(a, b page.Input) int { return cmp.Compare(a.Name, b.Name) })
	return slices.DeleteFunc([]fieldGroup{property, details, notes}, func(g fieldGroup) bool { return len(g.Fields)+len(g.Kept) == 0 })
}

// Group returns the field group with the given name, or the zero value if there is none.
func (v recordView) Group(name string) fieldGroup {
	for _, g := range v.Groups {
		if g.Name == name {
			return g
		}
	}
	return fieldGroup{}
}

// Many reports whether there are too many statuses to show them next to each other.
func (v recordView) Many() bool { return len(v.Statuses) > 8 }

// openForm opens or closes the form of the group. When the form opens, the field named at gets the
// focus.
func (g *fieldGroup) openForm(open bool, at string) {
	g.Editing = open
	if !open {
		return
	}
	i := max(0, slices.IndexFunc(g.Fields, func(in page.Input) bool { return in.Name == at }))
	if len(g.Fields) > 0 {
		g.Fields[i].Focus = true
	}
}

// offerUsed sets the values to choose from while typing.
func (p *Pages) offerUsed(r *page.Request, lists ...[]page.Input) error {
	used, err := p.App.Lists.Used(r.Context())
	for _, list := range lists {
		for i := range list {
			list[i].Used = used[list[i].Name]
		}
	}
	return err
}

// showGroup renders a field group if a script requests one. Otherwise it reports false and opens the
// form that the query requests.
func (p *Pages) showGroup(r *page.Request, template string, v *recordView) (shown bool, err error) {
	query := r.URL.Query()
	name := query.Get("group")
	if !r.IsPart() || name == "" {
		for i := range v.Groups {
			g := &v.Groups[i]
			g.openForm(r.MayWrite() && query.Get("edit") == g.Name, query.Get("field"))
			if g.Editing {
				err = errors.Join(err, p.offerUsed(r, g.Fields))
			}
		}
		return false, err
	}
	g := v.Group(name)
	if g.Name == "" {
		return true, page.NotFound(r)
	}
	g.openForm(r.MayWrite() && query.Get("edit") != "", query.Get("field"))
	if g.Focus = !g.Editing; g.Editing {
		if err := p.offerUsed(r, g.Fields); err != nil {
			return true, err
		}
	}
	return true, p.RenderPart(r, http.StatusOK, template, "group", g)
}

// createRecord creates a record from a form and redirects to it with a notice. If the same form is
// submitted twice, the second request redirects to the record that the first one created. If values
// are invalid, showForm shows the form again.
func createRecord[T any](p *Pages, r *page.Request, notice string, pathOf func(T) string, create func(vault.Idempotency[T]) (T, error),
	showForm func(r *page.Request, status int, form url.Values, rejected map[string]string) error,
) error {
	return page.CreateRecord(p.Site, r, notice, pathOf, nil, create, showForm)
}

// wrongInputs returns the inputs with invalid values, for the list of problems. The first of them gets
// the focus.
func wrongInputs(lists ...[]page.Input) (wrong []page.Input) {
	for _, list := range lists {
		for i := range list {
			if list[i].Problem != "" {
				list[i].Focus = len(wrong) == 0
				wrong = append(wrong, list[i])
			}
		}
	}
	return wrong
}

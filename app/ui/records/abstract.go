package records

import (
	"cmp"
	"context"
	"net/http"
	"slices"

	"deedkeep/app/model"
	"deedkeep/app/search"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

// abstractView is the template data of an abstract's page.
type abstractView struct {
	model.Abstract
	Opaque, Path, Heading, Under string
	Template                     model.Template // zero value if the abstract has no template
	Statuses                     []string       // statuses of the template, plus the current one if it isn't among them
	Clash                        string         // why the status was not changed
	Before                       string         // status that Undo restores
	Missing                      []missingField // required fields without a value
	Groups                       []fieldGroup
	Related                      search.FindResult // records of the same property
	Same                         []abstractRow     // abstracts with the same file number
	SameMore                     bool
	Documents                    documentList
	History                      []historyLine
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
	Version             uint64 // version of the abstract that is shown
	Conflict            bool   // this user and another user entered different values in a field
	Notice              string // lists the other users' changes that were kept
	Focus               bool   // the Edit button gets the focus after its form is closed
}

// Group returns the field group with the given name, or the zero value if there is none.
func (s abstractView) Group(name string) fieldGroup {
	for _, g := range s.Groups {
		if g.Name == name {
			return g
		}
	}
	return fieldGroup{}
}

// Many reports whether there are too many statuses to show them next to each other.
func (s abstractView) Many() bool { return len(s.Statuses) > 8 }

// Aside returns the field groups shown next to the documents.
func (s abstractView) Aside() []fieldGroup { return s.Groups[:1] }

// Main returns the field groups shown above the documents.
func (s abstractView) Main() []fieldGroup { return s.Groups[1:] }

// abstractPage serves the page of an abstract, or a part of that page.
func (p *Pages) abstractPage(w http.ResponseWriter, r *http.Request, visitor page.Visitor) error {
	return p.showAbstract(w, r, visitor, page.NameProblem{})
}

func (p *Pages) showAbstract(w http.ResponseWriter, r *http.Request, visitor page.Visitor, rejected page.NameProblem) error {
	filed, template, err := p.readAbstract(r)
	if err != nil {
		return err
	}
	view := p.newAbstractView(filed.Abstract, template)
	query := r.URL.Query()
	if name := query.Get("group"); page.IsPartRequest(r) && name != "" {
		g := view.Group(name)
		if g.Name == "" {
			return page.NotFound(r)
		}
		g.openForm(visitor.MayWrite() && query.Get("edit") != "", query.Get("field"))
		g.Focus = !g.Editing
		return p.RenderPart(w, r, visitor, http.StatusOK, "abstract.html", "group", g)
	}
	for i := range view.Groups {
		view.Groups[i].openForm(visitor.MayWrite() && query.Get("edit") == view.Groups[i].Name, query.Get("field"))
	}
	if view.Documents, err = p.listDocuments(r, filed); err != nil {
		return err
	}
	rejected.ApplyTo(view.Documents.Rows)
	if view.History, err = p.recentHistory(r.Context(), visitor, filed, template, view.Documents); err != nil {
		return err
	}
	if err := p.addSameFileNumber(r, &view); err != nil {
		return err
	}
	if view.Related, err = p.Vault.Search.RelatedToAbstract(r.Context(), filed.Abstract); err != nil {
		return err
	}
	var scripts []string
	if visitor.MayWrite() {
		scripts = []string{"sortable.min.js", "record.js", "abstract.js", "tus.min.js", "upload.js"}
	}
	return p.RenderPage(w, r, visitor, rejected.Status(), "abstract.html", page.Page{
		Heading: view.Heading, Section: "abstracts", Data: view, Scripts: scripts, Styles: []string{"record.css"},
	})
}

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

// readAbstract returns the requested abstract and its template.
func (p *Pages) readAbstract(r *http.Request) (filed vault.AbstractWithFiles, template model.Template, err error) {
	id, err := p.AbstractID(r)
	if err != nil {
		return filed, template, err
	}
	if filed, err = p.Vault.Abstracts.Get(r.Context(), id); err != nil {
		return filed, template, err
	}
	template, err = p.abstractTemplate(r.Context(), filed.Abstract)
	return filed, template, err
}

// abstractTemplate returns the template of an abstract, even if the template is retired. It returns
// the zero value if the abstract has no template.
func (p *Pages) abstractTemplate(ctx context.Context, a model.Abstract) (model.Template, error) {
	if a.TemplateID == 0 {
		return model.Template{}, nil
	}
	return p.Vault.Templates.Get(ctx, a.TemplateID)
}

// newAbstractView returns the template data that can be derived from the abstract and its template.
func (p *Pages) newAbstractView(a model.Abstract, template model.Template) abstractView {
	s := abstractView{
		Abstract: a, Opaque: p.AbstractIDs.Encode(a.ID), Path: p.AbstractPath(a.ID), Heading: p.Vault.Heading(a, template), Under: a.Subheading(),
		Template: template, Statuses: template.Statuses, Groups: abstractGroups(a, template),
	}
	if a.Status != "" && !slices.Contains(s.Statuses, a.Status) {
		s.Statuses = append(slices.Clone(s.Statuses), a.Status)
	}
	for i := range s.Groups {
		g := &s.Groups[i]
		g.Path, g.Version = s.Path, a.Version
		for _, in := range g.Fields {
			if in.Missing() {
				s.Missing = append(s.Missing, missingField{in, g.Name})
			}
		}
	}
	return s
}

// abstractGroups returns the field groups of an abstract: property, short template fields, and long
// template fields.
func abstractGroups(a model.Abstract, template model.Template) []fieldGroup {
	property := fieldGroup{Name: "property", Heading: "Property", Fields: page.PropertyInputs(func(name string) string {
		return map[string]string{"address": a.Address, "city": a.City, "county": a.County, "state": a.State, "tax_map": a.TaxMap}[name]
	}, nil)}
	details, notes := fieldGroup{Name: "details", Heading: cmp.Or(template.Name, "Details")}, fieldGroup{Name: "notes", Heading: "Descriptions and notes"}
	known := map[string]bool{}
	for i, in := range page.StoredInputs(template.Fields, a.Custom) {
		known[template.Fields[i].Key] = true
		if in.Type == model.Paragraph {
			notes.Fields = append(notes.Fields, in)
		} else {
			details.Fields = append(details.Fields, in)
		}
	}
	for key, raw := range a.Custom {
		if !known[key] {
			details.Kept = append(details.Kept, page.NewInput(model.Field{Key: key, Label: key, Type: model.Text}, page.StoredTexts(raw)))
		}
	}
	slices.SortFunc(details.Kept, func(a, b page.Input) int { return cmp.Compare(a.Name, b.Name) })
	groups := []fieldGroup{property}
	for _, g := range []fieldGroup{details, notes} {
		if len(g.Fields)+len(g.Kept) > 0 {
			groups = append(groups, g)
		}
	}
	for i := range groups {
		groups[i].setFingerprints(page.Fingerprint)
	}
	return groups
}

// setAbstractStatus changes the status of an abstract.
func (p *Pages) setAbstractStatus(w http.ResponseWriter, r *http.Request, visitor page.Visitor) error {
	filed, change, err := p.changeAbstractStatus(r, visitor)
	if err != nil {
		return err
	}
	a := filed.Abstract
	template, err := p.abstractTemplate(r.Context(), a)
	if err != nil {
		return err
	}
	if !page.IsPartRequest(r) {
		path := p.AbstractPath(a.ID)
		return p.RedirectWithUndo(w, r, path, cmp.Or(change.Clash, "Status set to “"+page.FormatStatus(a.Status)+"”."), change.undoAddress(path, a.Status, template.Statuses))
	}
	view := p.newAbstractView(a, template)
	view.Clash, view.Before = change.Clash, change.undoStatus(a.Status, template.Statuses)
	w.Header().Set("HX-Trigger", abstractChangedEvent)
	return p.RenderPart(w, r, visitor, http.StatusOK, "abstract.html", "top", view)
}

// abstractChangedEvent is the browser event that makes other parts of the page reload.
const abstractChangedEvent = "deedkeep:changed"

// trashAbstract moves an abstract and its documents to the trash.
func (p *Pages) trashAbstract(w http.ResponseWriter, r *http.Request, visitor page.Visitor) error {
	filed, template, err := p.readAbstract(r)
	if err != nil {
		return err
	}
	id := filed.Abstract.ID
	if err := p.Vault.Abstracts.Trash(r.Context(), visitor.Actor, id, vault.Match{}); err != nil {
		return err
	}
	notice := "“" + p.Vault.Heading(filed.Abstract, template) + "” is in the trash"
	if n := len(filed.Files); n > 0 {
		notice += ", with its " + page.Plural(n, "document", "documents")
	}
	return p.RedirectWithUndo(w, r, "/abstracts", notice+".", p.AbstractPath(id)+"/restore")
}

// restoreAbstract restores an abstract from the trash.
func (p *Pages) restoreAbstract(w http.ResponseWriter, r *http.Request, visitor page.Visitor) error {
	id, err := p.AbstractID(r)
	if err != nil {
		return err
	}
	if _, err := p.Vault.Abstracts.Restore(r.Context(), visitor.Actor, id, vault.Idempotency[vault.AbstractWithFiles]{}); err != nil {
		return err
	}
	return p.RedirectWithNotice(w, r, p.AbstractPath(id), "It is back, with its documents.")
}

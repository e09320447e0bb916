package records

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"deedkeep/app/model"
	"deedkeep/app/search"
	"deedkeep/app/ui/page"
	"deedkeep/app/ui/records/titlework"
	"deedkeep/app/vault"
)

// abstractView is the template data of an abstract's page.
type abstractView struct {
	model.Abstract
	recordView
	Opaque, Heading, Under string
	Work                   titlework.People // in the header
	Same                   []abstractRow    // abstracts with the same file number
	Runsheet               any              // template data of the runsheet
	RunsheetRows           int
	Documents              documentList
	TitleWork              titlework.Work
	Suggestions            page.Suggestions
	Prior                  priorView
}

// abstractRow is a link to an abstract.
type abstractRow struct {
	model.Abstract
	Path, Heading string
	Documents     int
}

// Aside returns the field groups shown next to the documents.
func (a abstractView) Aside() []fieldGroup {
	return slices.DeleteFunc(slices.Clone(a.Groups), func(g fieldGroup) bool { return g.Part || g.Name == longGroup })
}

// Main returns the field group shown above the title work: that of long texts, unless it is blank.
func (a abstractView) Main() []fieldGroup {
	return slices.DeleteFunc(slices.Clone(a.Groups), func(g fieldGroup) bool { return g.Name != longGroup })
}

// OtherOrders returns the orders with the abstract's parcel or address, without the linked one.
func (a abstractView) OtherOrders() []search.Hit {
	return slices.DeleteFunc(slices.Clone(a.Related.ByKind("order").Hits), func(hit search.Hit) bool { return hit.ID == a.Work.Order.ID })
}

// abstractPage serves the page of an abstract, or a part of that page.
func (p *Pages) abstractPage(r *page.Request) error { return p.showAbstract(r, page.NameProblem{}) }

func (p *Pages) showAbstract(r *page.Request, rejected page.NameProblem) error {
	record, template, err := p.readAbstract(r)
	if err != nil {
		return err
	}
	view, err := p.newAbstractView(r.Context(), record.Abstract, template)
	if err != nil {
		return err
	}
	if shown, err := p.showGroup(r, "abstract.html", &view.recordView); shown {
		return err
	}
	var sheet vault.Runsheet
	if view.Runsheet, sheet, err = p.readSheet(r, record); err != nil {
		return err
	}
	view.RunsheetRows = len(sheet.Instruments)
	if view.Documents, err = p.listDocuments(r, record); err != nil {
		return err
	}
	rejected.ApplyTo(view.Documents.Rows)
	if view.History, err = p.recentHistory(r, record, template, view.Documents); err != nil {
		return err
	}
	if err := p.addSameFileNumber(r, &view); err != nil {
		return err
	}
	view.Prior = priorView{Path: view.Path, Partial: true}
	view.Prior.Missing = p.App.Derive(r.Context(), search.PartPriorSearches, func() (err error) {
		view.Related, err = p.App.Search.RelatedToAbstract(r.Context(), record.Abstract)
		return err
	})
	view.Prior.PriorSearches = view.Related.PriorSearches()
	if view.TitleWork, err = p.work.Load(r, record.Abstract, template, sheet); err != nil {
		return err
	}
	view.Work = view.TitleWork.People
	if r.MayWrite() {
		view.Suggestions = p.Suggestions(r.Context(), record.Abstract.ID)
	}
	libraries, scripts := view.scripts(r.MayWrite())
	return p.RenderPage(r, rejected.Status(), "abstract.html", page.Page{
		Heading: view.Heading, Section: "abstracts", Data: view, Libraries: libraries, Scripts: scripts,
		Styles: []string{"record.css", "runsheet.css"}, Follows: p.abstractFollows(view),
	})
}

// abstractFollows returns the records that the page of an abstract shows: the abstract with all that belongs to it, and its
// order.
func (p *Pages) abstractFollows(view abstractView) []string {
	records := []string{p.IDs.Encode(model.RecordRef(vault.AbstractOps.Name, view.ID))}
	if order := view.Work.Order.ID; order != 0 {
		records = append(records, p.IDs.Encode(model.RecordRef(vault.OrderOps.Name, order)))
	}
	return records
}

// readAbstract returns the requested abstract and its template.
func (p *Pages) readAbstract(r *page.Request) (record vault.AbstractWithFiles, template model.Template, err error) {
	if record, err = p.App.Abstracts.Get(r.Context(), r.PathID); err != nil {
		return record, template, err
	}
	template, err = p.abstractTemplate(r.Context(), record.Abstract)
	return record, template, err
}

// abstractTemplate returns the template of an abstract, even if the template is retired. It returns
// the zero value if the abstract has no template.
func (p *Pages) abstractTemplate(ctx context.Context, a model.Abstract) (model.Template, error) {
	if a.TemplateID == 0 {
		return model.Template{}, nil
	}
	return p.App.Templates.Get(ctx, a.TemplateID)
}

// newAbstractView returns the template data that can be derived from the abstract and the templates.
func (p *Pages) newAbstractView(ctx context.Context, a model.Abstract, template model.Template) (abstractView, error) {
	all, err := p.App.Templates.All(ctx)
	return abstractView{
		Abstract: a, Opaque: p.IDs.Abstracts.Encode(a.ID), Heading: p.App.Heading(a, template), Under: a.Subheading(),
		recordView: newRecordView(p.AbstractPath(a.ID), a.Version, a.Status, template.Statuses, abstractGroups(a, template, all)),
	}, err
}

// abstractGroups returns the field groups of an abstract. all are the templates that can have fields which its own
// template doesn't have.
func abstractGroups(a model.Abstract, template model.Template, all []model.Template) []fieldGroup {
	var others []model.Field
	for _, other := range all {
		others = append(others, other.Fields...)
	}
	return withParts(newFieldGroups(fieldGroup{Name: "property", Heading: "Property",
		Fields: page.FieldInputs(a.FieldValues())},
		fieldGroup{Name: "details", Heading: cmp.Or(template.Name, "Details")}, fieldGroup{Name: longGroup, Heading: "Descriptions and notes"},
		template.Fields, others, a.Custom))
}

// longGroup is the name of the group of long texts.
const longGroup = "notes"

// partHeadings are the headings of the fields that a part of the title work shows beside its rows.
var partHeadings = map[string]string{"names_run": "Names run, as text", "exceptions": "Exceptions, as text", "indices_searched": "Indices searched"}

// withParts moves each field of a part of the title work to a group of its own, which has the field's key as name.
func withParts(groups []fieldGroup) []fieldGroup {
	var parts []fieldGroup
	for n := range groups {
		groups[n].Fields = slices.DeleteFunc(groups[n].Fields, func(in page.Input) bool {
			key := strings.TrimPrefix(in.Name, page.CustomFieldName(""))
			heading, isPart := partHeadings[key]
			if isPart {
				parts = append(parts, fieldGroup{Name: key, Heading: heading, Part: true, Fields: []page.Input{in}})
			}
			return isPart
		})
	}
	groups = slices.DeleteFunc(groups, func(g fieldGroup) bool { return len(g.Fields)+len(g.Kept) == 0 })
	return append(groups, parts...)
}

// setAbstractStatus changes the status of an abstract.
func (p *Pages) setAbstractStatus(r *page.Request) error {
	record, change, err := changeStatus(p, r, "abstract", p.App.Abstracts.Get,
		func(record vault.AbstractWithFiles) (string, uint64) {
			return record.Abstract.Status, record.Abstract.Version
		},
		func(status model.Inputs, match vault.Match) (vault.AbstractWithFiles, error) {
			return p.App.Abstracts.Patch(r.Context(), r.Actor, r.PathID, model.AbstractPatch{Fields: status}, match)
		})
	if err != nil {
		return err
	}
	template, err := p.abstractTemplate(r.Context(), record.Abstract)
	if err != nil {
		return err
	}
	view, err := p.newAbstractView(r.Context(), record.Abstract, template)
	if err != nil {
		return err
	}
	if view.Work, err = p.work.LoadPeople(r, record.Abstract); err != nil {
		return err
	}
	if !r.IsPart() {
		return p.RedirectWithUndo(r, view.Path, change.notice(view.Status), change.Undo)
	}
	p.showStatus(r, &view.recordView, change, view.Status)
	r.W.Header().Set("HX-Trigger", abstractChangedEvent)
	return p.RenderPart(r, http.StatusOK, "abstract.html", "top", view)
}

// abstractChangedEvent is the browser event that makes other parts of the page reload.
const abstractChangedEvent = "deedkeep:changed"

// trashAbstract moves an abstract and its documents to the trash.
func (p *Pages) trashAbstract(r *page.Request) error {
	record, template, err := p.readAbstract(r)
	if err != nil {
		return err
	}
	if err := p.App.Abstracts.Trash(r.Context(), r.Actor, r.PathID, vault.Match{}); err != nil {
		return err
	}
	notice := "“" + p.App.Heading(record.Abstract, template) + "” is in the trash"
	if n := len(record.Files); n > 0 {
		notice += ", with its " + page.Plural(n, "document", "documents")
	}
	return p.RedirectWithUndo(r, "/abstracts", notice+".", p.AbstractPath(r.PathID)+"/restore")
}

// restoreAbstract restores an abstract from the trash.
func (p *Pages) restoreAbstract(r *page.Request) error {
	if _, err := p.App.Abstracts.Restore(r.Context(), r.Actor, r.PathID, vault.Idempotency[vault.AbstractWithFiles]{}); err != nil {
		return err
	}
	return p.RedirectWithNotice(r, p.AbstractPath(r.PathID), "Abstract and documents restored.")
}

// scripts returns the scripts of the page, and the libraries that they need.
func (a abstractView) scripts(mayWrite bool) (libraries, scripts []string) {
	switch {
	case mayWrite:
		return []string{"sortable.min.js", "tus.min.js"}, []string{"views.js", "record.js", "runsheet-edit.js", "abstract.js", "choose.js",
			"selected-documents.js", "upload.js"}
	case a.RunsheetRows > 0:
		return nil, []string{"views.js", "runsheet.js"}
	}
	return nil, []string{"views.js"}
}

// editAbstract saves a field group of an abstract.
func (p *Pages) editAbstract(r *page.Request) error {
	return p.saveGroup(r, "abstract", func() (recordEdit, error) {
		record, template, err := p.readAbstract(r)
		if err != nil {
			return recordEdit{}, err
		}
		view, err := p.newAbstractView(r.Context(), record.Abstract, template)
		return recordEdit{
			recordView: view.recordView,
			showForm: func(status int, g fieldGroup) error {
				return p.RenderPage(r, status, "abstract-edit.html", page.Page{
					Heading: view.Heading, Section: "abstracts", Data: g, Scripts: []string{"record.js"}, Styles: []string{"record.css"},
				})
			},
			save: func(ctx context.Context, sent map[string][]string) (version uint64, saved showSaved, err error) {
				now, err := p.App.Abstracts.Patch(ctx, r.Actor, r.PathID, abstractPatch(template.Fields, sent, p.LocalNow()),
					vault.MatchVersion(record.Abstract.Version))
				return now.Abstract.Version, func(show func(*recordView)) error {
					view, err := p.newAbstractView(ctx, now.Abstract, template)
					if err != nil {
						return err
					}
					if view.Work, err = p.work.LoadPeople(r, now.Abstract); err != nil {
						return err
					}
					show(&view.recordView)
					r.W.Header().Set("HX-Trigger", abstractChangedEvent)
					return p.RenderPart(r, http.StatusOK, "abstract.html", "saved", view)
				}, err
			},
		}, err
	})
}

// abstractPatch returns the patch for the submitted fields.
func abstractPatch(defs []model.Field, sent map[string][]string, now time.Time) model.AbstractPatch {
	custom := page.SubmittedCustom(defs, url.Values(sent), now)
	return model.AbstractPatch{
		Fields: page.SubmittedFields(model.Abstract{}.FieldValues(), sent, now),
		Custom: model.Optional[model.Custom]{Present: len(custom.Values) > 0, Value: custom},
	}
}

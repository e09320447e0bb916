// Package titlework serves the title work of abstracts: their order and people, names run,
// requirements and exceptions, certificates, and bring-downs. It also serves notes, the list of the
// user's own work, and the printed abstract for clients.
//
// The page of an abstract includes the parts that Load returns. Each part also has a page of its own,
// on which its form works without scripts.
package titlework

import (
	"errors"
	"net/http"
	"path"
	"strconv"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

// Pages contains the handlers of this package's pages.
type Pages struct{ *page.Site }

// New returns the handlers of this package's pages.
func New(s *page.Site) *Pages { return &Pages{s} }

// Work contains the parts of an abstract's page that show its title work. The page includes each of
// them with the template of the same name:
//
//	{{template "progress" (dict "Data" .TitleWork.Progress)}}
//	{{template "titlework_people" (dict "Data" .TitleWork.People "Me" $.Me)}}
//	{{template "titlework_names" (dict "Data" .TitleWork.NamesRun "Me" $.Me)}}
//	{{template "titlework_requirements" (dict "Data" .TitleWork.Requirements "Me" $.Me)}}
//	{{template "titlework_certificates" (dict "Data" .TitleWork.Certificates "Me" $.Me)}}
//	{{template "titlework_notes" (dict "Data" .TitleWork.Notes "Me" $.Me)}}
type Work struct {
	Progress     Progress
	People       People
	NamesRun     Rows
	Requirements Rows
	Certificates Certificates
	Notes        Notes
}

// Load returns the title work of an abstract for its page. template is the template of the abstract,
// or the zero value, and sheet is its runsheet.
func (p *Pages) Load(r *page.Request, a model.Abstract, template model.Template, sheet vault.Runsheet) (w Work, err error) {
	s, err := p.sourceOf(r, a, template)
	if err != nil {
		return w, err
	}
	w.Progress = p.progress(r.Context(), s, sheet)
	if w.People, err = p.people(r, s); err != nil {
		return w, err
	}
	if w.NamesRun, err = p.readNamesRun(r, s); err != nil {
		return w, err
	}
	if w.Requirements, err = p.readRequirements(r, s); err != nil {
		return w, err
	}
	w.Certificates = p.certificates(r, s)
	w.Notes, err = p.notes(r, noteRecord{"abstract", a.ID})
	return w, err
}

// source is an abstract with what its title work is shown from.
type source struct {
	abstract model.Abstract
	template model.Template // zero if there is none
	work     model.TitleWork
	path     string
}

// read returns the requested abstract with its template and title work.
func (p *Pages) read(r *page.Request) (s source, err error) {
	record, err := p.App.Abstracts.Get(r.Context(), r.PathID)
	if err != nil {
		return s, err
	}
	var template model.Template
	if record.Abstract.TemplateID != 0 {
		if template, err = p.App.Templates.Get(r.Context(), record.Abstract.TemplateID); err != nil {
			return s, err
		}
	}
	return p.sourceOf(r, record.Abstract, template)
}

func (p *Pages) sourceOf(r *page.Request, a model.Abstract, template model.Template) (s source, err error) {
	s = source{abstract: a, template: template, path: p.AbstractPath(a.ID)}
	s.work, err = p.App.TitleWork.Get(r.Context(), a.ID)
	return s, err
}

// paragraph is a paragraph field of the template that is printed with the rows of a part.
type paragraph struct{ Label, Text string }

// paragraph returns the field of the template with the given key if it has a value.
func (s source) paragraph(key string) paragraph {
	for _, def := range s.template.Fields {
		if def.Key == key {
			return paragraph{def.Label, page.FormatValues(def.Type, model.StoredTexts(s.abstract.Custom[key]))}
		}
	}
	return paragraph{}
}

// section is a part of a record's page with a form.
type section struct {
	Path    string // address of the part
	Home    string // address of the record's page
	Version uint64 // version of the part that is shown
	Editing bool
	Focus   bool // the Edit button gets the focus after its form is closed
	Clash   bool // another user changed the part in the meantime
	Problem string
	Saved   *page.Notice // that the part was saved; nil if it is only shown
}

// setSaved says that the part was saved, and offers to undo that. undo is the address that does so.
func (p *Pages) setSaved(r *page.Request, s *section, notice, undo string) {
	s.Focus, s.Saved = true, p.NewNotice(r, notice, undo, s.Home+"#"+path.Base(s.Path))
}

func (s source) section(name string, version uint64) section {
	return section{Path: s.path + "/" + name, Home: s.path, Version: version}
}

// edit returns a change of a part of the title work; see vault.Edit.
func (s source) edit(part string, version uint64) vault.Edit {
	return vault.Edit{Type: vault.AbstractOps.Name, ID: s.abstract.ID, Part: part, Version: version}
}

// isEditing reports whether the request asks for the form of a part.
func isEditing(r *page.Request) bool { return r.MayWrite() && r.URL.Query().Get("edit") != "" }

// standalone is the template data of a page that shows a single part.
type standalone struct {
	Part          string // name of the template
	Of            any    // its data
	Back, Name    string // address and heading of the record
	List, Records string // address and heading of the list of records
}

// show renders a part of an abstract's page. For a script, it renders only the part.
func (p *Pages) show(r *page.Request, status int, s source, part, heading string, data any) error {
	return p.showPart(r, status, heading, standalone{Part: part, Of: data, Back: s.path, Name: p.App.Heading(s.abstract, s.template),
		List: "/abstracts", Records: "Abstracts"})
}

func (p *Pages) showPart(r *page.Request, status int, heading string, of standalone) error {
	if r.IsPart() {
		return p.RenderPart(r, status, "title-work.html", of.Part, of.Of)
	}
	section := map[string]string{"Abstracts": "abstracts", "Orders": "orders"}[of.Records]
	return p.RenderPage(r, status, "title-work.html", page.Page{
		Heading: heading, Section: section, Data: of, Scripts: []string{"record.js"}, Styles: []string{"record.css"},
	})
}

// match makes a change fail if the part no longer has the version that the form was rendered with.
func match(r *page.Request) vault.Match {
	version, err := strconv.ParseUint(r.PostForm.Get("version"), 10, 64)
	if err != nil {
		return vault.Match{}
	}
	return vault.MatchVersion(version)
}

// rejection is why a form wasn't saved.
type rejection struct {
	status   int
	clash    bool              // another user saved in the meantime
	problems map[string]string // by field
}

// rejected returns why a form wasn't saved. ok is false if err is nil or is not about the form.
func rejected(err error) (why rejection, ok bool) {
	domainErr, is := errors.AsType[*errs.Error](err)
	switch {
	case !is:
		return why, false
	case domainErr.Kind == errs.PreconditionFailed:
		return rejection{status: http.StatusPreconditionFailed, clash: true}, true
	}
	status, problems := page.FormProblems(err)
	return rejection{status: status, problems: problems}, problems != nil
}

// changed makes the other parts of the abstract's page reload.
func changed(r *page.Request) { r.W.Header().Set("HX-Trigger", "deedkeep:changed") }

package titlework

import (
	"crypto/rand"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"

	"deedkeep/app/model"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

// Certificates is the template data of the certificates of an abstract.
type Certificates struct {
	section
	List   []CertificateRow // newest first
	Inputs []page.Input     // the form for a new certificate
	Once   string           // identifies the forms, so that submitting one twice has no effect
}

// CertificateRow is a certificate of an abstract.
type CertificateRow struct {
	model.Certificate
	Who      string
	Changed  bool   // the runsheet changed since it was certified
	Document string // address of the stored runsheet; "" if it was purged
}

// certificateFields are the fields of the form. The template of the abstract may have the same
// fields, which then determine their labels and types.
var certificateFields = []model.Field{
	{Key: "effective_date", Label: "Effective date (certified through)", Type: model.Date},
	{Key: "search_from", Label: "Search from", Type: model.Date},
	{Key: "indices_searched", Label: "Indexes searched", Type: model.Text},
}

// certificates returns the certificates of an abstract.
func (p *Pages) certificates(s source) Certificates {
	view := Certificates{section: s.section("certificates", s.work.RunsheetVersion), Once: rand.Text()}
	for _, c := range slices.Backward(s.work.Certificates) {
		row := CertificateRow{Certificate: c, Who: page.ActorText(c.By), Changed: s.work.RunsheetVersion > c.RunsheetVersion}
		if c.FileID != 0 {
			row.Document = page.DocumentPath(c.FileID)
		}
		view.List = append(view.List, row)
	}
	return view
}

// certificateField returns the definition of a field of the form.
func (s source) certificateField(def model.Field) model.Field {
	if at := slices.IndexFunc(s.template.Fields, func(f model.Field) bool { return f.Key == def.Key }); at >= 0 {
		own := s.template.Fields[at]
		def.Type, def.Options = own.Type, own.Options
	}
	def.Required = def.Key == "effective_date"
	return def
}

// certificateInputs returns the inputs of the form with the values that form has. If form is nil, they
// have the values of the abstract's fields.
func (s source) certificateInputs(form url.Values, problems map[string]string) (list []page.Input) {
	for _, def := range certificateFields {
		def = s.certificateField(def)
		values := page.StoredTexts(s.abstract.Custom[def.Key])
		if form != nil {
			values = page.SubmittedValues(def.Type, def.Key, form[def.Key])
		} else if def.Type != model.Multiselect && len(values) > 1 {
			values = []string{page.FormatValues(def.Type, values)}
		}
		in := page.NewInput(def, values)
		in.Name, in.Fresh, in.Problem = def.Key, true, problems[def.Key]
		if in.Problem == "" {
			in.Problem = problems[page.CustomFieldName(def.Key)]
		}
		if def.Key == "indices_searched" && def.Type != model.Multiselect {
			in.Hint = "Separate them with commas."
		}
		list = append(list, in)
	}
	for i := range list {
		if list[i].Problem != "" {
			list[i].Focus = true
			return list
		}
	}
	list[0].Focus = true
	return list
}

func (p *Pages) showCertificates(r *page.Request, status int, s source, view Certificates) error {
	return p.show(r, status, s, "titlework_certificates", "Certificates", view)
}

// certificatesPage serves the certificates of an abstract, or the form for a new one.
func (p *Pages) certificatesPage(r *page.Request) error {
	s, err := p.read(r)
	if err != nil {
		return err
	}
	view := p.certificates(s)
	view.Focus = r.IsPart()
	if view.Editing = isEditing(r); view.Editing {
		view.Inputs = s.certificateInputs(nil, nil)
	}
	return p.showCertificates(r, http.StatusOK, s, view)
}

// certify certifies the search of an abstract.
func (p *Pages) certify(r *page.Request) error {
	s, err := p.read(r)
	if err != nil {
		return err
	}
	members := map[string]json.RawMessage{}
	for _, def := range certificateFields {
		sent, there := r.PostForm[def.Key]
		if !there {
			continue
		}
		def = s.certificateField(def)
		values := page.SubmittedValues(def.Type, def.Key, sent)
		switch {
		case def.Type == model.Multiselect:
			members[def.Key] = page.EncodeJSON(values)
		case def.Key == "indices_searched":
			members[def.Key] = page.EncodeJSON(splitList(values[0]))
		default:
			members[def.Key] = page.EncodeJSON(values[0])
		}
	}
	show := func(r *page.Request, status int, form url.Values, problems map[string]string) error {
		view := p.certificates(s)
		view.Editing, view.Once = true, form.Get("once")
		view.Inputs = s.certificateInputs(form, problems)
		view.Problem = generalProblem(problems)
		return p.showCertificates(r, status, s, view)
	}
	return page.CreateRecord(p.Site, r, "Search certified. The runsheet was added to the documents.",
		func(model.Certificate) string { return s.path + "#certificates" },
		func(idempotency vault.Idempotency[model.Certificate]) (model.Certificate, error) {
			return p.Vault.TitleWork.Certify(r.Context(), r.Actor, s.abstract.ID, members, idempotency)
		}, show)
}

// bringDown creates an abstract that brings this one down to date.
func (p *Pages) bringDown(r *page.Request) error {
	return page.CreateRecord(p.Site, r, "Bring-down created. Instruments of the prior search are marked as prior.",
		func(created vault.AbstractWithFiles) string { return p.AbstractPath(created.Abstract.ID) },
		func(idempotency vault.Idempotency[vault.AbstractWithFiles]) (vault.AbstractWithFiles, error) {
			return p.Vault.TitleWork.BringDown(r.Context(), r.Actor, r.PathID, idempotency)
		}, func(r *page.Request, _ int, _ url.Values, problems map[string]string) error {
			return p.RedirectWithNotice(r, p.AbstractPath(r.PathID), generalProblem(problems))
		})
}

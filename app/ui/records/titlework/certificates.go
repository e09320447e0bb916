package titlework

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/titlecheck"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

// Certificates is the template data of the certificates of an abstract.
type Certificates struct {
	section
	List   []CertificateRow // newest first
	Inputs []page.Input     // the form for a new certificate
	Checks []CheckGroup     // what to fix or to accept first
	As     string           // how a new certificate names the visitor
	Named  bool             // the visitor has a full name
	Once   string           // identifies the forms, so that submitting one twice has no effect
}

// CheckGroup is the findings of a check.
type CheckGroup struct {
	Check, Title, Advice string
	Rows                 []CheckRow
	Reason               string // the submitted reason for all of them
}

// CheckRow is a finding.
type CheckRow struct {
	titlecheck.Finding
	N        int // place in the form, starting with 1
	Links    []Link
	Reason   string // submitted, or else that of the same finding in the latest certificate
	Proposed bool   // Reason is that of the latest certificate
	Missing  bool   // the form was submitted without a reason
}

// Link is a link to where a finding is fixed.
type Link struct{ Path, Text string }

// Through returns the effective date and time.
func (c CertificateRow) Through() string {
	return strings.TrimSuffix(page.FormatDate(c.EffectiveDate)+", "+page.FormatTimeOfDay(c.EffectiveTime), ", ")
}

// CertificateRow is a certificate of an abstract.
type CertificateRow struct {
	model.Certificate
	Who      string
	Username string // of Who, which is a full name; "" if Who is the username
	Changed  bool   // it is valid, but the runsheet changed since
	Document string // address of the stored runsheet; "" if it was purged
	VoidedBy string // "" if it is valid
	MayVoid  bool   // it is valid, and the visitor certified or is an administrator
}

// certificateFields are the fields of the form. The template of the abstract may have the same
// fields, which then determine their labels and types.
var certificateFields = []model.Field{
	{Key: "effective_date", Label: "Effective date (certified through)", Type: model.Date},
	{Key: "effective_time", Label: "Effective time", Type: model.Text},
	{Key: "search_from", Label: "Search from", Type: model.Date},
	{Key: "indices_searched", Label: "Indices searched", Type: model.Text},
}

// certificates returns the certificates of an abstract.
func (p *Pages) certificates(r *page.Request, s source) Certificates {
	view := Certificates{section: s.section("certificates", s.work.RunsheetVersion), Once: rand.Text()}
	for _, c := range slices.Backward(s.work.Certificates) {
		row := CertificateRow{Certificate: c, Who: page.ActorText(c.By)}
		if c.Voided != nil {
			row.VoidedBy = page.ActorText(c.Voided.By)
		} else {
			row.Changed = s.work.RunsheetVersion > c.RunsheetVersion
			row.MayVoid = r.MayWrite() && (c.By.Is(r.Actor) || r.Actor.Role.Can(model.PermAdmin))
		}
		if name := c.Examiner.String(); name != "" {
			row.Who, row.Username = name, row.Who
		}
		if c.FileID != 0 {
			row.Document = page.DocumentPath(c.FileID)
		}
		view.List = append(view.List, row)
	}
	return view
}

// certificateField returns the definition of a field of the form.
func (s source) certificateField(def model.Field) model.Field {
	if own, found := s.template.CertificateField(def.Key); found {
		def.Type, def.Options = own.Type, own.Options
	}
	def.Required = def.Key == "effective_date"
	return def
}

// certificateInputs returns the inputs of the form with the values that form has. If form is nil, they
// have the values of the abstract's fields.
func (s source) certificateInputs(form url.Values, problems map[string]string, now time.Time) (list []page.Input) {
	for _, def := range certificateFields {
		def = s.certificateField(def)
		stored, _ := s.template.CertificateField(def.Key)
		values := model.StoredTexts(s.abstract.Custom[stored.Key])
		if form != nil {
			values = page.SubmittedValues(def.Type, def.Key, form[def.Key], now)
		} else if def.Type != model.Multiselect && len(values) > 1 {
			values = []string{page.FormatValues(def.Type, values)}
		}
		in := page.NewInput(def, values)
		in.Name, in.Fresh, in.Problem = def.Key, true, problems[def.Key]
		if in.Problem == "" {
			in.Problem = problems[page.CustomFieldName(def.Key)]
		}
		switch {
		case def.Key == "indices_searched" && def.Type != model.Multiselect:
			in.Hint = "Separate them with commas."
		case def.Key == "effective_time":
			in.Hint = "Such as 8:00 AM."
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

// checkGroups returns the findings of a search with the submitted reasons. A missing effective date isn't one of
// them, because the form requires it.
func (s source) checkGroups(checks vault.Checks, form url.Values) (groups []CheckGroup) {
	reasons := map[string]string{}
	for n, id := range form["check"] {
		reasons[id] = formText(form, "reason", n)
	}
	n := 0
	for _, f := range checks.Findings {
		if f.Check == "effective_date" {
			continue
		}
		if len(groups) == 0 || groups[len(groups)-1].Title != titlecheck.Title(f.Check) {
			groups = append(groups, CheckGroup{Check: f.Check, Title: titlecheck.Title(f.Check), Advice: f.Advice,
				Reason: formText(form, "all."+f.Check, 0)})
		}
		group := &groups[len(groups)-1]
		if group.Check != f.Check { // the certificate's own fields are a group
			group.Check, group.Advice = "", "Fill in the fields above, or enter why they are blank."
		}
		n++
		row := CheckRow{Finding: f, N: n, Links: s.checkLinks(f)}
		reason, shown := reasons[f.ID]
		before, accepted := titlecheck.Proposal(f, checks.Before)
		switch {
		case shown:
			row.Reason = reason
			row.Missing = cmp.Or(reason, group.Reason) == "" && form.Get("do") != "check"
		case accepted:
			row.Reason, row.Proposed = before.Reason, true
		}
		group.Rows = append(group.Rows, row)
	}
	return groups
}

// checkLinks returns links to where a finding is fixed.
func (s source) checkLinks(f titlecheck.Finding) (links []Link) {
	if f.Document != 0 {
		links = append(links, Link{page.DocumentPath(f.Document), "Open document"})
	}
	if f.Instrument != 0 {
		links = append(links, Link{fmt.Sprintf("%s#instrument-%d", s.path, f.Instrument), "Show in runsheet"})
	}
	switch f.Place {
	case titlecheck.NamesRun:
		links = append(links, Link{s.path + "/names-run?edit=1", "Edit names run"})
	case titlecheck.Requirements:
		links = append(links, Link{s.path + "/requirements?edit=1", "Edit requirements"})
	case titlecheck.Fields:
		if _, found := s.template.CertificateField("current_owner"); found { // a bring-down can keep it without a field to edit
			links = append(links, Link{s.path + "?edit=details&field=custom_fields.current_owner#group-details", "Edit fields"})
		}
	case titlecheck.Documents, titlecheck.Runsheet, titlecheck.Certificate:
	}
	return links
}

func (p *Pages) showCertificates(r *page.Request, status int, s source, view Certificates) error {
	return p.show(r, status, s, "titlework_certificates", "Search certificates", view)
}

// certificatesPage serves the certificates of an abstract, or the form for a new one.
func (p *Pages) certificatesPage(r *page.Request) error {
	s, err := p.read(r)
	if err != nil {
		return err
	}
	view := p.certificates(r, s)
	view.Focus = r.IsPart()
	if view.Editing = isEditing(r); view.Editing {
		if err := p.nameCertifier(r, &view); err != nil {
			return err
		}
		checks, err := p.App.TitleWork.Checks(r.Context(), s.abstract.ID, nil)
		if err != nil {
			return err
		}
		view.Inputs, view.Checks, view.Version = s.certificateInputs(nil, nil, p.LocalNow()), s.checkGroups(checks, nil), checks.Version
	}
	return p.showCertificates(r, http.StatusOK, s, view)
}

// nameCertifier tells the form how the certificate names the visitor.
func (p *Pages) nameCertifier(r *page.Request, view *Certificates) error {
	user, err := p.App.Users.Get(r.Context(), r.Visitor.ID)
	view.As, view.Named = cmp.Or(user.Profile.String(), user.Name), user.FullName != ""
	return err
}

// certificateMembers returns the submitted fields of a certificate.
func (s source) certificateMembers(form url.Values, now time.Time) model.Inputs {
	members := model.Inputs{}
	for _, def := range certificateFields {
		sent, there := form[def.Key]
		if !there {
			continue
		}
		def = s.certificateField(def)
		values := page.SubmittedValues(def.Type, def.Key, sent, now)
		switch {
		case def.Type == model.Multiselect:
			members[def.Key] = model.StringsInput(values)
		case def.Key == "indices_searched":
			members[def.Key] = model.StringsInput(splitList(values[0]))
		default:
			members[def.Key] = model.StringInput(values[0])
		}
	}
	return members
}

// acceptedRows returns the findings that still exist and for which a reason was submitted, and the checks with a
// reason for all of their other findings.
func acceptedRows(groups []CheckGroup) model.Input {
	rows := model.ListInput()
	add := func(check, reason string) {
		if reason != "" {
			row := model.Inputs{"check": model.StringInput(check), "reason": model.StringInput(reason)}
			rows.Items = append(rows.Items, model.ObjectInput(row))
		}
	}
	for _, group := range groups {
		for _, row := range group.Rows {
			if !row.Proposed { // otherwise, the reason wasn't in the form
				add(row.ID, row.Reason)
			}
		}
		add(group.Check, group.Reason)
	}
	return rows
}

// changedSearch is the problem of a form whose list of findings is out of date.
const changedSearch = "The search has changed since you opened this list. Review the list again, then certify."

// certify certifies the search of an abstract. If a finding is neither fixed nor accepted, it shows the form
// again.
func (p *Pages) certify(r *page.Request) error {
	s, err := p.read(r)
	if err != nil {
		return err
	}
	members := s.certificateMembers(r.PostForm, p.LocalNow())
	checks, err := p.App.TitleWork.Checks(r.Context(), s.abstract.ID, members)
	if err != nil {
		return err
	}
	members["accepted"] = acceptedRows(s.checkGroups(checks, r.PostForm))
	show := func(r *page.Request, status int, form url.Values, problems map[string]string) error {
		checks, err := p.App.TitleWork.Checks(r.Context(), s.abstract.ID, members) // they may have changed in the meantime
		if err != nil {
			return err
		}
		view := p.certificates(r, s)
		view.Editing, view.Once, view.Version = true, form.Get("once"), checks.Version
		view.Inputs, view.Checks = s.certificateInputs(form, problems, p.LocalNow()), s.checkGroups(checks, form)
		view.Problem = cmp.Or(generalProblem(problems), problems["accepted"])
		if err := p.nameCertifier(r, &view); err != nil {
			return err
		}
		return p.showCertificates(r, status, s, view)
	}
	if r.PostForm.Get("do") == "check" {
		return show(r, http.StatusOK, r.PostForm, nil)
	}
	return page.CreateRecord(p.Site, r, "Search certified. The runsheet was added to the documents.",
		func(model.Certificate) string { return s.path + "#certificates" }, nil,
		func(idempotency vault.Idempotency[model.Certificate]) (model.Certificate, error) {
			created, err := p.App.TitleWork.Certify(r.Context(), r.Actor, s.abstract.ID,
				vault.CertificateRequest{Members: members, Match: match(r), AllAccepted: true}, idempotency)
			if errs.KindOf(err) == errs.PreconditionFailed {
				err = errs.InvalidField("", changedSearch)
			}
			return created, err
		}, show)
}

// void voids a certificate of an abstract.
func (p *Pages) void(r *page.Request) error {
	id, err := strconv.ParseUint(r.PostForm.Get("certificate"), 10, 64)
	if err != nil {
		return page.NotFound(r)
	}
	_, err = p.App.TitleWork.Void(r.Context(), r.Actor, r.PathID, id, model.StringInput(formText(r.PostForm, "reason", 0)),
		vault.Idempotency[model.Certificate]{})
	if why, ok := rejected(err); ok {
		s, err := p.read(r)
		if err != nil {
			return err
		}
		view := p.certificates(r, s)
		if view.Problem = generalProblem(why.problems); view.Problem == "" {
			view.Problem = "Reason: " + why.problems["reason"]
		}
		return p.showCertificates(r, why.status, s, view)
	}
	if err != nil {
		return err
	}
	return p.RedirectWithNotice(r, p.AbstractPath(r.PathID)+"#certificates", "Certificate voided.")
}

// bringDown creates an abstract that brings this one down to date.
func (p *Pages) bringDown(r *page.Request) error {
	return page.CreateRecord(p.Site, r, "Bring-down created. Instruments of the prior search are marked as prior.",
		func(created vault.BroughtDown) string { return p.AbstractPath(created.Abstract.ID) }, nil,
		func(idempotency vault.Idempotency[vault.BroughtDown]) (vault.BroughtDown, error) {
			return p.App.TitleWork.BringDown(r.Context(), r.Actor, r.PathID, idempotency)
		}, func(r *page.Request, _ int, _ url.Values, problems map[string]string) error {
			return p.RedirectWithFailure(r, p.AbstractPath(r.PathID), generalProblem(problems))
		})
}

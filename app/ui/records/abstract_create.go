package records

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"net/url"
	"strconv"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

// abstractForm is the data of the form of a new abstract.
type abstractForm struct {
	Templates []model.Template // available for new abstracts
	Template  model.Template   // the selected one; zero if there is none
	Property  []page.Input
	Fields    []page.Input
	Once      string       // token of this form: submitted twice, it creates one abstract
	Wrong     []page.Input // rejected inputs, for the list of links
	Order     model.Order  // the order that fills in the form; zero if there is none
	From      string       // the opaque ID of that order
	Bare      bool         // the form is blank: submitting it again creates the abstract anyway
	Problem   string       // problem that belongs to no field
}

// newAbstractPage shows the form for the template in the query, or for the default template.
func (p *Pages) newAbstractPage(w http.ResponseWriter, r *http.Request, who page.Visitor) error {
	form := r.URL.Query()
	form.Set("once", rand.Text())
	return p.showNewAbstract(w, r, who, form)
}

// newAbstractAgain shows the filled-in form for another template.
func (p *Pages) newAbstractAgain(w http.ResponseWriter, r *http.Request, who page.Visitor) error {
	return p.showNewAbstract(w, r, who, r.PostForm)
}

// showNewAbstract shows the form, filled in from the order that it names.
func (p *Pages) showNewAbstract(w http.ResponseWriter, r *http.Request, who page.Visitor, form url.Values) error {
	order, err := p.sourceOrder(r, form)
	if err != nil {
		return err
	}
	if order.ID != 0 {
		form = prefillFromOrder(form, order)
	}
	return p.renderNewAbstract(w, r, who, http.StatusOK, form, nil)
}

func (p *Pages) renderNewAbstract(
	w http.ResponseWriter, r *http.Request, who page.Visitor, status int, form url.Values, refused map[string]string,
) error {
	made := abstractForm{Once: form.Get("once"), From: form.Get("order")}
	var err error
	if made.Order, err = p.sourceOrder(r, form); err != nil && errs.KindOf(err) != errs.NotFound { // it may have been moved to the trash
		return err
	}
	if made.Templates, err = p.Vault.Templates.List(r.Context()); err != nil {
		return err
	}
	made.Template = chosenTemplate(made.Templates, form.Get("template"))
	made.Property = page.PropertyInputs(form.Get, refused)
	made.Fields = page.SubmittedInputs(made.Template.Fields, form, refused)
	for _, list := range [][]page.Input{made.Property, made.Fields} {
		for i := range list {
			list[i].Fresh = true
			if list[i].Problem != "" {
				list[i].Focus = len(made.Wrong) == 0
				made.Wrong = append(made.Wrong, list[i])
			}
		}
	}
	made.Problem, made.Bare = refused["template_id"], refused[confirmBlankField] != ""
	if page.IsPartRequest(r) {
		return p.RenderPart(w, r, who, status, "abstractnew.html", "form", made)
	}
	return p.RenderPage(w, r, who, status, "abstractnew.html", page.Page{Heading: "New abstract", Section: "abstracts", Data: made})
}

// chosenTemplate returns the template with that number, else the default, else the first.
func chosenTemplate(list []model.Template, number string) (chosen model.Template) {
	for i, t := range list {
		if strconv.FormatUint(t.ID, 10) == number {
			return t
		}
		if i == 0 || t.Default {
			chosen = t
		}
	}
	return chosen
}

// confirmBlankField is the field that confirms the creation of a blank abstract.
const confirmBlankField = "bare"

// createAbstract creates an abstract. A form that is submitted twice redirects to the first result.
func (p *Pages) createAbstract(w http.ResponseWriter, r *http.Request, who page.Visitor) error {
	form := r.PostForm
	templates, err := p.Vault.Templates.List(r.Context())
	if err != nil {
		return err
	}
	template := chosenTemplate(templates, form.Get("template"))
	if old := page.LegacyDateProblems(page.SubmittedInputs(template.Fields, form, nil), form); len(old) > 0 {
		return p.renderNewAbstract(w, r, who, http.StatusUnprocessableEntity, form, old)
	}
	if isBlankForm(form, template) && form.Get(confirmBlankField) == "" {
		return p.renderNewAbstract(w, r, who, http.StatusUnprocessableEntity, form, map[string]string{confirmBlankField: "empty"})
	}
	tray, err := p.Vault.Files.NewTray(r.Context())
	if err != nil {
		return err
	}
	defer tray.Discard()
	line := func(name string) model.Input { return model.StringInput(form.Get(name)) }
	number, _ := strconv.ParseInt(form.Get("template"), 10, 64) // without a number: the default template
	keep := formIdempotency(who, form, "/abstracts", func(made vault.Filed) string { return p.AbstractPath(made.Abstract.ID) })
	made, err := p.Vault.Abstracts.Create(r.Context(), who.Actor, model.AbstractDraft{
		TemplateID:    model.IDInput{Present: number > 0, Valid: true, Value: number},
		Custom:        page.SubmittedCustom(template.Fields, form),
		PropertyDraft: model.PropertyDraft{Address: line("address"), City: line("city"), County: line("county"), State: line("state")},
		TaxMap:        line("tax_map"),
	}, tray, keep)
	if errors.Is(err, vault.ErrKept) {
		replay, found, err := p.Vault.Replay(r.Context(), keep.Slot)
		if err != nil || !found {
			return errors.Join(err, page.NotFound(r))
		}
		page.Redirect(w, r, page.LocalAddress(replay.Header["Location"]))
		return nil
	}
	if named, ok := errors.AsType[*errs.Error](err); ok && named.Kind == errs.Invalid {
		return p.renderNewAbstract(w, r, who, http.StatusUnprocessableEntity, form, page.FieldProblems(named.Fields))
	}
	if err != nil {
		return err
	}
	return p.RedirectWithNotice(w, r, p.AbstractPath(made.Abstract.ID), "The abstract is made. Drop its documents anywhere on this page.")
}

// formIdempotency stores where a form redirected to, under its token and its content: going back
// and changing the form makes it another form. Without a token nothing is stored.
func formIdempotency[T any](who page.Visitor, form url.Values, path string, to func(T) string) vault.Keep[T] {
	if form.Get("once") == "" {
		return vault.Keep[T]{}
	}
	content := sha256.Sum256([]byte(form.Encode()))
	return vault.Keep[T]{
		Slot:    sha256.Sum256([]byte("page\n" + who.Record() + "\nPOST " + path + "\n" + form.Encode())),
		Request: hex.EncodeToString(content[:]),
		Render: func(made T) (int, map[string]string, []byte, error) {
			return http.StatusSeeOther, map[string]string{"Location": to(made)}, nil, nil
		},
	}
}

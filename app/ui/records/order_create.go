package records

import (
	"crypto/rand"
	"errors"
	"net/http"
	"net/url"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

// orderForm is the template data of the form for a new order.
type orderForm struct {
	Core, Custom []page.Input
	Wrong        []page.Input // inputs with invalid values, for the list of problems
	Once         string       // identifies this form, so that submitting it twice creates only one order
}

func (p *Pages) newOrderPage(w http.ResponseWriter, r *http.Request, visitor page.Visitor) error {
	form := r.URL.Query()
	form.Set("once", rand.Text())
	return p.renderNewOrder(w, r, visitor, http.StatusOK, form, nil)
}

func (p *Pages) renderNewOrder(
	w http.ResponseWriter, r *http.Request, visitor page.Visitor, status int, form url.Values, rejected map[string]string,
) error {
	defs, err := p.Vault.Orders.Fields(r.Context())
	if err != nil {
		return err
	}
	view := orderForm{Core: orderInputs(form.Get, rejected), Custom: page.SubmittedInputs(defs, form, rejected), Once: form.Get("once")}
	for _, list := range [][]page.Input{view.Core, view.Custom} {
		for i := range list {
			if list[i].Problem != "" {
				list[i].Focus = len(view.Wrong) == 0
				view.Wrong = append(view.Wrong, list[i])
			}
		}
	}
	view.Core[0].Lookup = numberLookupPath("")
	if len(view.Wrong) == 0 {
		view.Core[0].Focus = true
	}
	return p.RenderPage(w, r, visitor, status, "ordernew.html", page.Page{Heading: "New order", Section: "orders", Data: view})
}

// createOrder creates an order. If the same form is submitted twice, the second request redirects
// to the order that the first one created.
func (p *Pages) createOrder(w http.ResponseWriter, r *http.Request, visitor page.Visitor) error {
	form := r.PostForm
	defs, err := p.Vault.Orders.Fields(r.Context())
	if err != nil {
		return err
	}
	if old := page.LegacyDateProblems(append(orderInputs(form.Get, nil), page.SubmittedInputs(defs, form, nil)...), form); len(old) > 0 {
		return p.renderNewOrder(w, r, visitor, http.StatusUnprocessableEntity, form, old)
	}
	line := func(name string) model.Input { return model.StringInput(form.Get(name)) }
	idempotency := formIdempotency(visitor, form, "/orders", func(view model.Order) string { return p.OrderPath(view.ID) })
	view, err := p.Vault.Orders.Create(r.Context(), visitor.Actor, model.OrderDraft{
		Number: line("order_number"), DueDate: model.StringInput(page.NormalizeDate(form.Get("due_date"))),
		PropertyDraft: model.PropertyDraft{Address: line("address"), City: line("city"), County: line("county"), State: line("state")},
		Custom:        page.SubmittedCustom(defs, form),
	}, idempotency)
	if errors.Is(err, vault.ErrAlreadyProcessed) {
		stored, found, err := p.Vault.StoredResponse(r.Context(), idempotency.KeyHash)
		if err != nil || !found {
			return errors.Join(err, page.NotFound(r))
		}
		page.Redirect(w, r, page.LocalAddress(stored.Header["Location"]))
		return nil
	}
	if domainErr, ok := errors.AsType[*errs.Error](err); ok && domainErr.Kind == errs.Invalid {
		return p.renderNewOrder(w, r, visitor, http.StatusUnprocessableEntity, form, page.FieldProblems(domainErr.Fields))
	}
	if err != nil {
		return err
	}
	return p.RedirectWithNotice(w, r, p.OrderPath(view.ID), "The order is made.")
}

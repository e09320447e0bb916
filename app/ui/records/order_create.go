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

// orderForm is the data of the form of a new order.
type orderForm struct {
	Core, Custom []page.Input
	Wrong        []page.Input // rejected inputs, for the list of links
	Once         string       // token of this form: submitted twice, it creates one order
}

func (p *Pages) newOrderPage(w http.ResponseWriter, r *http.Request, who page.Visitor) error {
	form := r.URL.Query()
	form.Set("once", rand.Text())
	return p.renderNewOrder(w, r, who, http.StatusOK, form, nil)
}

func (p *Pages) renderNewOrder(
	w http.ResponseWriter, r *http.Request, who page.Visitor, status int, form url.Values, refused map[string]string,
) error {
	defs, err := p.Vault.Orders.Fields(r.Context())
	if err != nil {
		return err
	}
	made := orderForm{Core: orderInputs(form.Get, refused), Custom: page.SubmittedInputs(defs, form, refused), Once: form.Get("once")}
	for _, list := range [][]page.Input{made.Core, made.Custom} {
		for i := range list {
			if list[i].Problem != "" {
				list[i].Focus = len(made.Wrong) == 0
				made.Wrong = append(made.Wrong, list[i])
			}
		}
	}
	made.Core[0].Lookup = numberLookupPath("")
	if len(made.Wrong) == 0 {
		made.Core[0].Focus = true
	}
	return p.RenderPage(w, r, who, status, "ordernew.html", page.Page{Heading: "New order", Section: "orders", Data: made})
}

// createOrder creates an order. A form that is submitted twice redirects to the first result.
func (p *Pages) createOrder(w http.ResponseWriter, r *http.Request, who page.Visitor) error {
	form := r.PostForm
	defs, err := p.Vault.Orders.Fields(r.Context())
	if err != nil {
		return err
	}
	if old := page.LegacyDateProblems(append(orderInputs(form.Get, nil), page.SubmittedInputs(defs, form, nil)...), form); len(old) > 0 {
		return p.renderNewOrder(w, r, who, http.StatusUnprocessableEntity, form, old)
	}
	line := func(name string) model.Input { return model.StringInput(form.Get(name)) }
	keep := formIdempotency(who, form, "/orders", func(made model.Order) string { return p.OrderPath(made.ID) })
	made, err := p.Vault.Orders.Create(r.Context(), who.Actor, model.OrderDraft{
		Number: line("order_number"), DueDate: model.StringInput(page.NormalizeDate(form.Get("due_date"))),
		PropertyDraft: model.PropertyDraft{Address: line("address"), City: line("city"), County: line("county"), State: line("state")},
		Custom:        page.SubmittedCustom(defs, form),
	}, keep)
	if errors.Is(err, vault.ErrKept) {
		replay, found, err := p.Vault.Replay(r.Context(), keep.Slot)
		if err != nil || !found {
			return errors.Join(err, page.NotFound(r))
		}
		page.Redirect(w, r, page.LocalAddress(replay.Header["Location"]))
		return nil
	}
	if named, ok := errors.AsType[*errs.Error](err); ok && named.Kind == errs.Invalid {
		return p.renderNewOrder(w, r, who, http.StatusUnprocessableEntity, form, page.FieldProblems(named.Fields))
	}
	if err != nil {
		return err
	}
	return p.RedirectWithNotice(w, r, p.OrderPath(made.ID), "The order is made.")
}

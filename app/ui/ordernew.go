package ui

import (
	"crypto/rand"
	"errors"
	"net/http"
	"net/url"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/vault"
)

// orderForm is the form of a new order.
type orderForm struct {
	Core, Custom []input
	Wrong        []input // what was refused, for a list of links
	Once         string  // of this form: sent twice, it makes one order
}

func (p *pages) newOrderPage(w http.ResponseWriter, r *http.Request, who visitor) error {
	form := r.URL.Query()
	form.Set("once", rand.Text())
	return p.newOrderForm(w, r, who, http.StatusOK, form, nil)
}

func (p *pages) newOrderForm(w http.ResponseWriter, r *http.Request, who visitor, status int, form url.Values, refused map[string]string) error {
	defs, err := p.Vault.Orders.Fields(r.Context())
	if err != nil {
		return err
	}
	made := orderForm{Core: orderInputs(form.Get, refused), Custom: typed(defs, form, refused), Once: form.Get("once")}
	for _, list := range [][]input{made.Core, made.Custom} {
		for i := range list {
			if list[i].Problem != "" {
				list[i].Focus = len(made.Wrong) == 0
				made.Wrong = append(made.Wrong, list[i])
			}
		}
	}
	made.Core[0].Lookup = numberLookup("")
	if len(made.Wrong) == 0 {
		made.Core[0].Focus = true
	}
	return p.show(w, r, who, status, "ordernew.html", page{Heading: "New order", Section: "orders", Data: made})
}

// createOrder makes it. A form that was sent twice leads to what it made at first.
func (p *pages) createOrder(w http.ResponseWriter, r *http.Request, who visitor) error {
	form := r.PostForm
	defs, err := p.Vault.Orders.Fields(r.Context())
	if err != nil {
		return err
	}
	if old := oldDates(append(orderInputs(form.Get, nil), typed(defs, form, nil)...), form); len(old) > 0 {
		return p.newOrderForm(w, r, who, http.StatusUnprocessableEntity, form, old)
	}
	line := func(name string) model.Input { return model.StringInput(form.Get(name)) }
	keep := once(who, form, "/orders", func(made model.Order) string { return p.orderPath(made.ID) })
	made, err := p.Vault.Orders.Create(r.Context(), who.Actor, model.OrderDraft{
		Number: line("order_number"), DueDate: model.StringInput(dateText(form.Get("due_date"))),
		PropertyDraft: model.PropertyDraft{Address: line("address"), City: line("city"), County: line("county"), State: line("state")},
		Custom:        sentCustom(defs, form),
	}, keep)
	if errors.Is(err, vault.ErrKept) {
		replay, found, err := p.Vault.Replay(r.Context(), keep.Slot)
		if err != nil || !found {
			return errors.Join(err, absentPath(r))
		}
		redirect(w, r, local(replay.Header["Location"]))
		return nil
	}
	if named, ok := errors.AsType[*errs.Error](err); ok && named.Kind == errs.Invalid {
		return p.newOrderForm(w, r, who, http.StatusUnprocessableEntity, form, problems(named.Fields))
	}
	if err != nil {
		return err
	}
	return p.see(w, r, p.orderPath(made.ID), "The order is made.")
}

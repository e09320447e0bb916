package records

import (
	"crypto/rand"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

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

func (p *Pages) newOrderPage(r *page.Request) error {
	form := r.URL.Query()
	form.Set("once", rand.Text())
	return p.renderNewOrder(r, http.StatusOK, form, nil)
}

func (p *Pages) renderNewOrder(r *page.Request, status int, form url.Values, rejected map[string]string,
) error {
	defs, err := p.App.Orders.Fields(r.Context())
	if err != nil {
		return err
	}
	now := p.LocalNow()
	view := orderForm{Core: page.SubmittedFieldInputs(model.Order{}.FieldValues(), form, rejected, now),
		Once:   form.Get("once"),
		Custom: page.SubmittedInputs(defs, form, rejected, now)}
	if err := p.offerUsed(r, view.Core, view.Custom); err != nil {
		return err
	}
	view.Wrong = wrongInputs(view.Core, view.Custom)
	view.Core[0].Lookup = numberLookupPath("")
	if len(view.Wrong) == 0 {
		view.Core[0].Focus = true
	}
	return p.RenderPage(r, status, "order-new.html", page.Page{Heading: "New order", Section: "orders", Data: view})
}

// createOrder creates an order. If the same form is submitted twice, the second request redirects
// to the order that the first one created.
func (p *Pages) createOrder(r *page.Request) error {
	form, now := r.PostForm, p.LocalNow()
	defs, err := p.App.Orders.Fields(r.Context())
	if err != nil {
		return err
	}
	fields := model.Order{}.FieldValues()
	inputs := append(page.SubmittedFieldInputs(fields, form, nil, now), page.SubmittedInputs(defs, form, nil, now)...)
	if old := page.EarlyDateProblems(inputs, form); len(old) > 0 {
		return p.renderNewOrder(r, http.StatusUnprocessableEntity, form, old)
	}
	draft := model.OrderDraft{Fields: page.SubmittedFields(fields, form, now), Custom: page.SubmittedCustom(defs,
		form, now)}
	return createRecord(p, r, "Order created.", func(created model.Order) string { return p.OrderPath(created.ID) },
		func(idempotency vault.Idempotency[model.Order]) (model.Order, error) {
			return p.App.Orders.Create(r.Context(), r.Actor, draft, idempotency)
		}, p.renderNewOrder)
}

// sameNumber contains the other orders that have the same number.
type sameNumber struct {
	Number   string
	Same     []model.Order
	SameMore bool
}

// numberLookupPath returns the address that warns of other orders with the typed order number. The
// form requests it while the user types. opaque is the order's own ID; it is "" for a new order.
func numberLookupPath(opaque string) string {
	if opaque == "" {
		return "/orders/number"
	}
	return page.WithQuery("/orders/number", url.Values{"not": {opaque}})
}

// orderNumberPart renders the warning about other orders with the same number. Duplicate numbers
// are allowed.
func (p *Pages) orderNumberPart(r *page.Request) error {
	if !r.IsPart() {
		return r.Redirect("/orders")
	}
	asked := r.URL.Query()
	same := sameNumber{Number: strings.TrimSpace(asked.Get("order_number"))}
	if n := utf8.RuneCountInString(same.Number); n > 0 && n <= model.MaxNameLength {
		own, _ := p.IDs.Orders.Decode(asked.Get("not")) // 0 if missing: no order is excluded
		var err error
		if same.Same, same.SameMore, err = p.App.Search.SameNumber(r.Context(), model.Order{ID: own, Number: same.Number}); err != nil {
			return err
		}
	}
	return p.RenderPart(r, http.StatusOK, "order.html", "order-same", same)
}

package ui

import (
	"cmp"
	"net/http"
	"net/url"
	"path"

	"deedkeep/app/model"
)

// fromOrder are the fields of an abstract that an order fills in under another name.
var fromOrder = map[string]string{
	"tax_map": "parcel_id", "custom_fields.borrower": "buyer_borrower", "custom_fields.current_owner": "seller_owner", "custom_fields.search_type": "product",
}

// orderOf is the order that a form of a new abstract begins with; the zero one where it
// names none.
func (p *pages) orderOf(r *http.Request, form url.Values) (o model.Order, err error) {
	opaque := form.Get("order")
	if opaque == "" {
		return o, nil
	}
	id, ok := p.orders.Decode(opaque)
	if !ok {
		return o, absentPath(r)
	}
	return p.Vault.Orders.Get(r.Context(), id)
}

// filledFrom gives a form with what an order says of the fields that it does not have.
// A field that the template lacks is not shown, and so not sent.
func filledFrom(form url.Values, o model.Order) url.Values {
	fill := func(name string, values ...string) {
		if _, there := form[name]; !there && len(values) > 0 {
			form[name] = values
		}
	}
	for name, value := range map[string]string{"address": o.Address, "city": o.City, "county": o.County, "state": o.State} {
		fill(name, value)
	}
	for key, raw := range o.Custom {
		fill(customName(key), texts(raw)...)
	}
	for name, key := range fromOrder {
		fill(name, texts(o.Custom[key])...)
	}
	return form
}

// NewAbstract is the form of an abstract that begins with what the order says.
func (s orderSheet) NewAbstract() string {
	return address("/abstracts/new", url.Values{"order": {path.Base(s.Path)}})
}

// nothingTyped reports a form of a new abstract that nobody filled in.
func nothingTyped(form url.Values, template model.Template) bool {
	for _, list := range [][]input{propertyInputs(form.Get, nil), typed(template.Fields, form, nil)} {
		for _, in := range list {
			if !in.Empty() {
				return false
			}
		}
	}
	return true
}

// sameFile adds to a page what other abstracts have its file number.
func (p *pages) sameFile(r *http.Request, s *abstractSheet) error {
	list, more, err := p.Vault.Abstracts.SameFile(r.Context(), s.Abstract)
	s.SameMore = more
	for _, one := range list {
		s.Same = append(s.Same, abstractRow{Abstract: one, Path: p.abstractPath(one.ID), Heading: cmp.Or(one.Heading(), "Untitled"), Documents: len(one.Files)})
	}
	return err
}

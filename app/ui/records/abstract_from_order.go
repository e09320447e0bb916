package records

import (
	"cmp"
	"net/url"
	"path"

	"deedkeep/app/model"
	"deedkeep/app/ui/page"
)

// orderFieldFor maps fields of abstracts to the order fields with the same meaning but a different
// name.
var orderFieldFor = map[string]string{
	"tax_map": "parcel_id", "custom_fields.borrower": "buyer_borrower", "custom_fields.current_owner": "seller_owner", "custom_fields.search_type": "product",
}

// sourceOrder returns the order whose values prefill the form of a new abstract. It returns the
// zero value if the form doesn't refer to an order.
func (p *Pages) sourceOrder(r *page.Request, form url.Values) (o model.Order, err error) {
	opaque := form.Get("order")
	if opaque == "" {
		return o, nil
	}
	id, ok := p.OrderIDs.Decode(opaque)
	if !ok {
		return o, page.NotFound(r)
	}
	return p.Vault.Orders.Get(r.Context(), id)
}

// prefillFromOrder adds the order's values for fields that the form doesn't contain. If the
// template doesn't have a field, its value is neither shown nor submitted.
func prefillFromOrder(form url.Values, o model.Order) url.Values {
	fill := func(name string, values ...string) {
		if _, there := form[name]; !there && len(values) > 0 {
			form[name] = values
		}
	}
	for name, value := range map[string]string{"address": o.Address, "city": o.City, "county": o.County, "state": o.State} {
		fill(name, value)
	}
	for key, raw := range o.Custom {
		fill(page.CustomFieldName(key), page.StoredTexts(raw)...)
	}
	for name, key := range orderFieldFor {
		fill(name, page.StoredTexts(o.Custom[key])...)
	}
	return form
}

// NewAbstract returns the address of the new-abstract form, prefilled from this order.
func (s orderView) NewAbstract() string {
	return page.WithQuery("/abstracts/new", url.Values{"order": {path.Base(s.Path)}})
}

// isBlankForm reports whether all fields of the new-abstract form are blank.
func isBlankForm(form url.Values, template model.Template) bool {
	for _, list := range [][]page.Input{page.PropertyInputs(form.Get, nil), page.SubmittedInputs(template.Fields, form, nil)} {
		for _, in := range list {
			if !in.Empty() {
				return false
			}
		}
	}
	return true
}

// addSameFileNumber adds other abstracts that have the same file number.
func (p *Pages) addSameFileNumber(r *page.Request, s *abstractView) error {
	list, more, err := p.Vault.Abstracts.WithSameFileNumber(r.Context(), s.Abstract)
	s.SameMore = more
	for _, one := range list {
		s.Same = append(s.Same, abstractRow{Abstract: one, Path: p.AbstractPath(one.ID), Heading: cmp.Or(one.Heading(), "Untitled"), Documents: len(one.Files)})
	}
	return err
}

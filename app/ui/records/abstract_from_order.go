package records

import (
	"cmp"
	"maps"
	"net/url"
	"path"
	"slices"
	"time"

	"deedkeep/app/model"
	"deedkeep/app/ui/page"
)

// sourceOrder returns the order whose values prefill the form of a new abstract. It returns the
// zero value if the form doesn't refer to an order.
func (p *Pages) sourceOrder(r *page.Request, form url.Values) (o model.Order, err error) {
	opaque := form.Get("order")
	if opaque == "" {
		return o, nil
	}
	id, ok := p.IDs.Orders.Decode(opaque)
	if !ok {
		return o, page.NotFound(r)
	}
	return p.App.Orders.Get(r.Context(), id)
}

// prefillFromOrder adds the order's values for fields that the form doesn't contain. If the
// template doesn't have a field, its value is neither shown nor submitted.
func prefillFromOrder(form url.Values, o model.Order, template model.Template) url.Values {
	values := url.Values(o.AbstractValues(template))
	maps.Copy(values, form)
	return values
}

// markCarriedOver adds a hint to the inputs whose value is that of the order.
func markCarriedOver(o model.Order, template model.Template, lists ...[]page.Input) {
	carried := o.AbstractValues(template)
	for _, list := range lists {
		for i := range list {
			in := &list[i]
			if values := carried[in.Name]; len(values) > 0 && slices.Equal(values, in.Values) {
				in.Hint = "From the order"
			}
		}
	}
}

// NewAbstract returns the address of the new-abstract form, prefilled from this order.
func (o orderView) NewAbstract() string {
	return page.WithQuery("/abstracts/new", url.Values{"order": {path.Base(o.Path)}})
}

// isBlankForm reports whether all fields of the new-abstract form are blank.
func isBlankForm(form url.Values, template model.Template, now time.Time) bool {
	for _, list := range [][]page.Input{page.SubmittedFieldInputs(model.Abstract{}.FieldValues(), form, nil, now),
		page.SubmittedInputs(template.Fields, form, nil, now)} {
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
	list, more, err := p.App.Abstracts.WithSameFileNumber(r.Context(), s.Abstract)
	s.SameMore = more
	for _, one := range list {
		s.Same = append(s.Same, abstractRow{Abstract: one, Path: p.AbstractPath(one.ID), Heading: cmp.Or(one.Heading(), "Untitled"),
			Documents: len(one.Files)})
	}
	return err
}

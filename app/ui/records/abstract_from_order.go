package records

import (
	"cmp"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"deedkeep/app/model"
	"deedkeep/app/ui/page"
)

// orderFieldFor maps fields of abstracts to the order fields with the same meaning but a different
// name. Values of dropdowns are carried over only if the template has the option.
var orderFieldFor = map[string]string{
	"tax_map": "parcel_id", "custom_fields.borrower": "buyer_borrower", "custom_fields.current_owner": "seller_owner",
	searchTypeField: "product",
}

// searchTypeField is the form field for the type of the search.
const searchTypeField = "custom_fields.search_type"

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
	return p.App.Orders.Get(r.Context(), id)
}

// prefillFromOrder adds the order's values for fields that the form doesn't contain. If the
// template doesn't have a field, its value is neither shown nor submitted.
func prefillFromOrder(form url.Values, o model.Order, template model.Template) url.Values {
	fill := func(name string, values ...string) {
		if _, there := form[name]; !there && len(values) > 0 && values[0] != "" {
			form[name] = values
		}
	}
	for _, f := range o.FieldValues() {
		fill(f.Key, f.Value)
	}
	fill("custom_fields.file_number", o.Number)
	for key, raw := range o.Custom {
		fill(page.CustomFieldName(key), optionsOf(template, key, page.StoredTexts(raw))...)
	}
	for name, key := range orderFieldFor {
		fill(name, optionsOf(template, strings.TrimPrefix(name, "custom_fields."), page.StoredTexts(o.Custom[key]))...)
	}
	return form
}

// optionsOf returns those values that are options of a field of the template, spelled as the options
// are. If the field has no options, it returns all values.
func optionsOf(template model.Template, key string, values []string) (found []string) {
	at := slices.IndexFunc(template.Fields, func(f model.Field) bool { return f.Key == key })
	if at < 0 || !template.Fields[at].Type.HasOptions() {
		return values
	}
	for _, value := range values {
		for _, option := range template.Fields[at].Options {
			if model.Fold(option) == model.Fold(value) {
				found = append(found, option)
			}
		}
	}
	return found
}

// templateForOrder returns the ID of the template that matches the product of an order, or "" if none
// does: the one with this name, the default one if it has this search type, the one whose name
// contains the product, or any that has this search type, in this sequence.
func templateForOrder(list []model.Template, o model.Order) string {
	product := o.Custom.Text("product")
	if product == "" {
		return ""
	}
	hasType := func(t model.Template) bool {
		return slices.ContainsFunc(t.Fields, func(f model.Field) bool { return f.Key == "search_type" }) &&
			len(optionsOf(t, "search_type", []string{product})) > 0
	}
	for _, matches := range []func(model.Template) bool{
		func(t model.Template) bool { return model.Fold(t.Name) == model.Fold(product) },
		func(t model.Template) bool { return t.ID == chosenTemplate(list, "").ID && hasType(t) },
		func(t model.Template) bool { return namesProduct(t.Name, product) },
		hasType,
	} {
		if at := slices.IndexFunc(list, matches); at >= 0 {
			return strconv.FormatUint(list[at].ID, 10)
		}
	}
	return ""
}

// namesProduct reports whether a template's name contains the words of a product. A word of the
// product may be abbreviated: "O&E" matches "Ownership and Encumbrance Report".
func namesProduct(name, product string) bool {
	separates := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	words := func(text string) []string {
		return strings.FieldsFunc(model.Fold(strings.ReplaceAll(text, "&", " and ")), separates)
	}
	have, want := words(name), words(product)
	for start := 0; len(want) > 0 && start+len(want) <= len(have); start++ {
		if slices.EqualFunc(have[start:start+len(want)], want, strings.HasPrefix) {
			return true
		}
	}
	return false
}

// markCarriedOver adds a hint to the inputs whose value is that of the order.
func markCarriedOver(o model.Order, template model.Template, lists ...[]page.Input) {
	carried := prefillFromOrder(url.Values{}, o, template)
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

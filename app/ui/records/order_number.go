package records

import (
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"deedkeep/app/model"
	"deedkeep/app/ui/page"
)

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
		own, _ := p.OrderIDs.Decode(asked.Get("not")) // 0 if missing: no order is excluded
		var err error
		if same.Same, same.SameMore, err = p.Vault.Search.SameNumber(r.Context(), model.Order{ID: own, Number: same.Number}); err != nil {
			return err
		}
	}
	return p.RenderPart(r, http.StatusOK, "order.html", "order-same", same)
}

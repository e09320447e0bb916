package records

import (
	"net/http"
	"net/url"
	"path"
	"strings"
	"unicode/utf8"

	"deedkeep/app/model"
	"deedkeep/app/ui/page"
)

// sameNumber are the other orders that have a number.
type sameNumber struct {
	Number   string
	Same     []model.Order
	SameMore bool
}

// numberLookupPath is where the form of an order asks, while its number is typed, whether
// others have it. opaque is the order's own id, "" for one that is not created yet.
func numberLookupPath(opaque string) string {
	if opaque == "" {
		return "/orders/number"
	}
	return page.WithQuery("/orders/number", url.Values{"not": {opaque}})
}

// orderNumberPart is the part of a form that warns of a number that other orders have.
// A number may be used twice, so nothing is refused here.
func (p *Pages) orderNumberPart(w http.ResponseWriter, r *http.Request, who page.Visitor) error {
	if !page.IsPartRequest(r) {
		page.Redirect(w, r, "/orders")
		return nil
	}
	asked := r.URL.Query()
	same := sameNumber{Number: strings.TrimSpace(asked.Get("order_number"))}
	if n := utf8.RuneCountInString(same.Number); n > 0 && n <= model.MaxNameLength {
		own, _ := p.OrderIDs.Decode(asked.Get("not")) // of none, every order is another
		var err error
		if same.Same, same.SameMore, err = p.Vault.Search.SameNumber(r.Context(), model.Order{ID: own, Number: same.Number}); err != nil {
			return err
		}
	}
	return p.RenderPart(w, r, who, http.StatusOK, "order.html", "order-same", same)
}

// setNumberLookup has the number of an order looked up while it is typed.
func (s orderView) setNumberLookup() {
	for _, g := range s.Groups {
		for i := range g.Fields {
			if g.Fields[i].Name == "order_number" {
				g.Fields[i].Lookup = numberLookupPath(path.Base(s.Path))
			}
		}
	}
}

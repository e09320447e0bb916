package ui

import (
	"net/http"
	"net/url"
	"path"
	"strings"
	"unicode/utf8"

	"deedkeep/app/model"
)

// sameNumber are the other orders that have a number.
type sameNumber struct {
	Number   string
	Same     []model.Order
	SameMore bool
}

// numberLookup is where the form of an order asks, while its number is typed, whether
// others have it. opaque is the order's own id, "" for one that is not created yet.
func numberLookup(opaque string) string {
	if opaque == "" {
		return "/orders/number"
	}
	return address("/orders/number", url.Values{"not": {opaque}})
}

// orderNumber is the part of a form that warns of a number that other orders have.
// A number may be used twice, so nothing is refused here.
func (p *pages) orderNumber(w http.ResponseWriter, r *http.Request, who visitor) error {
	if !isPart(r) {
		redirect(w, r, "/orders")
		return nil
	}
	asked := r.URL.Query()
	same := sameNumber{Number: strings.TrimSpace(asked.Get("order_number"))}
	if n := utf8.RuneCountInString(same.Number); n > 0 && n <= model.MaxNameLength {
		own, _ := p.orders.Decode(asked.Get("not")) // of none, every order is another
		var err error
		if same.Same, same.SameMore, err = p.Vault.Orders.SameNumber(r.Context(), model.Order{ID: own, Number: same.Number}); err != nil {
			return err
		}
	}
	return p.part(w, r, who, http.StatusOK, "order.html", "order-same", same)
}

// lookup has the number of an order looked up while it is typed.
func (s orderSheet) lookup() {
	for _, g := range s.Groups {
		for i := range g.Fields {
			if g.Fields[i].Name == "order_number" {
				g.Fields[i].Lookup = numberLookup(path.Base(s.Path))
			}
		}
	}
}

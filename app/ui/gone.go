package ui

import (
	"net/http"
	"strings"

	"deedkeep/app/errs"
	"deedkeep/app/vault"
)

// goneRecord is an abstract or an order that was moved to the trash while somebody
// looked at it.
type goneRecord struct {
	vault.Trashed
	Path string
}

// What is it in a sentence: "the abstract".
func (g goneRecord) What() string { return "the " + g.Noun }

// ByWhom is who moved it to the trash.
func (g goneRecord) ByWhom() string { return byWhom(g.By) }

// goneRecord finds in the trash what the address of a request names; false where that
// is neither an abstract nor an order there.
func (p *pages) goneRecord(r *http.Request, err error) (gone goneRecord, found bool) {
	if errs.KindOf(err) != errs.NotFound || r.PathValue("id") == "" {
		return gone, false
	}
	var noun string
	var id uint64
	switch {
	case strings.HasPrefix(r.URL.Path, "/abstracts/"):
		noun = "abstract"
		id, found = p.abstracts.Decode(r.PathValue("id"))
		gone.Path = p.abstractPath(id)
	case strings.HasPrefix(r.URL.Path, "/orders/"):
		noun = "order"
		id, found = p.orders.Decode(r.PathValue("id"))
		gone.Path = p.orderPath(id)
	}
	if !found {
		return gone, false
	}
	gone.Trashed, err = p.Vault.Trash.Find(r.Context(), noun, id)
	return gone, err == nil // else the answer is that there is no such page
}

// showGone says who moved it to the trash, and how it comes back.
func (p *pages) showGone(w http.ResponseWriter, r *http.Request, who visitor, gone goneRecord) error {
	if isPart(r) {
		return p.part(w, r, who, http.StatusNotFound, "gone.html", "problem", gone)
	}
	return p.show(w, r, who, http.StatusNotFound, "gone.html", page{Heading: "“" + gone.Heading + "” is in the trash", Section: gone.Noun + "s", Data: gone})
}

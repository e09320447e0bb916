package page

import (
	"net/http"
	"strings"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/vault"
)

// trashedRecord is an abstract or order that was moved to the trash while the user had its page
// open.
type trashedRecord struct {
	vault.Trashed
	Path string
}

// TypeName returns the record's type for use in a sentence: "the abstract".
func (g trashedRecord) TypeName() string { return "the " + g.Type }

// ByWhom returns who moved it to the trash.
func (g trashedRecord) ByWhom() string { return ActorInSentence(g.By) }

// findTrashed returns the trashed abstract or order that the request's address names. It reports
// false if err is not about one.
func (p *Site) findTrashed(r *http.Request, err error) (gone trashedRecord, found bool) {
	if errs.KindOf(err) != errs.NotFound || r.PathValue("id") == "" {
		return gone, false
	}
	var recordType string
	var id uint64
	switch {
	case strings.HasPrefix(r.URL.Path, "/abstracts/"):
		recordType = "abstract"
		id, found = p.AbstractIDs.Decode(r.PathValue("id"))
		gone.Path = p.AbstractPath(id)
	case strings.HasPrefix(r.URL.Path, "/orders/"):
		recordType = "order"
		id, found = p.OrderIDs.Decode(r.PathValue("id"))
		gone.Path = p.OrderPath(id)
	}
	if !found {
		return gone, false
	}
	gone.Trashed, err = p.Vault.Trash.Find(r.Context(), recordType, id)
	return gone, err == nil // otherwise the page is not found
}

// showTrashed says who moved the record to the trash and how to restore it.
func (p *Site) showTrashed(w http.ResponseWriter, r *http.Request, visitor Visitor, gone trashedRecord) error {
	if IsPartRequest(r) {
		return p.RenderPart(w, r, visitor, http.StatusNotFound, "gone.html", "problem", gone)
	}
	return p.RenderPage(w, r, visitor, http.StatusNotFound, "gone.html", Page{Heading: "“" + gone.Heading + "” is in the trash", Section: gone.Type + "s", Data: gone})
}

// ActorInSentence returns ActorText for the middle of a sentence.
func ActorInSentence(a model.Actor) string {
	words := ActorText(a)
	if a.Name == "" && words != "" {
		return strings.ToLower(words[:1]) + words[1:]
	}
	return words
}

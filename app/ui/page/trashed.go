package page

import (
	"net/http"
	"strings"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/vault"
)

// trashedRecord is an abstract or order that is in the trash. It may have been moved there while
// the user had its page open.
type trashedRecord struct {
	vault.Trashed
	Path string
}

// TypeName returns the record type with an article, such as "the abstract".
func (t trashedRecord) TypeName() string { return "the " + t.Type }

// ByWhom returns the name of the user who moved the record to the trash.
func (t trashedRecord) ByWhom() string { return ActorInSentence(t.By) }

// findTrashed finds the abstract or order of the request's address in the trash. found is false if
// err is not a NotFound error or the record is not in the trash.
func (si *Site) findTrashed(r *Request, err error) (gone trashedRecord, found bool) {
	segment, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	recordType := recordTypeByPath(segment)
	if errs.KindOf(err) != errs.NotFound || r.PathID == 0 || si.IDs.ForType(recordType) == nil {
		return gone, false
	}
	gone.Path = si.RecordPath(recordType, r.PathID)
	gone.Trashed, err = si.App.Trash.Find(r.Context(), recordType, r.PathID)
	return gone, err == nil // if this fails, the user sees "page not found"
}

// showTrashed shows a page that says who moved the record to the trash and how to restore it.
func (si *Site) showTrashed(r *Request, gone trashedRecord) error {
	if r.IsPart() {
		return si.RenderPart(r, http.StatusNotFound, "trashed.html", "problem", gone)
	}
	return si.RenderPage(r, http.StatusNotFound, "trashed.html", Page{Heading: "“" + gone.Heading + "” is in the trash",
		Section: gone.Type + "s", Data: gone})
}

// ActorInSentence returns ActorText in the form used in the middle of a sentence.
func ActorInSentence(a model.Actor) string {
	words := ActorText(a)
	if a.Name == "" && words != "" {
		return strings.ToLower(words[:1]) + words[1:]
	}
	return words
}

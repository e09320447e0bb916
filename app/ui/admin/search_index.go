package admin

import (
	"net/http"

	"deedkeep/app/ui/page"
)

// searchIndexPart renders the state of the search index. A script requests it repeatedly during a
// rebuild.
func (p *Pages) searchIndexPart(w http.ResponseWriter, r *http.Request, visitor page.Visitor) error {
	if !page.IsPartRequest(r) {
		page.Redirect(w, r, "/admin/settings#search-index")
		return nil
	}
	return p.RenderPart(w, r, visitor, http.StatusOK, "settings.html", "search-index", p.SearchIndexStatus(r.Context()))
}

// reindex starts rebuilding the search index. Searches use the old index until the new one is
// complete.
func (p *Pages) reindex(w http.ResponseWriter, r *http.Request, visitor page.Visitor) error {
	if err := p.Vault.Search.Rebuild(r.Context(), visitor.Actor); err != nil {
		return asConflict(err)
	}
	if page.IsPartRequest(r) {
		return p.searchIndexPart(w, r, visitor)
	}
	return p.RedirectWithNotice(w, r, "/admin/settings", "The search index is being made anew.")
}

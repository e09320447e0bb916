package admin

import (
	"net/http"

	"deedkeep/app/ui/page"
)

// searchIndexPart renders the state of the search index. A script requests it repeatedly during a
// rebuild.
func (p *Pages) searchIndexPart(r *page.Request) error {
	if !r.IsPart() {
		return r.Redirect("/admin/settings#search-index")
	}
	return p.RenderPart(r, http.StatusOK, "settings.html", "search-index", p.SearchIndexStatus(r.Context()))
}

// reindex starts rebuilding the search index. Searches use the old index until the new one is
// complete.
func (p *Pages) reindex(r *page.Request) error {
	if err := p.App.Search.Rebuild(r.Context(), r.Actor); err != nil {
		return asConflict(err)
	}
	if r.IsPart() {
		return p.searchIndexPart(r)
	}
	return p.RedirectWithNotice(r, "/admin/settings", "Rebuilding the search index.")
}

package control

import (
	"net/http"

	"deedkeep/app/apitypes"
	"deedkeep/app/search"
)

// reindex rebuilds the search index and waits until it is complete. If no server is running, the command does the
// work itself.
func (c handler) reindex(w http.ResponseWriter, r *http.Request) {
	streamProgress(c, w, r, "records", func(report func(done, total int64)) (apitypes.SearchIndex, error) {
		if err := c.Vault.Search.Rebuild(r.Context(), operator(r)); err != nil {
			return apitypes.SearchIndex{}, err
		}
		s, err := c.Vault.Search.Await(r.Context(), func(done, total uint64) { report(int64(done), int64(total)) })
		return searchIndex(s), err
	})
}

func searchIndex(s search.State) apitypes.SearchIndex {
	out := apitypes.SearchIndex{
		Ready: s.Ready, Building: s.Building, Records: int64(s.Documents), Bytes: s.Bytes, Segments: int64(s.Segments),
		Behind: int64(s.PendingChanges), Texts: int64(s.MissingText), MissingTexts: int64(s.MissingTextLive),
	}
	if s.Building {
		out.Done, out.Total = new(int64(s.Done)), new(int64(s.Total))
	}
	if !s.Since.IsZero() {
		out.Since = new(apitypes.At(s.Since))
	}
	if s.Failure != "" {
		out.Error = &s.Failure
	}
	return out
}

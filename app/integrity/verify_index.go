package integrity

import (
	"context"
	"errors"

	"deedkeep/app/search"
	"deedkeep/app/search/query"
	"deedkeep/app/store"
)

// verifyIndex verifies the checksums of the live search index. Damage to it doesn't lose
// any data, because it can be rebuilt. It is still a finding, because the documents are on
// the same disk. If the search index is missing, incomplete, or from another version, that
// is not a finding.
func (c *Checker) verifyIndex(ctx context.Context, r *Report, addFinding func(store.Finding)) error {
	// If State fails, the check of the records has already reported the reason.
	if state, err := c.Search.Index.State(ctx); err == nil {
		r.Texts, r.IndexReady, r.IndexBuilding = state.MissingText, state.Ready, state.Building
		if state.Ready {
			r.IndexBytes = state.Bytes
		}
	}
	finding := store.Finding{Kind: "search", Subject: "index"}
	serving, err := c.Search.Index.Check(ctx)
	switch {
	case err == nil || ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, search.ErrCurrentFile):
		finding.Problem = "intact, but " + err.Error()
	case !errors.Is(err, query.ErrDamaged):
		finding.Problem = "can't be read: " + err.Error()
		r.markUnreadable(finding, err)
	case serving:
		finding.Problem = "no document is lost; the server is rebuilding the search index: " + err.Error()
	default:
		finding.Problem = `no document is lost; to rebuild the search index, run "deedkeep reindex": ` + err.Error()
	}
	addFinding(finding)
	return nil
}

package integrity

import (
	"context"
	"errors"

	"deedkeep/app/search"
	"deedkeep/app/search/query"
	"deedkeep/app/store"
)

// verifyIndex reads the index of words that answers and holds it against its checksums.
// It follows from the records: damage in it loses nothing, and is a finding because the
// disk that did it has the documents too. One that is missing, being made or of another
// version is none.
func (c *Checker) verifyIndex(ctx context.Context, r *Report, find func(store.Finding)) error {
	// Where the database does not tell, the check of the records has said why.
	if state, err := c.Search.Index.State(ctx); err == nil {
		r.Texts = state.Texts
		if state.Ready {
			r.IndexBytes = state.Bytes
		}
	}
	finding := store.Finding{Kind: "search", Subject: "index"}
	serving, err := c.Search.Index.Check(ctx)
	switch {
	case err == nil || ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, search.ErrPointer):
		finding.Problem = "it is intact, but " + err.Error()
	case !errors.Is(err, query.ErrDamaged):
		finding.Problem = "it cannot be read: " + err.Error()
	case serving:
		finding.Problem = "no document is lost, it is being made anew: " + err.Error()
	default:
		finding.Problem = `no document is lost, "deedkeep reindex" makes it anew: ` + err.Error()
	}
	find(finding)
	return nil
}

package client

import (
	"context"

	"deedkeep/app/apitypes"
)

// Reindex rebuilds the search index and waits until it is complete. It calls progress, unless it is nil, for each
// report, in the same goroutine. If ctx ends, a running server completes the rebuild. Control socket only.
func (c *Client) Reindex(ctx context.Context, progress func(apitypes.Progress)) (apitypes.SearchIndex, error) {
	return followProgress[apitypes.SearchIndex](ctx, c, "/control/reindex", nil, progress)
}

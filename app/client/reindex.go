package client

import (
	"context"

	"deedkeep/app/apitypes"
)

// Reindex has the index of words made anew and waits until it is whole, calling
// progress, which may be nil, for each report, in this goroutine. A server goes on with
// it when ctx ends. Door only.
func (c *Client) Reindex(ctx context.Context, progress func(apitypes.Progress)) (apitypes.SearchIndex, error) {
	return followProgress[apitypes.SearchIndex](ctx, c, "/control/reindex", nil, progress)
}

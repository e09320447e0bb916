package client

import (
	"context"
	"iter"

	"deedkeep/app/wire"
)

// TrashPage reads one page of what is in the trash.
func (c *Client) TrashPage(ctx context.Context, l List) (wire.Page[wire.Trashed], error) {
	return page[wire.Trashed](ctx, c, "/v1/trash", l)
}

// Trash reads what is in the trash to its end, page by page.
func (c *Client) Trash(ctx context.Context, l List) iter.Seq2[wire.Trashed, error] {
	return all[wire.Trashed](ctx, c, "/v1/trash", l)
}

// LogPage reads one page of the log of who did what, by a key with the ability
// events.
func (c *Client) LogPage(ctx context.Context, l List) (wire.Page[wire.Event], error) {
	return page[wire.Event](ctx, c, "/v1/events", l)
}

// Log reads the log of who did what to its end, page by page.
func (c *Client) Log(ctx context.Context, l List) iter.Seq2[wire.Event, error] {
	return all[wire.Event](ctx, c, "/v1/events", l)
}

package client

import (
	"context"
	"iter"

	"deedkeep/app/apitypes"
)

// TrashPage reads one page of what is in the trash.
func (c *Client) TrashPage(ctx context.Context, l List) (apitypes.Page[apitypes.Trashed], error) {
	return page[apitypes.Trashed](ctx, c, "/v1/trash", l)
}

// Trash reads what is in the trash to its end, page by page.
func (c *Client) Trash(ctx context.Context, l List) iter.Seq2[apitypes.Trashed, error] {
	return all[apitypes.Trashed](ctx, c, "/v1/trash", l)
}

// AuditLogPage reads one page of the log of who did what, by a key with the ability
// events.
func (c *Client) AuditLogPage(ctx context.Context, l List) (apitypes.Page[apitypes.Event], error) {
	return page[apitypes.Event](ctx, c, "/v1/events", l)
}

// AuditLog reads the log of who did what to its end, page by page.
func (c *Client) AuditLog(ctx context.Context, l List) iter.Seq2[apitypes.Event, error] {
	return all[apitypes.Event](ctx, c, "/v1/events", l)
}

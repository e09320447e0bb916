package client

import (
	"context"
	"iter"

	"deedkeep/app/apitypes"
)

// TrashPage returns one page of the trash.
func (c *Client) TrashPage(ctx context.Context, l ListOptions) (apitypes.Page[apitypes.Trashed], error) {
	return page[apitypes.Trashed](ctx, c, "/v1/trash", l)
}

// Trash iterates over the trash and reads pages as needed.
func (c *Client) Trash(ctx context.Context, l ListOptions) iter.Seq2[apitypes.Trashed, error] {
	return all[apitypes.Trashed](ctx, c, "/v1/trash", l)
}

// AuditLogPage returns one page of the audit log. The key needs the events ability.
func (c *Client) AuditLogPage(ctx context.Context, l ListOptions) (apitypes.Page[apitypes.Event], error) {
	return page[apitypes.Event](ctx, c, "/v1/events", l)
}

// AuditLog iterates over the audit log and reads pages as needed. The key needs the events ability.
func (c *Client) AuditLog(ctx context.Context, l ListOptions) iter.Seq2[apitypes.Event, error] {
	return all[apitypes.Event](ctx, c, "/v1/events", l)
}

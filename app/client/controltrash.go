package client

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"deedkeep/app/apitypes"
)

// TrashItems lists the newest records in the trash, at most limit. Door only.
func (c *Client) TrashItems(ctx context.Context, limit int) ([]apitypes.TrashItem, error) {
	var body apitypes.TrashList
	err := c.call(ctx, http.MethodGet, fmt.Sprintf("/control/trash?limit=%d", limit), nil, &body)
	return body.Data, err
}

// TrashItem reads one record in the trash, named like file:17. Door only.
func (c *Client) TrashItem(ctx context.Context, record string) (item apitypes.TrashItem, err error) {
	err = c.call(ctx, http.MethodGet, "/control/trash/"+url.PathEscape(record), nil, &item)
	return item, err
}

// TrashPurgeable counts what EmptyTrash would remove. Door only.
func (c *Client) TrashPurgeable(ctx context.Context) (counted apitypes.TrashPurgeable, err error) {
	err = c.call(ctx, http.MethodGet, "/control/trash/purgeable", nil, &counted)
	return counted, err
}

// PurgeTrash removes one record from the trash permanently; a reason lifts its
// retention. Door only.
func (c *Client) PurgeTrash(ctx context.Context, record, reason string) (done apitypes.TrashPurged, err error) {
	err = c.call(ctx, http.MethodPost, "/control/trash/purge", apitypes.TrashPurge{Record: record, Reason: reason}, &done)
	return done, err
}

// EmptyTrash removes everything from the trash permanently that no retention keeps. Door
// only.
func (c *Client) EmptyTrash(ctx context.Context) (done apitypes.TrashPurged, err error) {
	err = c.call(ctx, http.MethodPost, "/control/trash/empty", nil, &done)
	return done, err
}

package client

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"deedkeep/app/apitypes"
)

// TrashItems lists up to limit records in the trash, newest first. Control socket only.
func (c *Client) TrashItems(ctx context.Context, limit int) ([]apitypes.TrashItem, error) {
	var body apitypes.TrashList
	err := c.call(ctx, http.MethodGet, fmt.Sprintf("/control/trash?limit=%d", limit), nil, &body)
	return body.Data, err
}

// TrashItem returns one record in the trash; record has the form file:17. Control socket only.
func (c *Client) TrashItem(ctx context.Context, record string) (item apitypes.TrashItem, err error) {
	err = c.call(ctx, http.MethodGet, "/control/trash/"+url.PathEscape(record), nil, &item)
	return item, err
}

// TrashPurgeable counts the records that EmptyTrash would delete. Control socket only.
func (c *Client) TrashPurgeable(ctx context.Context) (counted apitypes.TrashPurgeable, err error) {
	err = c.call(ctx, http.MethodGet, "/control/trash/purgeable", nil, &counted)
	return counted, err
}

// PurgeTrash permanently deletes one record in the trash. A reason overrides its retention. Control socket only.
func (c *Client) PurgeTrash(ctx context.Context, record, reason string) (done apitypes.TrashPurged, err error) {
	err = c.call(ctx, http.MethodPost, "/control/trash/purge", apitypes.TrashPurge{Record: record, Reason: reason}, &done)
	return done, err
}

// EmptyTrash permanently deletes all records in the trash that are not under retention. Control socket only.
func (c *Client) EmptyTrash(ctx context.Context) (done apitypes.TrashPurged, err error) {
	err = c.call(ctx, http.MethodPost, "/control/trash/empty", nil, &done)
	return done, err
}

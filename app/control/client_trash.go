package control

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"deedkeep/app/apitypes"
)

// TrashItems returns up to limit records in the trash, newest first.
func (c *Client) TrashItems(ctx context.Context, limit int) ([]apitypes.TrashItem, error) {
	var body apitypes.TrashList
	err := c.http.Do(ctx, http.MethodGet, fmt.Sprintf("/control/trash?limit=%d", limit), nil, &body)
	return body.Data, err
}

// TrashItem returns the record in the trash with a name like file:17.
func (c *Client) TrashItem(ctx context.Context, record string) (item apitypes.TrashItem, err error) {
	err = c.http.Do(ctx, http.MethodGet, "/control/trash/"+url.PathEscape(record), nil, &item)
	return item, err
}

// TrashPurgeable returns the number of records that EmptyTrash would delete.
func (c *Client) TrashPurgeable(ctx context.Context) (counted apitypes.TrashPurgeable, err error) {
	err = c.http.Do(ctx, http.MethodGet, "/control/trash/purgeable", nil, &counted)
	return counted, err
}

// PurgeTrash deletes one record in the trash permanently. A reason overrides the retention period.
func (c *Client) PurgeTrash(ctx context.Context, record, reason string) (done apitypes.TrashPurged, err error) {
	err = c.http.Do(ctx, http.MethodPost, "/control/trash/purge", apitypes.TrashPurge{Record: record, Reason: reason}, &done)
	return done, err
}

// EmptyTrash permanently deletes all records in the trash whose retention period is over.
func (c *Client) EmptyTrash(ctx context.Context) (done apitypes.TrashPurged, err error) {
	err = c.http.Do(ctx, http.MethodPost, "/control/trash/empty", nil, &done)
	return done, err
}

package control

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"deedkeep/app/apitypes"
)

// Keys returns all API keys, including revoked ones.
func (c *Client) Keys(ctx context.Context) ([]apitypes.Key, error) {
	var body apitypes.Keys
	err := c.http.Do(ctx, http.MethodGet, "/control/keys", nil, &body)
	return body.Data, err
}

// CreateKey creates an API key. Only the result contains the key itself.
func (c *Client) CreateKey(ctx context.Context, draft apitypes.KeyCreate) (apitypes.KeyCreated, error) {
	var created apitypes.KeyCreated
	err := c.http.Do(ctx, http.MethodPost, "/control/keys", draft, &created)
	return created, err
}

// RevokeKey revokes an API key immediately.
func (c *Client) RevokeKey(ctx context.Context, id int64) (apitypes.Key, error) {
	var body apitypes.KeyBody
	err := c.http.Do(ctx, http.MethodPost, fmt.Sprintf("/control/keys/%d/revoke", id), struct{}{}, &body)
	return body.Data, err
}

// RotateKey creates the replacement of an API key. The old key stays valid for overlap, rounded down to seconds.
func (c *Client) RotateKey(ctx context.Context, id int64, overlap time.Duration) (apitypes.KeyCreated, error) {
	var created apitypes.KeyCreated
	draft := apitypes.KeyRotate{OverlapSeconds: int64(overlap / time.Second)}
	err := c.http.Do(ctx, http.MethodPost, fmt.Sprintf("/control/keys/%d/rotate", id), draft, &created)
	return created, err
}

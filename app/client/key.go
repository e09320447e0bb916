package client

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"deedkeep/app/apitypes"
)

// Keys lists all API keys, including revoked ones. Control socket only.
func (c *Client) Keys(ctx context.Context) ([]apitypes.Key, error) {
	var body apitypes.Keys
	err := c.call(ctx, http.MethodGet, "/control/keys", nil, &body)
	return body.Data, err
}

// CreateKey creates an API key. The secret is only in this result. Control socket only.
func (c *Client) CreateKey(ctx context.Context, draft apitypes.KeyCreate) (apitypes.KeyCreated, error) {
	var made apitypes.KeyCreated
	err := c.call(ctx, http.MethodPost, "/control/keys", draft, &made)
	return made, err
}

// RevokeKey revokes an API key immediately. Control socket only.
func (c *Client) RevokeKey(ctx context.Context, id int64) (apitypes.Key, error) {
	var body apitypes.KeyBody
	err := c.call(ctx, http.MethodPost, fmt.Sprintf("/control/keys/%d/revoke", id), struct{}{}, &body)
	return body.Data, err
}

// RotateKey creates a replacement for an API key. The old key stays valid for overlap, truncated to seconds. Control
// socket only.
func (c *Client) RotateKey(ctx context.Context, id int64, overlap time.Duration) (apitypes.KeyCreated, error) {
	var made apitypes.KeyCreated
	draft := apitypes.KeyRotate{OverlapSeconds: int64(overlap / time.Second)}
	err := c.call(ctx, http.MethodPost, fmt.Sprintf("/control/keys/%d/rotate", id), draft, &made)
	return made, err
}

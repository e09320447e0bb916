package client

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"deedkeep/app/apitypes"
)

// Keys lists all API keys, revoked ones too. Door only.
func (c *Client) Keys(ctx context.Context) ([]apitypes.Key, error) {
	var body apitypes.Keys
	err := c.call(ctx, http.MethodGet, "/control/keys", nil, &body)
	return body.Data, err
}

// CreateKey makes an API key; its secret is in the result and nowhere else. Door only.
func (c *Client) CreateKey(ctx context.Context, draft apitypes.KeyCreate) (apitypes.KeyCreated, error) {
	var made apitypes.KeyCreated
	err := c.call(ctx, http.MethodPost, "/control/keys", draft, &made)
	return made, err
}

// RevokeKey ends an API key at once. Door only.
func (c *Client) RevokeKey(ctx context.Context, id int64) (apitypes.Key, error) {
	var body apitypes.KeyBody
	err := c.call(ctx, http.MethodPost, fmt.Sprintf("/control/keys/%d/revoke", id), struct{}{}, &body)
	return body.Data, err
}

// RotateKey makes the successor of an API key, which itself goes on working for
// overlap, cut to whole seconds. Door only.
func (c *Client) RotateKey(ctx context.Context, id int64, overlap time.Duration) (apitypes.KeyCreated, error) {
	var made apitypes.KeyCreated
	draft := apitypes.KeyRotate{OverlapSeconds: int64(overlap / time.Second)}
	err := c.call(ctx, http.MethodPost, fmt.Sprintf("/control/keys/%d/rotate", id), draft, &made)
	return made, err
}

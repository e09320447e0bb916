package client

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"deedkeep/app/wire"
)

// Keys lists all API keys, revoked ones too. Door only.
func (c *Client) Keys(ctx context.Context) ([]wire.Key, error) {
	var body wire.Keys
	err := c.call(ctx, http.MethodGet, "/control/keys", nil, &body)
	return body.Data, err
}

// CreateKey makes an API key; its secret is in the result and nowhere else. Door only.
func (c *Client) CreateKey(ctx context.Context, draft wire.KeyCreate) (wire.KeyCreated, error) {
	var made wire.KeyCreated
	err := c.call(ctx, http.MethodPost, "/control/keys", draft, &made)
	return made, err
}

// RevokeKey ends an API key at once. Door only.
func (c *Client) RevokeKey(ctx context.Context, id int64) (wire.Key, error) {
	var body wire.KeyBody
	err := c.call(ctx, http.MethodPost, fmt.Sprintf("/control/keys/%d/revoke", id), struct{}{}, &body)
	return body.Data, err
}

// RotateKey makes the successor of an API key, which itself goes on working for
// overlap, cut to whole seconds. Door only.
func (c *Client) RotateKey(ctx context.Context, id int64, overlap time.Duration) (wire.KeyCreated, error) {
	var made wire.KeyCreated
	draft := wire.KeyRotate{OverlapSeconds: int64(overlap / time.Second)}
	err := c.call(ctx, http.MethodPost, fmt.Sprintf("/control/keys/%d/rotate", id), draft, &made)
	return made, err
}

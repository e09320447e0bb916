package control

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"deedkeep/app/apitypes"
	"deedkeep/app/errs"
	"deedkeep/app/model"
)

// Keys returns all API keys, including revoked ones.
func (c *Client) Keys(ctx context.Context) ([]apitypes.Key, error) {
	return data[[]apitypes.Key](ctx, c, "GET /control/keys", nil)
}

func (h handler) keys(r *http.Request) (any, error) {
	keys, err := h.App.Keys.List(r.Context())
	return list(keys, keyShape), err
}

// CreateKey creates an API key. Only the result contains the key itself.
func (c *Client) CreateKey(ctx context.Context, draft apitypes.KeyCreate) (apitypes.KeyCreated, error) {
	return call[apitypes.KeyCreated](ctx, c, "POST /control/keys", draft)
}

func (h handler) createKey(r *http.Request, asked apitypes.KeyCreate) (any, error) {
	text, key, err := h.App.Keys.Create(r.Context(), operator(r), model.KeyDraft{
		Name: asked.Name, Abilities: asked.Abilities, ExpiresAt: timeOrNil(asked.ExpiresAt),
	})
	return apitypes.KeyCreated{Key: text, Data: keyShape(key)}, err
}

// RevokeKey revokes an API key immediately.
func (c *Client) RevokeKey(ctx context.Context, id int64) (apitypes.Key, error) {
	return data[apitypes.Key](ctx, c, fmt.Sprintf("POST /control/keys/%d/revoke", id), struct{}{})
}

// RotateKey creates the replacement of an API key. The old key stays valid for overlap, rounded down to seconds.
func (c *Client) RotateKey(ctx context.Context, id int64, overlap time.Duration) (apitypes.KeyCreated, error) {
	draft := apitypes.KeyRotate{OverlapSeconds: int64(overlap / time.Second)}
	return call[apitypes.KeyCreated](ctx, c, fmt.Sprintf("POST /control/keys/%d/rotate", id), draft)
}

// maxOverlap is the maximum overlap of a rotated key: ten years, in seconds.
const maxOverlap = 10 * 365 * 24 * 60 * 60

func (h handler) rotateKey(r *http.Request, asked apitypes.KeyRotate) (any, error) {
	id, err := recordID(r, "key")
	if err != nil {
		return nil, err
	}
	if asked.OverlapSeconds < 0 || asked.OverlapSeconds > maxOverlap {
		return nil, errs.InvalidField("overlap_seconds", "The overlap must be between 0 seconds and 10 years.")
	}
	text, key, err := h.App.Keys.Rotate(r.Context(), operator(r), id, time.Duration(asked.OverlapSeconds)*time.Second)
	return apitypes.KeyCreated{Key: text, Data: keyShape(key)}, err
}

func keyShape(k model.Key) apitypes.Key {
	return apitypes.Key{
		ID: int64(k.ID), Name: k.Name, Prefix: k.Prefix, Abilities: k.Abilities, CreatedAt: apitypes.At(k.CreatedAt),
		LastUsedAt: optionalTime(k.LastUsedAt), UseCount: int64(k.UseCount), ExpiresAt: optionalTime(k.ExpiresAt),
		RevokedAt: optionalTime(k.RevokedAt), Replaces: int64(k.Replaces),
	}
}

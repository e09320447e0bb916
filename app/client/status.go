package client

import (
	"context"
	"net/http"

	"deedkeep/app/apitypes"
)

// Status says how the vault is: what it holds, what waits, how much room there
// is. Door only.
func (c *Client) Status(ctx context.Context) (apitypes.Status, error) {
	var body apitypes.Status
	err := c.call(ctx, http.MethodGet, "/control/status", nil, &body)
	return body, err
}

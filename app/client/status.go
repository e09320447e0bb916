package client

import (
	"context"
	"net/http"

	"deedkeep/app/apitypes"
)

// Status returns the state of the vault: numbers of records, queue lengths, and free disk space. Control socket only.
func (c *Client) Status(ctx context.Context) (apitypes.Status, error) {
	var body apitypes.Status
	err := c.call(ctx, http.MethodGet, "/control/status", nil, &body)
	return body, err
}

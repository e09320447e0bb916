package client

import (
	"context"
	"io"
	"net/http"

	"deedkeep/app/apitypes"
)

// Checkup returns the facts that the doctor needs about a vault. Control socket only.
func (c *Client) Checkup(ctx context.Context) (apitypes.Checkup, error) {
	var body apitypes.Checkup
	err := c.call(ctx, http.MethodGet, "/control/doctor", nil, &body)
	return body, err
}

// OpenProbe returns a path that accepts one request body and discards it. The error is a Conflict if no server is
// running. Control socket only.
func (c *Client) OpenProbe(ctx context.Context) (string, error) {
	var body apitypes.ProbeOpened
	err := c.call(ctx, http.MethodPost, "/control/probe", nil, &body)
	return body.Path, err
}

// SendProbe sends content to a path from OpenProbe at the public address.
func (c *Client) SendProbe(ctx context.Context, path string, content io.Reader) (apitypes.Probe, error) {
	var body apitypes.Probe
	err := c.exchange(ctx, http.MethodPost, path, content, "application/octet-stream", &body)
	return body, err
}

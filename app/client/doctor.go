package client

import (
	"context"
	"io"
	"net/http"

	"deedkeep/app/apitypes"
)

// SendProbe sends content to the public address, using a path returned by control.Client.OpenProbe.
func (c *Client) SendProbe(ctx context.Context, path string, content io.Reader) (apitypes.Probe, error) {
	var body apitypes.Probe
	err := c.DoRaw(ctx, http.MethodPost, path, content, "application/octet-stream", &body)
	return body, err
}

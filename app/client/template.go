package client

import (
	"context"
	"net/http"

	"deedkeep/app/wire"
)

// Templates lists the abstract templates in the order of their ids.
func (c *Client) Templates(ctx context.Context) ([]wire.Template, error) {
	var body wire.AbstractTemplates
	err := c.call(ctx, http.MethodGet, "/v1/abstract-templates", nil, &body)
	return body.Templates, err
}

package client

import (
	"context"
	"net/http"
	"strconv"

	"deedkeep/app/apitypes"
)

// Template returns a template with its statuses, even if it is retired.
func (c *Client) Template(ctx context.Context, id int64) (apitypes.TemplateDefinition, error) {
	var body apitypes.TemplateBody
	err := c.Do(ctx, http.MethodGet, "/v1/abstract-templates/"+strconv.FormatInt(id, 10), nil, &body)
	return body.Template, err
}

// Templates returns the abstract templates, sorted by ID.
func (c *Client) Templates(ctx context.Context) ([]apitypes.Template, error) {
	var body apitypes.AbstractTemplates
	err := c.Do(ctx, http.MethodGet, "/v1/abstract-templates", nil, &body)
	return body.Templates, err
}

package client

import (
	"context"
	"fmt"
	"net/http"

	"deedkeep/app/apitypes"
)

// TemplateDefinitions lists all templates with their statuses, including retired ones, by ID. Control socket only.
func (c *Client) TemplateDefinitions(ctx context.Context) ([]apitypes.TemplateDefinition, error) {
	var body apitypes.TemplateDefinitions
	err := c.call(ctx, http.MethodGet, "/control/templates", nil, &body)
	return body.Templates, err
}

// ImportTemplates creates and changes templates to match the drafts, and returns the changes. With dry, it changes
// nothing and returns the changes that it would make. An *Error of status 422 lists each invalid value under
// templates.INDEX; one of status 409 lists the data that records would lose. Control socket only.
func (c *Client) ImportTemplates(ctx context.Context, drafts []apitypes.TemplateDraft, dry bool) (apitypes.DefinitionsChanged, error) {
	var body apitypes.DefinitionsChanged
	err := c.call(ctx, http.MethodPost, "/control/templates/import", apitypes.TemplatesImport{DryRun: dry, Templates: drafts}, &body)
	return body, err
}

// SetDefaultTemplate sets the template for new abstracts that name none. Control socket only.
func (c *Client) SetDefaultTemplate(ctx context.Context, id int64) (apitypes.TemplateDefinition, error) {
	var body apitypes.TemplateDefinitionBody
	err := c.call(ctx, http.MethodPost, fmt.Sprintf("/control/templates/%d/default", id), struct{}{}, &body)
	return body.Data, err
}

// RetireTemplate disables a template for new abstracts. Control socket only.
func (c *Client) RetireTemplate(ctx context.Context, id int64) (apitypes.TemplateDefinition, error) {
	var body apitypes.TemplateDefinitionBody
	err := c.call(ctx, http.MethodPost, fmt.Sprintf("/control/templates/%d/retire", id), struct{}{}, &body)
	return body.Data, err
}

// OrderDefinitions returns the same as OrderFields, through the control socket.
func (c *Client) OrderDefinitions(ctx context.Context) (apitypes.OrderFields, error) {
	var body apitypes.OrderFields
	err := c.call(ctx, http.MethodGet, "/control/order-fields", nil, &body)
	return body, err
}

// ImportOrderFields replaces the custom fields of orders. The results are those of ImportTemplates, with errors under
// custom_fields.INDEX. Control socket only.
func (c *Client) ImportOrderFields(ctx context.Context, fields []apitypes.Field, dry bool) (apitypes.DefinitionsChanged, error) {
	var body apitypes.DefinitionsChanged
	err := c.call(ctx, http.MethodPost, "/control/order-fields/import", apitypes.OrderFieldsImport{DryRun: dry, CustomFields: fields}, &body)
	return body, err
}

// OrderStatuses lists the statuses of orders. Control socket only.
func (c *Client) OrderStatuses(ctx context.Context) ([]string, error) {
	var body apitypes.OrderStatuses
	err := c.call(ctx, http.MethodGet, "/control/order-statuses", nil, &body)
	return body.Statuses, err
}

// ImportOrderStatuses replaces the statuses of orders. The results are those of ImportTemplates, with errors under
// statuses.INDEX. Control socket only.
func (c *Client) ImportOrderStatuses(ctx context.Context, statuses []string, dry bool) (apitypes.DefinitionsChanged, error) {
	var body apitypes.DefinitionsChanged
	err := c.call(ctx, http.MethodPost, "/control/order-statuses/import", apitypes.OrderStatusesImport{DryRun: dry, Statuses: statuses}, &body)
	return body, err
}

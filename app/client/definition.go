package client

import (
	"context"
	"fmt"
	"net/http"

	"deedkeep/app/apitypes"
)

// TemplateDefinitions lists all templates with their statuses, retired ones too, in
// the order of their ids. Door only.
func (c *Client) TemplateDefinitions(ctx context.Context) ([]apitypes.TemplateDefinition, error) {
	var body apitypes.TemplateDefinitions
	err := c.call(ctx, http.MethodGet, "/control/templates", nil, &body)
	return body.Templates, err
}

// ImportTemplates makes templates as the drafts say and tells what changed, or, with
// dry, what would. An *Error of status 422 names each broken rule under
// templates.INDEX, one of status 409 what records would lose. Door only.
func (c *Client) ImportTemplates(ctx context.Context, drafts []apitypes.TemplateDraft, dry bool) (apitypes.DefinitionsChanged, error) {
	var body apitypes.DefinitionsChanged
	err := c.call(ctx, http.MethodPost, "/control/templates/import", apitypes.TemplatesImport{DryRun: dry, Templates: drafts}, &body)
	return body, err
}

// SetDefaultTemplate makes a template the one that is used when none is named. Door
// only.
func (c *Client) SetDefaultTemplate(ctx context.Context, id int64) (apitypes.TemplateDefinition, error) {
	var body apitypes.TemplateDefinitionBody
	err := c.call(ctx, http.MethodPost, fmt.Sprintf("/control/templates/%d/default", id), struct{}{}, &body)
	return body.Data, err
}

// RetireTemplate takes a template out of use for new abstracts. Door only.
func (c *Client) RetireTemplate(ctx context.Context, id int64) (apitypes.TemplateDefinition, error) {
	var body apitypes.TemplateDefinitionBody
	err := c.call(ctx, http.MethodPost, fmt.Sprintf("/control/templates/%d/retire", id), struct{}{}, &body)
	return body.Data, err
}

// OrderDefinitions is OrderFields by the door.
func (c *Client) OrderDefinitions(ctx context.Context) (apitypes.OrderFields, error) {
	var body apitypes.OrderFields
	err := c.call(ctx, http.MethodGet, "/control/order-fields", nil, &body)
	return body, err
}

// ImportOrderFields puts other custom fields of orders in the place of those there
// are; otherwise as ImportTemplates, under custom_fields.INDEX. Door only.
func (c *Client) ImportOrderFields(ctx context.Context, fields []apitypes.Field, dry bool) (apitypes.DefinitionsChanged, error) {
	var body apitypes.DefinitionsChanged
	err := c.call(ctx, http.MethodPost, "/control/order-fields/import", apitypes.OrderFieldsImport{DryRun: dry, CustomFields: fields}, &body)
	return body, err
}

// OrderStatuses lists the statuses of orders. Door only.
func (c *Client) OrderStatuses(ctx context.Context) ([]string, error) {
	var body apitypes.OrderStatuses
	err := c.call(ctx, http.MethodGet, "/control/order-statuses", nil, &body)
	return body.Statuses, err
}

// ImportOrderStatuses puts other statuses of orders in the place of those there are;
// otherwise as ImportTemplates, under statuses.INDEX. Door only.
func (c *Client) ImportOrderStatuses(ctx context.Context, statuses []string, dry bool) (apitypes.DefinitionsChanged, error) {
	var body apitypes.DefinitionsChanged
	err := c.call(ctx, http.MethodPost, "/control/order-statuses/import", apitypes.OrderStatusesImport{DryRun: dry, Statuses: statuses}, &body)
	return body, err
}

package control

import (
	"context"
	"fmt"
	"net/http"

	"deedkeep/app/apitypes"
)

// Templates returns all templates with their statuses, including retired ones, ordered by ID.
func (c *Client) Templates(ctx context.Context) ([]apitypes.TemplateDefinition, error) {
	var body apitypes.TemplateDefinitions
	err := c.http.Do(ctx, http.MethodGet, "/control/templates", nil, &body)
	return body.Templates, err
}

// ImportTemplates changes the templates to match the drafts and returns what changed, or with dryRun what would. A
// *client.Error of status 422 has each violated rule under templates.INDEX; one of status 409 lists what records would
// lose.
func (c *Client) ImportTemplates(ctx context.Context, drafts []apitypes.TemplateDraft, dryRun bool) (apitypes.DefinitionsChanged, error) {
	var body apitypes.DefinitionsChanged
	err := c.http.Do(ctx, http.MethodPost, "/control/templates/import", apitypes.TemplatesImport{DryRun: dryRun, Templates: drafts}, &body)
	return body, err
}

// SetDefaultTemplate sets the template for abstracts that are created without a template.
func (c *Client) SetDefaultTemplate(ctx context.Context, id int64) (apitypes.TemplateDefinition, error) {
	var body apitypes.TemplateDefinitionBody
	err := c.http.Do(ctx, http.MethodPost, fmt.Sprintf("/control/templates/%d/default", id), struct{}{}, &body)
	return body.Data, err
}

// RetireTemplate makes a template unavailable for new abstracts.
func (c *Client) RetireTemplate(ctx context.Context, id int64) (apitypes.TemplateDefinition, error) {
	var body apitypes.TemplateDefinitionBody
	err := c.http.Do(ctx, http.MethodPost, fmt.Sprintf("/control/templates/%d/retire", id), struct{}{}, &body)
	return body.Data, err
}

// OrderFields returns the core fields and the custom fields of orders.
func (c *Client) OrderFields(ctx context.Context) (apitypes.OrderFields, error) {
	var body apitypes.OrderFields
	err := c.http.Do(ctx, http.MethodGet, "/control/order-fields", nil, &body)
	return body, err
}

// ImportOrderFields replaces the custom fields of orders. It reports changes and errors like ImportTemplates, under
// custom_fields.INDEX.
func (c *Client) ImportOrderFields(ctx context.Context, fields []apitypes.Field, dryRun bool) (apitypes.DefinitionsChanged, error) {
	var body apitypes.DefinitionsChanged
	err := c.http.Do(ctx, http.MethodPost, "/control/order-fields/import",
		apitypes.OrderFieldsImport{DryRun: dryRun, CustomFields: fields}, &body)
	return body, err
}

// OrderStatuses returns the statuses of orders.
func (c *Client) OrderStatuses(ctx context.Context) ([]string, error) {
	var body apitypes.OrderStatuses
	err := c.http.Do(ctx, http.MethodGet, "/control/order-statuses", nil, &body)
	return body.Statuses, err
}

// ImportOrderStatuses replaces the statuses of orders. It reports changes and errors like ImportTemplates, under
// statuses.INDEX.
func (c *Client) ImportOrderStatuses(ctx context.Context, statuses []string, dryRun bool) (apitypes.DefinitionsChanged, error) {
	var body apitypes.DefinitionsChanged
	err := c.http.Do(ctx, http.MethodPost, "/control/order-statuses/import",
		apitypes.OrderStatusesImport{DryRun: dryRun, Statuses: statuses}, &body)
	return body, err
}

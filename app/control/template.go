package control

import (
	"context"
	"fmt"
	"net/http"

	"deedkeep/app/apitypes"
	"deedkeep/app/encode"
	"deedkeep/app/model"
	"deedkeep/app/vault"
)

// maxDefinitionsBody is the maximum size of definitions in bytes. It is larger than maxBody because definitions can
// be longer as JSON than in the file they come from.
const maxDefinitionsBody = 8 << 20

// Templates returns all templates with their statuses, including retired ones, ordered by ID.
func (c *Client) Templates(ctx context.Context) ([]apitypes.TemplateDefinition, error) {
	body, err := call[apitypes.TemplateDefinitions](ctx, c, "GET /control/templates", nil)
	return body.Templates, err
}

func (h handler) templates(r *http.Request) (any, error) {
	all, err := h.App.Templates.All(r.Context())
	return apitypes.TemplateDefinitions{Templates: list(all, encode.Template).Data}, err
}

// ImportTemplates changes the templates to match the drafts and returns what changed, or with dryRun what would. A
// *client.Error of status 422 has each violated rule under templates.INDEX; one of status 409 lists what records would
// lose.
func (c *Client) ImportTemplates(ctx context.Context, drafts []apitypes.TemplateDraft, dryRun bool) (apitypes.DefinitionsChanged, error) {
	return call[apitypes.DefinitionsChanged](ctx, c, "POST /control/templates/import",
		apitypes.TemplatesImport{DryRun: dryRun, Templates: drafts})
}

func (h handler) importTemplates(r *http.Request, asked apitypes.TemplatesImport) (any, error) {
	drafts := make([]model.TemplateDraft, 0, len(asked.Templates))
	for _, t := range asked.Templates {
		draft := model.TemplateDraft{ID: uint64(max(t.ID, 0)), Name: t.Name, Default: t.Default, Retired: t.Retired, Statuses: t.Statuses}
		if t.CustomFields != nil {
			draft.Fields = new(fieldsOf(*t.CustomFields))
		}
		drafts = append(drafts, draft)
	}
	done, err := h.App.Templates.Import(r.Context(), operator(r), drafts, asked.DryRun)
	return changed(done, asked.DryRun), err
}

// SetDefaultTemplate sets the template for abstracts that are created without a template.
func (c *Client) SetDefaultTemplate(ctx context.Context, id int64) (apitypes.TemplateDefinition, error) {
	return data[apitypes.TemplateDefinition](ctx, c, fmt.Sprintf("POST /control/templates/%d/default", id), struct{}{})
}

// RetireTemplate makes a template unavailable for new abstracts.
func (c *Client) RetireTemplate(ctx context.Context, id int64) (apitypes.TemplateDefinition, error) {
	return data[apitypes.TemplateDefinition](ctx, c, fmt.Sprintf("POST /control/templates/%d/retire", id), struct{}{})
}

// OrderFields returns the core fields and the custom fields of orders.
func (c *Client) OrderFields(ctx context.Context) (apitypes.OrderFields, error) {
	return call[apitypes.OrderFields](ctx, c, "GET /control/order-fields", nil)
}

func (h handler) orderFields(r *http.Request) (any, error) {
	fields, err := h.App.Orders.Fields(r.Context())
	return apitypes.OrderFields{CoreFields: encode.Fields(model.CoreOrderFields()), CustomFields: encode.Fields(fields)}, err
}

// ImportOrderFields replaces the custom fields of orders. It reports changes and errors like ImportTemplates, under
// custom_fields.INDEX.
func (c *Client) ImportOrderFields(ctx context.Context, fields []apitypes.Field, dryRun bool) (apitypes.DefinitionsChanged, error) {
	return call[apitypes.DefinitionsChanged](ctx, c, "POST /control/order-fields/import",
		apitypes.OrderFieldsImport{DryRun: dryRun, CustomFields: fields})
}

func (h handler) importOrderFields(r *http.Request, asked apitypes.OrderFieldsImport) (any, error) {
	done, err := h.App.Orders.EditFields(r.Context(), operator(r), fieldsOf(asked.CustomFields), "", asked.DryRun)
	return changed(done, asked.DryRun), err
}

// OrderStatuses returns the statuses of orders.
func (c *Client) OrderStatuses(ctx context.Context) ([]string, error) {
	body, err := call[apitypes.OrderStatuses](ctx, c, "GET /control/order-statuses", nil)
	return body.Statuses, err
}

func (h handler) orderStatuses(r *http.Request) (any, error) {
	statuses, err := h.App.Orders.Statuses(r.Context())
	return apitypes.OrderStatuses{Statuses: statuses}, err
}

// ImportOrderStatuses replaces the statuses of orders. It reports changes and errors like ImportTemplates, under
// statuses.INDEX.
func (c *Client) ImportOrderStatuses(ctx context.Context, statuses []string, dryRun bool) (apitypes.DefinitionsChanged, error) {
	return call[apitypes.DefinitionsChanged](ctx, c, "POST /control/order-statuses/import",
		apitypes.OrderStatusesImport{DryRun: dryRun, Statuses: statuses})
}

func (h handler) importOrderStatuses(r *http.Request, asked apitypes.OrderStatusesImport) (any, error) {
	done, err := h.App.Orders.EditStatuses(r.Context(), operator(r), asked.Statuses, "", asked.DryRun)
	return changed(done, asked.DryRun), err
}

func fieldsOf(list []apitypes.Field) []model.Field {
	fields := make([]model.Field, 0, len(list))
	for _, f := range list {
		fields = append(fields, model.Field{Key: f.Key, Label: f.Label, Type: model.FieldType(f.Type), Required: f.Required, Options: f.Options})
	}
	return fields
}

func changed(d vault.DefinitionResult, dry bool) apitypes.DefinitionsChanged {
	out := apitypes.DefinitionsChanged{DryRun: dry}
	for _, one := range d.Changed {
		shape := apitypes.Definition{ID: encode.OptionalID(one.Template.ID), Name: one.Template.Name, Created: one.Created}
		for _, change := range one.Changes {
			shape.Changes = append(shape.Changes, apitypes.DefinitionChange{Field: change.Field, From: change.From, To: change.To})
		}
		out.Changed = append(out.Changed, shape)
	}
	for _, loss := range d.Conflicts {
		out.Losses = append(out.Losses, loss.Sentences()...)
	}
	return out
}

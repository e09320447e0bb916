package control

import (
	"net/http"
	"strconv"

	"deedkeep/app/apitypes"
	"deedkeep/app/encode"
	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/vault"
)

// definitionRoutes returns the routes for templates, order fields, and order statuses.
func (c handler) definitionRoutes() map[string]func(*http.Request) (any, error) {
	return map[string]func(*http.Request) (any, error){
		"GET /control/templates":               c.templates,
		"POST /control/templates/import":       c.importTemplates,
		"POST /control/templates/{id}/default": c.defaultTemplate,
		"POST /control/templates/{id}/retire":  c.retireTemplate,
		"GET /control/order-fields":            c.orderFields,
		"POST /control/order-fields/import":    c.importOrderFields,
		"GET /control/order-statuses":          c.orderStatuses,
		"POST /control/order-statuses/import":  c.importOrderStatuses,
	}
}

func (c handler) templates(r *http.Request) (any, error) {
	all, err := c.Vault.Templates.All(r.Context())
	list := make([]apitypes.TemplateDefinition, 0, len(all))
	for _, t := range all {
		list = append(list, encode.Template(t))
	}
	return apitypes.TemplateDefinitions{Templates: list}, err
}

func (c handler) importTemplates(r *http.Request) (any, error) {
	var asked apitypes.TemplatesImport
	if err := readBodyUpTo(r, &asked, maxDefinitionsBody); err != nil {
		return nil, err
	}
	drafts := make([]model.TemplateDraft, 0, len(asked.Templates))
	for _, t := range asked.Templates {
		draft := model.TemplateDraft{ID: uint64(max(t.ID, 0)), Name: t.Name, Default: t.Default, Retired: t.Retired, Statuses: t.Statuses}
		if t.CustomFields != nil {
			draft.Fields = new(fieldsOf(*t.CustomFields))
		}
		drafts = append(drafts, draft)
	}
	done, err := c.Vault.Templates.Import(r.Context(), operator(r), drafts, asked.DryRun)
	return changed(done, asked.DryRun), err
}

func (c handler) defaultTemplate(r *http.Request) (any, error) {
	id, err := templateID(r)
	if err != nil {
		return nil, err
	}
	t, err := c.Vault.Templates.SetDefault(r.Context(), operator(r), id)
	return apitypes.TemplateDefinitionBody{Data: encode.Template(t)}, err
}

func (c handler) retireTemplate(r *http.Request) (any, error) {
	id, err := templateID(r)
	if err != nil {
		return nil, err
	}
	t, err := c.Vault.Templates.Retire(r.Context(), operator(r), id)
	return apitypes.TemplateDefinitionBody{Data: encode.Template(t)}, err
}

func (c handler) orderFields(r *http.Request) (any, error) {
	fields, err := c.Vault.Orders.Fields(r.Context())
	return apitypes.OrderFields{CoreFields: encode.Fields(model.CoreOrderFields()), CustomFields: encode.Fields(fields)}, err
}

func (c handler) importOrderFields(r *http.Request) (any, error) {
	var asked apitypes.OrderFieldsImport
	if err := readBodyUpTo(r, &asked, maxDefinitionsBody); err != nil {
		return nil, err
	}
	done, err := c.Vault.Orders.ImportFields(r.Context(), operator(r), fieldsOf(asked.CustomFields), asked.DryRun)
	return changed(done, asked.DryRun), err
}

func (c handler) orderStatuses(r *http.Request) (any, error) {
	statuses, err := c.Vault.Orders.Statuses(r.Context())
	return apitypes.OrderStatuses{Statuses: statuses}, err
}

func (c handler) importOrderStatuses(r *http.Request) (any, error) {
	var asked apitypes.OrderStatusesImport
	if err := readBodyUpTo(r, &asked, maxDefinitionsBody); err != nil {
		return nil, err
	}
	done, err := c.Vault.Orders.ImportStatuses(r.Context(), operator(r), asked.Statuses, asked.DryRun)
	return changed(done, asked.DryRun), err
}

// maxDefinitionsBody is the maximum size of definitions in bytes. It is larger than maxBody because definitions can
// be longer as JSON than in the file they come from.
const maxDefinitionsBody = 8 << 20

func templateID(r *http.Request) (uint64, error) {
	id, err := strconv.ParseUint(r.PathValue("id"), 10, 63)
	if err != nil {
		return 0, errs.RecordNotFound("template", r.PathValue("id"))
	}
	return id, nil
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
			shape.Changes = append(shape.Changes, apitypes.DefinitionChange(change))
		}
		out.Changed = append(out.Changed, shape)
	}
	for _, loss := range d.Conflicts {
		out.Losses = append(out.Losses, loss.Sentences()...)
	}
	return out
}

package api

import (
	"net/http"
	"strconv"

	"deedkeep/app/title"
	"deedkeep/app/vault"
	"deedkeep/app/wire"
)

// definitionRoutes are the routes on templates, order fields and order statuses.
func (c control) definitionRoutes() map[string]func(*http.Request) (any, error) {
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

func (c control) templates(r *http.Request) (any, error) {
	all, err := c.Vault.Templates.All(r.Context())
	list := make([]wire.TemplateDefinition, 0, len(all))
	for _, t := range all {
		list = append(list, templateShape(t))
	}
	return wire.TemplateDefinitions{Templates: list}, err
}

func (c control) importTemplates(r *http.Request) (any, error) {
	var asked wire.TemplatesImport
	if err := readUpTo(r, &asked, definitionsBody); err != nil {
		return nil, err
	}
	drafts := make([]title.TemplateDraft, 0, len(asked.Templates))
	for _, t := range asked.Templates {
		draft := title.TemplateDraft{ID: uint64(max(t.ID, 0)), Name: t.Name, Default: t.Default, Retired: t.Retired, Statuses: t.Statuses}
		if t.CustomFields != nil {
			draft.Fields = new(fieldsOf(*t.CustomFields))
		}
		drafts = append(drafts, draft)
	}
	done, err := c.Vault.Templates.Import(r.Context(), operator(r), drafts, asked.DryRun)
	return changed(done, asked.DryRun), err
}

func (c control) defaultTemplate(r *http.Request) (any, error) {
	id, err := templateID(r)
	if err != nil {
		return nil, err
	}
	t, err := c.Vault.Templates.SetDefault(r.Context(), operator(r), id)
	return wire.TemplateDefinitionBody{Data: templateShape(t)}, err
}

func (c control) retireTemplate(r *http.Request) (any, error) {
	id, err := templateID(r)
	if err != nil {
		return nil, err
	}
	t, err := c.Vault.Templates.Retire(r.Context(), operator(r), id)
	return wire.TemplateDefinitionBody{Data: templateShape(t)}, err
}

func (c control) orderFields(r *http.Request) (any, error) {
	fields, err := c.Vault.Orders.Fields(r.Context())
	return wire.OrderFields{CoreFields: definitions(title.CoreOrderFields()), CustomFields: definitions(fields)}, err
}

func (c control) importOrderFields(r *http.Request) (any, error) {
	var asked wire.OrderFieldsImport
	if err := readUpTo(r, &asked, definitionsBody); err != nil {
		return nil, err
	}
	done, err := c.Vault.Orders.ImportFields(r.Context(), operator(r), fieldsOf(asked.CustomFields), asked.DryRun)
	return changed(done, asked.DryRun), err
}

func (c control) orderStatuses(r *http.Request) (any, error) {
	statuses, err := c.Vault.Orders.Statuses(r.Context())
	return wire.OrderStatuses{Statuses: statuses}, err
}

func (c control) importOrderStatuses(r *http.Request) (any, error) {
	var asked wire.OrderStatusesImport
	if err := readUpTo(r, &asked, definitionsBody); err != nil {
		return nil, err
	}
	done, err := c.Vault.Orders.ImportStatuses(r.Context(), operator(r), asked.Statuses, asked.DryRun)
	return changed(done, asked.DryRun), err
}

// definitionsBody is the largest set of definitions: as JSON it can be longer than
// the file it came from.
const definitionsBody = 8 << 20

func templateID(r *http.Request) (uint64, error) {
	id, err := strconv.ParseUint(r.PathValue("id"), 10, 63)
	if err != nil {
		return 0, title.Absent("template", r.PathValue("id"))
	}
	return id, nil
}

func templateShape(t title.Template) wire.TemplateDefinition {
	return wire.TemplateDefinition{ID: int64(t.ID), Name: t.Name, Default: t.Default, Retired: t.Retired,
		Statuses: t.Statuses, CustomFields: definitions(t.Fields)}
}

func fieldsOf(list []wire.Field) []title.Field {
	fields := make([]title.Field, 0, len(list))
	for _, f := range list {
		fields = append(fields, title.Field{Key: f.Key, Label: f.Label, Type: title.FieldType(f.Type), Required: f.Required, Options: f.Options})
	}
	return fields
}

func changed(d vault.Definitions, dry bool) wire.DefinitionsChanged {
	out := wire.DefinitionsChanged{DryRun: dry}
	for _, one := range d.Changed {
		shape := wire.Definition{ID: optionalID(one.Template.ID), Name: one.Template.Name, Created: one.Created}
		for _, change := range one.Changes {
			shape.Changes = append(shape.Changes, wire.DefinitionChange(change))
		}
		out.Changed = append(out.Changed, shape)
	}
	for _, refused := range d.Refused {
		out.Refused = append(out.Refused, refused.Sentences...)
	}
	return out
}

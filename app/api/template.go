package api

import (
	"deedkeep/app/apitypes"
	"deedkeep/app/encode"
	"deedkeep/app/vault"
)

// templateHandler serves the routes under /v1/abstract-templates.
type templateHandler struct {
	service *vault.Templates
}

func (h templateHandler) list(r *request) (response, error) {
	templates, err := h.service.List(r.Context())
	if err != nil {
		return response{}, err
	}
	list := make([]apitypes.Template, 0, len(templates))
	for _, t := range templates {
		list = append(list, apitypes.Template{ID: int64(t.ID), Name: t.Name, Default: t.Default, CustomFields: encode.Fields(t.Fields)})
	}
	return okResponse(apitypes.AbstractTemplates{Templates: list})
}

// get returns a template with its statuses. Retired templates are included because
// abstracts may still use them.
func (h templateHandler) get(r *request) (response, error) {
	id, err := r.numberID()
	if err != nil {
		return response{}, err
	}
	t, err := h.service.Get(r.Context(), id)
	if err != nil {
		return response{}, err
	}
	return okResponse(apitypes.TemplateBody{Template: encode.Template(t)})
}

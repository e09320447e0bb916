package api

import (
	"context"

	"deedkeep/app/apitypes"
	"deedkeep/app/encode"
	"deedkeep/app/model"
)

type templateHandler struct {
	service interface {
		List(ctx context.Context) ([]model.Template, error)
		Get(ctx context.Context, id uint64) (model.Template, error)
	}
}

func (h templateHandler) list(c *request) (response, error) {
	templates, err := h.service.List(c.Context())
	if err != nil {
		return response{}, err
	}
	list := make([]apitypes.Template, 0, len(templates))
	for _, t := range templates {
		list = append(list, apitypes.Template{ID: int64(t.ID), Name: t.Name, Default: t.Default, CustomFields: encode.Fields(t.Fields)})
	}
	return okResponse(apitypes.AbstractTemplates{Templates: list})
}

// get gives a template with its statuses, a retired one too: its abstracts go on.
func (h templateHandler) get(c *request) (response, error) {
	id, err := c.numberID()
	if err != nil {
		return response{}, err
	}
	t, err := h.service.Get(c.Context(), id)
	if err != nil {
		return response{}, err
	}
	return okResponse(apitypes.TemplateBody{Template: encode.Template(t)})
}

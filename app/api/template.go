package api

import (
	"context"

	"deedkeep/app/apitypes"
	"deedkeep/app/encode"
	"deedkeep/app/model"
)

type templateHandler struct {
	verbs interface {
		List(ctx context.Context) ([]model.Template, error)
		Get(ctx context.Context, id uint64) (model.Template, error)
	}
}

func (h templateHandler) list(c *call) (answer, error) {
	templates, err := h.verbs.List(c.Context())
	if err != nil {
		return answer{}, err
	}
	list := make([]apitypes.Template, 0, len(templates))
	for _, t := range templates {
		list = append(list, apitypes.Template{ID: int64(t.ID), Name: t.Name, Default: t.Default, CustomFields: encode.Fields(t.Fields)})
	}
	return ok(apitypes.AbstractTemplates{Templates: list})
}

// get gives a template with its statuses, a retired one too: its abstracts go on.
func (h templateHandler) get(c *call) (answer, error) {
	id, err := c.number()
	if err != nil {
		return answer{}, err
	}
	t, err := h.verbs.Get(c.Context(), id)
	if err != nil {
		return answer{}, err
	}
	return ok(apitypes.TemplateBody{Template: encode.Template(t)})
}

package api

import (
	"context"
	"net/http"

	"deedkeep/app/title"
	"deedkeep/app/vault"
	"deedkeep/app/wire"
)

type abstractHandler struct {
	edge  *edge
	verbs interface {
		Create(ctx context.Context, actor title.Actor, draft title.AbstractDraft, tray *vault.Tray, keep vault.Keep[vault.Filed]) (vault.Filed, error)
		Attach(ctx context.Context, actor title.Actor, id uint64, draft title.UploadDraft, tray *vault.Tray, keep vault.Keep[vault.Filed]) (vault.Filed, error)
		Get(ctx context.Context, id uint64) (vault.Filed, error)
	}
	trays trays
}

// abstractFields are the fields of POST /abstracts (SPEC.md).
var abstractFields = []string{"template_id", "custom_fields", "address", "city", "county", "state", "tax_map"}

func (h abstractHandler) create(c *call) (answer, error) {
	form, err := h.edge.readForm(c, h.trays, abstractFields, true)
	if err != nil {
		return answer{}, err
	}
	defer form.tray.Discard()
	f := form.fields
	filed, err := h.verbs.Create(c.Context(), c.actor, title.AbstractDraft{
		TemplateID: f.number("template_id"),
		Custom:     f.custom("custom_fields"),
		PropertyDraft: title.PropertyDraft{
			Address: f.input("address"), City: f.input("city"), County: f.input("county"), State: f.input("state"),
		},
		TaxMap:  f.input("tax_map"),
		NotFile: form.notFile,
	}, form.tray, vault.Keep[vault.Filed]{})
	if err != nil {
		return answer{}, err
	}
	return created(h.edge.abstractCreated(c, filed))
}

func (h abstractHandler) attach(c *call) (answer, error) {
	id, err := h.id(c)
	if err != nil {
		return answer{}, err
	}
	if _, err := h.verbs.Get(c.Context(), id); err != nil {
		return answer{}, err // before the body is read
	}
	form, err := h.edge.readForm(c, h.trays, nil, false)
	if err != nil {
		return answer{}, err
	}
	defer form.tray.Discard()
	filed, err := h.verbs.Attach(c.Context(), c.actor, id, form.upload(), form.tray, vault.Keep[vault.Filed]{})
	if err != nil {
		return answer{}, err
	}
	return created(h.edge.abstractCreated(c, filed))
}

func (h abstractHandler) get(c *call) (answer, error) {
	id, err := h.id(c)
	if err != nil {
		return answer{}, err
	}
	filed, err := h.verbs.Get(c.Context(), id)
	if err != nil {
		return answer{}, err
	}
	return ok(wire.AbstractBody{Data: h.edge.abstract(c, filed)})
}

func (h abstractHandler) id(c *call) (uint64, error) {
	id, known := h.edge.abstracts.Decode(c.params.ByName("id"))
	if !known {
		return 0, &refusal{status: http.StatusNotFound, message: errNoRoute.message}
	}
	return id, nil
}

func (e *edge) abstractCreated(c *call, filed vault.Filed) wire.AbstractCreated {
	return wire.AbstractCreated{Data: e.abstract(c, filed), Errors: failures(filed.Failures)}
}

func (e *edge) abstract(c *call, filed vault.Filed) wire.Abstract {
	a := filed.Abstract
	return wire.Abstract{
		ID: e.abstracts.Encode(a.ID), TemplateID: optionalID(a.TemplateID), Status: optional(a.Status),
		Address: optional(a.Address), City: optional(a.City), County: optional(a.County), State: optional(a.State),
		TaxMap: optional(a.TaxMap), CustomFields: wire.CustomFields(a.Custom), Files: e.files(c, filed.Files),
		CreatedAt: wire.At(a.CreatedAt), UpdatedAt: wire.At(a.UpdatedAt),
	}
}

// optional is a text that may be absent.
func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// optionalID is a reference that may be absent.
func optionalID(id uint64) *int64 {
	if id == 0 {
		return nil
	}
	n := int64(id) // ids come from a sequence and never reach the sign
	return &n
}

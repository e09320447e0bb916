package api

import (
	"context"
	"net/http"
	"slices"

	"deedkeep/app/apitypes"
	"deedkeep/app/encode"
	"deedkeep/app/model"
	"deedkeep/app/search"
	"deedkeep/app/vault"
)

// abstractHandler serves the routes under /v1/abstracts.
type abstractHandler struct {
	server  *server
	service interface {
		Create(ctx context.Context, actor model.Actor, draft model.AbstractDraft, staged *vault.StagedUpload,
			keep vault.Idempotency[vault.AbstractWithFiles]) (vault.AbstractWithFiles, error)
		Attach(ctx context.Context, actor model.Actor, id uint64, draft model.UploadDraft, staged *vault.StagedUpload,
			keep vault.Idempotency[vault.AbstractWithFiles]) (vault.AbstractWithFiles, error)
		Get(ctx context.Context, id uint64) (vault.AbstractWithFiles, error)
		List(ctx context.Context, q vault.Query) (vault.Page[vault.AbstractWithFiles], error)
		Patch(ctx context.Context, actor model.Actor, id uint64, patch model.AbstractPatch, match vault.Match) (vault.AbstractWithFiles, error)
		Trash(ctx context.Context, actor model.Actor, id uint64, match vault.Match) error
		Restore(ctx context.Context, actor model.Actor, id uint64, keep vault.Idempotency[vault.AbstractWithFiles]) (vault.AbstractWithFiles, error)
		Detach(ctx context.Context, actor model.Actor, id, file uint64, match vault.Match) error
	}
	stager uploadStager
	search *search.Service
}

// abstractFields are the fields that POST /abstracts accepts.
var abstractFields = []string{"template_id", "custom_fields", "address", "city", "county", "state", "tax_map"}

// abstractPatchFields are the fields that PATCH /abstracts/{id} accepts.
var abstractPatchFields = append([]string{"status", "files"}, abstractFields...)

func (h abstractHandler) create(r *request) (response, error) {
	form, err := h.server.readForm(r, h.stager, abstractFields, true)
	if err != nil {
		return response{}, err
	}
	defer form.staged.Discard()
	f := form.fields
	render := func(filed vault.AbstractWithFiles) response { return h.server.abstractCreatedResponse(r, filed) }
	filed, err := h.service.Create(r.Context(), r.actor, model.AbstractDraft{
		TemplateID: f.number("template_id"),
		Custom:     r.custom(f.custom("custom_fields")),
		PropertyDraft: model.PropertyDraft{
			Address: f.input("address"), City: f.input("city"), County: f.input("county"), State: f.input("state"),
		},
		TaxMap:      f.input("tax_map"),
		NonFilePart: form.nonFilePart,
	}, form.staged, storeResponse(r, render))
	if err != nil {
		return response{}, err
	}
	return render(filed), nil
}

func (h abstractHandler) attach(r *request) (response, error) {
	id, err := h.id(r)
	if err != nil {
		return response{}, err
	}
	if _, err := h.service.Get(r.Context(), id); err != nil {
		return response{}, err // respond 404 before reading the body
	}
	form, err := h.server.readForm(r, h.stager, nil, false)
	if err != nil {
		return response{}, err
	}
	defer form.staged.Discard()
	render := func(filed vault.AbstractWithFiles) response { return h.server.abstractCreatedResponse(r, filed) }
	filed, err := h.service.Attach(r.Context(), r.actor, id, form.upload(), form.staged, storeResponse(r, render))
	if err != nil {
		return response{}, err
	}
	return render(filed), nil
}

func (h abstractHandler) get(r *request) (response, error) {
	id, err := h.id(r)
	if err != nil {
		return response{}, err
	}
	filed, err := h.service.Get(r.Context(), id)
	if err != nil {
		return response{}, err
	}
	return h.server.abstractResponse(r, filed), nil
}

var abstractListSpec = listSpec{
	recordType: "abstracts",
	search:     searchOptional,
	sorts:      []sortOption{{"created_at", vault.SortCreated}, {"updated_at", vault.SortUpdated}},
	filters: slices.Concat([]filter{
		byText("status", vault.ColumnStatus, model.MaxLineLength), byNumber("template_id", vault.ColumnTemplate),
		byText("county", vault.ColumnCounty, model.MaxLineLength), byText("state", vault.ColumnState, model.MaxLineLength),
	}, byCreated(), byUpdated()),
}

func (h abstractHandler) list(r *request) (response, error) {
	lq, err := h.server.list(r, abstractListSpec)
	if err != nil {
		return response{}, err
	}
	page, err := readPage(h.server, r, lq.Query, pageReader(r, lq, h.service.List, h.search.Abstracts))
	if err != nil {
		return response{}, err
	}
	return okResponse(newPage(h.server, r, lq, page, func(f vault.AbstractWithFiles) apitypes.Abstract { return h.server.abstract(r, f) }))
}

func (h abstractHandler) patch(r *request) (response, error) {
	id, err := h.id(r)
	if err != nil {
		return response{}, err
	}
	if _, err := h.service.Get(r.Context(), id); err != nil {
		return response{}, err // respond 404 before reading the body
	}
	body, err := h.server.readPatch(r, abstractPatchFields...)
	if err != nil {
		return response{}, err
	}
	filed, err := h.service.Patch(r.Context(), r.actor, id, model.AbstractPatch{
		TemplateID: body.number("template_id"), Status: body.input("status"), Custom: body.custom(r), PropertyPatch: body.property(),
		TaxMap: body.input("tax_map"), Files: body.numbers("files"),
	}, h.server.etags[abstractType].match(r.Header, id))
	if err != nil {
		return response{}, err
	}
	return h.server.abstractResponse(r, filed), nil
}

func (h abstractHandler) trash(r *request) (response, error) {
	id, err := h.id(r)
	if err != nil {
		return response{}, err
	}
	if err := h.service.Trash(r.Context(), r.actor, id, h.server.etags[abstractType].match(r.Header, id)); err != nil {
		return response{}, err
	}
	return noContent()
}

func (h abstractHandler) restore(r *request) (response, error) {
	id, err := h.id(r)
	if err != nil {
		return response{}, err
	}
	if err := h.server.readEmpty(r); err != nil {
		return response{}, err
	}
	render := func(filed vault.AbstractWithFiles) response { return h.server.abstractResponse(r, filed) }
	filed, err := h.service.Restore(r.Context(), r.actor, id, storeResponse(r, render))
	if err != nil {
		return response{}, err
	}
	return render(filed), nil
}

func (h abstractHandler) detach(r *request) (response, error) {
	id, err := h.id(r)
	if err != nil {
		return response{}, err
	}
	file, err := r.numberID()
	if err != nil {
		return response{}, err
	}
	if err := h.service.Detach(r.Context(), r.actor, id, file, h.server.etags[fileType].match(r.Header, file)); err != nil {
		return response{}, err
	}
	return noContent()
}

func (h abstractHandler) id(r *request) (uint64, error) { return r.opaqueID(h.server.abstracts) }

func (s *server) abstractCreatedResponse(r *request, filed vault.AbstractWithFiles) response {
	return response{status: http.StatusCreated, header: s.etags[abstractType].header(filed.Abstract.ID, filed.Abstract.Version),
		body: apitypes.AbstractCreated{Data: s.abstract(r, filed), Errors: failures(filed.Failures)}}
}

func (s *server) abstractResponse(r *request, filed vault.AbstractWithFiles) response {
	return response{status: http.StatusOK, header: s.etags[abstractType].header(filed.Abstract.ID, filed.Abstract.Version),
		body: apitypes.AbstractBody{Data: s.abstract(r, filed)}}
}

func (s *server) abstract(r *request, filed vault.AbstractWithFiles) apitypes.Abstract {
	a := filed.Abstract
	return apitypes.Abstract{
		ID: s.abstracts.Encode(a.ID), TemplateID: encode.OptionalID(a.TemplateID), Status: encode.OptionalString(a.Status),
		Address: encode.OptionalString(a.Address), City: encode.OptionalString(a.City), County: encode.OptionalString(a.County),
		State:  encode.OptionalString(a.State),
		TaxMap: encode.OptionalString(a.TaxMap), CustomFields: apitypes.CustomFields(a.Custom), Files: s.files(r, filed.Files),
		CreatedAt: apitypes.At(a.CreatedAt), UpdatedAt: apitypes.At(a.UpdatedAt),
	}
}

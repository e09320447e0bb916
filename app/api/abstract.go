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

type abstractHandler struct {
	server  *server
	service interface {
		Create(ctx context.Context, actor model.Actor, draft model.AbstractDraft, tray *vault.StagedUpload, keep vault.Idempotency[vault.AbstractWithFiles]) (vault.AbstractWithFiles, error)
		Attach(ctx context.Context, actor model.Actor, id uint64, draft model.UploadDraft, tray *vault.StagedUpload, keep vault.Idempotency[vault.AbstractWithFiles]) (vault.AbstractWithFiles, error)
		Get(ctx context.Context, id uint64) (vault.AbstractWithFiles, error)
		List(ctx context.Context, q vault.Query) (vault.Page[vault.AbstractWithFiles], error)
		Patch(ctx context.Context, actor model.Actor, id uint64, patch model.AbstractPatch, match vault.Match) (vault.AbstractWithFiles, error)
		Trash(ctx context.Context, actor model.Actor, id uint64, match vault.Match) error
		Restore(ctx context.Context, actor model.Actor, id uint64, keep vault.Idempotency[vault.AbstractWithFiles]) (vault.AbstractWithFiles, error)
		Detach(ctx context.Context, actor model.Actor, id, file uint64, match vault.Match) error
	}
	trays  uploadStager
	search *search.SearchService
}

// abstractFields are the fields of POST /abstracts (SPEC.md).
var abstractFields = []string{"template_id", "custom_fields", "address", "city", "county", "state", "tax_map"}

// abstractChanges are the fields of PATCH /abstracts/{id}.
var abstractChanges = append([]string{"status", "files"}, abstractFields...)

func (h abstractHandler) create(c *request) (response, error) {
	form, err := h.server.readForm(c, h.trays, abstractFields, true)
	if err != nil {
		return response{}, err
	}
	defer form.staged.Discard()
	f := form.fields
	render := func(filed vault.AbstractWithFiles) response { return h.server.abstractCreated(c, filed) }
	filed, err := h.service.Create(c.Context(), c.actor, model.AbstractDraft{
		TemplateID: f.number("template_id"),
		Custom:     c.custom(f.custom("custom_fields")),
		PropertyDraft: model.PropertyDraft{
			Address: f.input("address"), City: f.input("city"), County: f.input("county"), State: f.input("state"),
		},
		TaxMap:      f.input("tax_map"),
		NonFilePart: form.notFile,
	}, form.staged, storeResponse(c, render))
	if err != nil {
		return response{}, err
	}
	return render(filed), nil
}

func (h abstractHandler) attach(c *request) (response, error) {
	id, err := h.id(c)
	if err != nil {
		return response{}, err
	}
	if _, err := h.service.Get(c.Context(), id); err != nil {
		return response{}, err // before the body is read
	}
	form, err := h.server.readForm(c, h.trays, nil, false)
	if err != nil {
		return response{}, err
	}
	defer form.staged.Discard()
	render := func(filed vault.AbstractWithFiles) response { return h.server.abstractCreated(c, filed) }
	filed, err := h.service.Attach(c.Context(), c.actor, id, form.upload(), form.staged, storeResponse(c, render))
	if err != nil {
		return response{}, err
	}
	return render(filed), nil
}

func (h abstractHandler) get(c *request) (response, error) {
	id, err := h.id(c)
	if err != nil {
		return response{}, err
	}
	filed, err := h.service.Get(c.Context(), id)
	if err != nil {
		return response{}, err
	}
	return h.server.abstractRead(c, filed), nil
}

var abstractListing = listSpec{
	recordType: "abstracts",
	text:       taken,
	sorts:      []sortOption{{"created_at", vault.SortCreated}, {"updated_at", vault.SortUpdated}},
	filters: slices.Concat([]filter{
		byText("status", vault.ColumnStatus, model.MaxLineLength), byNumber("template_id", vault.ColumnTemplate),
		byText("county", vault.ColumnCounty, model.MaxLineLength), byText("state", vault.ColumnState, model.MaxLineLength),
	}, byCreation(), byUpdate()),
}

func (h abstractHandler) list(c *request) (response, error) {
	asked, err := h.server.list(c, abstractListing)
	if err != nil {
		return response{}, err
	}
	page, err := readPage(h.server, c, asked.Query, listed(c, asked, h.service.List, h.search.Abstracts))
	if err != nil {
		return response{}, err
	}
	return okResponse(pageOf(h.server, c, asked, page, func(f vault.AbstractWithFiles) apitypes.Abstract { return h.server.abstract(c, f) }))
}

func (h abstractHandler) patch(c *request) (response, error) {
	id, err := h.id(c)
	if err != nil {
		return response{}, err
	}
	if _, err := h.service.Get(c.Context(), id); err != nil {
		return response{}, err // before the body is read
	}
	m, err := h.server.changes(c, abstractChanges...)
	if err != nil {
		return response{}, err
	}
	filed, err := h.service.Patch(c.Context(), c.actor, id, model.AbstractPatch{
		TemplateID: m.number("template_id"), Status: m.input("status"), Custom: m.custom(c), PropertyPatch: m.property(),
		TaxMap: m.input("tax_map"), Files: m.numbers("files"),
	}, h.server.etags[abstractType].match(c.Header, id))
	if err != nil {
		return response{}, err
	}
	return h.server.abstractRead(c, filed), nil
}

func (h abstractHandler) trash(c *request) (response, error) {
	id, err := h.id(c)
	if err != nil {
		return response{}, err
	}
	if err := h.service.Trash(c.Context(), c.actor, id, h.server.etags[abstractType].match(c.Header, id)); err != nil {
		return response{}, err
	}
	return noContent()
}

func (h abstractHandler) restore(c *request) (response, error) {
	id, err := h.id(c)
	if err != nil {
		return response{}, err
	}
	if err := h.server.readEmpty(c); err != nil {
		return response{}, err
	}
	render := func(filed vault.AbstractWithFiles) response { return h.server.abstractRead(c, filed) }
	filed, err := h.service.Restore(c.Context(), c.actor, id, storeResponse(c, render))
	if err != nil {
		return response{}, err
	}
	return render(filed), nil
}

func (h abstractHandler) detach(c *request) (response, error) {
	id, err := h.id(c)
	if err != nil {
		return response{}, err
	}
	file, err := c.numberID()
	if err != nil {
		return response{}, err
	}
	if err := h.service.Detach(c.Context(), c.actor, id, file, h.server.etags[fileType].match(c.Header, file)); err != nil {
		return response{}, err
	}
	return noContent()
}

func (h abstractHandler) id(c *request) (uint64, error) { return c.opaqueID(h.server.abstracts) }

func (e *server) abstractCreated(c *request, filed vault.AbstractWithFiles) response {
	return response{status: http.StatusCreated, header: e.etags[abstractType].header(filed.Abstract.ID, filed.Abstract.Version),
		body: apitypes.AbstractCreated{Data: e.abstract(c, filed), Errors: failures(filed.Failures)}}
}

func (e *server) abstractRead(c *request, filed vault.AbstractWithFiles) response {
	return response{status: http.StatusOK, header: e.etags[abstractType].header(filed.Abstract.ID, filed.Abstract.Version),
		body: apitypes.AbstractBody{Data: e.abstract(c, filed)}}
}

func (e *server) abstract(c *request, filed vault.AbstractWithFiles) apitypes.Abstract {
	a := filed.Abstract
	return apitypes.Abstract{
		ID: e.abstracts.Encode(a.ID), TemplateID: encode.OptionalID(a.TemplateID), Status: encode.OptionalString(a.Status),
		Address: encode.OptionalString(a.Address), City: encode.OptionalString(a.City), County: encode.OptionalString(a.County), State: encode.OptionalString(a.State),
		TaxMap: encode.OptionalString(a.TaxMap), CustomFields: apitypes.CustomFields(a.Custom), Files: e.files(c, filed.Files),
		CreatedAt: apitypes.At(a.CreatedAt), UpdatedAt: apitypes.At(a.UpdatedAt),
	}
}

package api

import (
	"context"
	"net/http"
	"slices"

	"deedkeep/app/apitypes"
	"deedkeep/app/encode"
	"deedkeep/app/lists"
	"deedkeep/app/model"
	"deedkeep/app/search"
	"deedkeep/app/vault"
)

// abstractHandler serves the routes under /v1/abstracts.
type abstractHandler struct {
	recordHandler[vault.AbstractWithFiles, model.AbstractPatch]
	service *vault.Abstracts
	search  *search.Service
}

func newAbstractHandler(s *server) abstractHandler {
	v := s.App.Abstracts
	patchOf := func(r *request, body patchBody) model.AbstractPatch {
		return model.AbstractPatch{TemplateID: body.number("template_id"), Custom: body.custom(r),
			Files:  body.numbers("files"),
			Fields: inputs(body, append(model.AbstractInputs(), "status")...)}
	}
	return abstractHandler{recordHandler[vault.AbstractWithFiles, model.AbstractPatch]{
		server: s, etag: s.etags[abstractType], find: v.Get, change: v.Patch, remove: v.Trash, undo: v.Restore,
		id:      func(r *request) (uint64, error) { return r.opaqueID(s.abstracts) },
		fields:  append([]string{"status", "files"}, abstractFields()...),
		patchOf: patchOf,
		render:  s.abstractResponse,
		ids:     opaqueIDs(s.abstracts),
		setMany: func(r *request, body patchBody) (func(context.Context, uint64) error, error) {
			p, members := patchOf(r, body), inputs(body, assignmentFields...)
			return func(ctx context.Context, id uint64) error {
				_, err := v.PatchAssigned(ctx, r.actor, id, p, members)
				return err
			}, nil
		},
		manyFields: assignmentFields,
	}, v, s.App.Search}
}

// abstractFields returns the names of the fields that POST /abstracts accepts.
func abstractFields() []string { return append(model.AbstractInputs(), "template_id", customFields) }

func (h abstractHandler) create(r *request) (response, error) {
	form, err := h.server.readForm(r, abstractFields(), true)
	if err != nil {
		return response{}, err
	}
	defer form.staged.Discard()
	f := form.fields
	render := func(record vault.AbstractWithFiles) response { return h.server.abstractCreatedResponse(r, record) }
	draft := model.AbstractDraft{
		TemplateID: f.number("template_id"), Fields: f.inputs(model.AbstractInputs()...),
		Custom:      r.custom(f.custom(customFields)),
		NonFilePart: form.nonFilePart,
	}
	return perform(r, render, func(keep vault.Idempotency[vault.AbstractWithFiles]) (vault.AbstractWithFiles, error) {
		return h.service.Create(r.Context(), r.actor, draft, form.staged, keep)
	})
}

func (h abstractHandler) attach(r *request) (response, error) {
	id, _, err := h.read(r) // respond 404 before reading the body
	if err != nil {
		return response{}, err
	}
	form, err := h.server.readForm(r, nil, false)
	if err != nil {
		return response{}, err
	}
	defer form.staged.Discard()
	render := func(record vault.AbstractWithFiles) response { return h.server.abstractCreatedResponse(r, record) }
	return perform(r, render, func(keep vault.Idempotency[vault.AbstractWithFiles]) (vault.AbstractWithFiles, error) {
		return h.service.Attach(r.Context(), r.actor, id, form.upload(), form.staged, keep)
	})
}

var abstractListSpec = listSpec{
	recordType: "abstracts",
	hasViews:   true,
	search:     searchOptional,
	sorts: []sortOption{{"created_at", model.SortCreated}, {"updated_at", model.SortUpdated}, {"file_number", model.SortFileNumber},
		{"parcel", model.SortParcel}, {"address", model.SortAddress}},
	filters: slices.Concat(byRecordColumns(), []filter{byNumber("template_id", model.ColumnTemplate)}, byCreated(), byUpdated()),
}

func (h abstractHandler) list(r *request) (response, error) {
	return listPage(h.server, r, abstractListSpec, h.service.List, h.search.Abstracts, func(f vault.AbstractWithFiles) apitypes.Abstract { return h.server.abstract(r, f) })
}

// files returns the routes of the list as a file.
func (h abstractHandler) files() []route {
	list := h.server.App.Lists
	return fileRoutes(h.server, "/abstracts", abstractListSpec, list.Abstracts, list.ListAbstracts,
		func(r *request, lq listQuery) func(context.Context, vault.Query) (vault.Page[lists.Abstract], error) {
			return func(ctx context.Context, q vault.Query) (page vault.Page[lists.Abstract], err error) {
				found, err := searching(r, lq, h.search.Abstracts)(ctx, q)
				if err != nil {
					return page, err
				}
				var abstracts []model.Abstract
				for _, hit := range found.Items {
					abstracts = append(abstracts, hit.Abstract)
				}
				page.Next = found.Next
				page.Items, err = list.WithHeadings(ctx, abstracts)
				return page, err
			}
		})
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

func (s *server) abstractCreatedResponse(r *request, record vault.AbstractWithFiles) response {
	return response{status: http.StatusCreated, header: s.etags[abstractType].header(record.Abstract.ID, record.Abstract.Version),
		body: apitypes.AbstractCreated{Data: s.abstract(r, record), Errors: failures(record.Failures)}}
}

func (s *server) abstractResponse(r *request, record vault.AbstractWithFiles) response {
	return response{status: http.StatusOK, header: s.etags[abstractType].header(record.Abstract.ID, record.Abstract.Version),
		body: apitypes.AbstractBody{Data: s.abstract(r, record)}}
}

func (s *server) abstract(r *request, record vault.AbstractWithFiles) apitypes.Abstract {
	a := record.Abstract
	return apitypes.Abstract{
		ID: s.abstracts.Encode(a.ID), TemplateID: encode.OptionalID(a.TemplateID), Status: encode.OptionalString(a.Status),
		Address: encode.OptionalString(a.Address), City: encode.OptionalString(a.City), County: encode.OptionalString(a.County),
		State:  encode.OptionalString(a.State),
		TaxMap: encode.OptionalString(a.TaxMap), CustomFields: apitypes.CustomFields(a.Custom), Files: s.files(r, record.Files),
		CreatedAt: apitypes.At(a.CreatedAt), UpdatedAt: apitypes.At(a.UpdatedAt),
	}
}

package api

import (
	"context"

	"deedkeep/app/apitypes"
	"deedkeep/app/encode"
	"deedkeep/app/vault"
)

type trashHandler struct {
	server  *server
	service interface {
		List(ctx context.Context, q vault.Query) (vault.Page[vault.Trashed], error)
	}
}

var trashListing = listSpec{
	recordType: "trash",
	sorts:      []sortOption{{"deleted_at", vault.SortCreated}},
	filters:    []filter{byChoice("kind", vault.ColumnKind, "abstract", "order", "file")},
}

func (h trashHandler) list(c *request) (response, error) {
	asked, err := h.server.list(c, trashListing)
	if err != nil {
		return response{}, err
	}
	page, err := readPage(h.server, c, asked.Query, h.service.List)
	if err != nil {
		return response{}, err
	}
	return okResponse(pageOf(h.server, c, asked, page, h.server.trashed))
}

func (e *server) trashed(t vault.Trashed) apitypes.Trashed {
	shape := apitypes.Trashed{
		Kind: t.Type, ID: e.recordID(t.Type, t.ID), Heading: t.Heading, DeletedAt: apitypes.At(t.At), RestorableUntil: apitypes.At(t.Until),
		DeletedBy: encode.Actor(t.By),
	}
	if !t.RetainedUntil.IsZero() {
		shape.RetainedUntil = new(apitypes.At(t.RetainedUntil))
	}
	if t.Abstract != nil {
		shape.AbstractID = new(e.ids().Abstracts.Encode(t.Abstract.ID))
	}
	return shape
}

package api

import (
	"context"

	"deedkeep/app/apitypes"
	"deedkeep/app/encode"
	"deedkeep/app/vault"
)

type trashHandler struct {
	edge  *edge
	verbs interface {
		List(ctx context.Context, q vault.Query) (vault.Page[vault.Trashed], error)
	}
}

var trashListing = listing{
	noun:    "trash",
	sorts:   []sorting{{"deleted_at", vault.SortCreated}},
	filters: []filter{byChoice("kind", vault.ColumnKind, "abstract", "order", "file")},
}

func (h trashHandler) list(c *call) (answer, error) {
	asked, err := h.edge.list(c, trashListing)
	if err != nil {
		return answer{}, err
	}
	page, err := readPage(h.edge, c, asked.Query, h.verbs.List)
	if err != nil {
		return answer{}, err
	}
	return ok(pageOf(h.edge, c, asked, page, h.edge.trashed))
}

func (e *edge) trashed(t vault.Trashed) apitypes.Trashed {
	shape := apitypes.Trashed{
		Kind: t.Noun, ID: e.recordID(t.Noun, t.ID), Heading: t.Heading, DeletedAt: apitypes.At(t.At), RestorableUntil: apitypes.At(t.Until),
		DeletedBy: encode.Actor(t.By),
	}
	if !t.Retained.IsZero() {
		shape.RetainedUntil = new(apitypes.At(t.Retained))
	}
	if t.Abstract != nil {
		shape.AbstractID = new(e.ids().Abstracts.Encode(t.Abstract.ID))
	}
	return shape
}

package api

import (
	"deedkeep/app/apitypes"
	"deedkeep/app/encode"
	"deedkeep/app/model"
	"deedkeep/app/vault"
)

// trashHandler serves /v1/trash.
type trashHandler struct {
	server  *server
	service *vault.Trash
}

var trashListSpec = listSpec{
	recordType: "trash",
	sorts:      []sortOption{{"deleted_at", model.SortCreated}},
	filters:    []filter{byChoice("kind", model.ColumnKind, "abstract", "order", "file", "instrument", "note")},
}

func (h trashHandler) list(r *request) (response, error) {
	return listPage(h.server, r, trashListSpec, h.service.List, nil, h.server.trashItem)
}

// trashItem converts a record in the trash to its JSON form.
func (s *server) trashItem(t vault.Trashed) apitypes.Trashed {
	shape := apitypes.Trashed{
		Kind: t.Type, ID: s.recordID(t.Type, t.ID), Heading: t.Heading, DeletedAt: apitypes.At(t.At), RestorableUntil: apitypes.At(t.Until),
		DeletedBy: encode.Actor(t.By),
	}
	if !t.RetainedUntil.IsZero() {
		shape.RetainedUntil = new(apitypes.At(t.RetainedUntil))
	}
	if t.Abstract != nil {
		shape.AbstractID = new(s.ids().Abstracts.Encode(t.Abstract.ID))
	}
	return shape
}

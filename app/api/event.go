package api

import (
	"context"
	"fmt"
	"net/http"

	"deedkeep/app/apitypes"
	"deedkeep/app/encode"
	"deedkeep/app/model"
	"deedkeep/app/vault"
)

const eventsPath = "/events"

type eventHandler struct {
	server  *server
	service interface {
		List(ctx context.Context, q vault.Query) (vault.Page[model.Event], error)
	}
}

var eventListing = listSpec{
	recordType: "events",
	sorts:      []sortOption{{"created_at", vault.SortCreated}},
	follow:     "after",
	filters: append([]filter{
		byText("actor", vault.ColumnActor, model.MaxNameLength), byText("kind", vault.ColumnKind, model.MaxNameLength), byRecord("record"),
	}, byCreation()...),
}

func (h eventHandler) list(c *request) (response, error) {
	asked, err := h.server.list(c, eventListing)
	if err != nil {
		return response{}, err
	}
	page, err := readPage(h.server, c, asked.Query, h.service.List)
	if err != nil {
		return response{}, err
	}
	return okResponse(pageOf(h.server, c, asked, page, func(v model.Event) apitypes.Event { return h.server.ids().Event(v) }))
}

// byRecord is the name of a record as events give it, noun:id; it need not be there.
func byRecord(name string) filter {
	return filter{name: name, read: func(e *server, text string, q *vault.Query) string {
		record := e.ids().Decode(text)
		if !encode.RecordPattern.MatchString(record) {
			return model.MsgInvalidChoice(name)
		}
		where(q, vault.ColumnRecord, record)
		return ""
	}}
}

// downloaded takes down that a key asked for the bytes of a document.
func (e *server) downloaded(c *request, file model.File) {
	if c.Method == http.MethodGet {
		e.Vault.Events.RecordAccess(c.actor, "file.downloaded", fmt.Sprintf("file:%d", file.ID), nil)
	}
}

func (e *server) ids() encode.IDCodec {
	return encode.IDCodec{Abstracts: e.abstracts, Orders: e.orders}
}

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
	edge  *edge
	verbs interface {
		List(ctx context.Context, q vault.Query) (vault.Page[model.Event], error)
	}
}

var eventListing = listing{
	noun:   "events",
	sorts:  []sorting{{"created_at", vault.SortCreated}},
	follow: "after",
	filters: append([]filter{
		byText("actor", vault.ColumnActor, model.MaxNameLength), byText("kind", vault.ColumnKind, model.MaxNameLength), byRecord("record"),
	}, byCreation()...),
}

func (h eventHandler) list(c *call) (answer, error) {
	asked, err := h.edge.list(c, eventListing)
	if err != nil {
		return answer{}, err
	}
	page, err := readPage(h.edge, c, asked.Query, h.verbs.List)
	if err != nil {
		return answer{}, err
	}
	return ok(pageOf(h.edge, c, asked, page, func(v model.Event) apitypes.Event { return h.edge.ids().Event(v) }))
}

// byRecord is the name of a record as events give it, noun:id; it need not be there.
func byRecord(name string) filter {
	return filter{name: name, read: func(e *edge, text string, q *vault.Query) string {
		record := e.ids().Decode(text)
		if !encode.RecordPattern.MatchString(record) {
			return model.MsgInvalidChoice(name)
		}
		where(q, vault.ColumnRecord, record)
		return ""
	}}
}

// downloaded takes down that a key asked for the bytes of a document.
func (e *edge) downloaded(c *call, file model.File) {
	if c.Method == http.MethodGet {
		e.Vault.Events.Note(c.actor, "file.downloaded", fmt.Sprintf("file:%d", file.ID), nil)
	}
}

func (e *edge) ids() encode.IDCodec { return encode.IDCodec{Abstracts: e.abstracts, Orders: e.orders} }

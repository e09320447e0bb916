package api

import (
	"context"
	"regexp"

	"deedkeep/app/apitypes"
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
	return ok(pageOf(h.edge, c, asked, page, func(v model.Event) apitypes.Event { return eventShape(h.edge.opaque(), v) }))
}

// recordText is the name of a record as the log has it.
var recordText = regexp.MustCompile(`^[a-z_]{1,32}:[0-9]{1,20}$`)

// byRecord is the name of a record as events give it, noun:id; it need not be there.
func byRecord(name string) filter {
	return filter{name: name, read: func(e *edge, text string, q *vault.Query) string {
		record := e.opaque().number(text)
		if !recordText.MatchString(record) {
			return model.MsgInvalidChoice(name)
		}
		where(q, vault.ColumnRecord, record)
		return ""
	}}
}

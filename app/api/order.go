package api

import (
	"context"
	"net/http"
	"slices"

	"deedkeep/app/apitypes"
	"deedkeep/app/encode"
	"deedkeep/app/model"
	"deedkeep/app/vault"
)

type orderHandler struct {
	edge  *edge
	verbs interface {
		Fields(ctx context.Context) ([]model.Field, error)
		Statuses(ctx context.Context) ([]string, error)
		Create(ctx context.Context, actor model.Actor, draft model.OrderDraft, keep vault.Keep[model.Order]) (model.Order, error)
		Get(ctx context.Context, id uint64) (model.Order, error)
		List(ctx context.Context, q vault.Query) (vault.Page[model.Order], error)
		Patch(ctx context.Context, actor model.Actor, id uint64, patch model.OrderPatch, match vault.Match) (model.Order, error)
		Trash(ctx context.Context, actor model.Actor, id uint64, match vault.Match) error
		Restore(ctx context.Context, actor model.Actor, id uint64, keep vault.Keep[model.Order]) (model.Order, error)
	}
	search *vault.SearchService
}

func (h orderHandler) fields(c *call) (answer, error) {
	custom, err := h.verbs.Fields(c.Context())
	if err != nil {
		return answer{}, err
	}
	return ok(apitypes.OrderFields{CoreFields: encode.Fields(model.CoreOrderFields()), CustomFields: encode.Fields(custom)})
}

func (h orderHandler) statuses(c *call) (answer, error) {
	list, err := h.verbs.Statuses(c.Context())
	if err != nil {
		return answer{}, err
	}
	return ok(apitypes.OrderStatuses{Statuses: list})
}

// orderFields are the fields of POST /orders.
var orderFields = []string{"order_number", "due_date", "address", "city", "county", "state", "custom_fields"}

func (h orderHandler) create(c *call) (answer, error) {
	sent, err := c.object(h.edge.Limits.JSON, orderFields...)
	if err != nil {
		return answer{}, err
	}
	render := func(o model.Order) answer { return h.edge.orderAnswer(http.StatusCreated, o) }
	order, err := h.verbs.Create(c.Context(), c.actor, model.OrderDraft{
		Number: input(sent["order_number"]), DueDate: input(sent["due_date"]),
		PropertyDraft: model.PropertyDraft{
			Address: input(sent["address"]), City: input(sent["city"]), County: input(sent["county"]), State: input(sent["state"]),
		},
		Custom: c.custom(custom(sent["custom_fields"])),
	}, keep(c, render))
	if err != nil {
		return answer{}, err
	}
	return render(order), nil
}

func (h orderHandler) get(c *call) (answer, error) {
	id, err := c.opaque(h.edge.orders)
	if err != nil {
		return answer{}, err
	}
	order, err := h.verbs.Get(c.Context(), id)
	if err != nil {
		return answer{}, err
	}
	return h.edge.orderAnswer(http.StatusOK, order), nil
}

var orderListing = listing{
	noun:  "orders",
	text:  taken,
	sorts: []sorting{{"created_at", vault.SortCreated}, {"updated_at", vault.SortUpdated}, {"due_date", vault.SortDue}, {"order_number", vault.SortOrderNumber}},
	filters: slices.Concat([]filter{
		byText("status", vault.ColumnStatus, model.MaxLineLength), byText("county", vault.ColumnCounty, model.MaxLineLength),
		byText("state", vault.ColumnState, model.MaxLineLength), unsearched(byText("order_number", vault.ColumnOrderNumber, model.MaxNameLength)),
	}, byCreation(), byUpdate()),
}

func (h orderHandler) list(c *call) (answer, error) {
	asked, err := h.edge.list(c, orderListing)
	if err != nil {
		return answer{}, err
	}
	page, err := readPage(h.edge, c, asked.Query, listed(c, asked, h.verbs.List, h.search.Orders))
	if err != nil {
		return answer{}, err
	}
	return ok(pageOf(h.edge, c, asked, page, h.edge.order))
}

func (h orderHandler) patch(c *call) (answer, error) {
	id, err := c.opaque(h.edge.orders)
	if err != nil {
		return answer{}, err
	}
	if _, err := h.verbs.Get(c.Context(), id); err != nil {
		return answer{}, err // before the body is read
	}
	m, err := h.edge.changes(c, append([]string{"status"}, orderFields...)...)
	if err != nil {
		return answer{}, err
	}
	order, err := h.verbs.Patch(c.Context(), c.actor, id, model.OrderPatch{
		Number: m.input("order_number"), Status: m.input("status"), DueDate: m.input("due_date"), PropertyPatch: m.property(), Custom: m.custom(c),
	}, h.edge.etags[orderNoun].match(c.Header, id))
	if err != nil {
		return answer{}, err
	}
	return h.edge.orderAnswer(http.StatusOK, order), nil
}

func (h orderHandler) trash(c *call) (answer, error) {
	id, err := c.opaque(h.edge.orders)
	if err != nil {
		return answer{}, err
	}
	if err := h.verbs.Trash(c.Context(), c.actor, id, h.edge.etags[orderNoun].match(c.Header, id)); err != nil {
		return answer{}, err
	}
	return gone()
}

func (h orderHandler) restore(c *call) (answer, error) {
	id, err := c.opaque(h.edge.orders)
	if err != nil {
		return answer{}, err
	}
	if err := h.edge.nothing(c); err != nil {
		return answer{}, err
	}
	render := func(o model.Order) answer { return h.edge.orderAnswer(http.StatusOK, o) }
	order, err := h.verbs.Restore(c.Context(), c.actor, id, keep(c, render))
	if err != nil {
		return answer{}, err
	}
	return render(order), nil
}

func (e *edge) orderAnswer(status int, o model.Order) answer {
	return answer{status: status, header: e.etags[orderNoun].of(o.ID, o.Version), body: apitypes.OrderBody{Data: e.order(o)}}
}

func (e *edge) order(o model.Order) apitypes.Order {
	return apitypes.Order{
		ID: e.orders.Encode(o.ID), OrderNumber: o.Number, Status: o.Status, DueDate: encode.OptionalString(o.DueDate),
		Address: encode.OptionalString(o.Address), City: encode.OptionalString(o.City), County: encode.OptionalString(o.County), State: encode.OptionalString(o.State),
		CustomFields: apitypes.CustomFields(o.Custom), CreatedAt: apitypes.At(o.CreatedAt), UpdatedAt: apitypes.At(o.UpdatedAt),
	}
}

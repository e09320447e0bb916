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

type orderHandler struct {
	server  *server
	service interface {
		Fields(ctx context.Context) ([]model.Field, error)
		Statuses(ctx context.Context) ([]string, error)
		Create(ctx context.Context, actor model.Actor, draft model.OrderDraft, keep vault.Idempotency[model.Order]) (model.Order, error)
		Get(ctx context.Context, id uint64) (model.Order, error)
		List(ctx context.Context, q vault.Query) (vault.Page[model.Order], error)
		Patch(ctx context.Context, actor model.Actor, id uint64, patch model.OrderPatch, match vault.Match) (model.Order, error)
		Trash(ctx context.Context, actor model.Actor, id uint64, match vault.Match) error
		Restore(ctx context.Context, actor model.Actor, id uint64, keep vault.Idempotency[model.Order]) (model.Order, error)
	}
	search *search.SearchService
}

func (h orderHandler) fields(c *request) (response, error) {
	custom, err := h.service.Fields(c.Context())
	if err != nil {
		return response{}, err
	}
	return okResponse(apitypes.OrderFields{CoreFields: encode.Fields(model.CoreOrderFields()), CustomFields: encode.Fields(custom)})
}

func (h orderHandler) statuses(c *request) (response, error) {
	list, err := h.service.Statuses(c.Context())
	if err != nil {
		return response{}, err
	}
	return okResponse(apitypes.OrderStatuses{Statuses: list})
}

// orderFields are the fields of POST /orders.
var orderFields = []string{"order_number", "due_date", "address", "city", "county", "state", "custom_fields"}

func (h orderHandler) create(c *request) (response, error) {
	sent, err := c.object(h.server.Limits.JSON, orderFields...)
	if err != nil {
		return response{}, err
	}
	render := func(o model.Order) response { return h.server.orderAnswer(http.StatusCreated, o) }
	order, err := h.service.Create(c.Context(), c.actor, model.OrderDraft{
		Number: input(sent["order_number"]), DueDate: input(sent["due_date"]),
		PropertyDraft: model.PropertyDraft{
			Address: input(sent["address"]), City: input(sent["city"]), County: input(sent["county"]), State: input(sent["state"]),
		},
		Custom: c.custom(custom(sent["custom_fields"])),
	}, storeResponse(c, render))
	if err != nil {
		return response{}, err
	}
	return render(order), nil
}

func (h orderHandler) get(c *request) (response, error) {
	id, err := c.opaqueID(h.server.orders)
	if err != nil {
		return response{}, err
	}
	order, err := h.service.Get(c.Context(), id)
	if err != nil {
		return response{}, err
	}
	return h.server.orderAnswer(http.StatusOK, order), nil
}

var orderListing = listSpec{
	recordType: "orders",
	text:       taken,
	sorts:      []sortOption{{"created_at", vault.SortCreated}, {"updated_at", vault.SortUpdated}, {"due_date", vault.SortDue}, {"order_number", vault.SortOrderNumber}},
	filters: slices.Concat([]filter{
		byText("status", vault.ColumnStatus, model.MaxLineLength), byText("county", vault.ColumnCounty, model.MaxLineLength),
		byText("state", vault.ColumnState, model.MaxLineLength), unsearched(byText("order_number", vault.ColumnOrderNumber, model.MaxNameLength)),
	}, byCreation(), byUpdate()),
}

func (h orderHandler) list(c *request) (response, error) {
	asked, err := h.server.list(c, orderListing)
	if err != nil {
		return response{}, err
	}
	page, err := readPage(h.server, c, asked.Query, listed(c, asked, h.service.List, h.search.Orders))
	if err != nil {
		return response{}, err
	}
	return okResponse(pageOf(h.server, c, asked, page, h.server.order))
}

func (h orderHandler) patch(c *request) (response, error) {
	id, err := c.opaqueID(h.server.orders)
	if err != nil {
		return response{}, err
	}
	if _, err := h.service.Get(c.Context(), id); err != nil {
		return response{}, err // before the body is read
	}
	m, err := h.server.changes(c, append([]string{"status"}, orderFields...)...)
	if err != nil {
		return response{}, err
	}
	order, err := h.service.Patch(c.Context(), c.actor, id, model.OrderPatch{
		Number: m.input("order_number"), Status: m.input("status"), DueDate: m.input("due_date"), PropertyPatch: m.property(), Custom: m.custom(c),
	}, h.server.etags[orderType].match(c.Header, id))
	if err != nil {
		return response{}, err
	}
	return h.server.orderAnswer(http.StatusOK, order), nil
}

func (h orderHandler) trash(c *request) (response, error) {
	id, err := c.opaqueID(h.server.orders)
	if err != nil {
		return response{}, err
	}
	if err := h.service.Trash(c.Context(), c.actor, id, h.server.etags[orderType].match(c.Header, id)); err != nil {
		return response{}, err
	}
	return noContent()
}

func (h orderHandler) restore(c *request) (response, error) {
	id, err := c.opaqueID(h.server.orders)
	if err != nil {
		return response{}, err
	}
	if err := h.server.readEmpty(c); err != nil {
		return response{}, err
	}
	render := func(o model.Order) response { return h.server.orderAnswer(http.StatusOK, o) }
	order, err := h.service.Restore(c.Context(), c.actor, id, storeResponse(c, render))
	if err != nil {
		return response{}, err
	}
	return render(order), nil
}

func (e *server) orderAnswer(status int, o model.Order) response {
	return response{status: status, header: e.etags[orderType].header(o.ID, o.Version), body: apitypes.OrderBody{Data: e.order(o)}}
}

func (e *server) order(o model.Order) apitypes.Order {
	return apitypes.Order{
		ID: e.orders.Encode(o.ID), OrderNumber: o.Number, Status: o.Status, DueDate: encode.OptionalString(o.DueDate),
		Address: encode.OptionalString(o.Address), City: encode.OptionalString(o.City), County: encode.OptionalString(o.County), State: encode.OptionalString(o.State),
		CustomFields: apitypes.CustomFields(o.Custom), CreatedAt: apitypes.At(o.CreatedAt), UpdatedAt: apitypes.At(o.UpdatedAt),
	}
}

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

// orderHandler serves the routes under /v1/orders.
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
	search *search.Service
}

func (h orderHandler) fields(r *request) (response, error) {
	custom, err := h.service.Fields(r.Context())
	if err != nil {
		return response{}, err
	}
	return okResponse(apitypes.OrderFields{CoreFields: encode.Fields(model.CoreOrderFields()), CustomFields: encode.Fields(custom)})
}

func (h orderHandler) statuses(r *request) (response, error) {
	list, err := h.service.Statuses(r.Context())
	if err != nil {
		return response{}, err
	}
	return okResponse(apitypes.OrderStatuses{Statuses: list})
}

// orderFields are the fields that POST /orders accepts.
var orderFields = []string{"order_number", "due_date", "address", "city", "county", "state", "custom_fields"}

func (h orderHandler) create(r *request) (response, error) {
	sent, err := r.object(h.server.Limits.JSON, orderFields...)
	if err != nil {
		return response{}, err
	}
	render := func(o model.Order) response { return h.server.orderResponse(http.StatusCreated, o) }
	order, err := h.service.Create(r.Context(), r.actor, model.OrderDraft{
		Number: input(sent["order_number"]), DueDate: input(sent["due_date"]),
		PropertyDraft: model.PropertyDraft{
			Address: input(sent["address"]), City: input(sent["city"]), County: input(sent["county"]), State: input(sent["state"]),
		},
		Custom: r.custom(custom(sent["custom_fields"])),
	}, storeResponse(r, render))
	if err != nil {
		return response{}, err
	}
	return render(order), nil
}

func (h orderHandler) get(r *request) (response, error) {
	id, err := r.opaqueID(h.server.orders)
	if err != nil {
		return response{}, err
	}
	order, err := h.service.Get(r.Context(), id)
	if err != nil {
		return response{}, err
	}
	return h.server.orderResponse(http.StatusOK, order), nil
}

var orderListSpec = listSpec{
	recordType: "orders",
	search:     searchOptional,
	sorts: []sortOption{{"created_at", vault.SortCreated}, {"updated_at", vault.SortUpdated}, {"due_date", vault.SortDue},
		{"order_number", vault.SortOrderNumber}},
	filters: slices.Concat([]filter{
		byText("status", vault.ColumnStatus, model.MaxLineLength), byText("county", vault.ColumnCounty, model.MaxLineLength),
		byText("state", vault.ColumnState, model.MaxLineLength),
		notWithSearch(byText("order_number", vault.ColumnOrderNumber, model.MaxNameLength)),
	}, byCreated(), byUpdated()),
}

func (h orderHandler) list(r *request) (response, error) {
	lq, err := h.server.list(r, orderListSpec)
	if err != nil {
		return response{}, err
	}
	page, err := readPage(h.server, r, lq.Query, pageReader(r, lq, h.service.List, h.search.Orders))
	if err != nil {
		return response{}, err
	}
	return okResponse(newPage(h.server, r, lq, page, h.server.order))
}

func (h orderHandler) patch(r *request) (response, error) {
	id, err := r.opaqueID(h.server.orders)
	if err != nil {
		return response{}, err
	}
	if _, err := h.service.Get(r.Context(), id); err != nil {
		return response{}, err // respond 404 before reading the body
	}
	body, err := h.server.readPatch(r, append([]string{"status"}, orderFields...)...)
	if err != nil {
		return response{}, err
	}
	order, err := h.service.Patch(r.Context(), r.actor, id, model.OrderPatch{
		Number: body.input("order_number"), Status: body.input("status"), DueDate: body.input("due_date"),
		PropertyPatch: body.property(), Custom: body.custom(r),
	}, h.server.etags[orderType].match(r.Header, id))
	if err != nil {
		return response{}, err
	}
	return h.server.orderResponse(http.StatusOK, order), nil
}

func (h orderHandler) trash(r *request) (response, error) {
	id, err := r.opaqueID(h.server.orders)
	if err != nil {
		return response{}, err
	}
	if err := h.service.Trash(r.Context(), r.actor, id, h.server.etags[orderType].match(r.Header, id)); err != nil {
		return response{}, err
	}
	return noContent()
}

func (h orderHandler) restore(r *request) (response, error) {
	id, err := r.opaqueID(h.server.orders)
	if err != nil {
		return response{}, err
	}
	if err := h.server.readEmpty(r); err != nil {
		return response{}, err
	}
	render := func(o model.Order) response { return h.server.orderResponse(http.StatusOK, o) }
	order, err := h.service.Restore(r.Context(), r.actor, id, storeResponse(r, render))
	if err != nil {
		return response{}, err
	}
	return render(order), nil
}

func (s *server) orderResponse(status int, o model.Order) response {
	return response{status: status, header: s.etags[orderType].header(o.ID, o.Version), body: apitypes.OrderBody{Data: s.order(o)}}
}

func (s *server) order(o model.Order) apitypes.Order {
	return apitypes.Order{
		ID: s.orders.Encode(o.ID), OrderNumber: o.Number, Status: o.Status, DueDate: encode.OptionalString(o.DueDate),
		Address: encode.OptionalString(o.Address), City: encode.OptionalString(o.City), County: encode.OptionalString(o.County),
		State:        encode.OptionalString(o.State),
		CustomFields: apitypes.CustomFields(o.Custom), CreatedAt: apitypes.At(o.CreatedAt), UpdatedAt: apitypes.At(o.UpdatedAt),
	}
}

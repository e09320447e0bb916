package api

import (
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
	recordHandler[model.Order, model.OrderPatch]
	service *vault.Orders
	search  *search.Service
}

func newOrderHandler(s *server) orderHandler {
	v := s.Vault.Orders
	return orderHandler{recordHandler[model.Order, model.OrderPatch]{
		server: s, etag: s.etags[orderType], find: v.Get, change: v.Patch, remove: v.Trash, undo: v.Restore,
		id:     func(r *request) (uint64, error) { return r.opaqueID(s.orders) },
		fields: append([]string{"status"}, orderFields...),
		patchOf: func(r *request, body patchBody) model.OrderPatch {
			return model.OrderPatch{Number: body.input("order_number"), Status: body.input("status"), DueDate: body.input("due_date"),
				PropertyPatch: body.property(), Custom: body.custom(r)}
		},
		render: func(_ *request, o model.Order) response { return s.orderResponse(http.StatusOK, o) },
	}, v, s.Vault.Search}
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
	f := jsonFields(sent)
	draft := model.OrderDraft{
		Number: f.input("order_number"), DueDate: f.input("due_date"), PropertyDraft: propertyDraft(f),
		Custom: r.custom(f.custom("custom_fields")),
	}
	return perform(r, render, func(keep vault.Idempotency[model.Order]) (model.Order, error) {
		return h.service.Create(r.Context(), r.actor, draft, keep)
	})
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
	return listPage(h.server, r, orderListSpec, h.service.List, h.search.Orders, h.server.order)
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

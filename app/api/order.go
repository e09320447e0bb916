package api

import (
	"context"
	"net/http"
	"slices"

	"deedkeep/app/apitypes"
	"deedkeep/app/encode"
	"deedkeep/app/errs"
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
	v := s.App.Orders
	return orderHandler{recordHandler[model.Order, model.OrderPatch]{
		server: s, etag: s.etags[orderType], find: v.Get, change: v.Patch, remove: v.Trash, undo: v.Restore,
		id:     func(r *request) (uint64, error) { return r.opaqueID(s.orders) },
		fields: append(model.OrderInputs(), customFields),
		patchOf: func(r *request, body patchBody) model.OrderPatch {
			return model.OrderPatch{Fields: inputs(body, model.OrderInputs()...), Custom: body.custom(r)}
		},
		render: func(_ *request, o model.Order) response { return s.orderResponse(http.StatusOK, o) },
		ids:    opaqueIDs(s.orders),
		setMany: func(r *request, body patchBody) (func(context.Context, uint64) error, error) {
			p := model.OrderPatch{Fields: inputs(body, append(model.OrderInputs(), assigneeField)...), Custom: body.custom(r)}
			return func(ctx context.Context, id uint64) error {
				_, err := v.Patch(ctx, r.actor, id, p, vault.Match{})
				return err
			}, nil
		},
		manyFields: []string{assigneeField},
	}, v, s.App.Search}
}

// assigneeField is the member of an order's assignment that PATCH doesn't accept.
const assigneeField = "assignee"

func (h orderHandler) assignment(r *request) (response, error) {
	_, o, err := h.read(r)
	return h.assignmentResponse(o), err
}

// assignmentResponse returns the response for an assignment, which has the entity tag of its order.
func (h orderHandler) assignmentResponse(o model.Order) response {
	return response{status: http.StatusOK, header: h.etag.header(o.ID, o.Version), body: apitypes.OrderAssignmentBody{
		Data: apitypes.OrderAssignment{Assignee: encode.OptionalID(o.AssigneeID), DueDate: encode.OptionalString(o.DueDate)}}}
}

// setAssignment sets the assignee of an order and, if it was sent, the due date.
func (h orderHandler) setAssignment(r *request) (response, error) {
	id, _, err := h.read(r) // respond 404 before reading the body
	if err != nil {
		return response{}, err
	}
	members := []string{assigneeField, "due_date"}
	sent, err := r.object(h.server.Limits.JSON, members...)
	if err != nil {
		return response{}, err
	}
	if len(sent[assigneeField]) == 0 { // a misspelled member clears nothing
		return response{}, errs.InvalidField(assigneeField, errs.Required)
	}
	o, err := h.change(r.Context(), r.actor, id, model.OrderPatch{Fields: inputs(sent, members...)}, h.etag.match(r.Header, id))
	return h.assignmentResponse(o), err
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

// newOrderFields returns the names of the fields that POST /orders accepts, except the custom fields.
func newOrderFields() []string {
	return slices.DeleteFunc(model.OrderInputs(), func(name string) bool { return name == "status" })
}

func (h orderHandler) create(r *request) (response, error) {
	fields := newOrderFields()
	sent, err := r.object(h.server.Limits.JSON, append(fields, customFields)...)
	if err != nil {
		return response{}, err
	}
	render := func(o model.Order) response { return h.server.orderResponse(http.StatusCreated, o) }
	draft := model.OrderDraft{Fields: inputs(sent, fields...), Custom: r.custom(custom(sent[customFields]))}
	return perform(r, render, func(keep vault.Idempotency[model.Order]) (model.Order, error) {
		return h.service.Create(r.Context(), r.actor, draft, keep)
	})
}

var orderListSpec = listSpec{
	recordType: "orders",
	hasViews:   true,
	search:     searchOptional,
	sorts: []sortOption{{"created_at", model.SortCreated}, {"updated_at", model.SortUpdated}, {"due_date", model.SortDue},
		{"order_number", model.SortOrderNumber}, {"parcel", model.SortParcel}, {"address", model.SortAddress}},
	filters: slices.Concat(byRecordColumns(), []filter{notWithSearch(byText(model.ColumnOrderNumber, model.MaxNameLength)),
		notWithSearch(byAssignee())}, byCreated(), byUpdated(),
		[]filter{notWithSearch(byDay("due_from", func(q *vault.Query) *string { return &q.DueFrom })),
			notWithSearch(byDay("due_to", func(q *vault.Query) *string { return &q.DueTo })), byDue("show")}), // show comes after due_to
}

func (h orderHandler) list(r *request) (response, error) {
	return listPage(h.server, r, orderListSpec, h.service.List, h.search.Orders, h.server.order)
}

// files returns the routes of the list as a file.
func (h orderHandler) files() []route {
	return fileRoutes(h.server, "/orders", orderListSpec, h.server.App.Lists.Orders, h.service.List,
		func(r *request, lq listQuery) func(context.Context, vault.Query) (vault.Page[model.Order], error) {
			return searching(r, lq, h.search.Orders)
		})
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

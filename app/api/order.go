package api

import (
	"context"

	"deedkeep/app/title"
	"deedkeep/app/vault"
	"deedkeep/app/wire"
)

type orderHandler struct {
	edge  *edge
	verbs interface {
		Fields(ctx context.Context) ([]title.Field, error)
		Create(ctx context.Context, actor title.Actor, draft title.OrderDraft, keep vault.Keep[title.Order]) (title.Order, error)
	}
}

func (h orderHandler) fields(c *call) (answer, error) {
	custom, err := h.verbs.Fields(c.Context())
	if err != nil {
		return answer{}, err
	}
	return ok(wire.OrderFields{CoreFields: definitions(title.CoreOrderFields()), CustomFields: definitions(custom)})
}

func (h orderHandler) create(c *call) (answer, error) {
	sent, err := c.object(h.edge.Limits.JSON)
	if err != nil {
		return answer{}, err
	}
	order, err := h.verbs.Create(c.Context(), c.actor, title.OrderDraft{
		Number: input(sent["order_number"]), DueDate: input(sent["due_date"]),
		PropertyDraft: title.PropertyDraft{
			Address: input(sent["address"]), City: input(sent["city"]), County: input(sent["county"]), State: input(sent["state"]),
		},
		Custom: custom(sent["custom_fields"]),
	}, vault.Keep[title.Order]{})
	if err != nil {
		return answer{}, err
	}
	return created(wire.OrderBody{Data: h.edge.order(order)})
}

func (e *edge) order(o title.Order) wire.Order {
	return wire.Order{
		ID: e.orders.Encode(o.ID), OrderNumber: o.Number, Status: o.Status, DueDate: optional(o.DueDate),
		Address: optional(o.Address), City: optional(o.City), County: optional(o.County), State: optional(o.State),
		CustomFields: wire.CustomFields(o.Custom), CreatedAt: wire.At(o.CreatedAt), UpdatedAt: wire.At(o.UpdatedAt),
	}
}

// definitions are the fields of a template, or of orders.
func definitions(fields []title.Field) []wire.Field {
	list := make([]wire.Field, 0, len(fields))
	for _, f := range fields {
		list = append(list, wire.Field{Key: f.Key, Label: f.Label, Type: string(f.Type), Required: f.Required, Options: f.Options})
	}
	return list
}

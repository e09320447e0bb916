package client

import (
	"context"
	"net/http"

	"deedkeep/app/wire"
)

// OrderDraft is an order to create (SPEC.md, "POST /orders"). OrderNumber is
// required, DueDate is of wire.DateLayout, an empty text counts as absent, and
// CustomFields holds values by key, as anything that JSON can say.
type OrderDraft struct {
	OrderNumber  string         `json:"order_number"`
	DueDate      string         `json:"due_date,omitempty"`
	Address      string         `json:"address,omitempty"`
	City         string         `json:"city,omitempty"`
	County       string         `json:"county,omitempty"`
	State        string         `json:"state,omitempty"`
	CustomFields map[string]any `json:"custom_fields,omitempty"`
}

// CreateOrder creates an order.
func (c *Client) CreateOrder(ctx context.Context, draft OrderDraft) (wire.Order, error) {
	var body wire.OrderBody
	err := c.call(ctx, http.MethodPost, "/v1/orders", draft, &body)
	return body.Data, err
}

// OrderFields lists the fields that orders accept.
func (c *Client) OrderFields(ctx context.Context) (wire.OrderFields, error) {
	var body wire.OrderFields
	err := c.call(ctx, http.MethodGet, "/v1/order-fields", nil, &body)
	return body, err
}

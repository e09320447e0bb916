package client

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"net/url"

	"deedkeep/app/apitypes"
)

// OrderDraft is an order to create. OrderNumber is required, DueDate has the format of apitypes.DateLayout, and an
// empty string counts as absent. CustomFields maps keys to values that encode as JSON.
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
func (c *Client) CreateOrder(ctx context.Context, draft OrderDraft) (apitypes.Order, error) {
	var body apitypes.OrderBody
	err := c.Do(ctx, http.MethodPost, "/v1/orders", draft, &body)
	return body.Data, err
}

// OrderFields lists the fields that orders accept.
func (c *Client) OrderFields(ctx context.Context) (apitypes.OrderFields, error) {
	var body apitypes.OrderFields
	err := c.Do(ctx, http.MethodGet, "/v1/order-fields", nil, &body)
	return body, err
}

// Statuses returns the statuses of orders. New orders get the first status.
func (c *Client) Statuses(ctx context.Context) ([]string, error) {
	var body apitypes.OrderStatuses
	err := c.Do(ctx, http.MethodGet, "/v1/order-statuses", nil, &body)
	return body.Statuses, err
}

// Order returns the order with this ID.
func (c *Client) Order(ctx context.Context, id string) (apitypes.Order, error) {
	return c.order(ctx, http.MethodGet, id, "", nil)
}

// OrderPage returns one page of the list of orders.
func (c *Client) OrderPage(ctx context.Context, l ListOptions) (apitypes.Page[apitypes.Order], error) {
	return page[apitypes.Order](ctx, c, "/v1/orders", l)
}

// Orders iterates over the list of orders and reads pages as needed.
func (c *Client) Orders(ctx context.Context, l ListOptions) iter.Seq2[apitypes.Order, error] {
	return all[apitypes.Order](ctx, c, "/v1/orders", l)
}

// PatchOrder changes fields of an order and returns the changed order.
func (c *Client) PatchOrder(ctx context.Context, id string, change Patch) (apitypes.Order, error) {
	return c.order(ctx, http.MethodPatch, id, "", change)
}

// TrashOrder moves an order to the trash.
func (c *Client) TrashOrder(ctx context.Context, id string) error {
	path, err := orderPath(id)
	if err != nil {
		return err
	}
	return c.delete(ctx, path)
}

// RestoreOrder restores an order from the trash.
func (c *Client) RestoreOrder(ctx context.Context, id string) (apitypes.Order, error) {
	return c.order(ctx, http.MethodPost, id, "/restore", nil)
}

func (c *Client) order(ctx context.Context, method, id, action string, content any) (apitypes.Order, error) {
	path, err := orderPath(id)
	if err != nil {
		return apitypes.Order{}, err
	}
	var body apitypes.OrderBody
	err = c.Do(ctx, method, path+action, content, &body)
	return body.Data, err
}

func orderPath(id string) (string, error) {
	if id == "" {
		// With an empty ID, the path would be the path of the list.
		return "", errors.New("order: the id is empty")
	}
	return "/v1/orders/" + url.PathEscape(id), nil
}

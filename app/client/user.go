package client

import (
	"context"
	"fmt"
	"net/http"

	"deedkeep/app/apitypes"
)

// Users lists all users, disabled ones too. Door only.
func (c *Client) Users(ctx context.Context) ([]apitypes.User, error) {
	var body apitypes.Users
	err := c.call(ctx, http.MethodGet, "/control/users", nil, &body)
	return body.Data, err
}

// CreateUser makes a user; the one-time link is in the result and nowhere else. Door only.
func (c *Client) CreateUser(ctx context.Context, draft apitypes.UserCreate) (apitypes.UserLinked, error) {
	var made apitypes.UserLinked
	err := c.call(ctx, http.MethodPost, "/control/users", draft, &made)
	return made, err
}

// SetUserRole gives a user another role, at once. Door only.
func (c *Client) SetUserRole(ctx context.Context, id int64, role string) (apitypes.User, error) {
	return c.changeUser(ctx, id, "role", apitypes.UserRole{Role: role})
}

// DisableUser ends a user's sessions and link; there is no signing in any more. Door only.
func (c *Client) DisableUser(ctx context.Context, id int64) (apitypes.User, error) {
	return c.changeUser(ctx, id, "disable", struct{}{})
}

// EnableUser lets a user sign in again. Door only.
func (c *Client) EnableUser(ctx context.Context, id int64) (apitypes.User, error) {
	return c.changeUser(ctx, id, "enable", struct{}{})
}

func (c *Client) changeUser(ctx context.Context, id int64, verb string, body any) (apitypes.User, error) {
	var changed apitypes.UserBody
	err := c.call(ctx, http.MethodPost, fmt.Sprintf("/control/users/%d/%s", id, verb), body, &changed)
	return changed.Data, err
}

// ResetUser takes a user's password and second factor away; the one-time link for a
// new password is in the result and nowhere else. Door only.
func (c *Client) ResetUser(ctx context.Context, id int64) (apitypes.UserLinked, error) {
	var made apitypes.UserLinked
	err := c.call(ctx, http.MethodPost, fmt.Sprintf("/control/users/%d/reset", id), struct{}{}, &made)
	return made, err
}

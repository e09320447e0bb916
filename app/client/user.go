package client

import (
	"context"
	"fmt"
	"net/http"

	"deedkeep/app/apitypes"
)

// Users lists all users, including disabled ones. Control socket only.
func (c *Client) Users(ctx context.Context) ([]apitypes.User, error) {
	var body apitypes.Users
	err := c.call(ctx, http.MethodGet, "/control/users", nil, &body)
	return body.Data, err
}

// CreateUser creates a user. The one-time link is only in this result. Control socket only.
func (c *Client) CreateUser(ctx context.Context, draft apitypes.UserCreate) (apitypes.UserLinked, error) {
	var made apitypes.UserLinked
	err := c.call(ctx, http.MethodPost, "/control/users", draft, &made)
	return made, err
}

// SetUserRole changes the role of a user immediately. Control socket only.
func (c *Client) SetUserRole(ctx context.Context, id int64, role string) (apitypes.User, error) {
	return c.changeUser(ctx, id, "role", apitypes.UserRole{Role: role})
}

// DisableUser ends the sessions of a user, invalidates the one-time link, and blocks sign-in. Control socket only.
func (c *Client) DisableUser(ctx context.Context, id int64) (apitypes.User, error) {
	return c.changeUser(ctx, id, "disable", struct{}{})
}

// EnableUser allows a user to sign in again. Control socket only.
func (c *Client) EnableUser(ctx context.Context, id int64) (apitypes.User, error) {
	return c.changeUser(ctx, id, "enable", struct{}{})
}

func (c *Client) changeUser(ctx context.Context, id int64, action string, body any) (apitypes.User, error) {
	var changed apitypes.UserBody
	err := c.call(ctx, http.MethodPost, fmt.Sprintf("/control/users/%d/%s", id, action), body, &changed)
	return changed.Data, err
}

// ResetUser removes the password and the two-factor authentication of a user. The one-time link to set a new password
// is only in this result. Control socket only.
func (c *Client) ResetUser(ctx context.Context, id int64) (apitypes.UserLinked, error) {
	var made apitypes.UserLinked
	err := c.call(ctx, http.MethodPost, fmt.Sprintf("/control/users/%d/reset", id), struct{}{}, &made)
	return made, err
}

package control

import (
	"context"
	"fmt"
	"net/http"

	"deedkeep/app/apitypes"
)

// Users returns all users, including disabled ones.
func (c *Client) Users(ctx context.Context) ([]apitypes.User, error) {
	var body apitypes.Users
	err := c.http.Do(ctx, http.MethodGet, "/control/users", nil, &body)
	return body.Data, err
}

// CreateUser creates a user. Only the result contains the one-time link.
func (c *Client) CreateUser(ctx context.Context, draft apitypes.UserCreate) (apitypes.UserLinked, error) {
	var created apitypes.UserLinked
	err := c.http.Do(ctx, http.MethodPost, "/control/users", draft, &created)
	return created, err
}

// SetUserRole changes the role of a user, effective immediately.
func (c *Client) SetUserRole(ctx context.Context, id int64, role string) (apitypes.User, error) {
	return c.changeUser(ctx, id, "role", apitypes.UserRole{Role: role})
}

// DisableUser ends a user's sessions, invalidates the one-time link, and prevents further sign-ins.
func (c *Client) DisableUser(ctx context.Context, id int64) (apitypes.User, error) {
	return c.changeUser(ctx, id, "disable", struct{}{})
}

// EnableUser lets a disabled user sign in again.
func (c *Client) EnableUser(ctx context.Context, id int64) (apitypes.User, error) {
	return c.changeUser(ctx, id, "enable", struct{}{})
}

func (c *Client) changeUser(ctx context.Context, id int64, action string, body any) (apitypes.User, error) {
	var changed apitypes.UserBody
	err := c.http.Do(ctx, http.MethodPost, fmt.Sprintf("/control/users/%d/%s", id, action), body, &changed)
	return changed.Data, err
}

// ResetUser removes a user's password and two-factor authentication. Only the result contains the one-time link for a
// new password.
func (c *Client) ResetUser(ctx context.Context, id int64) (apitypes.UserLinked, error) {
	var reset apitypes.UserLinked
	err := c.http.Do(ctx, http.MethodPost, fmt.Sprintf("/control/users/%d/reset", id), struct{}{}, &reset)
	return reset, err
}

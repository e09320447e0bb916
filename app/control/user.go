package control

import (
	"context"
	"fmt"
	"net/http"

	"deedkeep/app/apitypes"
	"deedkeep/app/model"
)

// Users returns all users, including disabled ones.
func (c *Client) Users(ctx context.Context) ([]apitypes.User, error) {
	return data[[]apitypes.User](ctx, c, "GET /control/users", nil)
}

func (h handler) users(r *http.Request) (any, error) {
	users, err := h.App.Users.List(r.Context())
	return list(users, userShape), err
}

// CreateUser creates a user. Only the result contains the one-time link.
func (c *Client) CreateUser(ctx context.Context, draft apitypes.UserCreate) (apitypes.UserLinked, error) {
	return call[apitypes.UserLinked](ctx, c, "POST /control/users", draft)
}

func (h handler) createUser(r *http.Request, asked apitypes.UserCreate) (any, error) {
	token, user, err := h.App.Users.Create(r.Context(), operator(r), model.UserDraft{
		Name: asked.Name, Role: model.Role(asked.Role), Password: asked.Password, Profile: model.ProfilePatch(asked.UserProfile),
	})
	return h.linked(token, user, err)
}

// ResetUser removes a user's password and two-factor authentication. Only the result contains the one-time link for a
// new password.
func (c *Client) ResetUser(ctx context.Context, id int64) (apitypes.UserLinked, error) {
	return call[apitypes.UserLinked](ctx, c, fmt.Sprintf("POST /control/users/%d/reset", id), struct{}{})
}

// ResetUserTwoFactor removes a user's two-factor authentication and keeps the password.
func (c *Client) ResetUserTwoFactor(ctx context.Context, id int64) (apitypes.User, error) {
	return data[apitypes.User](ctx, c, fmt.Sprintf("POST /control/users/%d/two-factor/reset", id), struct{}{})
}

func (h handler) resetUser(r *http.Request) (any, error) {
	id, err := recordID(r, "user")
	if err != nil {
		return nil, err
	}
	token, user, err := h.App.Users.Reset(r.Context(), operator(r), id)
	return h.linked(token, user, err)
}

func (h handler) linked(token string, user model.User, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	link := ""
	if token != "" {
		link = h.Origin + model.PasswordLinkPath + token
	}
	return apitypes.UserLinked{Link: link, Data: userShape(user)}, nil
}

// SetUserRole changes the role of a user, effective immediately.
func (c *Client) SetUserRole(ctx context.Context, id int64, role string) (apitypes.User, error) {
	return data[apitypes.User](ctx, c, fmt.Sprintf("POST /control/users/%d/role", id), apitypes.UserRole{Role: role})
}

func (h handler) setUserRole(r *http.Request, asked apitypes.UserRole) (any, error) {
	id, err := recordID(r, "user")
	if err != nil {
		return nil, err
	}
	user, err := h.App.Users.SetRole(r.Context(), operator(r), id, model.Role(asked.Role))
	return dataOf(userShape(user)), err
}

// SetUserProfile changes the full name and the title of a user.
func (c *Client) SetUserProfile(ctx context.Context, id int64, profile apitypes.UserProfile) (apitypes.User, error) {
	return data[apitypes.User](ctx, c, fmt.Sprintf("POST /control/users/%d/profile", id), profile)
}

func (h handler) setUserProfile(r *http.Request, asked apitypes.UserProfile) (any, error) {
	id, err := recordID(r, "user")
	if err != nil {
		return nil, err
	}
	user, err := h.App.Users.SetProfile(r.Context(), operator(r), id, model.ProfilePatch(asked))
	return dataOf(userShape(user)), err
}

// DisableUser ends a user's sessions, invalidates the one-time link, and prevents further sign-ins.
func (c *Client) DisableUser(ctx context.Context, id int64) (apitypes.User, error) {
	return data[apitypes.User](ctx, c, fmt.Sprintf("POST /control/users/%d/disable", id), struct{}{})
}

// EnableUser lets a disabled user sign in again.
func (c *Client) EnableUser(ctx context.Context, id int64) (apitypes.User, error) {
	return data[apitypes.User](ctx, c, fmt.Sprintf("POST /control/users/%d/enable", id), struct{}{})
}

func userShape(u model.User) apitypes.User {
	shape := apitypes.User{
		ID: int64(u.ID), Name: u.Name, FullName: u.FullName, Title: u.Title, Role: string(u.Role), HasPassword: u.Password != "",
		TwoFactor: u.TwoFactor != nil,
		CreatedAt: apitypes.At(u.CreatedAt), LastSeenAt: optionalTime(u.LastSeenAt), DisabledAt: optionalTime(u.DisabledAt),
	}
	if u.PasswordLink != nil {
		shape.LinkExpiresAt = optionalTime(&u.PasswordLink.ExpiresAt)
	}
	return shape
}

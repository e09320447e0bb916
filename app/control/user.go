package control

import (
	"net/http"
	"strconv"

	"deedkeep/app/apitypes"
	"deedkeep/app/errs"
	"deedkeep/app/model"
)

func (c handler) userRoutes() map[string]func(*http.Request) (any, error) {
	return map[string]func(*http.Request) (any, error){
		"GET /control/users":               c.users,
		"POST /control/users":              c.createUser,
		"POST /control/users/{id}/role":    c.setUserRole,
		"POST /control/users/{id}/disable": c.disableUser,
		"POST /control/users/{id}/enable":  c.enableUser,
		"POST /control/users/{id}/reset":   c.resetUser,
	}
}

func (c handler) users(r *http.Request) (any, error) {
	users, err := c.Vault.Users.List(r.Context())
	list := make([]apitypes.User, 0, len(users))
	for _, u := range users {
		list = append(list, userShape(u))
	}
	return apitypes.Users{Data: list}, err
}

func (c handler) createUser(r *http.Request) (any, error) {
	var asked apitypes.UserCreate
	if err := readBody(r, &asked); err != nil {
		return nil, err
	}
	token, user, err := c.Vault.Users.Create(r.Context(), operator(r), model.UserDraft{
		Name: asked.Name, Role: model.Role(asked.Role), Password: asked.Password,
	})
	return c.linked(token, user, err)
}

func (c handler) resetUser(r *http.Request) (any, error) {
	id, err := userID(r)
	if err != nil {
		return nil, err
	}
	token, user, err := c.Vault.Users.Reset(r.Context(), operator(r), id)
	return c.linked(token, user, err)
}

func (c handler) linked(token string, user model.User, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	link := ""
	if token != "" {
		link = c.Origin + model.PasswordLinkPath + token
	}
	return apitypes.UserLinked{Link: link, Data: userShape(user)}, nil
}

func (c handler) setUserRole(r *http.Request) (any, error) {
	id, err := userID(r)
	if err != nil {
		return nil, err
	}
	var asked apitypes.UserRole
	if err := readBody(r, &asked); err != nil {
		return nil, err
	}
	user, err := c.Vault.Users.SetRole(r.Context(), operator(r), id, model.Role(asked.Role))
	return apitypes.UserBody{Data: userShape(user)}, err
}

func (c handler) disableUser(r *http.Request) (any, error) {
	id, err := userID(r)
	if err != nil {
		return nil, err
	}
	user, err := c.Vault.Users.Disable(r.Context(), operator(r), id)
	return apitypes.UserBody{Data: userShape(user)}, err
}

func (c handler) enableUser(r *http.Request) (any, error) {
	id, err := userID(r)
	if err != nil {
		return nil, err
	}
	user, err := c.Vault.Users.Enable(r.Context(), operator(r), id)
	return apitypes.UserBody{Data: userShape(user)}, err
}

func userID(r *http.Request) (uint64, error) {
	id, err := strconv.ParseUint(r.PathValue("id"), 10, 64)
	if err != nil {
		return 0, errs.RecordNotFound("user", r.PathValue("id"))
	}
	return id, nil
}

func userShape(u model.User) apitypes.User {
	shape := apitypes.User{
		ID: int64(u.ID), Name: u.Name, Role: string(u.Role), HasPassword: u.Password != "", TwoFactor: u.TwoFactor != nil,
		CreatedAt: apitypes.At(u.CreatedAt), LastSeenAt: optionalTime(u.LastSeenAt), DisabledAt: optionalTime(u.DisabledAt),
	}
	if u.PasswordLink != nil {
		shape.LinkExpiresAt = optionalTime(&u.PasswordLink.ExpiresAt)
	}
	return shape
}

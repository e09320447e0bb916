package api

import (
	"net/http"
	"strconv"

	"deedkeep/app/title"
	"deedkeep/app/wire"
)

func (c control) userRoutes() map[string]func(*http.Request) (any, error) {
	return map[string]func(*http.Request) (any, error){
		"GET /control/users":               c.users,
		"POST /control/users":              c.createUser,
		"POST /control/users/{id}/role":    c.setUserRole,
		"POST /control/users/{id}/disable": c.disableUser,
		"POST /control/users/{id}/enable":  c.enableUser,
		"POST /control/users/{id}/reset":   c.resetUser,
	}
}

func (c control) users(r *http.Request) (any, error) {
	users, err := c.Vault.Users.List(r.Context())
	list := make([]wire.User, 0, len(users))
	for _, u := range users {
		list = append(list, userShape(u))
	}
	return wire.Users{Data: list}, err
}

func (c control) createUser(r *http.Request) (any, error) {
	var asked wire.UserCreate
	if err := read(r, &asked); err != nil {
		return nil, err
	}
	token, user, err := c.Vault.Users.Create(r.Context(), operator(r), title.UserDraft{
		Name: asked.Name, Role: title.Role(asked.Role), Password: asked.Password,
	})
	return c.linked(token, user, err)
}

func (c control) resetUser(r *http.Request) (any, error) {
	id, err := userID(r)
	if err != nil {
		return nil, err
	}
	token, user, err := c.Vault.Users.Reset(r.Context(), operator(r), id)
	return c.linked(token, user, err)
}

func (c control) linked(token string, user title.User, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	link := ""
	if token != "" {
		link = c.Origin + JoinPath + token
	}
	return wire.UserLinked{Link: link, Data: userShape(user)}, nil
}

// JoinPath is where a one-time link leads, before its token.
const JoinPath = "/join/"

func (c control) setUserRole(r *http.Request) (any, error) {
	id, err := userID(r)
	if err != nil {
		return nil, err
	}
	var asked wire.UserRole
	if err := read(r, &asked); err != nil {
		return nil, err
	}
	user, err := c.Vault.Users.SetRole(r.Context(), operator(r), id, title.Role(asked.Role))
	return wire.UserBody{Data: userShape(user)}, err
}

func (c control) disableUser(r *http.Request) (any, error) {
	id, err := userID(r)
	if err != nil {
		return nil, err
	}
	user, err := c.Vault.Users.Disable(r.Context(), operator(r), id)
	return wire.UserBody{Data: userShape(user)}, err
}

func (c control) enableUser(r *http.Request) (any, error) {
	id, err := userID(r)
	if err != nil {
		return nil, err
	}
	user, err := c.Vault.Users.Enable(r.Context(), operator(r), id)
	return wire.UserBody{Data: userShape(user)}, err
}

func userID(r *http.Request) (uint64, error) {
	id, err := strconv.ParseUint(r.PathValue("id"), 10, 64)
	if err != nil {
		return 0, title.Absent("user", r.PathValue("id"))
	}
	return id, nil
}

func userShape(u title.User) wire.User {
	shape := wire.User{
		ID: int64(u.ID), Name: u.Name, Role: string(u.Role), Joined: u.Password != "", SecondFactor: u.Factor != nil,
		CreatedAt: wire.At(u.CreatedAt), LastSeenAt: spoken(u.LastSeenAt), DisabledAt: spoken(u.DisabledAt),
	}
	if u.Link != nil {
		shape.LinkExpiresAt = spoken(&u.Link.ExpiresAt)
	}
	return shape
}

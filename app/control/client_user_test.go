package control_test

import (
	"encoding/json"
	"io"
	"net/http"
	"testing"

	"deedkeep/app/apitypes"
)

func TestUserCommandsSendOneRequest(t *testing.T) {
	var line, body string
	c := newClient(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			t.Errorf("read the body of %s %s: %v", r.Method, r.URL, err)
		}
		line, body = r.Method+" "+r.URL.Path, string(raw)
		response := any(apitypes.UserLinked{Link: "http://vault/join/x", Data: apitypes.User{ID: 3, Name: "kim"}})
		if r.Method == http.MethodGet {
			response = apitypes.Data[[]apitypes.User]{Data: []apitypes.User{{ID: 3, Name: "kim"}}}
		}
		if err := json.NewEncoder(w).Encode(response); err != nil {
			t.Errorf("respond to %s %s: %v", r.Method, r.URL, err)
		}
	}))
	ctx := t.Context()
	password := "a long walk"
	for _, row := range []struct {
		name, line, body string
		call             func() (apitypes.User, error)
	}{
		{"list", "GET /control/users", "", func() (apitypes.User, error) {
			list, err := c.Users(ctx)
			if len(list) != 1 {
				return apitypes.User{}, err
			}
			return list[0], err
		}},
		{"create with a link", "POST /control/users", `{"name":"kim","role":"staff","password":null}`, func() (apitypes.User, error) {
			created, err := c.CreateUser(ctx, apitypes.UserCreate{Name: "kim", Role: "staff"})
			if created.Link != "http://vault/join/x" {
				t.Errorf("link = %q, want http://vault/join/x", created.Link)
			}
			return created.Data, err
		}},
		{"create with a password", "POST /control/users", `{"name":"kim","role":"staff","password":"a long walk"}`,
			func() (apitypes.User, error) {
				created, err := c.CreateUser(ctx, apitypes.UserCreate{Name: "kim", Role: "staff", Password: &password})
				return created.Data, err
			}},
		{"set role", "POST /control/users/3/role", `{"role":"admin"}`, func() (apitypes.User, error) { return c.SetUserRole(ctx, 3, "admin") }},
		{"set title", "POST /control/users/3/profile", `{"title":"a long walk"}`,
			func() (apitypes.User, error) { return c.SetUserProfile(ctx, 3, apitypes.UserProfile{Title: &password}) }},
		{"disable", "POST /control/users/3/disable", `{}`, func() (apitypes.User, error) { return c.DisableUser(ctx, 3) }},
		{"enable", "POST /control/users/3/enable", `{}`, func() (apitypes.User, error) { return c.EnableUser(ctx, 3) }},
		{"reset two-factor authentication", "POST /control/users/3/two-factor/reset", `{}`,
			func() (apitypes.User, error) { return c.ResetUserTwoFactor(ctx, 3) }},
		{"reset", "POST /control/users/3/reset", `{}`,
			func() (apitypes.User, error) { reset, err := c.ResetUser(ctx, 3); return reset.Data, err }},
	} {
		t.Run(row.name, func(t *testing.T) {
			user, err := row.call()
			if err != nil || user.ID != 3 || user.Name != "kim" {
				t.Errorf("got user %+v, %v, want kim with ID 3", user, err)
			}
			if line != row.line || body != row.body {
				t.Errorf("sent %s with body %s, want %s with body %s", line, body, row.line, row.body)
			}
		})
	}
}

package client_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"deedkeep/app/apitypes"
	"deedkeep/app/client"
)

// Each call on users is one request to the control socket.
func TestUsers(t *testing.T) {
	var asked, body string
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		asked, body = r.Method+" "+r.URL.Path, string(raw)
		answer := any(apitypes.UserLinked{Link: "http://vault/join/x", Data: apitypes.User{ID: 3, Name: "kim"}})
		if r.Method == http.MethodGet {
			answer = apitypes.Users{Data: []apitypes.User{{ID: 3, Name: "kim"}}}
		}
		if err := json.NewEncoder(w).Encode(answer); err != nil {
			t.Error(err)
		}
	})
	server := httptest.NewServer(h)
	defer server.Close()
	c, ctx := client.New(server.URL, "", nil), context.Background()
	password := "a long walk"
	for _, row := range []struct {
		want, body string
		do         func() (apitypes.User, error)
	}{
		{"GET /control/users", "", func() (apitypes.User, error) {
			list, err := c.Users(ctx)
			if len(list) != 1 {
				return apitypes.User{}, err
			}
			return list[0], err
		}},
		{"POST /control/users", `{"name":"kim","role":"staff","password":null}`, func() (apitypes.User, error) {
			made, err := c.CreateUser(ctx, apitypes.UserCreate{Name: "kim", Role: "staff"})
			if made.Link != "http://vault/join/x" {
				t.Error(made.Link)
			}
			return made.Data, err
		}},
		{"POST /control/users", `{"name":"kim","role":"staff","password":"a long walk"}`, func() (apitypes.User, error) {
			made, err := c.CreateUser(ctx, apitypes.UserCreate{Name: "kim", Role: "staff", Password: &password})
			return made.Data, err
		}},
		{"POST /control/users/3/role", `{"role":"admin"}`, func() (apitypes.User, error) { return c.SetUserRole(ctx, 3, "admin") }},
		{"POST /control/users/3/disable", `{}`, func() (apitypes.User, error) { return c.DisableUser(ctx, 3) }},
		{"POST /control/users/3/enable", `{}`, func() (apitypes.User, error) { return c.EnableUser(ctx, 3) }},
		{"POST /control/users/3/reset", `{}`, func() (apitypes.User, error) { made, err := c.ResetUser(ctx, 3); return made.Data, err }},
	} {
		user, err := row.do()
		if err != nil || user.ID != 3 || user.Name != "kim" || asked != row.want || body != row.body {
			t.Errorf("%s: asked %s %s, got %+v, %v", row.want, asked, body, user, err)
		}
	}
}

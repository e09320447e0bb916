package ui_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"testing"

	"deedkeep/app/title"
)

// seat is somebody of a role who has signed in.
type seat struct {
	house  *house
	cookie string
	actor  title.Actor
}

// sit makes a user of a role and signs in.
func (h *house) sit(t *testing.T, name string, role title.Role) *seat {
	t.Helper()
	password := "correct horse battery " + name
	_, _, err := h.vault.Users.Create(t.Context(), title.Actor{Kind: "operator"}, title.UserDraft{Name: name, Role: role, Password: &password})
	if err != nil {
		t.Fatal(err)
	}
	got := h.post(t, http.StatusSeeOther, "/sign-in", url.Values{"name": {name}, "password": {password}})
	for _, cookie := range got.Cookies() {
		if cookie.Name == "deedkeep" {
			actor, err := h.vault.Sessions.Authenticate(t.Context(), cookie.Value)
			if err != nil {
				t.Fatal(err)
			}
			return &seat{h, "Cookie: deedkeep=" + cookie.Value, actor}
		}
	}
	t.Fatalf("%s got no session", name)
	return nil
}

// get asks for a page and wants a status; wants are texts that must be in it.
func (s *seat) get(t *testing.T, status int, target string, wants ...string) reply {
	t.Helper()
	got := s.house.status(t, status, http.MethodGet, target, s.cookie)
	got.holds(t, wants...)
	return got
}

// post sends a form.
func (s *seat) post(t *testing.T, status int, target string, form url.Values, header ...string) reply {
	t.Helper()
	return s.house.post(t, status, target, form, append(header, s.cookie)...)
}

type jsonText = json.RawMessage

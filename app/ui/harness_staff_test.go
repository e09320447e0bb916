package ui_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"testing"

	"deedkeep/app/model"
)

// seat is a signed-in user.
type seat struct {
	testServer *testServer
	cookie     string
	actor      model.Actor
}

// sit creates and signs in a user with the role.
func (h *testServer) sit(t *testing.T, name string, role model.Role) *seat {
	t.Helper()
	token, actor := h.newcomer(t, name, role)
	return &seat{h, "Cookie: deedkeep=" + token, actor}
}

// get requests a page and checks the status and the texts in it.
func (s *seat) get(t *testing.T, status int, target string, wants ...string) reply {
	t.Helper()
	got := s.testServer.status(t, status, http.MethodGet, target, s.cookie)
	got.has(t, wants...)
	return got
}

// post submits a form and checks the status.
func (s *seat) post(t *testing.T, status int, target string, form url.Values, header ...string) reply {
	t.Helper()
	return s.testServer.post(t, status, target, form, append(header, s.cookie)...)
}

type jsonText = json.RawMessage

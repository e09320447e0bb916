package ui_test

import (
	"net/http"
	"net/url"
	"testing"

	"deedkeep/app/model"
)

// testUser is a signed-in user.
type testUser struct {
	testServer *testServer
	cookie     string
	actor      model.Actor
}

// newUser creates a user with the given role and signs in.
func (h *testServer) newUser(t *testing.T, name string, role model.Role) *testUser {
	t.Helper()
	token, actor := h.createSession(t, name, role)
	return &testUser{h, "Cookie: deedkeep=" + token, actor}
}

// get requests a page and checks its status and that it contains all of the texts.
func (s *testUser) get(t *testing.T, status int, target string, wants ...string) reply {
	t.Helper()
	got := s.testServer.request(t, status, http.MethodGet, target, s.cookie)
	got.has(t, wants...)
	return got
}

// post submits a form and checks the response status.
func (s *testUser) post(t *testing.T, status int, target string, form url.Values, header ...string) reply {
	t.Helper()
	return s.testServer.post(t, status, target, form, append(header, s.cookie)...)
}

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
func (ts *testServer) newUser(t *testing.T, name string, role model.Role) *testUser {
	t.Helper()
	token, actor := ts.createSession(t, name, role)
	return &testUser{ts, "Cookie: deedkeep=" + token, actor}
}

// get requests a page and checks its status and that it contains all of the texts.
func (tu *testUser) get(t *testing.T, status int, target string, wants ...string) reply {
	t.Helper()
	got := tu.testServer.request(t, status, http.MethodGet, target, tu.cookie)
	got.has(t, wants...)
	return got
}

// post submits a form and checks the response status.
func (tu *testUser) post(t *testing.T, status int, target string, form url.Values, header ...string) reply {
	t.Helper()
	return tu.testServer.post(t, status, target, form, append(header, tu.cookie)...)
}

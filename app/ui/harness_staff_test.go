package ui_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"testing"

	"deedkeep/app/model"
)

// seat is somebody of a role who has signed in.
type seat struct {
	house  *house
	cookie string
	actor  model.Actor
}

// sit makes a user of a role and signs in.
func (h *house) sit(t *testing.T, name string, role model.Role) *seat {
	t.Helper()
	token, actor := h.newcomer(t, name, role)
	return &seat{h, "Cookie: deedkeep=" + token, actor}
}

// get asks for a page and wants a status; wants are texts that must be in it.
func (s *seat) get(t *testing.T, status int, target string, wants ...string) reply {
	t.Helper()
	got := s.house.status(t, status, http.MethodGet, target, s.cookie)
	got.has(t, wants...)
	return got
}

// post sends a form.
func (s *seat) post(t *testing.T, status int, target string, form url.Values, header ...string) reply {
	t.Helper()
	return s.house.post(t, status, target, form, append(header, s.cookie)...)
}

type jsonText = json.RawMessage

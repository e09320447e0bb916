package ui_test

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"deedkeep/app/model"
)

// guest is a browser with a session.
type guest struct {
	h      *house
	client *http.Client
	token  string
	actor  model.Actor
}

// visit signs a new user of a role in. Redirects are not followed.
func (h *house) visit(t *testing.T, role model.Role) *guest {
	t.Helper()
	token, actor := h.newcomer(t, "Kim of "+string(role), role)
	return &guest{h: h, token: token, actor: actor, client: &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// get reads a page and wants that status.
func (g *guest) get(t *testing.T, want int, path string, header ...string) reply {
	t.Helper()
	return g.send(t, want, http.MethodGet, path, nil, header)
}

// post sends a form.
func (g *guest) post(t *testing.T, want int, path string, form url.Values, header ...string) reply {
	t.Helper()
	return g.send(t, want, http.MethodPost, path, form, header)
}

func (g *guest) send(t *testing.T, want int, method, path string, form url.Values, header []string) reply {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, g.h.server.URL+path, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	req.AddCookie(&http.Cookie{Name: "deedkeep", Value: g.token})
	response, err := g.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if response.StatusCode != want {
		t.Errorf("%s %s: status %d, want %d\n%s", method, path, response.StatusCode, want, body)
	}
	return reply{response, body}
}

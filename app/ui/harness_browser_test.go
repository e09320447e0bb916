package ui_test

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"deedkeep/app/model"
)

// browser is an HTTP client with a session. It doesn't follow redirects.
type browser struct {
	h      *testServer
	client *http.Client
	token  string
	actor  model.Actor
}

// openBrowser creates a user with the given role, signs in, and returns the browser.
func (ts *testServer) openBrowser(t *testing.T, role model.Role) *browser {
	t.Helper()
	return ts.openBrowserAs(t, "Kim of "+string(role), role)
}

// openBrowserAs returns a browser in which a new user with this name is signed in.
func (ts *testServer) openBrowserAs(t *testing.T, name string, role model.Role) *browser {
	t.Helper()
	token, actor := ts.createSession(t, name, role)
	return &browser{h: ts, token: token, actor: actor, client: &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// get requests a page and checks the response status.
func (b *browser) get(t *testing.T, want int, path string, header ...string) reply {
	t.Helper()
	return b.send(t, want, http.MethodGet, path, nil, header)
}

// post submits a form and checks the response status.
func (b *browser) post(t *testing.T, want int, path string, form url.Values, header ...string) reply {
	t.Helper()
	return b.send(t, want, http.MethodPost, path, form, header)
}

func (b *browser) send(t *testing.T, want int, method, path string, form url.Values, header []string) reply {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, b.h.server.URL+path, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatalf("new request: %v", err)
	}
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	req.AddCookie(&http.Cookie{Name: "deedkeep", Value: b.token})
	response, err := b.client.Do(req)
	if err != nil {
		t.Fatalf("send request: %v", err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatalf("read response body: %v", err)
	}
	if response.StatusCode != want {
		t.Errorf("%s %s: status %d, want %d\n%s", method, path, response.StatusCode, want, body)
	}
	return newReply(response, body)
}

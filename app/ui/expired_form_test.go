package ui_test

import (
	"net/url"
	"testing"

	"deedkeep/app/model"
)

// If the session expires while a form is open, the typed text isn't lost.
func TestSignedOutWhileTyping(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	kim := h.openBrowser(t, model.RoleAdmin)
	path := kim.post(t, 303, "/abstracts", url.Values{"once": {"a"}, "county": {"Albany"}}).Header.Get("Location")
	if err := h.vault.Sessions.SignOut(t.Context(), kim.token, "192.0.2.1"); err != nil {
		t.Fatalf("Sessions.SignOut: %v", err)
	}
	typed := url.Values{"group": {"property"}, "county": {`Sara<toga> "x"`}, "city": {"one", "two"}}

	part := kim.post(t, 401, path, typed, "HX-Request", "true")
	part.checkHeaders(t, map[string]string{"HX-Redirect": "", "Cache-Control": "no-store"})
	part.has(t, "You were signed out.", `href="/sign-in" target="_blank"`)
	kim.get(t, 401, path+"?group=property&edit=1", "HX-Request", "true", "HX-Current-URL", h.server.URL+path).checkHeaders(t,
		map[string]string{"HX-Redirect": "/sign-in?to=" + url.QueryEscape(path)})
	// Filters that the user typed are kept even though they are not in the address yet.
	for path, to := range map[string]string{"/find": "/find?kind=order&q=wexcombe+m%26l",
		"/orders": "/orders?kind=order&q=wexcombe+m%26l", "/abstracts": "/abstracts?kind=order&q=wexcombe+m%26l"} {
		t.Run(path, func(t *testing.T) {
			kim.get(t, 401, path+"?kind=order&go=1&county=&q=wexcombe+m%26l", "HX-Request", "true", "HX-Current-URL",
				h.server.URL+path+"?q=wexcombe").
				checkHeaders(t, map[string]string{"HX-Redirect": "/sign-in?to=" + url.QueryEscape(to)})
		})
	}

	page := kim.post(t, 401, path, typed)
	page.checkHeaders(t, map[string]string{"Cache-Control": "no-store"})
	page.has(t, "Your changes aren't saved yet", `action="`+path+`"`, `name="county" value="Sara&lt;toga&gt; &#34;x&#34;"`,
		`name="city" value="one"`, `name="city" value="two"`)
	kim.post(t, 403, path, typed, "Sec-Fetch-Site", "cross-site").lacks(t, "toga")

	// Signing out in another tab deletes the cookie that both tabs have.
	h.post(t, 401, path, typed, "Origin: http://vault.test").has(t, "Your changes aren't saved yet", `name="city" value="two"`)

	// These forms are not shown again: forms that may contain passwords, unreadable forms, and
	// forms that no browser sent.
	for _, path := range []string{"/me/password", "/admin/users", "/sign-out"} {
		kim.post(t, 303, path, url.Values{"password": {"secret"}, "name": {"x"}})
	}
	kim.post(t, 303, path, nil)
	kim.post(t, 303, path, typed, "Content-Type", "text/plain")
	h.post(t, 303, path, typed)

	otherUser := h.openBrowser(t, model.RoleStaff)
	otherUser.post(t, 303, path, url.Values{"group": {"property"}, "county": typed["county"]})
	otherUser.get(t, 200, path).has(t, "Sara&lt;toga&gt;")
}

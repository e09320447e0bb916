package ui_test

import (
	"net/url"
	"testing"

	"deedkeep/app/model"
)

// A session that ends while a form is open takes nothing of what was typed with it.
func TestSignedOutWhileTyping(t *testing.T) {
	t.Parallel()
	h := open(t)
	kim := h.visit(t, model.RoleAdmin)
	made := kim.post(t, 303, "/abstracts", url.Values{"once": {"a"}, "county": {"Albany"}}).Header.Get("Location")
	if err := h.vault.Sessions.SignOut(t.Context(), kim.token, "192.0.2.1"); err != nil {
		t.Fatal(err)
	}
	typed := url.Values{"group": {"property"}, "county": {`Sara<toga> "x"`}, "city": {"one", "two"}}

	part := kim.post(t, 401, made, typed, "HX-Request", "true")
	part.same(t, map[string]string{"HX-Redirect": "", "Cache-Control": "no-store"})
	part.has(t, "You were signed out.", `href="/sign-in" target="_blank"`)
	kim.get(t, 401, made+"?group=property&edit=1", "HX-Request", "true", "HX-Current-URL", h.server.URL+made).same(t, map[string]string{"HX-Redirect": "/sign-in?to=" + url.QueryEscape(made)})
	// What was typed into the filters of a list is in no address yet.
	for path, to := range map[string]string{"/find": "/find?kind=order&q=wexcombe+m%26l", "/orders": "/orders?kind=order&q=wexcombe+m%26l", "/abstracts": "/abstracts?kind=order&q=wexcombe+m%26l"} {
		kim.get(t, 401, path+"?kind=order&go=1&county=&q=wexcombe+m%26l", "HX-Request", "true", "HX-Current-URL", h.server.URL+path+"?q=wexcombe").
			same(t, map[string]string{"HX-Redirect": "/sign-in?to=" + url.QueryEscape(to)})
	}

	page := kim.post(t, 401, made, typed)
	page.same(t, map[string]string{"Cache-Control": "no-store"})
	page.has(t, "Nothing was saved yet", `action="`+made+`"`, `name="county" value="Sara&lt;toga&gt; &#34;x&#34;"`, `name="city" value="one"`, `name="city" value="two"`)
	kim.post(t, 403, made, typed, "Sec-Fetch-Site", "cross-site").lacks(t, "toga")

	// What may be a password is never handed back, nor what nobody can read, nor what
	// a browser sends that was never signed in.
	for _, path := range []string{"/me/password", "/admin/users", "/sign-out"} {
		kim.post(t, 303, path, url.Values{"password": {"secret"}, "name": {"x"}})
	}
	kim.post(t, 303, made, nil)
	kim.post(t, 303, made, typed, "Content-Type", "text/plain")
	h.post(t, 303, made, typed)

	again := h.visit(t, model.RoleStaff) // a colleague
	again.post(t, 303, made, url.Values{"group": {"property"}, "county": typed["county"]})
	again.get(t, 200, made).has(t, "Sara&lt;toga&gt;")
}

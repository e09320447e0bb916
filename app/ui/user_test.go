package ui_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"deedkeep/app/model"
)

func TestInvite(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	cookie := h.cookieFor(t, "Owner")
	h.request(t, 200, "GET", "/admin/users", cookie).has(t, "Owner", "(you)", "Administrator", "Active", "Invite user")
	h.request(t, 200, "GET", "/admin/users/new", cookie).has(t, `value="staff" required checked`)
	h.post(t, 422, "/admin/users", url.Values{"role": {"staff"}}, cookie).has(t, "The name field is required.",
		`aria-describedby="name-problem"`)
	h.post(t, 422, "/admin/users", url.Values{"name": {"kim"}, "role": {"king"}}, cookie).has(t, "The selected role is invalid.",
		`value="kim"`)
	h.post(t, 422, "/admin/users", url.Values{"name": {"OWNER"}, "role": {"staff"}}, cookie).has(t, "name-problem")
	invited := h.post(t, 200, "/admin/users", url.Values{"name": {"Kim & <Lee>"}, "role": {"viewer"}, "full_name": {"Kim Lee"}}, cookie)
	invited.has(t, "One-time link for Kim &amp; &lt;Lee&gt; (Viewer)", "May 30, 2026", `data-copy="#link"`)
	invited.checkHeaders(t, map[string]string{"Cache-Control": "no-store"})
	link := invited.matches(t, `value="(http://vault\.test/join/[0-9A-Za-z]{43})"`)[0]
	list := h.request(t, 200, "GET", "/admin/users", cookie)
	list.has(t, "Kim &amp; &lt;Lee&gt;", ">Kim Lee</span>", "Invited", "Never")
	list.lacks(t, "/join/")
	path := strings.TrimPrefix(link, "http://vault.test")
	h.request(t, 200, "GET", path).has(t, `value="Kim &amp; &lt;Lee&gt;" readonly`)
	h.clock.Advance(model.PasswordLinkTTL)
	h.request(t, 404, "GET", path)
	cookie = h.cookieFor(t, "Owner")
	h.request(t, 200, "GET", "/admin/users", cookie).has(t, "Link expired")
	user, err := h.vault.Users.GetByName(t.Context(), "Kim & <Lee>")
	if err != nil {
		t.Fatalf("Users.GetByName: %v", err)
	}
	secondLink := h.post(t, 200, fmt.Sprintf("/admin/users/%d/reset", user.ID), nil, cookie).matches(t,
		`value="http://vault\.test(/join/[0-9A-Za-z]{43})"`)[0]
	signedIn := h.post(t, 303, secondLink, newPasswordForm(goodPassword))
	h.request(t, 403, "GET", "/admin/users", "Cookie: "+signedIn.cookies()).has(t, "Your role doesn&#39;t allow this.")
}

func TestChangeUser(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	kim := h.createUser(t, "kim", model.RoleAdmin)
	cookie, theirs := h.cookieFor(t, "Owner"), h.cookieFor(t, "kim")
	at := fmt.Sprintf("/admin/users/%d", kim.ID)
	h.request(t, 200, "GET", at, cookie).has(t, "Change role", "Reset", "Disable", `value="admin" required checked`)
	for _, unknown := range []string{"/admin/users/99", "/admin/users/0", "/admin/users/x", "/admin/users/01"} {
		h.request(t, 404, "GET", unknown, cookie)
		for _, verb := range []string{"/name", "/profile", "/role", "/reset", "/disable", "/enable"} {
			h.post(t, 404, unknown+verb, url.Values{"name": {"x"}, "role": {"staff"}}, cookie)
		}
	}
	h.post(t, 422, at+"/name", url.Values{"name": {"owner"}}, cookie).has(t, `aria-describedby="name-problem"`)
	h.post(t, 303, at+"/name", url.Values{"name": {"Kim Lee"}}, cookie)
	h.post(t, 303, at+"/profile", url.Values{"full_name": {"Kim Lee"}, "title": {"Examiner"}}, cookie)
	h.post(t, 422, at+"/profile", url.Values{"title": {strings.Repeat("x", 256)}}, cookie).has(t, `id="title-problem"`)
	h.request(t, 200, "GET", "/admin/users", cookie).has(t, "Kim Lee, Examiner")
	h.post(t, 422, at+"/profile", url.Values{"full_name": {"a\x00"}}, cookie).has(t, `id="full_name-problem"`)
	own := h.request(t, 200, "GET", "/me", theirs) // users can't take the name of another person
	own.has(t, "<dt>Full name</dt><dd>Kim Lee</dd>", "<dt>Job title</dt><dd>Examiner</dd>", "An administrator can change")
	own.lacks(t, `name="full_name"`)
	h.post(t, 404, "/me/profile", url.Values{"full_name": {"Mary Jones"}}, theirs)
	h.request(t, 200, "GET", "/admin/activity", cookie).has(t, "changed the name and title of", "Full name")
	h.post(t, 422, at+"/role", url.Values{"role": {"king"}}, cookie).has(t, "The selected role is invalid.")
	h.post(t, 303, at+"/role", url.Values{"role": {"viewer"}}, cookie)
	h.request(t, 403, "GET", "/admin/users", theirs) // takes effect with the next request
	done := h.post(t, 303, at+"/disable", nil, cookie)
	h.request(t, 200, "GET", "/admin/users", cookie+"; "+done.cookies()).has(t,
		"Kim Lee is disabled and signed out everywhere.", "Disabled")
	h.request(t, 303, "GET", "/", theirs)
	h.post(t, 409, at+"/reset", nil, cookie).has(t, "This user is disabled. Enable the user first.")
	h.request(t, 200, "GET", at, cookie).has(t, "Enable account")
	h.post(t, 303, at+"/enable", nil, cookie)
	h.cookieFor(t, "Kim Lee")
	link := h.post(t, 200, at+"/reset", nil, cookie).matches(t, `value="http://vault\.test(/join/[0-9A-Za-z]{43})"`)[0]
	h.post(t, 422, "/sign-in", credentials("Kim Lee", goodPassword, ""))
	h.request(t, 200, "GET", link).has(t, "Choose a new password")
}

// Administrators can't disable themselves or the last administrator.
func TestLastAdministrator(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	cookie := h.cookieFor(t, "Owner")
	page := h.request(t, 200, "GET", "/admin/users/1", cookie)
	page.has(t, "Your account")
	page.lacks(t, "Disable account<", "Reset account<")
	h.post(t, 409, "/admin/users/1/role", url.Values{"role": {"staff"}}, cookie).has(t, "Ask another administrator")
	h.post(t, 409, "/admin/users/1/disable", nil, cookie).has(t, "You can&#39;t disable your own account")
	h.post(t, 409, "/admin/users/1/reset", nil, cookie)
	// If two administrators disable each other at the same time, one of them remains enabled and
	// sees why.
	kim := h.createUser(t, "kim", model.RoleAdmin)
	other := h.cookieFor(t, "kim")
	h.post(t, 303, fmt.Sprintf("/admin/users/%d/role", kim.ID), url.Values{"role": {"staff"}}, cookie)
	h.post(t, 403, "/admin/users/1/role", url.Values{"role": {"staff"}}, other)
	h.request(t, 200, "GET", "/admin/users", cookie)
}

func TestCreateKey(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	cookie := h.cookieFor(t, "Owner")
	h.request(t, 200, "GET", "/admin/keys", cookie).has(t, "No API keys yet")
	h.request(t, 200, "GET", "/admin/keys/new", cookie).has(t, `value="api:v1" checked`, "90 days", "Never")
	form := url.Values{"name": {"Closing <b>"}, "ability": {"api:v1:read", "events"}, "life": {"90"}}
	for field, wrong := range map[string]string{"name": "", "ability": "all", "life": "7"} {
		t.Run(field, func(t *testing.T) {
			bad := url.Values{"name": form["name"], "ability": form["ability"], "life": form["life"]}
			bad.Set(field, wrong)
			h.post(t, 422, "/admin/keys", bad, cookie).has(t, `class="problem"`)
		})
	}
	h.post(t, 422, "/admin/keys", url.Values{"name": {"x"}, "life": {"90"}}, cookie).has(t, "Select at least one permission.")
	created := h.post(t, 200, "/admin/keys", form, cookie)
	created.checkHeaders(t, map[string]string{"Cache-Control": "no-store"})
	created.has(t, "Closing &lt;b&gt;", "Aug 2", `curl -H "Authorization: Bearer $DEEDKEEP_KEY" "http://vault.test/v1/abstracts"`)
	text := created.matches(t, `id="key" value="(dk_live_[0-9A-Za-z]+)"`)[0]
	if strings.Count(string(created.body), text) != 1 {
		t.Error("the key is shown more than once")
	}
	actor, err := h.vault.Keys.Authenticate(t.Context(), text)
	if err != nil || len(actor.Abilities) != 2 {
		t.Fatalf("Keys.Authenticate = %+v, %v, want two abilities", actor, err)
	}
	list := h.request(t, 200, "GET", "/admin/keys", cookie)
	list.has(t, "Closing &lt;b&gt;", "Active", "<code>api:v1:read</code>, <code>events</code>", text[:12])
	list.lacks(t, text)
	at := fmt.Sprintf("/admin/keys/%d", actor.ID)
	page := h.request(t, 200, "GET", at, cookie)
	page.has(t, "Rotate key", "Revoke key")
	page.lacks(t, text)
	permanent := h.post(t, 200, "/admin/keys", url.Values{"name": {"x"}, "ability": {"metrics"}, "life": {"never"}}, cookie)
	permanent.has(t, "It never expires.")
	permanent.lacks(t, "curl")
}

func TestReplaceAndRevokeKey(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	cookie := h.cookieFor(t, "Owner")
	text, key, err := h.vault.Keys.Create(t.Context(), model.Actor{Kind: "operator"}, model.KeyDraft{Name: "closing"})
	if err != nil {
		t.Fatalf("Keys.Create: %v", err)
	}
	at, next := fmt.Sprintf("/admin/keys/%d", key.ID), fmt.Sprintf("/admin/keys/%d", key.ID+1)
	h.post(t, 422, at+"/rotate", url.Values{"overlap": {"365"}}, cookie).has(t, "Select one of the options.")
	fresh := h.post(t, 200, at+"/rotate", url.Values{"overlap": {"7"}}, cookie).matches(t, `id="key" value="(dk_live_[0-9A-Za-z]+)"`)[0]
	checkKey := func(text string, want bool) {
		t.Helper()
		if _, err := h.vault.Keys.Authenticate(t.Context(), text); (err == nil) != want {
			t.Errorf("Keys.Authenticate = %v, want success %t", err, want)
		}
	}
	checkKey(text, true)
	checkKey(fresh, true)
	h.request(t, 200, "GET", "/admin/keys", cookie).has(t, "Expires soon")
	h.clock.Advance(7 * 24 * time.Hour)
	cookie = h.cookieFor(t, "Owner")
	checkKey(text, false)
	checkKey(fresh, true)
	h.request(t, 200, "GET", at, cookie).lacks(t, "Revoke key")
	h.post(t, 409, at+"/rotate", url.Values{"overlap": {"7"}}, cookie).has(t, "The API key has expired or was revoked")
	h.post(t, 422, next+"/revoke", nil, cookie).has(t, "Select this box to revoke the key.")
	checkKey(fresh, true)
	h.post(t, 303, next+"/revoke", url.Values{"sure": {"yes"}}, cookie)
	checkKey(fresh, false)
	h.request(t, 200, "GET", "/admin/keys", cookie).has(t, "Revoked", "Expired")
	for _, unknown := range []string{"/admin/keys/99", "/admin/keys/0", "/admin/keys/x"} {
		h.request(t, 404, "GET", unknown, cookie)
		h.post(t, 404, unknown+"/rotate", url.Values{"overlap": {"0"}}, cookie)
		h.post(t, 404, unknown+"/revoke", url.Values{"sure": {"yes"}}, cookie)
	}
}

package ui_test

import (
	"html"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"deedkeep/app/auth"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/vaulttest"
)

// matches returns the text of the pattern's capture group for each match in the page. It fails the
// test if there are no matches.
func (r reply) matches(t *testing.T, pattern string) []string {
	t.Helper()
	var texts []string
	for _, match := range regexp.MustCompile(pattern).FindAllStringSubmatch(string(r.body), -1) {
		texts = append(texts, html.UnescapeString(match[1]))
	}
	if len(texts) == 0 {
		t.Fatalf("no match of %s in\n%s", pattern, r.body)
	}
	return texts
}

func currentPasswordForm(password string) url.Values {
	return url.Values{"current_password": {password}}
}

func TestAccountPassword(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	h.createUser(t, "kim", model.RoleViewer)
	cookie, other := h.cookieFor(t, "kim"), h.cookieFor(t, "kim")
	h.request(t, 200, "GET", "/me", cookie).has(t, "kim", "Viewer", "Change password", `autocomplete="current-password"`,
		`autocomplete="new-password"`, passwordRule)
	form := newPasswordForm("Canary anew and longer")
	form.Set("current_password", "Canary wrong")
	h.post(t, 422, "/me/password", form, cookie).has(t, "The current password is incorrect.", `aria-describedby="present-problem"`)
	form.Set("current_password", goodPassword)
	form.Set("again", "Canary other")
	h.post(t, 422, "/me/password", form, cookie).has(t, "The passwords don&#39;t match.", `aria-describedby="again-problem"`)
	form.Set("password", "Canary")
	form.Set("again", "Canary")
	h.post(t, 422, "/me/password", form, cookie).has(t, "must have at least 10 characters", `aria-describedby="fresh-problem fresh-hint"`)
	form.Set("password", "Canary anew and longer")
	form.Set("again", "Canary anew and longer")
	done := h.post(t, 303, "/me/password", form, cookie)
	h.request(t, 200, "GET", "/me", cookie+"; "+done.cookies()).has(t, "Password changed.")
	h.request(t, 303, "GET", "/me", other) // the other session has been signed out
	h.post(t, 303, "/sign-in", credentials("kim", "Canary anew and longer", ""))
}

// Someone with access to an open session can't guess the user's password.
func TestAccountResistsGuessing(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	cookie := h.cookieFor(t, "Owner")
	for range 3 {
		h.post(t, 422, "/me/second-factor", currentPasswordForm("Canary wrong"), cookie)
	}
	h.post(t, 429, "/me/second-factor", currentPasswordForm(goodPassword), cookie).has(t, "Too many sign-in attempts.")
	h.post(t, 429, "/me/password", currentPasswordForm(goodPassword), cookie).checkHeaders(t, map[string]string{"Retry-After": "1"})
}

func TestAccountTwoFactor(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	cookie := h.cookieFor(t, "Owner")
	h.post(t, 422, "/me/second-factor", currentPasswordForm("Canary wrong"), cookie).has(t, "The current password is incorrect.",
		`aria-describedby="factor-password-problem"`)
	h.post(t, 409, "/me/second-factor/confirm", url.Values{"code": {"123456"}}, cookie)
	offer := h.post(t, 200, "/me/second-factor", currentPasswordForm(goodPassword), cookie)
	offer.checkHeaders(t, map[string]string{"Cache-Control": "no-store", "Content-Security-Policy": policy})
	offer.has(t, `<svg viewBox="0 0 `, `role="img"`, `fill="#fff"`)
	offer.lacks(t, "otpauth:", "data:", "<img")
	typed := offer.matches(t, `<code id="secret">([A-Z2-7 ]+)</code>`)[0]
	if groups := strings.Fields(typed); len(groups) != 8 || len(groups[0]) != 4 {
		t.Errorf("secret is shown as %q, want 8 groups of 4 characters", typed)
	}
	plain := strings.ReplaceAll(typed, " ", "")
	wrong := h.post(t, 422, "/me/second-factor/confirm", url.Values{"code": {"000000"}}, cookie)
	wrong.has(t, "Incorrect verification code.", `aria-describedby="code-problem"`)
	wrong.lacks(t, typed, "<rect")
	shown := h.post(t, 200, "/me/second-factor/confirm", url.Values{"code": {h.totpCode(t, plain)}}, cookie)
	shown.checkHeaders(t, map[string]string{"Cache-Control": "no-store"})
	codes := shown.matches(t, `name="code" value="([a-z2-7-]+)"`)
	if len(codes) != 10 {
		t.Fatalf("recovery codes = %d, want 10", len(codes))
	}
	page := h.request(t, 200, "GET", "/me", cookie)
	page.has(t, "You have 10 recovery codes left")
	for _, secret := range append(codes, plain, typed) {
		page.lacks(t, secret)
	}
	saved := h.post(t, 200, "/me/second-factor/codes.txt", url.Values{"code": codes}, cookie)
	saved.checkHeaders(t, map[string]string{
		"Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff",
		"Content-Disposition": `attachment; filename="deedkeep-recovery-codes.txt"`,
	})
	saved.has(t, codes...)
	h.post(t, 422, "/me/second-factor/codes.txt", url.Values{"code": {"<script>"}}, cookie)
	h.secrets = append(append(h.secrets, codes...), plain, typed)
}

// New recovery codes replace the old ones, and users can turn off two-factor authentication.
func TestAccountWithoutTwoFactor(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	_, codes := h.setUpTwoFactor(t, "Owner")
	cookie := "Cookie: deedkeep=" + h.signIn(t, "Owner", codes[9])
	form := currentPasswordForm(goodPassword)
	form.Set("once", h.request(t, 200, "GET", "/me", cookie).matches(t, onceField)[0])
	again := h.post(t, 200, "/me/second-factor/codes", form, cookie)
	h.post(t, 409, "/me/second-factor/codes", form, cookie).has(t, "These recovery codes were already created")
	again.lacks(t, codes[0])
	if _, err := h.vault.Users.SignIn(t.Context(), auth.SignInDraft{Name: "owner", Password: goodPassword, Code: codes[0]}); err == nil {
		t.Error("sign-in with a replaced recovery code succeeds, want an error")
	}
	fresh := again.matches(t, `name="code" value="([a-z2-7-]+)"`)
	h.signIn(t, "owner", fresh[0])
	h.post(t, 422, "/me/second-factor/remove", currentPasswordForm("Canary wrong"), cookie)
	h.clock.Advance(time.Minute)
	h.post(t, 303, "/me/second-factor/remove", currentPasswordForm(goodPassword), cookie)
	h.request(t, 200, "GET", "/me", cookie).has(t, "Set up two-factor authentication")
	h.signIn(t, "owner", "")
	h.post(t, 409, "/me/second-factor/remove", currentPasswordForm(goodPassword), cookie).has(t, "Two-factor authentication isn&#39;t set up.")
	h.secrets = append(append(h.secrets, codes...), fresh...)
}

// If two-factor authentication is required, only the account page is available until the user has
// set it up.
func TestEnroll(t *testing.T) {
	t.Parallel()
	h := newEmptyTestServer(t, func(o *instance.Options) {
		o.Load = vaulttest.With(map[string]string{"users.require_two_factor": "true"})
	})
	h.createUser(t, "Owner", model.RoleAdmin)
	signedIn := h.post(t, 303, "/sign-in", credentials("owner", goodPassword, "/admin/users"))
	signedIn.checkHeaders(t, map[string]string{"Location": "/me"})
	cookie := "Cookie: " + signedIn.cookies()
	h.request(t, 303, "GET", "/", cookie).checkHeaders(t, map[string]string{"Location": "/me"})
	h.post(t, 303, "/admin/users", url.Values{"name": {"x"}, "role": {"admin"}}, cookie).checkHeaders(t, map[string]string{"Location": "/me"})
	page := h.request(t, 200, "GET", "/me", cookie)
	page.has(t, "Two-factor authentication is required.")
	page.lacks(t, `href="/admin`, `href="/orders"`)
	offer := h.post(t, 200, "/me/second-factor", currentPasswordForm(goodPassword), cookie)
	plain := strings.ReplaceAll(offer.matches(t, `<code id="secret">([A-Z2-7 ]+)</code>`)[0], " ", "")
	h.post(t, 200, "/me/second-factor/confirm", url.Values{"code": {h.totpCode(t, plain)}}, cookie).has(t, `href="/orders"`)
	h.request(t, 200, "GET", "/", cookie)
	enrolled := h.request(t, 200, "GET", "/me", cookie)
	enrolled.lacks(t, "Turn off", "is required.")
	h.post(t, 409, "/me/second-factor/remove", currentPasswordForm(goodPassword), cookie).has(t,
		"turn off two-factor authentication because this server requires it")
}

func TestSessions(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	h.createUser(t, "kim", model.RoleViewer)
	one, two, three, kim := h.cookieFor(t, "Owner"), h.cookieFor(t, "Owner"), h.cookieFor(t, "Owner"), h.cookieFor(t, "kim")
	page := h.request(t, 200, "GET", "/me", one)
	page.has(t, "Firefox on Windows", "192.0.2.9", "This device", "Sign out other devices", "Sign out everywhere")
	ids := page.matches(t, `name="session" value="([0-9a-f]+)"`)
	if len(ids) != 2 {
		t.Fatalf("other sessions = %d, want 2", len(ids))
	}
	h.post(t, 303, "/me/sessions/end", url.Values{"session": {ids[0]}}, kim) // the ID of another user's session has no effect
	for _, unknown := range []string{"", "x", ids[0][:4]} {
		h.post(t, 303, "/me/sessions/end", url.Values{"session": {unknown}}, one)
	}
	h.request(t, 200, "GET", "/me", two)
	h.request(t, 200, "GET", "/me", three)
	h.post(t, 303, "/me/sessions/end", url.Values{"session": {ids[0]}}, one).checkHeaders(t, map[string]string{"Location": "/me"})
	signedIn := 0
	for _, cookie := range []string{two, three} {
		if h.send(t, "GET", "/me", cookie).StatusCode == 200 {
			signedIn++
		}
	}
	if signedIn != 1 {
		t.Errorf("signed-in sessions of two = %d, want 1", signedIn)
	}
	h.post(t, 303, "/me/sessions/end-others", nil, one)
	h.request(t, 303, "GET", "/me", two)
	h.request(t, 303, "GET", "/me", three)
	again := h.cookieFor(t, "Owner")
	out := h.post(t, 303, "/me/sessions/end-all", nil, one)
	out.checkHeaders(t, map[string]string{"Location": "/sign-in"})
	if deleted := out.cookie(t, "deedkeep"); deleted.MaxAge != -1 {
		t.Errorf("session cookie = %+v, want it deleted", deleted)
	}
	h.request(t, 303, "GET", "/me", one)
	h.request(t, 303, "GET", "/me", again)
	h.request(t, 200, "GET", "/me", kim)
}

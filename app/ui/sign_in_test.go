package ui_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"deedkeep/app/auth"
	"deedkeep/app/model"
	"deedkeep/app/secret"
)

func credentials(name, password, to string) url.Values {
	return url.Values{"name": {name}, "password": {password}, "to": {to}}
}

// cookie returns the named cookie that the response sets.
func (r reply) cookie(t *testing.T, name string) *http.Cookie {
	t.Helper()
	for _, cookie := range r.Cookies() {
		if cookie.Name == name {
			return cookie
		}
	}
	t.Fatalf("Set-Cookie = %q, want the cookie %s", r.Header["Set-Cookie"], name)
	return nil
}

// setUpTwoFactor sets up two-factor authentication for a user. It returns the TOTP secret and the
// recovery codes.
func (ts *testServer) setUpTwoFactor(t *testing.T, name string) (totpSecret string, codes []string) {
	t.Helper()
	actor, err := ts.vault.Sessions.Authenticate(t.Context(), ts.signIn(t, name, ""))
	if err != nil {
		t.Fatalf("Sessions.Authenticate: %v", err)
	}
	offer, err := ts.vault.Users.BeginTwoFactor(t.Context(), actor, goodPassword)
	if err != nil {
		t.Fatalf("Users.BeginTwoFactor: %v", err)
	}
	if codes, err = ts.vault.Users.ConfirmTwoFactor(t.Context(), actor, ts.totpCode(t, offer.Secret)); err != nil {
		t.Fatalf("Users.ConfirmTwoFactor: %v", err)
	}
	ts.clock.Advance(time.Minute)
	return offer.Secret, codes
}

func (ts *testServer) totpCode(t *testing.T, key string) string {
	t.Helper()
	code, err := totp.GenerateCode(key, ts.clock.Now())
	if err != nil {
		t.Fatalf("totp.GenerateCode: %v", err)
	}
	return code
}

// Until the first administrator is created, all pages only explain the setup link.
func TestSetupRequired(t *testing.T) {
	t.Parallel()
	h := newEmptyTestServer(t, nil)
	h.createUser(t, "viewer", model.RoleViewer)
	for _, path := range []string{"/", "/sign-in", "/abstracts", "/me", "/nothing", "/admin/users"} {
		page := h.request(t, 503, "GET", path)
		page.has(t, "deedkeep is not set up yet", "deedkeep serve", "deedkeep users create NAME --role admin")
		page.lacks(t, "<form", "<nav")
		page.checkHeaders(t, map[string]string{"Cache-Control": "no-store", "Content-Security-Policy": policy})
	}
	h.post(t, 503, "/sign-in", credentials("viewer", goodPassword, ""))
	h.request(t, 503, "PUT", "/", "Content-Length: 0")
	// Assets and download links work before setup.
	h.request(t, 404, "GET", "/assets/x")
	h.request(t, 403, "GET", "/dl/x")
	token, err := h.vault.Users.NewFirstLink(t.Context())
	if err != nil {
		t.Fatalf("Users.NewFirstLink: %v", err)
	}
	h.request(t, 200, "GET", "/join/"+token)
	form := newPasswordForm(goodPassword)
	form.Set("name", "owner")
	h.post(t, 303, "/join/"+token, form)
	h.request(t, 200, "GET", "/sign-in")
	h.request(t, 303, "GET", "/")
}

// Over HTTPS, the session cookie has the Secure attribute and is restricted to this host.
func TestSessionCookie(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	for scheme, name := range map[string]string{"http://": "deedkeep", "https://": "__Host-deedkeep"} {
		t.Run(scheme, func(t *testing.T) {
			h.scheme = scheme
			got := h.post(t, 303, "/sign-in", credentials("owner", goodPassword, ""), "Origin: "+scheme+"vault.test").cookie(t, name)
			if !got.HttpOnly || got.Secure != (scheme == "https://") || got.SameSite != http.SameSiteLaxMode || got.Path != "/" ||
				got.Domain != "" || got.MaxAge != 0 || !got.Expires.IsZero() {
				t.Errorf("unexpected session cookie: %+v", got)
			}
			h.request(t, 200, "GET", "/", "Cookie: "+name+"="+got.Value)
			if scheme == "https://" { // another port or host may have set a cookie with this name
				h.request(t, 303, "GET", "/", "Cookie: deedkeep="+got.Value)
			}
			out := h.post(t, 303, "/sign-out", nil, "Cookie: "+name+"="+got.Value)
			if deleted := out.cookie(t, name); deleted.MaxAge != -1 || deleted.Value != "" || !deleted.HttpOnly || deleted.Secure != (scheme == "https://") {
				t.Errorf("session cookie after sign-out = %+v, want it deleted", deleted)
			}
			h.request(t, 303, "GET", "/", "Cookie: "+name+"="+got.Value)
			h.request(t, 200, "GET", "/sign-in", "Cookie: "+out.cookies()).has(t, "You&#39;re signed out.")
		})
	}
}

// After a user signs in, the browser's previous session token is invalid. An attacker can't choose
// the new token.
func TestSessionFixation(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	h.createUser(t, "mallory", model.RoleViewer)
	for _, before := range []string{h.signIn(t, "mallory", ""), h.signIn(t, "Owner", ""), strings.Repeat("0", 43), "x"} {
		fresh := h.post(t, 303, "/sign-in", credentials("owner", goodPassword, ""), "Cookie: deedkeep="+before).cookie(t, "deedkeep").Value
		if fresh == before {
			t.Error("the session token is the same after sign-in, want a new one")
		}
		h.request(t, 303, "GET", "/", "Cookie: deedkeep="+before)
		h.request(t, 200, "GET", "/", "Cookie: deedkeep="+fresh).has(t, "Owner")
	}
	// A link to the sign-in page can't set the session cookie.
	token := h.signIn(t, "mallory", "")
	h.request(t, 200, "GET", "/sign-in?deedkeep="+token)
	h.request(t, 303, "GET", "/?deedkeep="+token)
}

func TestSignInRedirectsBack(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	redirect := h.request(t, 303, "GET", "/admin/users?status=open&page=2")
	redirect.checkHeaders(t, map[string]string{"Location": "/sign-in?to=%2Fadmin%2Fusers%3Fstatus%3Dopen%26page%3D2"})
	if len(redirect.Cookies()) != 0 {
		t.Errorf("cookies = %v, want none", redirect.Cookies())
	}
	h.request(t, 200, "GET", redirect.Header.Get("Location")).has(t, `name="to" value="/admin/users?status=open&amp;page=2"`,
		`autocomplete="username"`, `type="password" autocomplete="current-password"`)
	form := credentials("owner", goodPassword, "/abstracts?status=open&page=2")
	h.post(t, 303, "/sign-in", form).checkHeaders(t, map[string]string{"Location": "/abstracts?status=open&page=2"})
	// If a form is submitted after the session expired, the user is sent to the sign-in page and
	// then back to the form's page.
	late := h.post(t, 303, "/me/password", nil, "Cookie: deedkeep="+strings.Repeat("0", 43), "Referer: http://vault.test/me?x=1")
	late.checkHeaders(t, map[string]string{"Location": "/sign-in?to=%2Fme%3Fx%3D1"})
	if deleted := late.cookie(t, "deedkeep"); deleted.MaxAge != -1 {
		t.Errorf("expired session cookie = %+v, want it deleted", deleted)
	}
	h.request(t, 200, "GET", "/sign-in", "Cookie: "+late.cookies()).has(t, "Your session ended.")
	h.post(t, 303, "/me/password", nil, "Referer: https://elsewhere.example/me").checkHeaders(t, map[string]string{"Location": "/sign-in"})
	// Users who are already signed in are redirected.
	h.request(t, 303, "GET", "/sign-in?to=/orders", h.cookieFor(t, "Owner")).checkHeaders(t, map[string]string{"Location": "/orders"})
}

// A link to the sign-in page can't redirect to another site.
func TestSignInRedirectsWithinSite(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	signedIn := h.post(t, 303, "/sign-in", credentials("owner", goodPassword, "//elsewhere.example/"))
	signedIn.checkHeaders(t, map[string]string{"Location": "/"})
}

func TestSignInRejects(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	wrong := h.post(t, 422, "/sign-in", credentials("owner", "Canary wrong", "/orders"))
	wrong.has(t, "Incorrect username or password.", `value="owner"`, `value="/orders"`, `role="alert"`)
	if len(wrong.Cookies()) != 0 {
		t.Errorf("cookies = %v, want none", wrong.Cookies())
	}
	h.post(t, 422, "/sign-in", credentials("absent", "Canary wrong", "")).has(t, "Incorrect username or password.")
	h.post(t, 422, "/sign-in", nil).has(t, "Incorrect username or password.")
	for range 2 {
		h.post(t, 422, "/sign-in", credentials("owner", "Canary wrong", ""))
	}
	wait := h.post(t, 429, "/sign-in", credentials("owner", "Canary wrong", "/orders"))
	wait.has(t, "Too many sign-in attempts. Try again in 1 second.", `data-wait="1"`, `value="/orders"`)
	wait.checkHeaders(t, map[string]string{"Retry-After": "1"})
	// The owner can sign in from another address, and afterward from this one again.
	h.post(t, 303, "/sign-in", credentials("owner", goodPassword, ""), "From: 7")
	h.clock.Advance(time.Second)
	h.post(t, 303, "/sign-in", credentials("owner", goodPassword, ""))
	// Other sites can't sign users in or out.
	for _, from := range []string{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Site: same-site", "Origin: https://elsewhere.example",
		"Origin: null"} {
		h.post(t, 403, "/sign-in", credentials("owner", goodPassword, ""), from)
		h.post(t, 403, "/sign-out", nil, from, h.cookieFor(t, "Owner"))
	}
	h.post(t, 303, "/sign-in", credentials("owner", goodPassword, ""), "Sec-Fetch-Site: same-origin")
}

// The verification code is requested after the password. The password is never stored in a page or
// cookie.
func TestSignInTwoSteps(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	totpSecret, codes := h.setUpTwoFactor(t, "Owner")
	step := h.post(t, 303, "/sign-in", credentials("owner", goodPassword, "/orders"))
	step.checkHeaders(t, map[string]string{"Location": "/sign-in/code?to=%2Forders"})
	challenge := step.cookie(t, "deedkeep_step")
	if !challenge.HttpOnly || challenge.SameSite != http.SameSiteStrictMode || challenge.MaxAge != 300 || challenge.Path != "/" ||
		len(step.Cookies()) != 1 {
		t.Errorf("unexpected cookies of the challenge: %+v", step.Cookies())
	}
	cookie := "Cookie: deedkeep_step=" + challenge.Value
	page := h.request(t, 200, "GET", "/sign-in/code?to=%2Forders", cookie)
	page.has(t, "Enter your verification code", `autocomplete="one-time-code"`, `value="/orders"`)
	page.lacks(t, challenge.Value, `type="password"`)
	h.request(t, 303, "GET", "/", cookie) // not signed in yet
	h.request(t, 303, "GET", "/", "Cookie: deedkeep="+challenge.Value)
	form := url.Values{"code": {"000000"}, "to": {"/orders"}}
	h.post(t, 422, "/sign-in/code", form, cookie).has(t, "Incorrect or already used verification code.", `aria-invalid="true"`)
	form.Set("code", h.totpCode(t, totpSecret))
	signedIn := h.post(t, 303, "/sign-in/code", form, cookie)
	signedIn.checkHeaders(t, map[string]string{"Location": "/orders"})
	if deleted := signedIn.cookie(t, "deedkeep_step"); deleted.MaxAge != -1 {
		t.Errorf("cookie of the challenge = %+v, want it deleted", deleted)
	}
	h.request(t, 200, "GET", "/", "Cookie: deedkeep="+signedIn.cookie(t, "deedkeep").Value)
	h.post(t, 422, "/sign-in/code", form, cookie).has(t, "Your sign-in timed out.", `type="password"`)
	// Without a sign-in in progress, the server doesn't ask for a verification code.
	h.request(t, 303, "GET", "/sign-in/code").checkHeaders(t, map[string]string{"Location": "/sign-in"})
	h.post(t, 303, "/sign-in/code", form).checkHeaders(t, map[string]string{"Location": "/sign-in?to=%2Forders"})
	// Recovery codes are accepted, too. The sign-in must be completed within five minutes.
	step = h.post(t, 303, "/sign-in", credentials("owner", goodPassword, ""))
	form.Set("code", strings.ToUpper(codes[0]))
	h.post(t, 303, "/sign-in/code", form, "Cookie: "+step.cookies())
	step = h.post(t, 303, "/sign-in", credentials("owner", goodPassword, ""))
	h.clock.Advance(auth.ChallengeTTL)
	form.Set("code", codes[1])
	h.post(t, 422, "/sign-in/code", form, "Cookie: "+step.cookies()).has(t, "Your sign-in timed out.")
}

// Over HTTPS, the cookie of a sign-in in progress is also restricted to this host.
func TestStepCookieOverTLS(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	h.setUpTwoFactor(t, "Owner")
	h.scheme = "https://"
	step := h.post(t, 303, "/sign-in", credentials("owner", goodPassword, "")).cookie(t, "__Host-deedkeep_step")
	if !step.Secure || !step.HttpOnly || step.Path != "/" || step.Domain != "" {
		t.Errorf("cookie of the challenge = %+v, want Secure, HttpOnly, path /, no domain", step)
	}
	if _, ok := secret.HashToken(step.Value); !ok {
		t.Errorf("value of the cookie = %q, want a token", step.Value)
	}
}

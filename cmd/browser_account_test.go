//go:build browser

package cmd_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"
)

// A user who was invited with a link chooses a password, sets up two-factor authentication,
// and then signs in with a verification code or a recovery code.
func testInviteWithTwoFactor(t *testing.T, env *browserEnv) {
	srv := env.newStaffedServer(t)
	b := env.newTab(t, srv.origin)
	b.signIn(admin)
	b.goTo("/admin/users/new")
	b.fill("#name", staff)
	b.expect("status of 422")
	b.clickLink("main button.primary")
	b.waitVisible("[role=alert] | taken")
	b.checkAccessible(t, "username already taken")
	b.fill("#name", "Robin Ash")
	b.click("main input[value=viewer]")
	b.clickLink("main button.primary")
	b.waitVisible("label | One-time link for Robin Ash")
	b.checkAccessible(t, "invite link")
	b.screenshot("scene-invited")
	link := eval[string](b, `document.querySelector("#link").value`)

	other := env.newTab(t, srv.origin)
	other.goTo(strings.TrimPrefix(link, srv.origin))
	other.fill("input[name=password]", password)
	other.fill("input[name=again]", password)
	other.clickLink("main button")
	other.waitVisible(".person | Robin Ash")
	other.goTo("/me")
	other.fill("#factor-password", password)
	other.clickLink("button | Set up two-factor authentication")
	other.waitVisible("main svg")
	other.checkAccessible(t, "setup of two-factor authentication")
	other.screenshot("scene-second-factor")
	secret := strings.ReplaceAll(eval[string](other, `document.querySelector("#secret").innerText`), " ", "")
	other.fill("#code", totpCode(t, secret, 0))
	other.clickLink("button | Verify code")
	other.waitVisible("main | Save these codes now")
	other.checkAccessible(t, "recovery codes")
	other.screenshot("scene-recovery-codes")
	recovery := strings.Fields(eval[string](other, `document.querySelector("#codes").innerText`))
	if len(recovery) != 10 {
		t.Errorf("got %d recovery codes, want 10", len(recovery))
	}
	for _, code := range []string{totpCode(t, secret, 1), recovery[0]} {
		other.goTo("/me")
		other.click(".person summary")
		other.clickLink(".person button | Sign out")
		other.goTo("/me")
		other.fill("input[name=name]", "Robin Ash")
		other.fill("input[name=password]", password)
		other.clickLink("main button | Sign in")
		other.waitVisible("h1 | Enter your verification code")
		other.checkAccessible(t, "verification code")
		other.fill("#code", code)
		other.clickLink("main button | Sign in")
		other.waitVisible("h1 | Your account")
	}
	other.waitText("You have 9 recovery codes left")
}

// totpCode returns the verification code that is valid the given number of 30-second steps
// from now. The server accepts each code only once, so every sign-in needs a different step.
func totpCode(t *testing.T, secret string, steps int) string {
	t.Helper()
	text, err := totp.GenerateCode(secret, time.Now().Add(time.Duration(steps)*30*time.Second))
	if err != nil {
		t.Fatalf("generate code: %v", err)
	}
	return text
}

// A new API key is shown only once. It works until it is revoked.
func testCreateAndRevokeKey(t *testing.T, env *browserEnv) {
	srv := env.newStaffedServer(t)
	b := env.newTab(t, srv.origin)
	b.signIn(admin)
	b.goTo("/admin/keys/new")
	b.fill("#name", "Closing software")
	b.clickLink("main button.primary")
	b.waitVisible("main | Copy this key now")
	b.checkAccessible(t, "new key")
	b.screenshot("scene-key")
	key := eval[string](b, `document.querySelector("#key").value`)
	if got := statusWithKey(t, srv, key); got != http.StatusOK {
		t.Errorf("request with the new key: got %d, want 200", got)
	}
	b.clickLink("a | Done")
	b.clickLink("main a | Closing software")
	b.click("label | I understand that applications using this key will stop working")
	b.clickLink("main button | Revoke")
	b.waitText("Revoked")
	if got := statusWithKey(t, srv, key); got != http.StatusUnauthorized {
		t.Errorf("request with the revoked key: got %d, want 401", got)
	}
}

// statusWithKey sends an API request with a key and returns the status of the response.
func statusWithKey(t *testing.T, srv *testServer, key string) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, srv.origin+"/v1/orders", http.NoBody)
	if err != nil {
		t.Fatalf("create request: %v", err)
	}
	request.Header.Set("Authorization", "Bearer "+key)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatalf("send request: %v", err)
	}
	if err := response.Body.Close(); err != nil {
		t.Fatalf("close response body: %v", err)
	}
	return response.StatusCode
}

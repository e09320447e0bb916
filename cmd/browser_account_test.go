//go:build browser

package cmd_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"
)

// An administrator invites somebody by a link, who chooses a password and sets up a
// second factor, signs out and comes back with it, and then with a recovery code.
func testInviteWithTwoFactor(t *testing.T, env *browserEnv) {
	srv := env.newStaffedServer(t)
	b := env.newTab(t, srv.origin)
	b.signIn(admin)
	b.goTo("/admin/users/new")
	b.fill("#name", staff)
	b.expect("status of 422")
	b.clickLink("main button.primary")
	b.waitVisible("[role=alert] | taken")
	b.checkAccessible(t, "a name that is taken")
	b.fill("#name", "Robin Ash")
	b.click("main input[value=viewer]")
	b.clickLink("main button.primary")
	b.waitVisible("label | One-time link for Robin Ash")
	b.checkAccessible(t, "the link")
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
	other.clickLink("button | Set it up")
	other.waitVisible("main svg")
	other.checkAccessible(t, "setting up a second factor")
	other.screenshot("scene-second-factor")
	secret := strings.ReplaceAll(eval[string](other, `document.querySelector("#secret").innerText`), " ", "")
	other.fill("#code", totpCode(t, secret, 0))
	other.clickLink("button | Set it up")
	other.waitVisible("main | Keep these codes now")
	other.checkAccessible(t, "recovery codes")
	other.screenshot("scene-recovery-codes")
	recovery := strings.Fields(eval[string](other, `document.querySelector("#codes").innerText`))
	if len(recovery) != 10 {
		t.Errorf("%d recovery codes", len(recovery))
	}
	for _, key := range []string{totpCode(t, secret, 1), recovery[0]} {
		other.goTo("/me")
		other.click(".person summary")
		other.clickLink(".person button | Sign out")
		other.goTo("/me")
		other.fill("input[name=name]", "Robin Ash")
		other.fill("input[name=password]", password)
		other.clickLink("main button | Sign in")
		other.waitVisible("h1 | Enter your code")
		other.checkAccessible(t, "the code")
		other.fill("#code", key)
		other.clickLink("main button | Sign in")
		other.waitVisible("h1 | Your account")
	}
	other.waitText("9 recovery codes are left")
}

// totpCode is what a phone shows so many steps from now: a code counts once.
func totpCode(t *testing.T, secret string, steps int) string {
	t.Helper()
	text, err := totp.GenerateCode(secret, time.Now().Add(time.Duration(steps)*30*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// A key is made on a page, shown once, used by a program, and revoked.
func testCreateAndRevokeKey(t *testing.T, env *browserEnv) {
	srv := env.newStaffedServer(t)
	b := env.newTab(t, srv.origin)
	b.signIn(admin)
	b.goTo("/admin/keys/new")
	b.fill("#name", "Closing software")
	b.clickLink("main button.primary")
	b.waitVisible("main | Copy the key now")
	b.checkAccessible(t, "a new key")
	b.screenshot("scene-key")
	key := eval[string](b, `document.querySelector("#key").value`)
	if got := statusWithKey(t, srv, key); got != http.StatusOK {
		t.Errorf("the key that is shown gets %d", got)
	}
	b.clickLink("a | Done")
	b.clickLink("main a | Closing software")
	b.click("label | I know that what uses this key stops")
	b.clickLink("main button | Revoke")
	b.waitText("Revoked")
	if got := statusWithKey(t, srv, key); got != http.StatusUnauthorized {
		t.Errorf("the key that was revoked gets %d", got)
	}
}

// statusWithKey is the status that a program with the key gets.
func statusWithKey(t *testing.T, srv *testServer, key string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, srv.origin+"/v1/orders", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+key)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := answer.Body.Close(); err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode
}

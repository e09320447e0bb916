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
func invitedWithSecondFactor(t *testing.T, on *bench) {
	h := on.staffed(t)
	b := on.tab(t, h.origin)
	b.signIn(admin)
	b.goTo("/admin/users/new")
	b.fill("#name", staff)
	b.expect("status of 422")
	b.follow("main button.primary")
	b.sees("[role=alert] | taken")
	b.noBarriers(t, "a name that is taken")
	b.fill("#name", "Robin Ash")
	b.click("main input[value=viewer]")
	b.follow("main button.primary")
	b.sees("label | One-time link for Robin Ash")
	b.noBarriers(t, "the link")
	b.screenshot("scene-invited")
	link := value[string](b, `document.querySelector("#link").value`)

	other := on.tab(t, h.origin)
	other.goTo(strings.TrimPrefix(link, h.origin))
	other.fill("input[name=password]", password)
	other.fill("input[name=again]", password)
	other.follow("main button")
	other.sees(".person | Robin Ash")
	other.goTo("/me")
	other.fill("#factor-password", password)
	other.follow("button | Set it up")
	other.sees("main svg")
	other.noBarriers(t, "setting up a second factor")
	other.screenshot("scene-second-factor")
	secret := strings.ReplaceAll(value[string](other, `document.querySelector("#secret").innerText`), " ", "")
	other.fill("#code", code(t, secret, 0))
	other.follow("button | Set it up")
	other.sees("main | Keep these codes now")
	other.noBarriers(t, "recovery codes")
	other.screenshot("scene-recovery-codes")
	recovery := strings.Fields(value[string](other, `document.querySelector("#codes").innerText`))
	if len(recovery) != 10 {
		t.Errorf("%d recovery codes", len(recovery))
	}
	for _, key := range []string{code(t, secret, 1), recovery[0]} {
		other.goTo("/me")
		other.click(".person summary")
		other.follow(".person button | Sign out")
		other.goTo("/me")
		other.fill("input[name=name]", "Robin Ash")
		other.fill("input[name=password]", password)
		other.follow("main button | Sign in")
		other.sees("h1 | Enter your code")
		other.noBarriers(t, "the code")
		other.fill("#code", key)
		other.follow("main button | Sign in")
		other.sees("h1 | Your account")
	}
	other.reads("9 recovery codes are left")
}

// code is what a phone shows so many steps from now: a code counts once.
func code(t *testing.T, secret string, steps int) string {
	t.Helper()
	text, err := totp.GenerateCode(secret, time.Now().Add(time.Duration(steps)*30*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// A key is made on a page, shown once, used by a program, and revoked.
func keyIsMadeAndRevoked(t *testing.T, on *bench) {
	h := on.staffed(t)
	b := on.tab(t, h.origin)
	b.signIn(admin)
	b.goTo("/admin/keys/new")
	b.fill("#name", "Closing software")
	b.follow("main button.primary")
	b.sees("main | Copy the key now")
	b.noBarriers(t, "a new key")
	b.screenshot("scene-key")
	key := value[string](b, `document.querySelector("#key").value`)
	if got := asked(t, h, key); got != http.StatusOK {
		t.Errorf("the key that is shown gets %d", got)
	}
	b.follow("a | Done")
	b.follow("main a | Closing software")
	b.click("label | I know that what uses this key stops")
	b.follow("main button | Revoke")
	b.reads("Revoked")
	if got := asked(t, h, key); got != http.StatusUnauthorized {
		t.Errorf("the key that was revoked gets %d", got)
	}
}

// asked is the status that a program with the key gets.
func asked(t *testing.T, h *house, key string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, h.origin+"/v1/orders", http.NoBody)
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

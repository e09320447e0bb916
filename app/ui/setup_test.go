package ui_test

import (
	"net/url"
	"path/filepath"
	"regexp"
	"testing"

	"deedkeep/app/model"
)

// The first administrator continues with the setup. Each step can be skipped, leads to the next one, and is found again
// under Settings.
func TestSetup(t *testing.T) {
	t.Parallel()
	h := newEmptyTestServer(t, nil)
	token, err := h.vault.Users.NewFirstLink(t.Context())
	if err != nil {
		t.Fatalf("Users.NewFirstLink: %v", err)
	}
	form := newPasswordForm(goodPassword)
	form.Set("name", "kim")
	form.Set("time_zone", "America/Denver")
	joined := h.post(t, 303, "/join/"+token, form)
	joined.checkHeaders(t, map[string]string{"Location": "/admin/setup/firm"})
	session := regexp.MustCompile(`deedkeep=[^;]+`).FindString(joined.cookies())
	admin := &testUser{testServer: h, cookie: "Cookie: " + session}

	const firm, access, backup = "/admin/setup/firm", "/admin/setup/access", "/admin/setup/backup"
	admin.get(t, 200, firm, "Step 1 of 6", `value="America/Denver" selected`, `href="/admin/setup/two-factor">Skip<`)
	admin.post(t, 422, firm, admin.settingForm(t, firm, url.Values{"firm.name": {"Kern Title"}, "firm.email": {"x"}})).
		has(t, `id="firm.email-problem"`, `value="Kern Title"`)
	next := admin.post(t, 303, firm, admin.settingForm(t, firm, url.Values{"firm.name": {"Kern Title"}, "trash.keep": {"1h"}}))
	next.checkHeaders(t, map[string]string{"Location": "/admin/setup/two-factor"})
	admin.get(t, 200, "/admin/setup/two-factor", `href="/me"`, `href="/admin/setup/access">Continue<`, `href="/admin/setup/firm">Back<`)

	admin.get(t, 200, access, `value="computer" required checked`)
	admin.post(t, 422, access, admin.settingForm(t, access, url.Values{})).has(t, "Choose who can connect.")
	admin.post(t, 422, access, admin.settingForm(t, access, url.Values{"reach": {"public"}, "host": {"office"}})).
		has(t, `value="office"`, `value="public" required checked`)
	for _, row := range []struct{ reach, host, listen, public string }{
		{"public", "vault.example.com", ":443", "https://vault.example.com"},
		{"proxy", "vault.example.com", "127.0.0.1:443", "https://vault.example.com"},
		{"office", "", ":443", ""},
		{"computer", "", "127.0.0.1:443", ""},
	} {
		admin.post(t, 303, access, admin.settingForm(t, access, url.Values{"reach": {row.reach}, "host": {row.host}}))
		c := h.vault.Stored.Current()
		if c.Listen != row.listen || c.PublicURL != row.public || c.TLS.SelfSigned != (row.reach == "office") ||
			c.TLS.Automatic != (row.reach == "public") || len(c.TrustedProxies) > 0 != (row.reach == "proxy") {
			t.Errorf("%s: got %s, %s, %+v, %v", row.reach, c.Listen, c.PublicURL, c.TLS, c.TrustedProxies)
		}
		admin.get(t, 200, access, `value="`+row.reach+`" required checked`)
	}

	to := filepath.Join(t.TempDir(), "backups")
	tested := admin.post(t, 303, backup, admin.settingForm(t, backup, url.Values{"backup.to": {to}, "test": {"1"}}))
	tested.checkHeaders(t, map[string]string{"Location": backup})
	h.request(t, 200, "GET", backup, admin.cookie+"; "+tested.cookies()).has(t, "The test backup is in "+to)
	admin.get(t, 200, "/admin/setup/retention", `name="retention.keep"`, `href="/admin/setup/done">Skip<`)
	admin.get(t, 200, "/admin/setup/done", "The server has to restart for: Address and port, Folder for backups.", "/admin/settings/restart")
	admin.get(t, 200, "/admin/settings", `href="/admin/setup/firm"`)
	admin.get(t, 404, "/admin/setup/nothing")
	staff := h.newUser(t, "tom", model.RoleStaff)
	staff.get(t, 403, firm)
	staff.post(t, 403, firm, url.Values{"firm.name": {"x"}})
	if c := h.vault.Stored.Current(); c.Firm.Name != "Kern Title" || c.SourceOf("trash.keep") != "" {
		t.Errorf("settings: got %q and trash.keep from %q, want only those of the form", c.Firm.Name, c.SourceOf("trash.keep"))
	}

	// Invited administrators start at the desk.
	invited := h.post(t, 303, h.invite(t), newPasswordForm("seven different elephants"))
	invited.checkHeaders(t, map[string]string{"Location": "/"})
}

package ui_test

import (
	"fmt"
	"net/url"
	"testing"
	"time"

	"deedkeep/app/config"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/settings"
	"deedkeep/app/vaulttest"
)

// The first administrator chooses the time zone of the office, and can change it later.
func TestTimeZoneIsChosen(t *testing.T) {
	t.Parallel()
	h := newEmptyTestServer(t, nil)
	token, err := h.vault.Users.NewFirstLink(t.Context())
	if err != nil {
		t.Fatalf("Users.NewFirstLink: %v", err)
	}
	link := "/join/" + token
	h.request(t, 200, "GET", link).has(t, "Time zone of the office", "Choose a time zone", `value="America/Denver">Mountain<`)
	form := newPasswordForm(goodPassword)
	form.Set("name", "kim")
	for _, name := range []string{"", "Local", "Mountain", "../etc/passwd"} {
		form.Set("time_zone", name)
		h.post(t, 422, link, form).has(t, `id="time_zone-problem"`, "Choose a time zone.")
	}
	form.Set("time_zone", "America/Denver")
	cookie := "Cookie: " + h.post(t, 303, link, form).cookies()
	const path = "/admin/settings/firm"
	h.request(t, 200, "GET", path, cookie).has(t, `value="America/Denver" selected>Mountain<`)
	h.request(t, 200, "GET", "/admin/activity", cookie).has(t, "changed settings", "Time zone: (blank) → America/Denver", " MDT")

	set := func(want int, name string) reply {
		return h.post(t, want, path, url.Values{"time_zone": {name}}, cookie)
	}
	set(303, "Pacific/Honolulu")
	h.request(t, 200, "GET", "/admin/activity", cookie).has(t, " HST", "America/Denver", "Pacific/Honolulu")
	h.request(t, 200, "GET", path, cookie).has(t, `value="Pacific/Honolulu" selected>Hawaii<`)
	set(303, "Europe/Paris")
	h.request(t, 200, "GET", path, cookie).has(t, `value="Europe/Paris" selected>Europe/Paris<`)
	set(422, "Eastern")
	if got := h.vault.Stored.Current().TimeZone; got != "Europe/Paris" {
		t.Errorf("time zone after an unknown name: got %q, want Europe/Paris", got)
	}

	// It is stored, and other administrators aren't asked again.
	again := settings.New(h.vault.DB, nil, nil)
	if err := again.Read(t.Context()); err != nil || again.Location().String() != "Europe/Paris" {
		t.Errorf("Read: got %s, %v, want Europe/Paris", again.Location(), err)
	}
	h.request(t, 200, "GET", h.invite(t)).lacks(t, "time_zone")
}

// The time zone of the settings file applies whatever was chosen. No one is asked for another one.
func TestTimeZoneOfSettings(t *testing.T) {
	t.Parallel()
	h := newEmptyTestServer(t, func(o *instance.Options) {
		o.Load = func(stored map[string]string) (config.Config, error) {
			return config.Load(config.Source{Env: []string{"DEEDKEEP_TIME_ZONE=America/Phoenix"},
				Stored: func(string) (map[string]string, error) { return stored, nil }})
		}
	})
	token, err := h.vault.Users.NewFirstLink(t.Context())
	if err != nil {
		t.Fatalf("Users.NewFirstLink: %v", err)
	}
	link := "/join/" + token
	h.request(t, 200, "GET", link).lacks(t, "time_zone")
	form := newPasswordForm(goodPassword)
	form.Set("name", "kim")
	form.Set("time_zone", "America/Denver") // not asked for
	cookie := "Cookie: " + h.post(t, 303, link, form).cookies()
	h.request(t, 200, "GET", "/admin/settings/firm", cookie).has(t, "Set in <code>DEEDKEEP_TIME_ZONE</code>",
		`value="America/Phoenix" selected`, "disabled")
	h.post(t, 303, "/admin/settings/firm", url.Values{"time_zone": {"America/Denver"}}, cookie)
	if got := h.vault.Stored.Location().String(); got != "America/Phoenix" {
		t.Errorf("Location: got %s, want America/Phoenix", got)
	}
}

// Invited administrators are asked for the time zone until it is known. Staff aren't asked.
func TestTimeZoneIsAskedOfAdministrators(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	h.request(t, 200, "GET", h.invite(t)).has(t, "time_zone")
	token, _, err := h.vault.Users.Create(t.Context(), model.Actor{Kind: "operator"}, model.UserDraft{Name: "sara", Role: model.RoleStaff})
	if err != nil {
		t.Fatalf("Users.Create: %v", err)
	}
	h.request(t, 200, "GET", "/join/"+token).lacks(t, "time_zone")
}

// A lien expires at the end of the day in the office.
func TestTimeZoneOfStatus(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	_, created := h.createAbstract(t, vaulttest.Operator, nil, model.Property{})
	today := h.clock.Now().UTC()
	lien := h.addInstrument(t, created.Abstract.ID, fmt.Sprintf(`{"type":"Judgment","expires":%q}`, today.AddDate(0, 0, -1).Format(time.DateOnly)))
	hour := today.Hour()
	for zone, want := range map[string]string{"Etc/GMT+12": model.InstrumentOpen, "Etc/GMT-14": model.InstrumentExpired} {
		if zone == "Etc/GMT+12" && hour >= 12 {
			t.Fatalf("the clock of the tests is at %d:00 UTC, so that it isn't yesterday anywhere", hour)
		}
		if err := h.vault.Stored.ChooseTimeZone(t.Context(), vaulttest.Operator, zone); err != nil {
			t.Fatalf("Choose %s: %v", zone, err)
		}
		if i, err := h.vault.Instruments.Get(t.Context(), lien.ID); err != nil || i.Status != want {
			t.Errorf("in %s: status %q, %v, want %q", zone, i.Status, err, want)
		}
	}
}

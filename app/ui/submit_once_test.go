package ui_test

import (
	"fmt"
	"net/url"
	"testing"

	"deedkeep/app/model"
)

const onceField = `name="once" value="([^"]+)"`

// Reloading a page that shows a secret doesn't create a second secret.
func TestSecretsAreCreatedOnce(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	admin := h.openBrowser(t, model.RoleAdmin)
	form := func(at string, filled url.Values) url.Values {
		filled.Set("once", admin.get(t, 200, at).matches(t, onceField)[0])
		return filled
	}
	checkKeyCount := func(want int) {
		t.Helper()
		list, err := h.vault.Keys.List(t.Context())
		if err != nil || len(list) != want {
			t.Errorf("Keys.List = %d keys, %v, want %d", len(list), err, want)
		}
	}

	filled := form("/admin/keys/new", url.Values{"name": {"closing"}, "ability": {"events"}, "life": {"7"}})
	admin.post(t, 422, "/admin/keys", filled).has(t, filled.Get("once")) // the form was rejected, so it can be submitted again
	filled.Set("life", "90")
	admin.post(t, 200, "/admin/keys", filled).has(t, "dk_live_")
	again := admin.post(t, 409, "/admin/keys", filled)
	again.has(t, "This key was already created", `href="/admin/keys/1"`)
	again.lacks(t, "dk_live_")
	checkKeyCount(1)
	admin.post(t, 200, "/admin/keys", form("/admin/keys/new", filled))
	checkKeyCount(2)

	rotation := form("/admin/keys/1", url.Values{"overlap": {"7"}})
	admin.post(t, 200, "/admin/keys/1/rotate", rotation)
	admin.post(t, 409, "/admin/keys/1/rotate", rotation).has(t, `href="/admin/keys/3"`)
	checkKeyCount(3)

	invited := form("/admin/users/new", url.Values{"name": {"kim"}, "role": {"staff"}})
	admin.post(t, 200, "/admin/users", invited)
	kim, err := h.vault.Users.GetByName(t.Context(), "kim")
	if err != nil {
		t.Fatalf("Users.GetByName: %v", err)
	}
	at := fmt.Sprintf("/admin/users/%d", kim.ID)
	admin.post(t, 409, "/admin/users", invited).has(t, "This link was already created", `href="`+at+`"`)
	reset := form(at, url.Values{})
	link := admin.post(t, 200, at+"/reset", reset).matches(t, `value="http://[^/]+(/join/[0-9A-Za-z]{43})"`)[0]
	admin.post(t, 409, at+"/reset", reset).has(t, `href="`+at+`"`)
	h.request(t, 200, "GET", link) // the link shown first still works
}

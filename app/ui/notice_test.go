package ui_test

import (
	"encoding/base64"
	"net/url"
	"strings"
	"testing"

	"deedkeep/app/title"
	"deedkeep/app/ui"
)

// A notice that was not written here says nothing, and its Undo sends nothing.
func TestNoticeIsWrittenHere(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.user(t, "Kim", title.RoleStaff)
	cookie := h.as(t, "Kim")
	made := h.post(t, 303, "/abstracts", url.Values{"bare": {"yes"}}, cookie)
	path := made.Header.Get("Location")
	value := h.post(t, 303, path+"/trash", nil, cookie).cookie(t, "deedkeep_notice").Value
	show := func(value string) reply {
		return h.status(t, 200, "GET", "/abstracts", cookie+"; deedkeep_notice="+value)
	}
	show(value).has(t, `action="`+path+`/restore"`, "is in the trash")
	text, proof, _ := strings.Cut(value, ".")
	forged := base64.RawURLEncoding.EncodeToString([]byte(path + "/restore\nCanary"))
	for _, other := range []string{text, text + ".", forged, forged + "." + proof, text + "A." + proof, "." + proof, "x", "."} {
		show(other).lacks(t, "/restore", "is in the trash", "Canary", "Undo")
	}
	// Over https its name holds it to this host.
	h.scheme = "https://"
	cookie = strings.Replace(cookie, "deedkeep=", "__Host-deedkeep=", 1)
	h.status(t, 200, "GET", "/abstracts", cookie+"; deedkeep_notice="+value).lacks(t, "is in the trash")
	h.status(t, 200, "GET", "/abstracts", cookie+"; __Host-deedkeep_notice="+value).has(t, "is in the trash")
}

func TestUndoIsRestoring(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]bool{
		"/abstracts/a1B2/restore": true, "/orders/a1B2/restore": true, "/documents/7/restore": true, "/abstracts/a1B2/documents/7/restore": true,
		"/admin/users/2/disable?x=/restore": false, "/abstracts/a1/trash?/restore": false, "/abstracts/a1/trash#/restore": false,
		"/abstracts/../admin/restore": false, "//x/restore": false, "/abstracts/a/restore\n": false, "/restore": false, "": false,
		"/admin/backups/restore": false, "/abstracts/a%2f/restore": false,
	} {
		if got := ui.Undoing.MatchString(path); got != want {
			t.Errorf("%q: %v", path, got)
		}
	}
}

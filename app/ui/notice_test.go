package ui_test

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"deedkeep/app/model"
)

// If a notice was not encrypted by the server, the notice and its Undo button are ignored.
func TestNoticeSignature(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	h.createUser(t, "Kim", model.RoleStaff)
	cookie := h.cookieFor(t, "Kim")
	path := h.post(t, 303, "/abstracts", url.Values{"bare": {"yes"}}, cookie).Header.Get("Location")
	value := h.post(t, 303, path+"/trash", nil, cookie).cookie(t, "deedkeep_notice").Value
	show := func(value string) reply {
		return h.request(t, 200, "GET", "/abstracts", cookie+"; deedkeep_notice="+value)
	}
	show(value).has(t, `action="`+path+`/restore"`, "is in the trash")
	canary := []byte(path + "/restore\nCanary")
	forged, cursor := base64.RawURLEncoding.EncodeToString(canary), h.vault.Secrets.Cursors().Encode("page /abstracts", canary)
	for _, other := range []string{value[1:], value + "A", value[:40], "A" + value, forged, forged + value, cursor, "x", "."} {
		show(other).lacks(t, "/restore", "is in the trash", "Canary", "Undo")
	}
	// Over HTTPS, the cookie name has the prefix that restricts the cookie to this host.
	h.scheme = "https://"
	cookie = strings.Replace(cookie, "deedkeep=", "__Host-deedkeep=", 1)
	h.request(t, 200, "GET", "/abstracts", cookie+"; deedkeep_notice="+value).lacks(t, "is in the trash")
	h.request(t, 200, "GET", "/abstracts", cookie+"; __Host-deedkeep_notice="+value).has(t, "is in the trash")
}

// undo clicks the Undo button in the notice of the response.
func (b *browser) undo(t *testing.T, changed reply) reply {
	t.Helper()
	if changed.Header.Get("Location") == "" {
		path, form := changed.undoForm(t)
		return b.post(t, 303, path, form)
	}
	shown := b.get(t, 200, changed.Header.Get("Location"), "Cookie", "deedkeep_notice="+changed.cookie(t, "deedkeep_notice").Value)
	form := shown.matches(t, `(?s)class="notice" role="status">.*?(<form method="post" action="[^"]*">.*?</form>)`)[0]
	fields := url.Values{}
	for _, m := range regexp.MustCompile(`name="([^"]*)" value="([^"]*)"`).FindAllStringSubmatch(form, -1) {
		fields.Add(m[1], m[2])
	}
	return b.post(t, 303, strings.Split(form, `"`)[3], fields)
}

// Undo reverts status changes and moves of documents and folders. If another user has changed the
// record in the meantime, Undo changes nothing.
func TestUndo(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	kim := h.openBrowser(t, model.RoleStaff)
	for _, row := range []struct{ path, to, before, other string }{
		{kim.post(t, 303, "/abstracts", url.Values{"county": {"Albany"}}).Header.Get("Location"), "In Exam", "New", "Complete"},
		{kim.post(t, 303, "/orders", url.Values{"order_number": {"1"}}).Header.Get("Location"), "on_hold", "active", "completed"},
	} {
		t.Run(row.path, func(t *testing.T) {
			set := func(status string) reply { return kim.post(t, 303, row.path+"/status", url.Values{"status": {status}}) }
			checkStatus := func(want string) {
				t.Helper()
				kim.get(t, 200, row.path).has(t, `name="was" value="`+want+`"`)
			}
			kim.undo(t, set(row.to))
			checkStatus(row.before)
			kim.post(t, 200, row.path+"/status", url.Values{"status": {row.to}}, "HX-Request", "true").has(t, "Undo</button>",
				"Status set to “")
			kim.post(t, 200, row.path+"/status", url.Values{"status": {row.to}}, "HX-Request", "true").lacks(t, "Undo</button>")
			set(row.before)
			changed := set(row.to)
			set(row.other)
			kim.undo(t, changed) // another user has changed the status in the meantime
			checkStatus(row.other)
		})
	}

	one, two := h.upload(t, "a.txt", []byte("one")), h.upload(t, "b.txt", []byte("two"))
	outer := kim.post(t, 303, "/vault", url.Values{"name": {"Outer"}}).Header.Get("Location")
	inner := kim.post(t, 303, "/vault", url.Values{"name": {"Inner"}}).Header.Get("Location")
	number := func(path string) string { return strings.TrimPrefix(path, "/vault/") }
	checkFolder := func(want string, files ...model.File) {
		t.Helper()
		for _, f := range files {
			if got, err := h.vault.Files.Get(t.Context(), f.ID); err != nil || fmt.Sprint(got.FolderID) != want {
				t.Errorf("folder of %s = %d, %v, want %s", f.Filename, got.FolderID, err, want)
			}
		}
	}
	both := []string{fmt.Sprint(one.ID), fmt.Sprint(two.ID)}
	move := func(to string) reply {
		return kim.post(t, 303, "/documents/move", url.Values{"file": both, "to": {to}, "back": {"/vault"}})
	}
	moved := move(number(outer))
	checkFolder(number(outer), one, two)
	kim.undo(t, moved)
	checkFolder("0", one, two)
	moved = move(number(outer))
	kim.post(t, 303, "/documents/move", url.Values{"file": both[:1], "to": {number(inner)}})
	if notice := h.noticeOf(t, kim.undo(t, moved)); !strings.Contains(notice, "1 document was moved back.") ||
		!strings.Contains(notice, "“a.txt” was skipped") {
		t.Errorf("notice = %q, want one document moved back and a.txt skipped", notice)
	}
	checkFolder(number(inner), one)
	checkFolder("0", two)
	move(number(inner)) // "one" is already there, so only "two" is moved and later moved back
	kim.undo(t, move(number(outer)))
	checkFolder(number(inner), one, two)

	kim.undo(t, kim.post(t, 303, inner+"/move", url.Values{"parent": {number(outer)}}))
	folder, err := h.vault.Folders.Get(t.Context(), h.pathNumber(t, inner))
	if err != nil || folder.ParentID != 0 {
		t.Errorf("Folders.Get = %+v, %v, want a folder at the top", folder, err)
	}
	kim.get(t, 200, "/vault", "Cookie",
		"deedkeep_notice="+kim.post(t, 303, inner+"/move", url.Values{"parent": {"0"}}).cookie(t, "deedkeep_notice").Value).lacks(t, "Undo")
}

func (ts *testServer) pathNumber(t *testing.T, path string) uint64 {
	t.Helper()
	n, err := strconv.ParseUint(path[strings.LastIndex(path, "/")+1:], 10, 64)
	if err != nil {
		t.Fatalf("strconv.ParseUint: %v", err)
	}
	return n
}

//go:build browser

package cmd_test

import (
	"testing"

	"deedkeep/app/vaulttest/client"
)

// A note is added, edited by its author and by an administrator, who is shown, deleted to the trash, and restored. Others
// can read it.
func testNotes(t *testing.T, env *browserEnv) {
	srv := env.newStaffedServer(t)
	srv.createUser(viewer, "staff")
	created, err := srv.apiClient().CreateAbstract(t.Context(), client.AbstractDraft{CustomFields: map[string]any{"file_number": "26-17"}})
	if err != nil {
		t.Fatalf("create abstract: %v", err)
	}
	abstract := "/abstracts/" + created.Data.ID
	b := env.newTab(t, srv.origin)
	b.signIn(staff)
	b.goTo(abstract)
	b.fill("#note-new-text", "Call the county about Plat Book 7.")
	b.click("#notes button | Add note")
	b.waitVisible("#notes li p | Call the county about Plat Book 7.")
	b.click("#notes li a | Edit")
	b.checkAccessible(t, "form of a note")
	b.fill("#notes li textarea", "Call the recorder about Plat Book 7.")
	b.click("#notes li button | Save")
	b.waitVisible("#notes li p | Call the recorder about Plat Book 7.")
	b.waitVisible("#notes li .muted | edited by " + staff)
	// After each change, the page requests other parts again.
	b.waitFor(`performance.getEntriesByType("resource").filter(e => e.name.endsWith("/progress")).length > 1`)

	b.switchUser(viewer)
	b.goTo(abstract)
	b.waitVisible("#notes li p | Call the recorder")
	if n := eval[int](b, `document.querySelectorAll("#notes li a, #notes li button").length`); n != 0 {
		t.Errorf("another user has %d actions for the note, want none", n)
	}

	b.switchUser(admin)
	b.goTo(abstract)
	b.click("#notes li a | Edit")
	b.fill("#notes li textarea", "The recorder sends Plat Book 7.")
	b.click("#notes li button | Save")
	b.waitVisible("#notes li .muted | edited by " + admin)
	b.click("#notes li button | Delete")
	b.waitVisible("dialog p | Delete this note? It moves to the trash.")
	b.click("dialog button.danger")
	b.waitVisible("#notes p | No notes yet.")

	b.switchUser(staff)
	b.goTo("/trash")
	b.waitVisible("main | The recorder sends Plat Book 7.")
	b.checkAccessible(t, "trash with a note")
	b.clickLink("main button | Restore")
	b.goTo(abstract)
	b.waitVisible("#notes li p | The recorder sends Plat Book 7.")
	b.waitVisible("#notes li .muted | edited by " + admin)
	b.goTo(abstract + "/history")
	for _, text := range []string{"Call the county", "Call the recorder", "The recorder sends"} {
		b.waitText(text)
	}
}

// switchUser signs another user in. It leaves the page first, because a part of the page that is
// requested without a session would open the sign-in page, too.
func (ta *tab) switchUser(name string) {
	ta.t.Helper()
	ta.goTo("/help")
	ta.signOut()
	ta.signIn(name)
}

// signOut ends the session while the page stays open. The page may then report itself without a session.
func (ta *tab) signOut() {
	ta.t.Helper()
	ta.allow("/changes/here")
	eval[bool](ta, `fetch("/sign-out", {method: "POST", redirect: "manual", body: new URLSearchParams()}).then(() => true)`)
}

//go:build browser

package cmd_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"deedkeep/app/apitypes"
	"deedkeep/app/vaulttest/client"
)

// Two users have the same abstract open. Each sees what the other changes, and which field they edit, without losing what
// they type, the focus, or the place in the runsheet.
func testLivePages(t *testing.T, env *browserEnv) {
	srv := env.newStaffedServer(t)
	f := &firm{testServer: srv, client: srv.apiClient()}
	created, err := f.client.CreateAbstract(t.Context(), client.AbstractDraft{})
	f.must(err)
	release := f.createRunsheet(t.Context(), created.Data.ID)
	const (
		borrower = "#group-details [name='custom_fields.borrower']"
		vesting  = "#group-details [name='custom_fields.vesting']"
		note     = "#notes textarea"
	)
	one, two := env.newTab(t, srv.origin), env.newTab(t, srv.origin)
	for b, user := range map[*tab]string{one: admin, two: staff} {
		b.signIn(user)
		b.goTo("/abstracts/" + created.Data.ID)
		b.waitVisible("h1")
	}
	one.waitVisible("#here | Also here: " + staff)
	two.waitVisible("#here | Also here: " + admin)

	// A change appears while the other user types elsewhere.
	two.fill(note, "Call the county")
	one.click("#edit-details")
	one.waitVisible(vesting)
	one.fill(vesting, "Ann Poe")
	two.waitVisible("#here | (editing Vesting")
	two.checkAccessible(t, "someone else edits")
	two.screenshot("scene-also-here")
	one.press(kb.Enter)
	two.waitVisible("#group-details dd | Ann Poe")
	two.waitFor(findJS(note) + `.value == "Call the county" && document.activeElement == ` + findJS(note))

	two.click("#notes button | Add note")
	two.waitVisible("#notes li | Call the county")
	one.waitVisible("#notes li | Call the county")

	// A field that is being edited is marked, and what was typed stays.
	two.click("#edit-details")
	two.waitVisible(borrower)
	two.fill(borrower, "Dana Birch")
	one.click("#edit-details")
	one.waitVisible(borrower)
	one.fill(borrower, "D. Birch")
	one.press(kb.Enter)
	two.waitVisible(".changed-by | " + admin + " changed this field while you were editing.")
	two.waitFor(findJS(borrower) + `.value == "Dana Birch"`)
	two.checkAccessible(t, "field that someone else changed")
	two.screenshot("scene-changed-by")
	two.click("#group-details [data-cancel]")
	two.waitVisible("#group-details dd | D. Birch")

	// The runsheet keeps the cell that is selected, and the text in the one that is edited.
	two.goTo("/orders")
	two.goTo(fmt.Sprintf("/abstracts/%s#instrument-%d", created.Data.ID, release))
	two.waitFor(fmt.Sprintf(`document.activeElement.closest("#instrument-%d")`, release))
	two.press(kb.Enter)
	two.press("Quit")
	address := fmt.Sprintf("/v1/instruments/%d", release)
	var saved apitypes.InstrumentBody
	f.must(f.client.Do(t.Context(), http.MethodPatch, address, map[string]any{"remarks": "Seen at the county", "book": "77"}, &saved))
	two.waitVisible("td.remarks | Seen at the county")
	two.waitFor(`(document.activeElement.value ?? "").endsWith("Quit")`)
	two.press(kb.Escape)
	var added apitypes.InstrumentBody
	f.must(f.client.Do(t.Context(), http.MethodPost, "/v1/abstracts/"+created.Data.ID+"/instruments",
		map[string]any{"type_id": 7, "remarks": "Added by another person"}, &added))
	two.waitVisible("td.remarks | Added by another person")

	// Lists and the desk follow, too, and one connection serves all tabs of a browser.
	two.goTo("/orders")
	_, err = f.client.CreateOrder(t.Context(), client.OrderDraft{OrderNumber: "26-77", Address: "14 Orchard Ridge Road", City: "Harlow"})
	f.must(err)
	two.waitVisible("#results a | 26-77")
	one.goTo("/abstracts/" + created.Data.ID)
	one.waitFor(`!document.querySelector("#here")?.textContent`)
	f.must(f.client.TrashAbstract(t.Context(), created.Data.ID))
	one.expect("status of 404")
	one.waitVisible("#live-note | This record was moved to the trash")
	one.checkAccessible(t, "record in the trash")
	one.screenshot("scene-live-gone")
}

//go:build browser

package cmd_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"deedkeep/app/vaulttest/client"
)

// With the keyboard only, a user checks the indexes of names run, and inserts a phrase in a requirement.
func testPhrases(t *testing.T, env *browserEnv) {
	srv := env.newStaffedServer(t)
	a, err := srv.apiClient().CreateAbstract(t.Context(), client.AbstractDraft{})
	if err != nil {
		t.Fatalf("create abstract: %v", err)
	}
	b := env.newTab(t, srv.origin)
	b.setSize(1440, 900)
	b.signIn(staff)
	b.goTo("/abstracts/" + a.Data.ID)
	checkIndexes(t, b)
	if _, err := srv.apiClient().CreateInstrument(t.Context(), a.Data.ID, client.InstrumentDraft{Type: "Mortgage", Recorded: "2004-05-07",
		InstrumentNumber: "2004-14", Grantors: []string{"Birch, Dana"}, Grantees: []string{"Harlow Savings Bank"}}); err != nil {
		t.Fatalf("create instrument: %v", err)
	}
	b.goTo("/abstracts/" + a.Data.ID)
	insertPhrase(t, b)
	b = env.newTab(t, srv.origin)
	b.signIn(admin)
	b.goTo("/admin/phrases?phrase=Easement")
	for _, width := range []int64{1440, 360} {
		b.setSize(width, 900)
		b.checkFits(int(width))
		b.checkAccessible(t, fmt.Sprintf("phrases at %d px", width))
		b.screenshot(fmt.Sprintf("phrases-list-%d", width))
	}
}

// insertPhrase adds a requirement with a phrase, whose placeholders have the values of the mortgage.
func insertPhrase(t *testing.T, b *tab) {
	t.Helper()
	b.tabTo("#requirements a | Edit")
	b.press(kb.Enter)
	b.waitSettled("#requirements [name=kind]")
	b.tabTo("#requirements [name=instrument_id]")
	b.press("Mortgage")
	if got := eval[string](b, `document.activeElement.selectedOptions[0].text`); !strings.HasPrefix(got, "Mortgage") {
		t.Fatalf("instrument: got %q, want the mortgage", got)
	}
	b.pressWith(withShift, kb.Tab)
	if !eval[bool](b, `document.activeElement.matches("#requirements summary")`) {
		t.Fatal("before the instrument: got the focus elsewhere, want it on Insert phrase")
	}
	b.press(kb.Enter)
	b.waitFor(`document.activeElement.matches("#requirements [name=phrase]")`)
	b.press("release of") // words of several phrases
	b.press(kb.Enter)
	b.waitSettled("#requirements .choose button | Payoff and release of mortgage")
	b.checkAccessible(t, "phrases to choose from")
	b.screenshot("phrases-found")
	b.setSize(360, 900)
	b.checkFits(360)
	eval[bool](b, `document.querySelector("#requirements details[open]").scrollIntoView({block: "center"}) === undefined`)
	b.checkAccessible(t, "phrases to choose from on a phone")
	b.screenshot("phrases-found-phone")
	if eval[bool](b, `[...document.querySelectorAll("#requirements .choose button")].some(
		e => e.getBoundingClientRect().right > innerWidth)`) {
		t.Error("phrases to choose from on a phone: got a button that is wider than the window")
	}
	b.setSize(1440, 900)
	b.tabTo("#requirements .choose button | Payoff and release of mortgage")
	b.press(kb.Enter)
	b.waitFor(`document.activeElement.matches("#requirements textarea")`)
	const want = "Payment in full of the debt secured by the mortgage from Birch, Dana to Harlow Savings Bank, dated {dated}, " +
		"recorded May 7, 2004, Inst. 2004-14,"
	if got := eval[string](b, `document.activeElement.value`); !strings.HasPrefix(got, want) {
		t.Errorf("inserted phrase: got %q, want %q", got, want)
	}
	b.press("May 5, 2004") // over the selected placeholder
	b.checkAccessible(t, "inserted phrase")
	b.screenshot("phrases-inserted")
	b.tabTo("#requirements .form-actions button | Save")
	b.press(kb.Enter)
	b.waitVisible("#requirements th | dated May 5, 2004, recorded May 7, 2004")
	b.waitVisible("#requirements .badge | Blanks to fill in") // the amount
}

// checkIndexes checks the indexes of a name and, with one button, those of another name.
func checkIndexes(t *testing.T, b *tab) {
	t.Helper()
	b.tabTo("#names-run a | Edit")
	b.press(kb.Enter)
	b.waitSettled("#names-run [name=name]")
	b.press("Birch, Dana")
	b.tabTo("#names-run button | Add row")
	b.press(kb.Enter)
	b.waitVisible("#names-run input | Name, row 2")
	b.waitSettled("#names-run tr:nth-child(2) [name=name]")
	b.press("Birch, Robin")
	for range 3 { // From, To, Indices
		b.press(kb.Tab)
	}
	b.press(kb.Enter)
	b.tabTo("#names-run [name=indexes-2][value=Judgments]")
	b.press(" ")
	b.tabTo("#names-run [name=indexes-2][value=UCC]")
	b.press(" ")
	b.tabTo("#names-run tr:nth-child(2) [name=indexes]")
	b.press("Marriage")
	const chosen = `#names-run tr:nth-child(2) [data-chosen]`
	if got := eval[string](b, findJS(chosen)+`.textContent`); got != "Judgments, UCC, Marriage" {
		t.Errorf("indices of the second name: got %q, want Judgments, UCC, Marriage", got)
	}
	b.checkAccessible(t, "indices of a name")
	b.screenshot("phrases-indexes")
	b.setSize(360, 800)
	b.checkFits(360)
	// Not below the buttons, which stay at the bottom of the window.
	eval[bool](b, `document.querySelector("#names-run details[open]").scrollIntoView({block: "center"}) === undefined`)
	b.checkAccessible(t, "indices of a name on a phone")
	b.screenshot("phrases-indexes-phone")
	b.setSize(1440, 900)
	b.press(kb.Escape)
	if eval[bool](b, `document.querySelector("#names-run details[open]") != null || !document.activeElement.matches("summary")`) {
		t.Error("Escape: got open check boxes, or the focus elsewhere, want them closed and the focus on their summary")
	}
	b.press(kb.Enter)
	b.tabTo("#names-run tr:nth-child(2) button | Use for all names")
	b.press(kb.Enter)
	b.waitVisible("#names-run tr:first-child [data-chosen] | Judgments, UCC, Marriage")
	b.waitFor(`document.activeElement.matches("#names-run tr:nth-child(2) summary")`)
	b.tabTo("#names-run .form-actions button | Save")
	b.press(kb.Enter)
	b.waitVisible("#names-run th | Birch, Robin")
	if got := strings.Count(eval[string](b, `document.querySelector("#names-run tbody").innerText`), "Judgments, UCC, Marriage"); got != 2 {
		t.Errorf("saved names with the indices: got %d, want 2", got)
	}
}

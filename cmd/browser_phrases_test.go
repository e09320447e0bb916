//go:build browser

package cmd_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"deedkeep/app/vaulttest/client"
)

// With the keyboard only, a user checks the indexes of names run.
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
	eval[bool](b, `document.querySelector("#names-run details[open]").scrollIntoView({block: "center"}) === undefined`) // not below the buttons
	b.checkAccessible(t, "indices of a name on a phone")
	b.screenshot("phrases-indexes-phone")
	b.setSize(1440, 900)
	b.press(kb.Escape)
	if eval[bool](b, `document.querySelector("#names-run details[open]") != null`) || !eval[bool](b, `document.activeElement.matches("summary")`) {
		t.Error("Escape: got open check boxes, or the focus elsewhere, want them closed and the focus on their summary")
	}
	b.press(kb.Enter)
	b.tabTo("#names-run tr:nth-child(2) button | Check these for all names")
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

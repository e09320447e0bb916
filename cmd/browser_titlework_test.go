//go:build browser

package cmd_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"deedkeep/app/vaulttest/client"
)

// An order becomes an abstract, which is linked to it. Its people, names run, and requirements are
// edited in place. It is certified, printed for the client, and brought down.
func testTitleWork(t *testing.T, env *browserEnv) {
	srv := env.newStaffedServer(t)
	order, err := srv.apiClient().CreateOrder(t.Context(), client.OrderDraft{OrderNumber: "2026-9001", DueDate: "2026-12-01",
		Address: "14 Orchard Ridge Road", City: "Harlow", County: "Wexcombe", State: "PA", CustomFields: map[string]any{
			"client": "Harlow Savings Bank", "client_file_number": "HSB-44", "product": "60 Year", "buyer_borrower": "Dana Birch",
			"parcel_id": "21-4-117",
		}})
	if err != nil {
		t.Fatalf("create order: %v", err)
	}
	b := env.newTab(t, srv.origin)
	b.signIn(staff)
	b.goTo("/orders/" + order.ID)
	b.checkAccessible(t, "order without abstracts")
	b.clickLink(".page-head a.primary | New abstract")
	for selector, want := range map[string]string{"[name='custom_fields.file_number']": "2026-9001",
		"[name='custom_fields.borrower']": "Dana Birch",
		"[name=tax_map]":                  "21-4-117", "[name='custom_fields.search_type']": "60 Year", "[name=due_date]": "2026-12-01"} {
		if got := eval[string](b, findJS(selector)+`.value`); got != want {
			t.Errorf("%s: got %q, want %q", selector, got, want)
		}
	}
	b.checkAccessible(t, "new abstract of an order")
	b.screenshot("titlework-new-abstract")
	b.clickLink("main form button.primary")
	abstract := eval[string](b, "location.pathname")
	b.waitVisible("#abstract-work a | 2026-9001")
	b.waitVisible("#abstract-work dd | Harlow Savings Bank")
	eval[bool](b, `window.notReloaded = true`)

	b.click("#people a | Edit")
	b.waitSettled("#searcher")
	b.fill("#searcher", eval[string](b, `[...document.querySelectorAll("#searcher option")].find(o => o.text == "`+staff+`").value`))
	b.fill("#work-due", "2026-11-30")
	b.checkAccessible(t, "assignment form")
	b.click("#people button | Save")
	b.waitVisible("#abstract-work time | Nov 30, 2026")

	b.click("#names-run a | Edit")
	b.fill("#names-run [name=name]", "Birch, Dana")
	b.fill("#names-run [name=from]", "1/1/1966")
	b.click("#names-run summary")
	b.fill("#names-run [name=indexes]", "Deeds, Judgments")
	b.click("#names-run button | Add row")
	b.waitVisible("#names-run input | Name, row 2")
	b.checkAccessible(t, "names run form")
	b.screenshot("titlework-names-run")
	b.fill("#names-run tr:nth-child(2) [name=name]", "Birch, Robin")
	b.press(kb.Enter) // saves, although the buttons that remove rows come first
	b.waitVisible("#names-run th | Birch, Robin")
	b.waitVisible("#names-run td | From Jan 1, 1966")

	b.click("#requirements a | Edit")
	b.fill("#requirements [name=text]", "Satisfaction of the mortgage in Book 900, Page 12.")
	b.checkAccessible(t, "requirements form")
	b.click("#requirements button | Save")
	b.waitVisible("#requirements th | Satisfaction of the mortgage")
	b.fill("#note-new-text", "Call the county about Plat Book 7.")
	b.click("#notes button | Add note")
	b.waitVisible("#notes li | Call the county")
	if !eval[bool](b, `window.notReloaded`) {
		t.Error("got a page that was reloaded, want the same page")
	}

	certifyAfterCheck(t, srv, b, abstract)
	b.checkAccessible(t, "certified abstract")
	b.screenshot("titlework-abstract")

	b.goTo(abstract + "/print")
	b.waitText("Harlow Savings Bank")
	if text := eval[string](b, "document.querySelector('main').innerText"); strings.Contains(text, "Plat Book 7") || strings.Contains(text,
		"History") {
		t.Errorf("the printed abstract has notes or history:\n%s", text)
	}
	b.checkAccessible(t, "printed abstract")
	b.screenshot("titlework-print")

	b.goTo(abstract)
	b.clickLink("#certificates button | Create bring-down")
	b.waitVisible("#people dt | Bring-down of")
	if eval[string](b, "location.pathname") == abstract {
		t.Error("the bring-down opened the prior abstract, want a new one")
	}
	b.goTo("/")
	b.waitVisible("#my-work | My work")
	b.waitVisible("a.name | 2026-9001")
	b.checkAccessible(t, "desk with own work")
	b.screenshot("titlework-desk")
	testMovePicker(t, b, abstract)
	b.goTo("/orders/" + order.ID)
	b.waitVisible("#abstracts a.name | 2026-9001")
	b.checkAccessible(t, "order with an abstract")
	b.screenshot("titlework-order")
}

// certifyAfterCheck certifies a search with a gap and an open mortgage: first without a reason, then with reasons,
// which the certificate shows.
func certifyAfterCheck(t *testing.T, srv *testServer, b *tab, abstract string) {
	t.Helper()
	for _, draft := range []client.InstrumentDraft{
		{Type: "Warranty Deed", Recorded: "1998-03-09", InstrumentNumber: "1998-883", Grantors: []string{"Farmer, Ann"},
			Grantees: []string{"Birch, Dana"}},
		{Type: "Quitclaim Deed", Recorded: "2004-05-06", InstrumentNumber: "2004-12", Grantors: []string{"Farmer, John"},
			Grantees: []string{"Birch, Dana"}},
		{Type: "Mortgage", Recorded: "2004-05-07", InstrumentNumber: "2004-14", Grantors: []string{"Birch, Dana"},
			Grantees: []string{"Harlow Savings Bank"}},
	} {
		if _, err := srv.apiClient().CreateInstrument(t.Context(), strings.TrimPrefix(abstract, "/abstracts/"), draft); err != nil {
			t.Fatalf("create instrument: %v", err)
		}
	}
	b.goTo(abstract)
	b.click("#certificates a | Certify search")
	b.waitVisible(".checks p | No earlier instrument in this runsheet names Farmer, John as grantee.")
	b.waitVisible(".checks p | shows as open in this runsheet, and no requirement refers to it.")
	b.fill("#effective_date", "2026-11-20")
	b.fill("#effective_time", "8:00 AM")
	b.fill("#search_from", "1966-01-01")
	b.click("#certificates label | Judgments")
	b.checkAccessible(t, "certify form")
	b.screenSizes("titlework-checks")
	b.expect("status of 422")
	b.clickLink("#certificates button | Certify")
	b.waitVisible("#certificates .problem | Fix or accept each finding before you certify.")
	b.waitVisible(".checks .problem | Fix this, or enter a reason.")
	if got := eval[string](b, `document.querySelector("#effective_time").value`); got != "8:00 AM" {
		t.Errorf("effective time: got %q, want what was typed", got)
	}
	b.checkAccessible(t, "findings without a reason")
	b.screenSizes("titlework-checks-left")
	b.acceptFindings("Seen by the examiner.")
	b.clickLink("#certificates button | Certify")
	b.waitVisible(".notice | Search certified.")
	b.waitVisible("#certificates th | Nov 20, 2026, 8:00 AM")
	b.waitVisible("#certificates li | Seen by the examiner.")
	b.screenSizes("titlework-certificate")
	b.press("d")
	b.waitVisible("#document-list .document-name | Runsheet certified")
}

// acceptFindings accepts all findings of the form of a certificate.
func (ta *tab) acceptFindings(reason string) {
	ta.t.Helper()
	n := eval[int](ta, fmt.Sprintf(`[...document.querySelectorAll("#certificates [name=reason]")].map(e => e.value = %q).length`, reason))
	if n == 0 {
		ta.t.Error("the form of the certificate lists no findings")
	}
}

// testMovePicker moves the document of an abstract to another one that is found while typing, and
// back.
func testMovePicker(t *testing.T, b *tab, abstract string) {
	b.goTo("/abstracts/new")
	b.fill("[name='custom_fields.file_number']", "A-77")
	b.clickLink("main form button.primary")
	target := eval[string](b, "location.pathname")
	b.goTo(abstract)
	document := eval[string](b, `document.querySelector("#document-list [data-file]").dataset.file`)
	b.clickLink(fmt.Sprintf("#move-%s", document))
	b.fill("#move-q", "A-7")
	b.waitVisible("#move-targets a | A-77")
	b.checkAccessible(t, "move documents")
	b.screenshot("titlework-move")
	b.clickLink("#move-targets button | Move here: A-77")
	b.waitVisible(".notice | moved to “A-77”")
	b.clickLink(".notice button | Undo")
	b.waitVisible(".notice | moved back")
	b.goTo(target)
	if n := eval[int](b, `document.querySelectorAll("#document-list [data-file]").length`); n != 0 {
		t.Errorf("documents after the undo: got %d, want 0", n)
	}
}

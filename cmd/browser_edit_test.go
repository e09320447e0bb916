//go:build browser

package cmd_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"deedkeep/app/vaulttest/client"
)

// Two users edit the same card. When the second user saves, the first user's changes to
// other fields are kept. For each field that both changed, the page asks which value to
// keep.
func testEditConflict(t *testing.T, env *browserEnv) {
	srv := env.newStaffedServer(t)
	c := srv.apiClient()
	created, err := c.CreateAbstract(t.Context(), client.AbstractDraft{
		CustomFields: map[string]any{"file_number": "2026-0117", "search_type": "Full Search"},
	})
	if err != nil {
		t.Fatalf("create abstract: %v", err)
	}
	const (
		book     = "#group-details [name='custom_fields.deed_book_page']"
		borrower = "#group-details [name='custom_fields.borrower']"
		vesting  = "#group-details [name='custom_fields.vesting']"
	)
	one, two := env.newTab(t, srv.origin), env.newTab(t, srv.origin)
	for b, user := range map[*tab]string{one: admin, two: staff} {
		b.signIn(user)
		b.goTo("/abstracts/" + created.Data.ID)
		b.click("#edit-details")
		b.waitVisible(book)
	}
	one.fill(book, "2417/0883")
	one.fill(vesting, "Ann Poe")
	one.press(kb.Enter)
	one.waitVisible("#group-details dd | 2417/0883")

	two.fill(borrower, "Dana Birch")
	two.fill(vesting, "A. Poe")
	two.expect("status of 412")
	two.press(kb.Enter)
	two.waitVisible("#group-details .pick legend | " + admin + " changed this to “Ann Poe” on ")
	two.checkWarned("with a conflict", true)
	two.checkAccessible(t, "conflict")
	two.setTheme("dark")
	two.checkAccessible(t, "conflict, dark")
	two.screenshot("scene-conflict-dark")
	two.setSize(360, 740)
	two.checkFits(360)
	two.screenshot("scene-conflict-narrow")
	two.setTheme("light")
	two.setSize(1280, 900)
	two.screenshot("scene-conflict")
	if got := eval[string](two, findJS(book)+".value"); got != "2417/0883" {
		t.Errorf("book and page of the first user: got %q, want 2417/0883", got)
	}
	two.click("#group-details .pick label | Keep “Ann Poe”")
	two.click("#group-details button | Save")
	two.waitVisible("#group-details dd | Dana Birch")
	got, err := c.Abstract(t.Context(), created.Data.ID)
	if err != nil {
		t.Fatalf("get abstract: %v", err)
	}
	for name, want := range map[string]string{"deed_book_page": `"2417/0883"`, "borrower": `"Dana Birch"`, "vesting": `"Ann Poe"`} {
		if value := string(got.CustomFields[name]); value != want {
			t.Errorf("%s: got %s, want %s", name, value, want)
		}
	}

	// If there is no conflict, the page only lists the fields that the other user changed.
	one.goTo("/abstracts/" + created.Data.ID)
	for _, b := range []*tab{one, two} {
		b.click("#edit-details")
		b.waitVisible(book)
	}
	one.fill("#group-details [name='custom_fields.current_owner']", "Ann Poe")
	one.press(kb.Enter)
	one.waitVisible("#group-details dd | Ann Poe")
	two.fill(borrower, "")
	two.press(kb.Enter)
	two.waitVisible("#group-details .notice | Also changed while you were editing: Current Owner (by " + admin + ").")
	two.checkAccessible(t, "merged")
	two.screenshot("scene-merged")

	// Undo restores only what this user changed.
	two.click("#group-details .notice button | Undo")
	two.waitVisible(".notice | Change undone.")
	two.waitVisible("#group-details dd | Dana Birch")
	two.waitVisible("#group-details dd | Ann Poe")

	// After a status change, the notice has an Undo button.
	two.click("button | In Exam")
	two.waitVisible("#abstract-top .notice | Status set to “In Exam”.")
	two.checkAccessible(t, "status with Undo")
	two.screenshot("scene-status-undo")
	two.click("#abstract-top button | Undo")
	two.waitFor(findJS("button | New") + `.ariaPressed == "true"`)
}

// The order form warns about a duplicate number as the user types. A new order is linked to
// its new abstract. Undo moves documents back to their folder.
func testEnterOrder(t *testing.T, env *browserEnv) {
	srv := env.newStaffedServer(t)
	draft := client.OrderDraft{OrderNumber: "26-1", Address: "14 Orchard Ridge Road", City: "Harlow"}
	if _, err := srv.apiClient().CreateOrder(t.Context(), draft); err != nil {
		t.Fatalf("create order: %v", err)
	}
	b := env.newTab(t, srv.origin)
	b.signIn(staff)
	b.goTo("/orders/new")
	b.fill("#order_number", "26-1")
	b.waitVisible("#order_number-lookup | Another order has the number 26-1")
	b.checkAccessible(t, "order number already taken")
	b.screenshot("scene-number-taken")
	b.fill("#order_number", "26-2")
	b.waitFor(`!document.querySelector("#order_number-lookup .warning")`)
	b.fill("[name=address]", "3 Ferry Street")
	b.clickLink("main button.primary")
	b.checkAccessible(t, "order without an abstract")
	b.screenshot("scene-order-next")
	b.clickLink("a.primary | New abstract")
	b.clickLink("main button.primary")
	b.waitVisible(".abstract-work a | 26-2")
	b.clickLink(".abstract-work a | 26-2")
	b.waitVisible("#abstracts a.name | 26-2")
	b.screenshot("scene-order-abstract")

	b.goTo("/vault?do=new")
	b.fill("#folder-name", "Plats")
	b.clickLink("main form.card button.primary")
	b.goTo("/vault")
	eval[bool](b, `window.rates = new Set(),
		new MutationObserver(() => document.querySelectorAll(".upload .rate").forEach(e => rates.add(e.textContent)))
			.observe(document.body, {subtree: true, childList: true, characterData: true}), true`)
	b.dropFiles("h1", copySamples(t, []namedSample{chainDocuments[5], chainDocuments[6]})...)
	b.waitVisible(".documents .document-name | " + chainDocuments[6].name)
	// Wait for the uploads, because leaving the page during an upload opens a warning.
	b.waitFor(`[...document.querySelectorAll(".upload")].every(e => e.dataset.state == "filed")`)
	rates := eval[[]string](b, `[...rates]`)
	allSent := func(rate string) bool { sent, total, _ := strings.Cut(rate, " of "); return sent == total }
	if !slices.Contains(rates, "Checking…") || slices.ContainsFunc(rates, allSent) {
		t.Errorf("progress texts during the upload: got %q, want \"Checking…\" once all bytes are sent", rates)
	}
	b.goTo("/vault")
	b.click(".document label | Select " + chainDocuments[6].name)
	b.fill("#to", eval[string](b, `[...document.querySelectorAll("#to option")].find(o => o.text == "Plats").value`))
	b.clickLink("button[data-move]")
	b.waitVisible(".notice | 1 document was moved.")
	b.checkAccessible(t, "move with Undo")
	b.screenshot("scene-move-undo")
	b.clickLink(".notice button | Undo")
	b.waitVisible(".documents .document-name | " + chainDocuments[6].name)
}

// Money, email, phone, and URL fields accept values in the formats that users type. Saving
// another field of the card doesn't change them.
func testTypedFields(t *testing.T, env *browserEnv) {
	srv := env.newStaffedServer(t)
	const fields = `{"custom_fields":[{"key":"fee","label":"Fee","type":"money"},{"key":"mail","label":"Reply to","type":"email"},
		{"key":"foreign","label":"Copy to","type":"email"},{"key":"call","label":"Call","type":"phone"},
		{"key":"portal","label":"Portal","type":"url"},{"key":"note","label":"Note","type":"text"}]}`
	srv.command(fields, "fields", "import", "-")
	c := srv.apiClient()
	created, err := c.CreateOrder(t.Context(), client.OrderDraft{
		OrderNumber: "26-1", CustomFields: map[string]any{"foreign": "änn@bücher.example"},
	})
	if err != nil {
		t.Fatalf("create order: %v", err)
	}
	b := env.newTab(t, srv.origin)
	b.signIn(staff)
	b.goTo("/orders/" + created.ID)
	b.click("#edit-details")
	field := func(key string) string { return "#group-details [name='custom_fields." + key + "']" }
	b.fill(field("fee"), "$387,500.5")
	b.fill(field("mail"), "ann.oneil@bayou-title.com")
	b.fill(field("call"), "(985) 555-0142 x7")
	b.fill(field("portal"), "https://recorder.example.gov/deeds?book=12&page=7")
	b.checkAccessible(t, "typed fields, editing")
	b.screenshot("scene-types-edit")
	b.press(kb.Enter)
	b.waitVisible("#group-details dd | $387,500.50")
	b.waitVisible("#group-details dd a | https://recorder.example.gov/deeds?book=12&page=7")
	b.checkAccessible(t, "typed fields")
	b.screenshot("scene-types")
	b.setTheme("dark")
	b.checkAccessible(t, "typed fields, dark")
	b.setSize(360, 740)
	b.checkFits(360)
	b.screenshot("scene-types-narrow")
	b.click("#edit-details")
	b.fill(field("note"), "call first")
	b.checkFits(360)
	b.screenshot("scene-types-edit-narrow")
	b.press(kb.Enter)
	b.waitVisible("#group-details dd | call first")
	got, err := c.Order(t.Context(), created.ID)
	if err != nil {
		t.Fatalf("get order: %v", err)
	}
	for name, want := range map[string]string{
		"fee": `"387500.50"`, "mail": `"ann.oneil@bayou-title.com"`, "foreign": `"änn@bücher.example"`, "call": `"(985) 555-0142 x7"`,
		"portal": `"https://recorder.example.gov/deeds?book=12&page=7"`, "note": `"call first"`,
	} {
		if value := string(got.CustomFields[name]); value != want {
			t.Errorf("%s: got %s, want %s", name, value, want)
		}
	}
	b.click("#edit-details")
	b.fill(field("fee"), "1.005")
	b.expect("status of 422")
	b.press(kb.Enter)
	b.waitVisible("#group-details .problem | “1.005” isn't an amount. Write it like 1,250.00.")
	b.checkAccessible(t, "invalid amount of money")
}

// An administrator can add, change, and sort the fields of a template. The monitor checks
// that the page complies with its Content-Security-Policy.
func testEditTemplate(t *testing.T, env *browserEnv) {
	srv := env.newStaffedServer(t)
	b := env.newTab(t, srv.origin)
	b.signIn(admin)
	b.goTo("/admin/templates/1")
	for _, field := range []struct{ label, fieldType, options string }{
		{"Consideration", "number", ""}, {"Recording office", "dropdown", "County clerk"}, {"Certified copies", "checkbox", ""},
	} {
		b.click("a | Add field")
		b.fill("#label", field.label)
		b.fill("#type", field.fieldType)
		if field.options != "" {
			b.fill("#options", field.options)
		}
		b.click("button | Add field")
		b.waitVisible("tr .name | " + field.label)
	}
	b.dragRow("[data-sort=fields] tr:nth-child(2) .grip", "[data-sort=fields] tr:nth-child(4) .grip")
	b.waitText("Fields reordered.")
	b.waitSettled("tr .name | Consideration")
	b.click("a | Consideration")
	b.fill("#label", "Consideration paid")
	b.click("button | Save field")
	b.waitVisible("tr .name | Consideration paid")
	b.checkAccessible(t, "template")
}

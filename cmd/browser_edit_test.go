//go:build browser

package cmd_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"deedkeep/app/client"
)

// Two people have the same card open. What the first enters into a blank field stays
// when the second saves another; what both enter differently is chosen field by field.
func twoEditOneCard(t *testing.T, on *bench) {
	h := on.staffed(t)
	c := h.api()
	made, err := c.CreateAbstract(t.Context(), client.AbstractDraft{CustomFields: map[string]any{"file_number": "2026-0117", "search_type": "Full Search"}})
	if err != nil {
		t.Fatal(err)
	}
	book, borrower, vesting := "#group-details [name='custom_fields.deed_book_page']", "#group-details [name='custom_fields.borrower']", "#group-details [name='custom_fields.vesting']"
	one, two := on.tab(t, h.origin), on.tab(t, h.origin)
	for b, who := range map[*tab]string{one: admin, two: staff} {
		b.signIn(who)
		b.goTo("/abstracts/" + made.Data.ID)
		b.click("#edit-details")
		b.sees(book)
	}
	one.fill(book, "2417/0883")
	one.fill(vesting, "Ann Poe")
	one.press(kb.Enter)
	one.sees("#group-details dd | 2417/0883")

	two.fill(borrower, "Dana Birch")
	two.fill(vesting, "A. Poe")
	two.expect("status of 412")
	two.press(kb.Enter)
	two.sees("#group-details .pick legend | " + admin + " changed this to “Ann Poe” on ")
	two.noBarriers(t, "a conflict")
	two.theme("dark")
	two.noBarriers(t, "a conflict, dark")
	two.screenshot("scene-conflict-dark")
	two.size(360, 740)
	two.fits(360)
	two.screenshot("scene-conflict-narrow")
	two.theme("light")
	two.size(1280, 900)
	two.screenshot("scene-conflict")
	if got := value[string](two, pick(book)+".value"); got != "2417/0883" {
		t.Errorf("the other's book and page is %q", got)
	}
	two.click("#group-details .pick label | Keep “Ann Poe”")
	two.click("#group-details button | Save")
	two.sees("#group-details dd | Dana Birch")
	got, err := c.Abstract(t.Context(), made.Data.ID)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"deed_book_page": `"2417/0883"`, "borrower": `"Dana Birch"`, "vesting": `"Ann Poe"`} {
		if is := string(got.CustomFields[name]); is != want {
			t.Errorf("%s is %s, want %s", name, is, want)
		}
	}

	// Without a conflict nothing is asked, and the page says what else was saved.
	one.goTo("/abstracts/" + made.Data.ID)
	for _, b := range []*tab{one, two} {
		b.click("#edit-details")
		b.sees(book)
	}
	one.fill("#group-details [name='custom_fields.current_owner']", "Ann Poe")
	one.press(kb.Enter)
	one.sees("#group-details dd | Ann Poe")
	two.fill(borrower, "")
	two.press(kb.Enter)
	two.sees("#group-details .notice | Also changed while you were editing: Current Owner (by " + admin + ").")
	two.noBarriers(t, "merged")
	two.screenshot("scene-merged")

	// A status is taken back where it was set.
	two.click("button | In Exam")
	two.sees("#abstract-top .notice | Status set to “In Exam”.")
	two.noBarriers(t, "a status to undo")
	two.screenshot("scene-status-undo")
	two.click("#abstract-top button | Undo")
	two.until(pick("button | New") + `.ariaPressed == "true"`)
}

// Who enters an order sees at once that its number is taken, and comes from the order to
// its abstract; documents that were moved are moved back.
func orderIsEntered(t *testing.T, on *bench) {
	h := on.staffed(t)
	if _, err := h.api().CreateOrder(t.Context(), client.OrderDraft{OrderNumber: "26-1", Address: "14 Orchard Ridge Road", City: "Harlow"}); err != nil {
		t.Fatal(err)
	}
	b := on.tab(t, h.origin)
	b.signIn(staff)
	b.goTo("/orders/new")
	b.fill("#order_number", "26-1")
	b.sees("#order_number-lookup | Another order has the number 26-1")
	b.noBarriers(t, "a number that is taken")
	b.screenshot("scene-number-taken")
	b.fill("#order_number", "26-2")
	b.until(`!document.querySelector("#order_number-lookup .warning")`)
	b.fill("[name=address]", "3 Ferry Street")
	b.follow("main button.primary")
	b.noBarriers(t, "an order without an abstract")
	b.screenshot("scene-order-next")
	b.follow("a.primary | New abstract")
	b.follow("main button.primary")
	b.sees("aside a | 26-2")
	b.follow("aside a | 26-2")
	b.sees("#abstracts + * + .plain a | 3 Ferry Street")
	b.screenshot("scene-order-abstract")

	b.goTo("/vault?do=new")
	b.fill("#folder-name", "Plats")
	b.follow("main form.card button.primary")
	b.goTo("/vault")
	value[bool](b, `window.rates = new Set(), new MutationObserver(() => document.querySelectorAll(".upload .rate").forEach(e => rates.add(e.textContent)))
		.observe(document.body, {subtree: true, childList: true, characterData: true}), true`)
	b.drop("h1", lay(t, []filing{chain[5], chain[6]})...)
	b.sees(".documents .document-name | " + chain[6].name)
	b.until(`[...document.querySelectorAll(".upload")].every(e => e.dataset.state == "filed")`) // leaving before is warned of
	if shown := value[[]string](b, `[...rates]`); !slices.Contains(shown, "Checking…") || slices.ContainsFunc(shown, func(s string) bool { sent, of, _ := strings.Cut(s, " of "); return sent == of }) {
		t.Errorf("while documents were sent, their rows said %q", shown)
	}
	b.goTo("/vault")
	b.click(".document label | Choose " + chain[6].name)
	b.fill("#to", value[string](b, `[...document.querySelectorAll("#to option")].find(o => o.text == "Plats").value`))
	b.follow("button[data-move]")
	b.sees(".notice | 1 document was moved.")
	b.noBarriers(t, "a move to undo")
	b.screenshot("scene-move-undo")
	b.follow(".notice button | Undo")
	b.sees(".documents .document-name | " + chain[6].name)
}

// Money, an email address, a phone number, and a web address are typed as people write
// them, and keep their values while another field of the card is saved.
func valuesOfTypesAreEntered(t *testing.T, on *bench) {
	h := on.staffed(t)
	const fields = `{"custom_fields":[{"key":"fee","label":"Fee","type":"money"},{"key":"mail","label":"Reply to","type":"email"},
		{"key":"foreign","label":"Copy to","type":"email"},{"key":"call","label":"Call","type":"phone"},{"key":"portal","label":"Portal","type":"url"},{"key":"note","label":"Note","type":"text"}]}`
	h.command(fields, "fields", "import", "-")
	c := h.api()
	made, err := c.CreateOrder(t.Context(), client.OrderDraft{OrderNumber: "26-1", CustomFields: map[string]any{"foreign": "änn@bücher.example"}})
	if err != nil {
		t.Fatal(err)
	}
	b := on.tab(t, h.origin)
	b.signIn(staff)
	b.goTo("/orders/" + made.ID)
	b.click("#edit-details")
	field := func(key string) string { return "#group-details [name='custom_fields." + key + "']" }
	b.fill(field("fee"), "$387,500.5")
	b.fill(field("mail"), "ann.oneil@bayou-title.com")
	b.fill(field("call"), "(985) 555-0142 x7")
	b.fill(field("portal"), "https://recorder.example.gov/deeds?book=12&page=7")
	b.noBarriers(t, "controls of types")
	b.screenshot("scene-types-edit")
	b.press(kb.Enter)
	b.sees("#group-details dd | $387,500.50")
	b.sees("#group-details dd a | https://recorder.example.gov/deeds?book=12&page=7")
	b.noBarriers(t, "values of types")
	b.screenshot("scene-types")
	b.theme("dark")
	b.noBarriers(t, "values of types, dark")
	b.size(360, 740)
	b.fits(360)
	b.screenshot("scene-types-narrow")
	b.click("#edit-details")
	b.fill(field("note"), "call first")
	b.fits(360)
	b.screenshot("scene-types-edit-narrow")
	b.press(kb.Enter)
	b.sees("#group-details dd | call first")
	got, err := c.Order(t.Context(), made.ID)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"fee": `"387500.50"`, "mail": `"ann.oneil@bayou-title.com"`, "foreign": `"änn@bücher.example"`, "call": `"(985) 555-0142 x7"`,
		"portal": `"https://recorder.example.gov/deeds?book=12&page=7"`, "note": `"call first"`,
	} {
		if is := string(got.CustomFields[name]); is != want {
			t.Errorf("%s is %s, want %s", name, is, want)
		}
	}
	b.click("#edit-details")
	b.fill(field("fee"), "1.005")
	b.expect("status of 422")
	b.press(kb.Enter)
	b.sees("#group-details .problem | The fee field must be an amount of money.")
	b.noBarriers(t, "refused money")
}

// Fields and statuses of a template are added, changed and sorted; the page keeps to its
// own policy, which the watch sees.
func templateIsChanged(t *testing.T, on *bench) {
	h := on.staffed(t)
	b := on.tab(t, h.origin)
	b.signIn(admin)
	b.goTo("/admin/templates/1")
	for _, add := range []struct{ label, kind, options string }{
		{"Consideration", "number", ""}, {"Recording office", "dropdown", "County clerk"}, {"Certified copies", "checkbox", ""},
	} {
		b.click("a | Add a field")
		b.fill("#label", add.label)
		b.fill("#type", add.kind)
		if add.options != "" {
			b.fill("#options", add.options)
		}
		b.click("button | Add the field")
		b.sees("tr .name | " + add.label)
	}
	b.drag("[data-sort=fields] tr:nth-child(2) .grip", "[data-sort=fields] tr:nth-child(4) .grip")
	b.reads("The fields stand in the new order.")
	b.settled("tr .name | Consideration")
	b.click("a | Consideration")
	b.fill("#label", "Consideration paid")
	b.click("button | Save the field")
	b.sees("tr .name | Consideration paid")
	b.noBarriers(t, "a template")
}

//go:build browser

package cmd_test

import (
	"fmt"
	"testing"
)

// With scripts off: sign in, fill in an abstract, send documents as a plain form, read
// one page after another, find in it, and sign out.
func withoutScripts(t *testing.T, on *bench) {
	h := on.staffed(t)
	c := h.api()
	b := on.tab(t, h.origin)
	b.scripts(false)
	b.signIn(staff)
	b.follow("nav a | Abstracts")
	b.follow("a | New abstract")
	b.fill(`[name="custom_fields.file_number"]`, "A-2026-0117")
	b.fill(`[name="address"]`, "14 Orchard Ridge Road")
	b.fill(`[name="custom_fields.search_type"]`, "60 Year")
	b.fill(`[name="custom_fields.effective_date"]`, "2026-05-01")
	b.fill(`[name="custom_fields.legal_description"]`, "All that certain lot")
	b.follow("main form button.primary")
	b.reads("A-2026-0117")
	path := value[string](b, "location.pathname")
	paths := lay(t, []filing{chain[4], dropped[11]})
	b.attach("[data-upload] input[type=file]", paths...)
	b.tolerate("422")
	b.follow("[data-upload] form button")
	b.reads("File type not supported. Accepted types: PDF")
	b.goTo(path)
	b.sees(".documents .document-name | " + chain[4].name)
	holds(t, c, path[len("/abstracts/"):], paths[:1])
	b.screenshot("scene-without-scripts")

	abstract, err := c.Abstract(t.Context(), path[len("/abstracts/"):])
	if err != nil {
		t.Fatal(err)
	}
	if got := string(abstract.CustomFields["effective_date"]); got != `"2026-05-01"` {
		t.Errorf("the effective date is %s", got)
	}
	id := abstract.Files[0].ID
	(&firm{house: h, client: c, files: map[string]int64{chain[4].name: id}}).processed(t.Context())
	b.goTo(path)
	b.follow(".documents .document a | " + chain[4].name)
	b.shows(1)
	b.follow("a | Next page")
	b.shows(2)
	b.follow("a | Rotate")
	b.goTo(fmt.Sprintf("/documents/%d/text", id))
	b.fill("input[name=find]", "Instrument No. 201904170093382")
	b.follow("[data-finder] button, form[role=search] button, main form button")
	b.sees("mark | 201904170093382")
	b.click(".person summary")
	b.follow(".person button | Sign out")
	b.sees("h1 | Sign in")
}

//go:build browser

package cmd_test

import (
	"fmt"
	"testing"
)

// With JavaScript disabled, a user can sign in, create an abstract, upload documents with a
// plain HTML form, read them page by page, find text in them, and sign out.
func testWithoutScripts(t *testing.T, env *browserEnv) {
	srv := env.newStaffedServer(t)
	c := srv.apiClient()
	b := env.newTab(t, srv.origin)
	b.enableScripts(false)
	b.signIn(staff)
	b.clickLink("nav a | Abstracts")
	b.clickLink("a | New abstract")
	b.fill(`[name="custom_fields.file_number"]`, "A-2026-0117")
	b.fill(`[name="address"]`, "14 Orchard Ridge Road")
	b.fill(`[name="custom_fields.search_type"]`, "60 Year")
	b.fill(`[name="custom_fields.effective_date"]`, "2026-05-01")
	b.fill(`[name="custom_fields.legal_description"]`, "All that certain lot")
	b.clickLink("main form button.primary")
	b.waitText("A-2026-0117")
	path := eval[string](b, "location.pathname")
	paths := copySamples(t, []namedSample{chainDocuments[4], droppedSamples[11]})
	b.attachFiles("[data-upload] input[type=file]", paths...)
	b.allow("422")
	b.clickLink("[data-upload] form button")
	b.waitText("File type not supported. Accepted types: PDF")
	b.goTo(path)
	b.waitVisible(".documents .document-name | " + chainDocuments[4].name)
	checkDocuments(t, c, path[len("/abstracts/"):], paths[:1])
	b.screenshot("scene-without-scripts")

	abstract, err := c.Abstract(t.Context(), path[len("/abstracts/"):])
	if err != nil {
		t.Fatalf("get abstract: %v", err)
	}
	if got := string(abstract.CustomFields["effective_date"]); got != `"2026-05-01"` {
		t.Errorf("effective date: got %s, want \"2026-05-01\"", got)
	}
	id := abstract.Files[0].ID
	(&firm{testServer: srv, client: c, files: map[string]int64{chainDocuments[4].name: id}}).waitProcessed(t.Context())
	b.goTo(path)
	b.clickLink(".documents .document a | " + chainDocuments[4].name)
	b.waitPageImage(1)
	b.clickLink("a | Next page")
	b.waitPageImage(2)
	b.clickLink("a | Rotate")
	b.goTo(fmt.Sprintf("/documents/%d/text", id))
	b.fill("input[name=find]", "Instrument No. 201904170093382")
	b.clickLink("[data-finder] button, form[role=search] button, main form button")
	b.waitVisible("mark | 201904170093382")
	b.click(".person summary")
	b.clickLink(".person button | Sign out")
	b.waitVisible("h1 | Sign in")
}

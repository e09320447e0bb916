package ui_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"deedkeep/app/model"
	"deedkeep/app/vault"
	"deedkeep/app/vault/phrases"
	"deedkeep/app/vaulttest"
)

// Administrators change the list of phrases.
func TestPhrasePage(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	admin := h.openBrowser(t, model.RoleAdmin)
	h.openBrowser(t, model.RoleStaff).get(t, 403, "/admin/phrases")
	names := func() string {
		t.Helper()
		now, err := h.vault.Phrases.Get(t.Context())
		if err != nil {
			t.Fatalf("Phrases.Get: %v", err)
		}
		var list []string
		for _, p := range now.List {
			list = append(list, p.Name)
		}
		return strings.Join(list, "|")
	}
	change := func(status int, pairs ...string) reply {
		t.Helper()
		form := url.Values{}
		for i := 0; i < len(pairs); i += 2 {
			form.Add(pairs[i], pairs[i+1])
		}
		return admin.post(t, status, "/admin/phrases", form)
	}
	standard := names()
	shown := admin.get(t, 200, "/admin/phrases")
	shown.has(t, "Payoff and release of mortgage", "New phrase", "{grantor}")
	shown.lacks(t, "Add the standard phrases")
	admin.get(t, 200, "/admin/phrases?phrase=Easement").has(t, `value="Easement"`, "Save phrase", `value="exception" selected`)

	change(303, "do", "add", "name", "Lease", "kind", "exception", "text", "Lease to {grantee}.\r\nUnrecorded.")
	change(422, "do", "add", "name", "leasE ", "kind", "exception", "text", "x").has(t, "has already been taken", `value="leasE"`)
	change(422, "do", "add", "name", "Other", "kind", "exception", "text", " ").has(t, "The text field is required.", `id="text-problem"`)
	change(422, "do", "add", "name", "Other", "kind", "wish", "text", "x").has(t, `id="kind-problem"`)
	change(422, "do", "add", "name", strings.Repeat("x", 101), "kind", "exception", "text", "x").has(t, `id="name-problem"`)
	change(422, "do", "save", "phrase", "Lease", "name", "Easement", "kind", "exception", "text", "x").has(t, "already been taken",
		"Save phrase")
	change(303, "do", "save", "phrase", "Lease", "name", "Lease of record", "kind", "exception", "text", "Lease.")
	change(303, "do", "phrase-up", "phrase", "Lease of record")
	list := strings.Split(names(), "|")
	if n := len(list); list[n-2] != "Lease of record" {
		t.Errorf("phrases: got %q, want the new one before the last", list)
	}
	// Two administrators edit the same phrase. The second one sees what the first one saved, before replacing it.
	edit := func(status int, was, text string) reply {
		t.Helper()
		return admin.post(t, status, "/admin/phrases", url.Values{"do": {"save"}, "phrase": {list[0]}, "was": {was}, "name": {list[0]},
			"kind": {"exception"}, "text": {text}})
	}
	opened := func(shown reply) string {
		t.Helper()
		return shown.matches(t, `name="was" value="([^"]+)"`)[0]
	}
	was := opened(admin.get(t, 200, "/admin/phrases?phrase="+url.QueryEscape(list[0])))
	edit(303, was, "Hers.")
	edit(303, was, "Hers.") // the same again
	conflict := edit(412, was, "Mine.")
	conflict.has(t, "Someone else changed this phrase to “Hers.” (Exception (B-II)) while you were editing.", "\nMine.</textarea>")
	edit(303, opened(conflict), "Mine.")
	admin.get(t, 200, "/admin/phrases").lacks(t, "Hers.")

	slices.Reverse(list)
	order := []string{"do", "order"}
	for _, name := range list {
		order = append(order, "order", name)
	}
	change(303, order...)
	if got := names(); got != strings.Join(list, "|") {
		t.Errorf("reordered: got %s", got)
	}
	change(412, order[:4]...)
	change(412, "do", "phrase-remove", "phrase", "Nothing")
	for _, name := range list {
		change(303, "do", "phrase-remove", "phrase", name)
	}
	admin.get(t, 200, "/admin/phrases").has(t, "Add the standard phrases")
	change(303, "do", "standard")
	if got := names(); got != standard {
		t.Errorf("standard phrases: got %s, want %s", got, standard)
	}
	admin.get(t, 200, "/admin/activity").has(t, "changed the phrases")
}

// Without scripts, a phrase is found by its name or its words and inserted in a row, with the values of the row's
// instrument. Nothing is stored before the form is saved.
func TestInsertPhrase(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	kim := h.openBrowser(t, model.RoleStaff)
	path, a := h.createAbstract(t, vaulttest.Operator, nil, model.Property{County: "Albany"})
	mortgage := fmt.Sprint(h.addInstrument(t, a.Abstract.ID, `{"type":"Mortgage","book":"900","page":"12","grantors":["Lee, Ann"]}`).ID)
	if _, err := h.vault.Phrases.Set(t.Context(), vaulttest.Operator, phrases.Input([]model.Phrase{
		{Name: "Payoff", Kind: "requirement", Text: "Release of {type} by {grantor} to {grantee}, Book {book}."},
		{Name: "Lease", Kind: "exception", Text: "Lease <of record>."}, {Name: "Lease option", Kind: "exception", Text: "Option."}}),
		vault.Match{}); err != nil {
		t.Fatalf("Phrases.Set: %v", err)
	}
	section := path + "/requirements"
	form := func(do string, rows ...[3]string) url.Values { // text, instrument, phrase
		f := url.Values{"do": {do}}
		for _, row := range rows {
			f.Add("kind", "requirement")
			f.Add("cleared", "")
			f.Add("text", row[0])
			f.Add("instrument_id", row[1])
			f.Add("phrase", row[2])
		}
		return f
	}
	kim.get(t, 200, section).lacks(t, "Insert phrase")
	kim.get(t, 200, section+"?edit=1").has(t, "Insert phrase", `<option value="Payoff">Release of {type}`)
	const filled = "Release of Mortgage by Lee, Ann to {grantee}, Book 900."
	inserted := kim.post(t, 200, section, form("phrase-2", [3]string{"First", "", ""}, [3]string{"", mortgage, " payoff "}))
	inserted.has(t, "\n"+filled+"</textarea>", "Fill in {grantee}.", "autofocus data-blanks>")
	inserted.lacks(t, `value="payoff"`)
	// Enter in the field of the phrase uses the first button, which saves.
	kim.post(t, 200, section, form("save", [3]string{"", mortgage, "release book"})).has(t, filled)
	kim.post(t, 200, section, form("save", [3]string{"Mine.", "", "Lease"})).has(t, "\nMine.\nLease &lt;of record&gt;.</textarea>",
		`value="requirement" selected`)
	kim.post(t, 200, section, form("phrase-1", [3]string{"", "", "lease"})).has(t, `value="exception" selected`)
	some := kim.post(t, 200, section, form("phrase-1", [3]string{"", "", "leas"}))
	some.has(t, `value="insert-1-Lease"`, `value="insert-1-Lease option"`, `value="leas" autofocus`)
	some.lacks(t, "insert-1-Payoff")
	kim.post(t, 200, section, form("insert-1-Lease option", [3]string{"", "", "leas"})).has(t, "\nOption.</textarea>")
	kim.post(t, 200, section, form("phrase-1", [3]string{"", "", "deed"})).has(t, "No phrase has these words.", `value="deed"`)
	kim.post(t, 200, section, form("phrase-1", [3]string{"", "", ""})).has(t, "Enter a phrase name or words")
	kim.post(t, 200, section, form("fill-1", [3]string{"Release of {type} in {court}.", mortgage, ""})).has(t,
		"\nRelease of Mortgage in {court}.</textarea>")
	kim.post(t, 200, section, form("phrase-1", [3]string{"", "999", "payoff"})).has(t, "Release of {type} by {grantor}")
	if work, err := h.vault.TitleWork.Get(t.Context(), a.Abstract.ID); err != nil || len(work.Requirements) > 0 {
		t.Errorf("before the form is saved: got %+v, %v, want no requirements", work.Requirements, err)
	}
	saved := kim.post(t, 303, section, form("save", [3]string{filled, mortgage, ""}))
	kim.get(t, 200, path).has(t, filled, "Blanks to fill in")
	kim.undo(t, saved)
	kim.get(t, 200, section).has(t, "No requirements or exceptions yet")
}

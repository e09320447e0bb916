package ui_test

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deedkeep/app/blobstore"
	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/vaulttest"
)

// Administrators edit county patterns, see the line of a problem, and try patterns on a text. The file in the data directory
// is shown.
func TestCountyPatternsPage(t *testing.T) {
	t.Parallel()
	h := newEmptyTestServer(t, func(o *instance.Options) {
		if err := os.WriteFile(filepath.Join(o.Dir, "patterns.yaml"), []byte("- find: '(?P<tint>x)'\n"), 0o600); err != nil {
			t.Fatalf("write patterns.yaml: %v", err)
		}
	})
	h.createUser(t, "Owner", model.RoleAdmin)
	admin, staff := h.newUser(t, "ada", model.RoleAdmin), h.newUser(t, "tom", model.RoleStaff)
	const path = "/admin/settings/patterns"
	const patterns = "- county: Kanawha\n  find: 'Kanawha Mark (?P<instrument_number>[0-9]{4})'\n"
	admin.get(t, 200, "/admin/settings", `href="`+path+`"`)
	admin.get(t, 200, path, "patterns.yaml</code>", "None of these patterns are used.",
		"Line 1: unknown field &#34;tint&#34;.", "(?P&lt;tint&gt;x)")
	staff.get(t, 403, path)
	staff.post(t, 403, path, url.Values{"patterns": {patterns}})

	form := admin.settingForm(t, path, url.Values{"patterns": {patterns + "- find: '['\n"}})
	admin.post(t, 422, path, form).has(t, `id="patterns-problem"`, "Line 3: error parsing regexp", `aria-invalid="true"`, "Kanawha Mark")
	form.Set("patterns", patterns)
	form.Set("sample", "Kanawha Mark 4711\n<script>")
	form.Set("county", "kanawha")
	form.Set("try", "1")
	tried := admin.post(t, 200, path, form)
	tried.has(t, "<code>instrument_number</code>", "4711 <span class=\"badge\">From your patterns</span>", "&lt;script&gt;", `value="kanawha"`)
	if got := h.vault.Stored.Patterns(); got.Text != "" {
		t.Errorf("patterns after a try: got %q, want none", got.Text)
	}
	form.Set("sample", "nothing")
	admin.post(t, 200, path, form).has(t, "deedkeep reads no fields in this text.")
	form.Del("try")
	admin.post(t, 303, path, form).checkHeaders(t, map[string]string{"Location": path})
	admin.get(t, 200, path, "Kanawha Mark")
	admin.get(t, 200, "/admin/activity", "County patterns: added")
	form.Set("patterns", "")
	admin.post(t, 412, path, form).has(t, "changed in the meantime. This is the latest version.", "Kanawha Mark")
	if got := h.vault.Stored.Patterns(); got.Text != patterns {
		t.Errorf("patterns: got %q, want %q", got.Text, patterns)
	}
	for field, name := range map[string]string{"patterns": "patterns are longer than 200 KB", "sample": "sample text is longer than 20 KB"} {
		form := admin.settingForm(t, path, url.Values{"try": {"1"}})
		form.Set(field, strings.Repeat("#", 201<<10))
		admin.post(t, 422, path, form).has(t, "The "+name+".")
	}
}

// From what people recorded for a county, the page proposes a pattern, with what it would read. Adding it changes only the form.
func TestProposeCountyPatterns(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	admin := h.newUser(t, "ada", model.RoleAdmin)
	const path = "/admin/settings/patterns"
	propose := func(county string) reply {
		t.Helper()
		return admin.post(t, 200, path, admin.settingForm(t, path, url.Values{"propose": {"1"}, "county": {county}, "state": {"PA"}}))
	}
	propose("").has(t, "Enter a county.")
	propose("Wexcombe").has(t, "No instruments of this county have a document with text.")
	_, created := h.createAbstract(t, admin.actor, nil, model.Property{County: "Wexcombe", State: "PA"}, "1.pdf", "2.pdf", "3.pdf")
	for n, f := range created.Files {
		vaulttest.NoError(t, h.vault.Vault.Previews.Put(f.Digest, blobstore.TextFile, func(w io.Writer) error {
			pages, err := blobstore.NewTextWriter(w)
			if err != nil {
				return err
			}
			text := fmt.Sprintf("Wexcombe Mark 471%d\nWARRANTY DEED\nTHIS DEED, made by Ann Lee to Bo Roe\n", n)
			return errors.Join(pages.Page(1, text), pages.Close())
		}))
		if n == 2 {
			propose("Wexcombe").has(t, "2 instruments compared.", "Wexcombe Mark 4710</td>")
		}
		h.createInstrument(t, created.Abstract.ID, fmt.Sprintf(
			`{"type":"Warranty Deed","instrument_number":"471%d","documents":[{"file_id":%d}]}`, n, f.ID))
	}
	proposed := propose("wexcombe")
	proposed.has(t, "3 instruments compared.", `data-label="Correct" class="num">3</td>`, `data-label="Incorrect" class="num">0</td>`,
		`data-label="Before" class="num">0</td>`)
	pattern := proposed.matches(t, `name="add" value="([^"]*)"`)[0]
	form := admin.settingForm(t, path, url.Values{"patterns": {"- find: 'Tome (?P<book>[0-9]+)'\n"}, "add": {pattern}})
	added := admin.post(t, 200, path, form)
	added.has(t, "Pattern added to the end of the list. Select Save to use it.", "- find: &#39;Tome", "Mark")
	if got := h.vault.Stored.Patterns().Text; got != "" {
		t.Errorf("patterns before they were saved: got %q, want none", got)
	}
	form.Del("add")
	form.Set("patterns", "- find: 'Tome (?P<book>[0-9]+)'\n"+pattern)
	admin.post(t, 303, path, form)
	form = admin.settingForm(t, path, url.Values{"propose": {"1"}, "county": {"Wexcombe"}, "state": {"PA"},
		"patterns": {h.vault.Stored.Patterns().Text}})
	admin.post(t, 200, path, form).has(t, "3 instruments compared. No pattern would read more")
	admin.post(t, 422, path, admin.settingForm(t, path, url.Values{"propose": {"1"}, "patterns": {"- find: '['\n"}})).has(t, "Line 1:")
}

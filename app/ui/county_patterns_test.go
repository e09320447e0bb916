package ui_test

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deedkeep/app/instance"
	"deedkeep/app/model"
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

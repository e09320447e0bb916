package ui_test

import (
	"fmt"
	"html"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"deedkeep/app/model"
	"deedkeep/app/vaulttest"
)

// undoForm returns the form of the Undo button in a part of a page.
func (r reply) undoForm(t *testing.T) (path string, fields url.Values) {
	t.Helper()
	form := r.matches(t, `(?s)class="notice" role="status">.*?(<form method="post" action="[^"]*">.*?</form>)`)[0]
	fields = url.Values{}
	for _, m := range regexp.MustCompile(`name="([^"]*)" value="([^"]*)"`).FindAllStringSubmatch(form, -1) {
		fields.Add(m[1], html.UnescapeString(m[2]))
	}
	return strings.Split(form, `"`)[3], fields
}

// After any edit, the notice has an Undo button, with and without scripts. It restores what was there before, unless
// another user has changed it in the meantime, and can be undone, too.
func TestUndoEdit(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	kim, lee := h.openBrowser(t, model.RoleStaff), h.openBrowser(t, model.RoleAdmin)
	abstract := kim.post(t, 303, "/abstracts", url.Values{"county": {"First"}}).location()
	order := kim.post(t, 303, "/orders", url.Values{"order_number": {"First"}}).location()
	instrument := fmt.Sprintf("/instruments/%d", vaulttest.CreateInstrument(t, h.vault, 1, `{"book":"First"}`).ID)
	record := "abstract:" + strings.TrimPrefix(abstract, "/abstracts/")
	kim.post(t, 303, abstract+"/notes", url.Values{"text": {"First"}})
	long := strings.Repeat("Subject to an easement. ", 200) + "."
	for _, row := range []struct {
		name, page, path string
		part             string     // address of the part of the page that shows the value
		form             url.Values // without the value
		field            string
	}{
		{"abstract", abstract, abstract, abstract + "?group=property", url.Values{"group": {"property"}}, "county"},
		{"order", order, order, order + "?group=property", url.Values{"group": {"property"}}, "city"},
		{"names run", abstract, abstract + "/names-run", abstract + "/names-run", url.Values{}, "name"},
		{"requirements", abstract, abstract + "/requirements", abstract + "/requirements", url.Values{"kind": {"exception"}}, "text"},
		{"people", abstract, abstract + "/people", abstract + "/people?edit=1", url.Values{}, "due_date"},
		{"note", abstract, "/notes/1", abstract + "/notes", url.Values{"record": {record}}, "text"},
		{"instrument", abstract, instrument, instrument + "/edit", url.Values{}, "remarks"},
	} {
		t.Run(row.name, func(t *testing.T) {
			values := []string{"Second", "Third", "Fourth"}
			switch row.field {
			case "due_date":
				values = []string{"2026-12-01", "2026-12-02", "2026-12-03"}
			case "text":
				values = []string{"Second " + long, "Third " + long, "Fourth " + long}
			}
			save := func(status int, g *browser, value string, header ...string) reply {
				t.Helper()
				form := url.Values{row.field: {value}}
				for name, list := range row.form {
					form[name] = list
				}
				if row.name == "note" {
					list, err := h.vault.Notes.List(t.Context(), "abstract", 1)
					if err != nil {
						t.Fatalf("Notes.List: %v", err)
					}
					form.Set("version", fmt.Sprint(list[0].Version))
				}
				return g.post(t, status, row.path, form, header...)
			}
			shown := func(value string) string {
				switch row.field {
				case "due_date":
					return `value="` + value + `"`
				case "remarks":
					return value + "</textarea>"
				}
				return value
			}
			check := func(is, isNot string) {
				t.Helper()
				page := kim.get(t, 200, row.part, "HX-Request", "true")
				page.has(t, shown(is))
				page.lacks(t, shown(isNot))
			}
			save(303, kim, values[0])
			changed := save(303, kim, values[1])
			check(values[1], values[0])
			undone := kim.undo(t, changed)
			if notice := h.noticeOf(t, undone); notice != "Change undone." {
				t.Errorf("notice = %q, want %q", notice, "Change undone.")
			}
			check(values[0], values[1])
			kim.undo(t, undone)
			check(values[1], values[0])
			_, path, _ := h.undoOf(t, save(303, kim, values[1]))
			if path != "" {
				t.Errorf("a form that changes nothing: got Undo %q, want none", path)
			}

			changed = save(303, kim, values[2])
			save(303, lee, values[0])
			if notice := h.noticeOf(t, kim.undo(t, changed)); !strings.HasSuffix(notice, " Nothing was undone.") ||
				row.name != "note" && !strings.HasPrefix(notice, "Kim of admin has changed this since.") {
				t.Errorf("notice after another user's change = %q", notice)
			}
			check(values[0], values[2])

			if row.name == "instrument" {
				return // its page has no script
			}
			path, fields := save(200, kim, values[1], "HX-Request", "true").undoForm(t)
			if back := kim.post(t, 303, path, fields).Header.Get("Location"); !strings.HasPrefix(back, row.page+"#") {
				t.Errorf("Location after Undo in a part = %q, want %s", back, row.page)
			}
			check(values[0], values[1])
		})
	}
	kim.post(t, 404, "/undo", url.Values{"record": {"folder:1"}, "version": {"1"}})
	kim.post(t, 404, "/undo", url.Values{"record": {"abstract:x"}, "version": {"1"}})
	kim.post(t, 404, "/undo", url.Values{"record": {"instrument:1"}, "version": {"x"}})
}

// After an edit in the panel beside a document, its notice undoes it, with and without scripts.
func TestUndoEditInPanel(t *testing.T) {
	t.Parallel()
	p := newPanelTest(t)
	first := p.files[0]
	p.post(200, first, fields("book", "7", "then", "stay"))
	i := p.only()
	edit := func(book string) url.Values {
		return fields("instrument", fmt.Sprint(i.ID), "book", book, "then", "stay")
	}
	path, form := p.post(200, first, edit("8")).undoForm(t)
	if got := p.only(); got.Book != "8" {
		t.Fatalf("book = %q, want 8", got.Book)
	}
	got := p.staff.post(t, 204, path, form, "HX-Request", "true")
	to, selected := got.Header.Get("HX-Redirect"), fmt.Sprintf("instrument=%d", i.ID)
	if !strings.HasPrefix(to, documentPath(first, "?")) || !strings.Contains(to, selected) {
		t.Errorf("HX-Redirect after Undo = %q, want the instrument beside the document", to)
	}
	if got := p.only(); got.Book != "7" {
		t.Errorf("book after Undo = %q, want 7", got.Book)
	}
	p.staff.undo(t, p.staff.post(t, 303, p.path(first, "/instruments"), edit("9")))
	if got := p.only(); got.Book != "7" {
		t.Errorf("book after Undo without scripts = %q, want 7", got.Book)
	}
}

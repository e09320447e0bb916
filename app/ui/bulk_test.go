package ui_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"deedkeep/app/model"
	"deedkeep/app/vaulttest"
)

// Users change the selected records of a list, or all that match, see which failed and why, and can undo it.
func TestChangeMany(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	kim, lee := h.openBrowser(t, model.RoleStaff), h.openBrowser(t, model.RoleViewer)
	var paths []string
	for n := range 4 {
		form := url.Values{"order_number": {fmt.Sprintf("T-%d", n)}, "county": {"Kent"}, "due_date": {"2026-06-01"}}
		if n == 3 {
			form.Set("county", "Sussex")
		}
		paths = append(paths, kim.post(t, 303, "/orders", form).location())
	}
	const list = "/orders?county=Kent"
	due := func(want ...string) {
		t.Helper()
		for n, day := range want {
			if page := kim.get(t, 200, paths[n]); !strings.Contains(string(page.body), `datetime="`+day+`"`) {
				t.Errorf("order %d isn't due on %s", n, day)
			}
		}
	}
	change := func(back string, form url.Values) reply {
		t.Helper()
		form.Set("back", back)
		changed := kim.post(t, 303, strings.Split(back, "?")[0]+"/bulk", form)
		if to := changed.location(); to != back {
			t.Errorf("after a bulk change: got %s, want %s", to, back)
		}
		return changed
	}
	notice := func(r reply, want string) {
		t.Helper()
		if got := h.noticeOf(t, r); got != want {
			t.Errorf("notice = %q, want %q", got, want)
		}
	}
	undo := func(r reply, want string) {
		t.Helper()
		notice(kim.undo(t, r), want)
	}
	notice(change(list, url.Values{"do": {"set"}, "status": {"active"}}), "No orders were selected.")
	notice(change(list, url.Values{"do": {"set"}, "id": paths[:1]}), "Choose what to change.")

	kim.post(t, 303, paths[1]+"/trash", nil)
	changed := change(list, url.Values{"do": {"set"}, "due_date": {"7/4/2026"},
		"id": {paths[0], paths[1], paths[2], paths[0], "/orders/nonsense"}})
	notice(changed, "2 orders changed. One order failed: Not found.")
	due("2026-07-04")
	undo(changed, "2 orders reverted.")
	due("2026-06-01")
	kim.post(t, 303, paths[1]+"/restore", nil)

	notice(change(list, url.Values{"do": {"set"}, "id": paths[:1], "status": {"nonsense"}}),
		"0 orders changed. “T-0” failed: The selected status is invalid.")
	all := change(list, url.Values{"do": {"set"}, "matching": {"1"}, "due_date": {"2026-08-01"}})
	notice(all, "3 orders changed.")
	due("2026-08-01", "2026-08-01", "2026-08-01", "2026-06-01")
	kim.post(t, 303, paths[0], url.Values{"group": {"property"}, "due_date": {"2026-09-01"}})
	undo(all, "2 orders reverted. “T-0” failed: This was changed again in the meantime.")

	trashed := change(list, url.Values{"do": {"trash"}, "id": paths[2:]})
	notice(trashed, "2 orders moved to the trash.")
	kim.get(t, 404, paths[3])
	undo(trashed, "2 orders reverted.")
	kim.get(t, 200, paths[3])

	notice(change("/orders?q=T-1", url.Values{"do": {"trash"}, "matching": {"1"}}), "Select the orders of a search one by one.")
	lee.post(t, 403, "/orders/bulk", url.Values{"do": {"trash"}, "id": paths})
	if page := lee.get(t, 200, list); strings.Contains(string(page.body), `form="bulk"`) {
		t.Error("a viewer gets checkboxes")
	}
	vaulttest.Verify(t, h.vault)
}

// Abstracts get their people and due date together with the status.
func TestChangeManyAbstracts(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	kim := h.openBrowser(t, model.RoleStaff)
	var paths []string
	for range 2 {
		paths = append(paths, kim.post(t, 303, "/abstracts", url.Values{"county": {"Kent"}}).location())
	}
	page := kim.get(t, 200, "/abstracts")
	kim.get(t, 200, paths[0]).has(t, `name="id" value="`+paths[0]+`">`, `data-action="Assign to me">Take it`)
	h.openBrowser(t, model.RoleViewer).get(t, 200, paths[0]).lacks(t, "Take it")
	took := kim.post(t, 303, "/abstracts/bulk", url.Values{"do": {"take"}, "id": paths[:1], "back": {paths[0]}, "status": {"In Exam"}})
	if got := h.noticeOf(t, took); got != "1 abstract assigned to you." {
		t.Errorf("notice = %q", got)
	}
	own := kim.get(t, 200, paths[0])
	own.has(t, "<dt>Searcher</dt><dd>Kim of staff</dd>")
	own.lacks(t, "Take it")
	kim.undo(t, took)
	searcher := page.matches(t, `id="bulk-searcher" name="searcher"><option\s+value="">Searcher…</option><option value="([0-9]+)">`)[0]
	changed := kim.post(t, 303, "/abstracts/bulk", url.Values{"do": {"set"}, "id": paths, "status": {"In Exam"}, "searcher": {searcher},
		"due_date": {"2026-07-04"}})
	for id := uint64(1); id <= 2; id++ {
		work, err := h.vault.TitleWork.Get(t.Context(), id)
		if err != nil || fmt.Sprint(work.Assignment.SearcherID) != searcher || work.Assignment.DueDate != "2026-07-04" {
			t.Errorf("assignment of abstract %d = %+v, %v", id, work.Assignment, err)
		}
	}
	kim.undo(t, changed)
	for id := uint64(1); id <= 2; id++ {
		work, err := h.vault.TitleWork.Get(t.Context(), id)
		a, abstractErr := h.vault.Abstracts.Get(t.Context(), id)
		if err != nil || abstractErr != nil || work.Assignment != (model.Assignment{}) || a.Abstract.Status == "In Exam" {
			t.Errorf("after Undo: assignment of abstract %d = %+v, status %q", id, work.Assignment, a.Abstract.Status)
		}
	}
	kim.post(t, 303, "/undo/bulk", url.Values{"key": {"NONSENSE"}})
}

// Users change the type and status of instruments of several abstracts, or move them to the trash, and can undo it.
func TestChangeManyInstruments(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	kim, lee := h.openBrowser(t, model.RoleStaff), h.openBrowser(t, model.RoleViewer)
	var paths []string
	for n := range 2 {
		_, a := h.createAbstract(t, kim.actor, map[string]string{"file_number": fmt.Sprint(n)}, model.Property{County: "Kent"})
		for page := range 2 {
			id := h.createInstrument(t, a.Abstract.ID, fmt.Sprintf(`{"type":"Mortgage","book":"12","page":"%d","recorded":"2001-02-03"}`, page+1))
			paths = append(paths, fmt.Sprintf("/instruments/%d", id))
		}
	}
	states := func(want ...string) {
		t.Helper()
		for n, want := range want {
			i := h.getInstrument(t, uint64(n+1))
			if got := i.Type.Name + " " + i.Status; got != want {
				t.Errorf("instrument %d = %s, want %s", n+1, got, want)
			}
		}
	}
	change := func(back, want string, form url.Values) reply {
		t.Helper()
		form.Set("back", back)
		changed := kim.post(t, 303, "/instruments/bulk", form)
		if got := h.noticeOf(t, changed); got != want || changed.location() != back {
			t.Errorf("notice = %q at %s, want %q at %s", got, changed.location(), want, back)
		}
		return changed
	}
	kim.get(t, 200, "/instruments").has(t, `action="/instruments/bulk"`, `name="id" value="`+paths[0]+`" form="bulk"`,
		`<option>Mortgage</option>`, `<option value="automatic">Automatic</option>`)
	kim.get(t, 200, "/instruments").lacks(t, `id="bulk-due"`, "Take it")
	states("Mortgage open", "Mortgage open", "Mortgage open", "Mortgage open")
	set := change("/instruments", "2 instruments changed. One instrument failed: Not found.", url.Values{"do": {"set"}, "status": {"released"},
		"type": {"Judgment"}, "id": {paths[0], paths[2], "/instruments/99", "/instruments/x", "/instruments/0"}})
	states("Judgment released", "Mortgage open", "Judgment released", "Mortgage open")
	change("/instruments?book=12&status=released", "2 instruments changed.",
		url.Values{"do": {"set"}, "status": {"automatic"}, "matching": {"1"}})
	states("Judgment open", "Mortgage open", "Judgment open", "Mortgage open")
	if got := h.noticeOf(t, kim.undo(t, set)); !strings.HasPrefix(got, "0 instruments reverted. “Judgment") ||
		!strings.Contains(got, "changed again") {
		t.Errorf("notice of a late undo = %q", got)
	}
	again := change("/instruments?page=2", "2 instruments changed.", url.Values{"do": {"set"}, "type": {"Deed of Trust"}, "matching": {"1"}})
	states("Judgment open", "Deed of Trust open", "Judgment open", "Deed of Trust open")
	if got := h.noticeOf(t, kim.undo(t, again)); got != "2 instruments reverted." {
		t.Errorf("notice of an undo = %q", got)
	}
	states("Judgment open", "Mortgage open", "Judgment open", "Mortgage open")
	change("/instruments?recorded_from=nonsense", "A filter of the list is invalid. Nothing was changed. Correct it and try again.",
		url.Values{"do": {"trash"}, "matching": {"1"}})
	trashed := change("/instruments", "2 instruments moved to the trash.", url.Values{"do": {"trash"}, "id": paths[2:]})
	kim.get(t, 404, paths[3])
	kim.undo(t, trashed)
	kim.get(t, 303, paths[3])
	change("/instruments", "Choose what to change.", url.Values{"do": {"take"}, "id": paths})
	change("/instruments", "Choose what to change.", url.Values{"do": {"set"}, "id": paths, "due_date": {"2026-01-01"}})
	change("/instruments?q=x", "Select the instruments of a search one by one.", url.Values{"do": {"trash"}, "matching": {"1"}})
	lee.post(t, 403, "/instruments/bulk", url.Values{"do": {"trash"}, "id": paths})
	lee.get(t, 200, "/instruments").lacks(t, `form="bulk"`)
	vaulttest.Verify(t, h.vault)
}

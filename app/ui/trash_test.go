package ui_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"deedkeep/app/instance"
	"deedkeep/app/model"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

func TestTrash(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	staff := h.newUser(t, "sue", model.RoleStaff)
	abstract := h.createAbstractAt(t, staff.actor, "1 <i>Elm</i> Street").Abstract.ID
	order, err := h.vault.Orders.Create(t.Context(), staff.actor,
		model.OrderDraft{Fields: model.Inputs{"order_number": model.StringInput("2026-7")}},
		vault.Idempotency[model.Order]{})
	if err != nil {
		t.Fatalf("Orders.Create: %v", err)
	}
	file := h.upload(t, "a.pdf", vaulttest.PDF(1, "a"))
	other := h.upload(t, "b.pdf", vaulttest.PDF(1, "b"))
	for _, err := range []error{
		h.vault.Abstracts.Trash(t.Context(), staff.actor, abstract, vault.Match{}),
		h.vault.Orders.Trash(t.Context(), staff.actor, order.ID, vault.Match{}),
		h.vault.Files.Trash(t.Context(), staff.actor, file.ID, vault.Match{}),
		h.vault.Files.Trash(t.Context(), staff.actor, other.ID, vault.Match{}),
	} {
		if err != nil {
			t.Fatalf("delete to trash: %v", err)
		}
	}
	ids := h.vault.Secrets
	abstractName, orderName := "abstract:"+ids.IDs("abstracts").Encode(abstract), "order:"+ids.IDs("orders").Encode(order.ID)
	fileName, otherName := fmt.Sprintf("file:%d", file.ID), fmt.Sprintf("file:%d", other.ID)
	staff.get(t, 200, "/trash", "1 &lt;i&gt;Elm&lt;/i&gt; Street", "2026-7", "a.pdf", "b.pdf", "sue", abstractName, orderName,
		"with its documents").lacks(t, "<i>Elm")
	staff.get(t, 200, "/trash?type=order", "2026-7").lacks(t, "a.pdf", "Elm")

	staff.post(t, 422, "/trash", nil).has(t, "Nothing is selected")
	// The button in a row restores only that row's record, even if other records are selected.
	got := staff.post(t, 303, "/trash", url.Values{"only": {fileName}, "item": {orderName, abstractName}, "back": {"/trash?type=file"}})
	got.checkHeaders(t, map[string]string{"Location": "/trash?type=file"})
	staff.get(t, 200, "/trash", "2026-7", "Elm").lacks(t, "a.pdf")
	staff.post(t, 303, "/trash", url.Values{"item": {orderName, abstractName}})
	if _, err := h.vault.Orders.Get(t.Context(), order.ID); err != nil {
		t.Errorf("Orders.Get: %v", err)
	}
	if _, err := h.vault.Abstracts.Get(t.Context(), abstract); err != nil {
		t.Errorf("Abstracts.Get: %v", err)
	}
	staff.post(t, 409, "/trash", url.Values{"item": {"file:99", otherName}}).has(t, "no longer in the trash", "1 item restored.")
	staff.post(t, 409, "/trash", url.Values{"item": {"nonsense"}}).has(t, "no longer in the trash")
	staff.get(t, 200, "/trash", "The trash is empty")
	// If a form selects too many records, it is rejected, and no record is restored.
	staff.post(t, 422, "/trash", url.Values{"item": slices.Repeat([]string{otherName}, 201)}).has(t, "Select at most 200 at a time.")
}

// Expired records can't be restored.
func TestRestoreExpired(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	admin := h.newUser(t, "ada", model.RoleAdmin)
	file := h.upload(t, "a.pdf", vaulttest.PDF(1, "a"))
	if err := h.vault.Files.Trash(t.Context(), admin.actor, file.ID, vault.Match{}); err != nil {
		t.Fatalf("Files.Trash: %v", err)
	}
	admin.get(t, 200, "/trash", "a.pdf")
	h.clock.Advance(30*24*time.Hour + time.Minute)
	again := h.newUser(t, "ben", model.RoleStaff)
	again.post(t, 409, "/trash", url.Values{"only": {fmt.Sprintf("file:%d", file.ID)}}).has(t, "no longer in the trash")
}

// Administrators can permanently delete one record or empty the trash after typing a confirmation.
// Staff can't.
func TestPurge(t *testing.T) {
	t.Parallel()
	h := newEmptyTestServer(t, func(o *instance.Options) { o.Load = vaulttest.With(map[string]string{"retention.keep": "20y"}) })
	h.createUser(t, "Owner", model.RoleAdmin)
	staff, admin := h.newUser(t, "sue", model.RoleStaff), h.newUser(t, "ada", model.RoleAdmin)
	abstract := h.createAbstractAt(t, staff.actor, "12 Elm St").Abstract.ID
	file, other := h.upload(t, "a.pdf", vaulttest.PDF(1, "a")), h.upload(t, "b.pdf", vaulttest.PDF(1, "b"))
	for _, err := range []error{
		h.vault.Files.Trash(t.Context(), staff.actor, file.ID, vault.Match{}),
		h.vault.Files.Trash(t.Context(), staff.actor, other.ID, vault.Match{}),
		h.vault.Abstracts.Trash(t.Context(), staff.actor, abstract, vault.Match{}),
	} {
		if err != nil {
			t.Fatalf("delete to trash: %v", err)
		}
	}
	abstractName := "abstract:" + h.vault.Secrets.IDs("abstracts").Encode(abstract)
	filePurge := "/admin/trash/purge?item=" + url.QueryEscape(fmt.Sprintf("file:%d", file.ID))
	staff.get(t, 200, "/trash", "for 30 days", "stay for 20 years", "by retention").lacks(t, "/admin/trash")
	staff.get(t, 403, filePurge)
	staff.post(t, 403, "/admin/trash/empty", url.Values{"confirm": {"empty trash"}})
	admin.get(t, 200, "/trash", "/admin/trash/empty", "/admin/trash/purge?item=file", "Delete permanently")

	admin.get(t, 200, filePurge, "the document <b>a.pdf</b>", "Type <b>a.pdf</b> to confirm").lacks(t, "retention")
	form := url.Values{"item": {fmt.Sprintf("file:%d", file.ID)}, "confirm": {"b.pdf"}}
	admin.post(t, 422, "/admin/trash/purge", form).has(t, "The text does not match. Nothing was deleted.", `aria-invalid="true"`)
	form.Set("confirm", " A.PDF ")
	admin.post(t, 303, "/admin/trash/purge", form).checkHeaders(t, map[string]string{"Location": "/trash"})
	admin.get(t, 200, "/trash", "b.pdf").lacks(t, "a.pdf")
	admin.post(t, 409, "/admin/trash/purge", form).has(t, "no longer in the trash")
	admin.get(t, 404, filePurge)

	retained := "/admin/trash/purge?item=" + url.QueryEscape(abstractName)
	admin.get(t, 200, retained, "and its documents", "The retention setting keeps this until", "Reason for overriding retention")
	form = url.Values{"item": {abstractName}, "confirm": {"12 elm st"}}
	admin.post(t, 422, "/admin/trash/purge", form).has(t, "Enter the reason.", "reason-problem")
	form.Set("reason", strings.Repeat("x", model.MaxLineLength+1))
	admin.post(t, 422, "/admin/trash/purge", form).has(t, "must not be longer")

	admin.get(t, 200, "/admin/trash/empty", "permanently deletes 1 item", "1 item stays", "empty trash")
	admin.post(t, 422, "/admin/trash/empty", nil).has(t, "The text does not match.")
	admin.post(t, 303, "/admin/trash/empty", url.Values{"confirm": {"empty trash"}})
	admin.get(t, 200, "/trash", "12 Elm St").lacks(t, "b.pdf")
	admin.get(t, 200, "/admin/trash/empty", "The retention setting keeps everything")

	form.Set("reason", "Court order 26-117")
	admin.post(t, 303, "/admin/trash/purge", form)
	admin.get(t, 200, "/trash", "The trash is empty")
	admin.get(t, 200, "/admin/trash/empty", "The trash is empty.")
	admin.get(t, 200, "/admin/activity", "permanently deleted", "emptied the trash", "lifted retention for", "12 Elm St",
		"Court order 26-117", "1 kept by the retention setting")
}

// The trash shows the name of a document's abstract. If the abstract exists, the name is a link.
func TestTrashNamesAbstract(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	staff := h.newUser(t, "sue", model.RoleStaff)
	opaque, file := h.createAbstractWithDocument(t)
	id, _ := h.vault.Secrets.IDs("abstracts").Decode(opaque)
	if err := h.vault.Abstracts.Detach(t.Context(), staff.actor, id, file, vault.Match{}); err != nil {
		t.Fatalf("Abstracts.Detach: %v", err)
	}
	path := "/abstracts/" + opaque
	link := `from <a href="` + path + `">`
	staff.get(t, 200, "/trash", link)
	staff.get(t, 200, path, "to the trash? You can restore it from there.").lacks(t, "emptied")
	if err := h.vault.Abstracts.Trash(t.Context(), staff.actor, id, vault.Match{}); err != nil {
		t.Fatalf("Abstracts.Trash: %v", err)
	}
	staff.get(t, 200, "/trash", "which is in the trash").lacks(t, link)
	if _, err := h.vault.Purger.Purge(t.Context(), model.Actor{Kind: "operator"}, "abstract", id, ""); err != nil {
		t.Fatalf("Purger.Purge: %v", err)
	}
	staff.get(t, 200, "/trash", "an abstract that was permanently deleted").lacks(t, link)
}

// The pages on which documents are moved and restored say until when the retention setting keeps them.
func TestRetentionOfMovedDocumentIsShown(t *testing.T) {
	t.Parallel()
	h := newEmptyTestServer(t, func(o *instance.Options) { o.Load = vaulttest.With(map[string]string{"retention.keep": "20y"}) })
	h.createUser(t, "Owner", model.RoleAdmin)
	record := vaulttest.CreateAbstract(t, h.vault, vaulttest.PDFDoc("old.pdf", "1"), vaulttest.PDFDoc("older.pdf", "2"))
	h.clock.Advance(31 * vaulttest.Day)
	kim := h.openBrowser(t, model.RoleStaff)
	fresh := h.upload(t, "fresh.pdf", vaulttest.PDF(1, "3"))
	end := record.Files[0].CreatedAt.AddDate(20, 0, 0).Format("Jan 2, 2006")
	move := func(ids ...uint64) string {
		form := url.Values{"to": {"0"}}
		for _, id := range ids {
			form.Add("file", fmt.Sprint(id))
		}
		return h.noticeOf(t, kim.post(t, 303, "/documents/move", form))
	}
	old, older := record.Files[0].ID, record.Files[1].ID
	kim.get(t, 200, fmt.Sprintf("/documents/%d/move", old)).has(t, "kept until", end, "by retention")
	kim.get(t, 200, fmt.Sprintf("/documents/%d/move", fresh.ID)).lacks(t, "by retention")
	if got, want := move(old), "1 document was moved. The retention setting keeps it at least until "+end+"."; got != want {
		t.Errorf("notice = %q, want %q", got, want)
	}
	if got := move(fresh.ID); strings.Contains(got, "retention") {
		t.Errorf("notice = %q, want none about retention", got)
	}
	if got, want := move(older, fresh.ID), "The retention setting keeps 1 of them at least until "+end+"."; !strings.HasSuffix(got, want) {
		t.Errorf("notice = %q, want one that ends with %q", got, want)
	}
	kim.get(t, 200, fmt.Sprintf("/documents/%d/move", old)).has(t, "kept until", end, "by retention")
	vaulttest.NoError(t, h.vault.Files.Trash(t.Context(), kim.actor, old, vault.Match{}))
	vaulttest.NoError(t, h.vault.Files.Trash(t.Context(), kim.actor, fresh.ID, vault.Match{}))
	kim.get(t, 200, "/trash").has(t, "old.pdf", end, "by retention", "wherever they were moved")
	kim.get(t, 200, fmt.Sprintf("/documents/%d", old)).has(t, "You can restore it until", end, "because of the retention setting")
	got := kim.get(t, 200, fmt.Sprintf("/documents/%d", fresh.ID))
	got.has(t, "You can restore it until")
	got.lacks(t, "retention")
	if _, err := h.vault.Purger.Empty(t.Context(), vaulttest.Operator); err != nil {
		t.Fatalf("Purger.Empty: %v", err)
	}
	got = kim.get(t, 200, "/trash")
	got.has(t, "old.pdf")
	got.lacks(t, "fresh.pdf")
}

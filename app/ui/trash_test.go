package ui_test

import (
	"fmt"
	"net/url"
	"slices"
	"testing"
	"time"

	"deedkeep/app/title"
	"deedkeep/app/vault"
	"deedkeep/app/vaulttest"
)

func TestTrash(t *testing.T) {
	t.Parallel()
	h := open(t)
	staff := h.sit(t, "sue", title.RoleStaff)
	abstract := h.abstract(t, staff.actor, "1 <i>Elm</i> Street").Abstract.ID
	order, err := h.vault.Orders.Create(t.Context(), staff.actor, title.OrderDraft{Number: title.Given("2026-7")}, vault.Keep[title.Order]{})
	if err != nil {
		t.Fatal(err)
	}
	file := h.put(t, "a.pdf", vaulttest.PDF(1, "a"))
	other := h.put(t, "b.pdf", vaulttest.PDF(1, "b"))
	for _, err := range []error{
		h.vault.Abstracts.Trash(t.Context(), staff.actor, abstract, vault.Match{}), h.vault.Orders.Trash(t.Context(), staff.actor, order.ID, vault.Match{}),
		h.vault.Files.Trash(t.Context(), staff.actor, file.ID, vault.Match{}), h.vault.Files.Trash(t.Context(), staff.actor, other.ID, vault.Match{}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	ids := h.vault.Secrets
	ofAbstract, ofOrder := "abstract:"+ids.IDs("abstracts").Encode(abstract), "order:"+ids.IDs("orders").Encode(order.ID)
	ofFile, ofOther := fmt.Sprintf("file:%d", file.ID), fmt.Sprintf("file:%d", other.ID)
	staff.get(t, 200, "/trash", "1 &lt;i&gt;Elm&lt;/i&gt; Street", "2026-7", "a.pdf", "b.pdf", "sue", ofAbstract, ofOrder, "with its documents").lacks(t, "<i>Elm")
	staff.get(t, 200, "/trash?noun=order", "2026-7").lacks(t, "a.pdf", "Elm")

	staff.post(t, 422, "/trash", nil).has(t, "Nothing was chosen")
	// The button of a row means that row, whatever else is ticked.
	got := staff.post(t, 303, "/trash", url.Values{"only": {ofFile}, "item": {ofOrder, ofAbstract}, "back": {"/trash?noun=file"}})
	got.same(t, map[string]string{"Location": "/trash?noun=file"})
	staff.get(t, 200, "/trash", "2026-7", "Elm").lacks(t, "a.pdf")
	staff.post(t, 303, "/trash", url.Values{"item": {ofOrder, ofAbstract}})
	if _, err := h.vault.Orders.Get(t.Context(), order.ID); err != nil {
		t.Error(err)
	}
	if _, err := h.vault.Abstracts.Get(t.Context(), abstract); err != nil {
		t.Error(err)
	}
	staff.post(t, 409, "/trash", url.Values{"item": {"file:99", ofOther}}).has(t, "in the trash no longer", "The others: 1 was restored.")
	staff.post(t, 409, "/trash", url.Values{"item": {"nonsense"}}).has(t, "in the trash no longer")
	staff.get(t, 200, "/trash", "The trash is empty")
	// More than one form may name are refused as a whole: none is left out without a word.
	staff.post(t, 422, "/trash", url.Values{"item": slices.Repeat([]string{ofOther}, 201)}).has(t, "Choose at most 200 at a time.")
}

// What lies there too long does not come back.
func TestTrashOver(t *testing.T) {
	t.Parallel()
	h := open(t)
	admin := h.sit(t, "ada", title.RoleAdmin)
	file := h.put(t, "a.pdf", vaulttest.PDF(1, "a"))
	if err := h.vault.Files.Trash(t.Context(), admin.actor, file.ID, vault.Match{}); err != nil {
		t.Fatal(err)
	}
	admin.get(t, 200, "/trash", "a.pdf")
	h.clock.Move(30*24*time.Hour + time.Minute)
	again := h.sit(t, "ben", title.RoleStaff)
	again.post(t, 409, "/trash", url.Values{"only": {fmt.Sprintf("file:%d", file.ID)}}).has(t, "in the trash no longer")
}

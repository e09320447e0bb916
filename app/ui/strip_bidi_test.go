package ui_test

import (
	"net/http"
	"strings"
	"testing"

	"deedkeep/app/model"
)

// Bidirectional controls in a field don't affect the page.
func TestPagesStripBidi(t *testing.T) {
	t.Parallel()
	h := newTestServer(t)
	staff := h.newUser(t, "kim", model.RoleStaff)
	const hostile = "1\u202e\u2066\r\n2\x07\u2028\u0085"
	created := h.createAbstractAt(t, staff.actor, hostile)
	stored, err := h.vault.Abstracts.Get(t.Context(), created.Abstract.ID)
	if err != nil || !strings.Contains(stored.Abstract.Address, "\u202e") {
		t.Fatalf("stored address = %q, %v, want the controls in it", stored.Abstract.Address, err)
	}
	path := "/abstracts/" + h.vault.Secrets.IDs("abstracts").Encode(created.Abstract.ID)
	for _, at := range []string{"/", "/abstracts", path, path + "/history", path + "?edit=property", "/orders"} {
		staff.get(t, http.StatusOK, at).lacks(t, "\u202e", "\u2066", "\x07", "\u2028", "\u0085")
	}
}
